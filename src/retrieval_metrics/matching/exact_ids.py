"""Join judgments and rankings by document id.

Metrics need only the ranks of judged documents, so the retrieved documents are never put in order. Each judged document
is looked up in the ranking: in a mapping of scores as it is, in a list of ids by hashing each id once. With scores, its
rank is one more than the number of scores above its own, for which the scores, without their ids, are sorted and
searched. Document ids are compared only if scores tie.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import compress, repeat
from math import isfinite
from operator import countOf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import common_id_type, require_same_id_type
from retrieval_metrics.inputs.kept_rankings import MAX_COPIED_SCORES
from retrieval_metrics.inputs.ranking_checks import as_list, refuse_empty_id, require_finite_scores
from retrieval_metrics.inputs.single_precision import may_gain_a_tie, round_ranking
from retrieval_metrics.matching.judged_columns import NO_DUPLICATES, Duplicates, Items
from retrieval_metrics.matching.judged_run import JudgedRun
from retrieval_metrics.matching.read_scores import ReadScores, sum_scores
from retrieval_metrics.matching.short_lists import find_in_short_lists
from retrieval_metrics.matching.short_rankings import find_in_short_rankings, list_short_rankings

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, IntArray, QueryId
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.budget import Lengths
    from retrieval_metrics.matching.ranking_order import ScoreOrder
    from retrieval_metrics.matching.short_rankings import ShortRanks

# Integers beyond this limit tie if their nearest floats do, as in columns and files.
MAX_EXACT_INTEGER = 2.0**53

# The number of scores from which numpy sorts them faster than Python.
MIN_SCORES_FOR_NUMPY = 64

# The length of a list from which it is searched for the judged documents, instead of these in a dict of the list.
MIN_LENGTH_FOR_SET = 256

# The length of a list for each document to be found in it from which it is searched block by block, and of a block.
MIN_LENGTH_PER_FOUND = 64
BLOCK_LENGTH = 256

# The number of judged documents from which a loop in C finds those in a ranking faster, in spite of its start.
MIN_JUDGED_FOR_C_LOOP = 16

# How many of the first scores are compared to guess whether a ranking is stored best first.
N_PROBED_SCORES = 8


def judge_by_id(qrels: Qrels, run: RunMapping, order: ScoreOrder, lengths: Lengths | None = None) -> JudgedRun:
    """Find the judged documents of every query in its ranking."""
    found = _find_in_short_rankings(qrels, run, order)
    if found is None:
        found = _find_in_short_lists(qrels, run)
    if found is None:
        found = _find_query_by_query(qrels, run, order)
    _require_matching_id_types(qrels, found.id_types)
    return JudgedRun(
        qrels, found.items, found.n_retrieved, found.duplicates, lengths=lengths, read_scores=found.read_scores
    )


class _FoundDocuments(NamedTuple):
    """What was found in the rankings of a run: see `JudgedRun`, and the types of the ids of the run."""

    items: Items
    n_retrieved: IntArray
    duplicates: Duplicates
    read_scores: ReadScores | None
    id_types: set[type]


def _find_query_by_query(qrels: Qrels, run: RunMapping, order: ScoreOrder) -> _FoundDocuments:
    """Look at one ranking after another."""
    finder = IdFinder(qrels.queries, qrels.documents, qrels.bounds, order)
    id_types: set[type] = set()
    ranking_by_query: Mapping[Any, Any] = run
    for index, query in enumerate(qrels.queries):
        ranking = ranking_by_query.get(query)
        if ranking is None and query not in ranking_by_query:
            continue
        if type(ranking) is dict or isinstance(ranking, Mapping):  # checking for dict first is much cheaper
            if ranking:
                if "" in ranking and not order.single_precision:  # the drop-in takes what pytrec_eval takes
                    refuse_empty_id(query)
                id_types.add(type(next(iter(ranking))))
                finder.find_in_scores(index, ranking)
                finder.n_retrieved[index] = len(ranking)
        else:
            document_ids = as_list(ranking, query)
            if document_ids:
                # Counting one type takes less time than collecting all of them.
                if countOf(map(type, document_ids), str) == len(document_ids):
                    id_types.add(str)
                else:
                    id_types.update(map(type, document_ids))
                finder.n_retrieved[index] = len(document_ids)
                finder.find_in_list(index, document_ids)
    n_retrieved = np.array(finder.n_retrieved)
    return _FoundDocuments(finder.items(qrels), n_retrieved, finder.duplicates(), finder.read_scores, id_types)


def _find_in_short_rankings(qrels: Qrels, run: RunMapping, order: ScoreOrder) -> _FoundDocuments | None:
    """Look at all rankings at once if they are short and have scores; None if not."""
    rankings = list_short_rankings(qrels, run)
    if rankings is None:
        return None
    if not order.single_precision and any(map(dict.__contains__, rankings, repeat(""))):
        return None
    ranks = find_in_short_rankings(qrels, rankings, single_precision=order.single_precision)
    if ranks is None:
        return None
    if (ranks.n_equal > 1).any():
        finder = IdFinder(qrels.queries, qrels.documents, qrels.bounds, order)
        finder.take_short_ranks(ranks, rankings)
        items = finder.items(qrels)
    else:
        items = Items.ordered(qrels, ranks.position, ranks.n_above + 1)
    first_ids = map(next, map(iter, filter(None, rankings)))
    return _FoundDocuments(items, ranks.n_retrieved, NO_DUPLICATES, None, set(map(type, first_ids)))


def _find_in_short_lists(qrels: Qrels, run: RunMapping) -> _FoundDocuments | None:
    """Look at all rankings at once if they are short lists of distinct ids; None if not."""
    ranks = find_in_short_lists(qrels, run)
    if ranks is None:
        return None
    items = Items.ordered(qrels, ranks.position, ranks.rank)
    return _FoundDocuments(items, ranks.n_retrieved, NO_DUPLICATES, None, ranks.id_types)


def _require_matching_id_types(qrels: Qrels, id_types: set[type]) -> None:
    """Raise unless the ids of the run and of the judgments are of one type, so that they can match."""
    run_type = common_id_type(id_types - {MissingId}, "document IDs in the run")
    qrels_ids = "document IDs in the qrels"
    if run_type is str and qrels.document_kind is int and {0, 1} <= set(qrels.documents) <= {0, 1, 2, 3}:
        qrels_ids += " (if these are grades, write {id: grade})"
    require_same_id_type(qrels.document_kind, qrels_ids, run_type, "those in the run")


class MissingId:
    """A placeholder for an item without an id: it keeps its rank and equals nothing."""


class _Tie(NamedTuple):
    """The documents with the same score as a judged one: how many there are, and the first of their ranks."""

    n_tied: int
    first_rank: int


class _Duplicate(NamedTuple):
    """A rank that repeats a document: the positions of the query and of the document, the latter -1 if not judged."""

    query: int
    rank: int
    document: int


class IdFinder:
    """Looks up the judged documents and collects their ranks.

    Attributes:
        queries: The judged queries.
        documents: The judged documents of all queries.
        bounds: Where the documents of each query begin in `documents`, and the end of the last.
        positions: The position in `documents` of each judged document that was retrieved.
        n_above: How many documents are ranked above each of these.
        n_retrieved: How many documents were retrieved for each query.
        read_scores: What was read of the mappings that are too long to copy.
    """

    def __init__(
        self, queries: Sequence[QueryId], documents: Sequence[Any], bounds: Sequence[int], order: ScoreOrder
    ) -> None:
        self.queries = queries
        self.documents = documents
        self.bounds = bounds
        self.positions: list[int] = []
        self.n_above: list[int] = []
        self.n_retrieved = [0] * len(queries)
        self._breaks_ties_by_id = order.ties != "input"
        self._single_precision = order.single_precision
        self._tie_by_index: dict[int, _Tie] = {}  # by index in `positions`
        self.read_scores = ReadScores(documents)
        self._duplicates: list[_Duplicate] = []

    def find_in_scores(self, index: int, ranking: Mapping[Any, float]) -> None:
        """Find the ranks of the judged documents of a query among scored ones, ordered as the `ScoreOrder` says."""
        start = self.bounds[index]
        end = self.bounds[index + 1]
        documents = self.documents
        scores = list(ranking.values())
        if end - start > MIN_JUDGED_FOR_C_LOOP:
            positions = list(compress(range(start, end), map(ranking.__contains__, documents[start:end])))
            found_scores = [ranking[documents[position]] for position in positions]
        else:
            positions = []
            found_scores = []
            for position in range(start, end):
                document = documents[position]
                if document in ranking:
                    positions.append(position)
                    found_scores.append(ranking[document])
        total: Any = None
        try:
            # The sum is finite only if every score is, and summing is one pass in C.
            total = sum(scores)
            has_finite_sum = isfinite(total)
        except (TypeError, OverflowError):
            has_finite_sum = False
        if not has_finite_sum:
            require_finite_scores(ranking, self.queries[index])
        if len(scores) > MAX_COPIED_SCORES and type(ranking) is dict:
            comparable_total = total if has_finite_sum else sum_scores(ranking)
            self.read_scores.add(index, ranking, comparable_total, positions, found_scores)
        if not positions:
            return
        ascending = _sort_ascending(scores, total)
        if ascending[-1] > MAX_EXACT_INTEGER or ascending[0] < -MAX_EXACT_INTEGER:
            ascending = list(map(float, ascending))
            found_scores = list(map(float, found_scores))
        ends = [bisect_right(ascending, score) for score in found_scores]
        if self._single_precision and may_gain_a_tie(ascending, ends):
            ranking = round_ranking(ranking)
            ascending = sorted(ranking.values())
            ends = [bisect_right(ascending, ranking[self.documents[position]]) for position in positions]
        n_retrieved = len(ascending)
        tied_scores = _collect_ties(ascending, ends, len(self.positions))
        self.positions += positions
        self.n_above += [n_retrieved - score_end for score_end in ends]
        if tied_scores:
            self._break_ties(tied_scores, ranking)

    def take_short_ranks(self, ranks: ShortRanks, rankings: Sequence[dict[Any, Any]]) -> None:
        """Take the ranks of the judged documents of all queries, and break their ties."""
        self.positions = ranks.position.tolist()
        self.n_above = ranks.n_above.tolist()
        tied = np.flatnonzero(ranks.n_equal > 1).tolist()
        tied_scores_by_query: dict[int, dict[int, float]] = {}
        for found_index in tied:
            query = bisect_right(self.bounds, self.positions[found_index]) - 1
            tied_scores_by_query.setdefault(query, {})[found_index] = float(ranks.score[found_index])
        for query, tied_scores in tied_scores_by_query.items():
            ranking = round_ranking(rankings[query]) if self._single_precision else rankings[query]
            self._break_ties(tied_scores, ranking)

    def _break_ties(self, tied_scores: Mapping[int, float], ranking: Mapping[Any, float]) -> None:
        """Correct the ranks of judged documents that tie, given their scores by index in `positions`."""
        ids_by_score: dict[float, list[str]] = {score: [] for score in tied_scores.values()}
        for document, score in ranking.items():
            tied_ids = ids_by_score.get(float(score))
            if tied_ids is not None:
                tied_ids.append(str(document))
        if self._breaks_ties_by_id:
            for tied_ids in ids_by_score.values():
                tied_ids.sort()
        for found_index, score in tied_scores.items():
            tied_ids = ids_by_score[score]
            self._tie_by_index[found_index] = _Tie(len(tied_ids), self.n_above[found_index] + 1)
            document_id = str(self.documents[self.positions[found_index]])
            if self._breaks_ties_by_id:
                self.n_above[found_index] += len(tied_ids) - bisect_right(tied_ids, document_id)
            else:
                self.n_above[found_index] += tied_ids.index(document_id)

    def find_in_list(self, index: int, ranking: Sequence[DocumentId]) -> None:
        """Find the first rank of each judged document of a query in a list of ids, best first."""
        start = self.bounds[index]
        end = self.bounds[index + 1]
        n_retrieved = len(ranking)
        try:
            if n_retrieved > MIN_LENGTH_FOR_SET:
                distinct_ids = set(ranking)
                if len(distinct_ids) == n_retrieved:
                    if "" in distinct_ids:
                        refuse_empty_id(self.queries[index])
                    self._find_in_long_list(start, end, ranking, distinct_ids)
                    return
            first_index: dict[Any, int] = dict(zip(reversed(ranking), range(n_retrieved - 1, -1, -1), strict=True))
        except TypeError as error:
            query = self.queries[index]
            raise TypeError(
                f"the ranking of query {query!r} holds something that is not a document ID: {error}"
            ) from error
        if "" in first_index:
            refuse_empty_id(self.queries[index])
        for position, document in enumerate(self.documents[start:end], start):
            n_above = first_index.get(document)
            if n_above is not None:
                self.positions.append(position)
                self.n_above.append(n_above)
        if n_retrieved > len(first_index):
            self._collect_duplicates(index, ranking, first_index)

    def _find_in_long_list(
        self, start: int, end: int, ranking: Sequence[DocumentId], distinct_ids: Collection[DocumentId]
    ) -> None:
        """Find the ranks of the judged documents in a list without duplicates; a dict of a long list takes longer."""
        judged = enumerate(self.documents[start:end], start)
        position_by_document = {document: position for position, document in judged if document in distinct_ids}
        if len(position_by_document) * MIN_LENGTH_PER_FOUND < len(ranking):
            ranks = _find_few(set(position_by_document), ranking)
        else:
            ranks = list(compress(range(len(ranking)), map(position_by_document.__contains__, ranking)))
        self.positions += [position_by_document[ranking[n_above]] for n_above in ranks]
        self.n_above += ranks

    def _collect_duplicates(self, index: int, ranking: Sequence[DocumentId], first_index: Mapping[Any, int]) -> None:
        start = self.bounds[index]
        end = self.bounds[index + 1]
        judged_positions: dict[Any, int] = {
            document: position for position, document in enumerate(self.documents[start:end], start)
        }
        for n_above, document in enumerate(ranking):
            if first_index[document] != n_above:
                self._duplicates.append(_Duplicate(index, n_above + 1, judged_positions.get(document, -1)))

    def duplicates(self) -> Duplicates:
        """Return the ranks that repeat a document of the same ranking."""
        if not self._duplicates:
            return NO_DUPLICATES
        query, rank, document = np.array(self._duplicates, dtype=np.int64).reshape(-1, 3).T
        return Duplicates(query, rank, document)

    def items(self, qrels: Qrels) -> Items:
        """Return the judged documents that were retrieved, ordered by query and rank."""
        document = np.array(self.positions, dtype=np.int64)
        rank = np.array(self.n_above, dtype=np.int64) + 1
        if not self._tie_by_index:
            return Items.ordered(qrels, document, rank)
        tied = np.ones_like(rank)
        tied_from = rank.copy()
        tied_rows = list(self._tie_by_index)
        n_tied, first_rank = np.array(list(self._tie_by_index.values()), dtype=np.int64).T
        tied[tied_rows] = n_tied
        tied_from[tied_rows] = first_rank
        return Items.ordered(qrels, document, rank, tied, tied_from)


def _find_few(documents: set[Any], ranking: Sequence[DocumentId]) -> list[int]:
    """Return how many documents are above each of a few that a list holds once, in any order; the set is emptied."""
    ranks = []
    for first in range(0, len(ranking), BLOCK_LENGTH):
        if not documents:  # most are near the top
            break
        block = ranking[first : first + BLOCK_LENGTH]
        # A set tells which of its elements are in a list faster than anything that tells where they are.
        documents_in_block = documents.intersection(block)
        ranks += [first + block.index(document) for document in documents_in_block]
        documents -= documents_in_block
    return ranks


def _collect_ties(ascending: Any, ends: list[int], first_index: int) -> dict[int, float]:
    """Return the scores of interest that other documents have, too, by index; they end at `ends` in the order."""
    tied_scores: dict[int, float] = {}
    for found_index, score_end in enumerate(ends, start=first_index):
        if score_end > 1 and ascending[score_end - 2] == ascending[score_end - 1]:
            tied_scores[found_index] = float(ascending[score_end - 1])
    return tied_scores


def _sort_ascending(scores: list[Any], total: Any) -> Any:
    """Return scores in ascending order; the list may be sorted in place, and `total` is its sum, if they have any."""
    if len(scores) < MIN_SCORES_FOR_NUMPY:
        scores.sort()
        return scores
    first_scores = scores[:N_PROBED_SCORES]
    if not isinstance(total, float | int) or first_scores == sorted(first_scores, reverse=True):
        scores.sort()  # in place, because a copy would double the cost
        return scores
    numbers = np.fromiter(scores, np.float64, len(scores))
    numbers.sort()
    return numbers
