"""Join judgments and rankings by document id.

Metrics need only the ranks of judged documents, so the retrieved documents are never put in order. Each judged document
is looked up in the ranking: in a mapping of scores as it is, in a list of ids by hashing each id once. With scores, its
rank is one more than the number of scores above its own, for which the scores, without their ids, are sorted and
searched. Document ids are compared only if scores tie.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import argument_order_hint, common_id_type, require_same_id_type
from retrieval_metrics.inputs.input_hints import refuse_frame, wrong_argument_hint
from retrieval_metrics.inputs.ranking_checks import as_list, require_finite_scores
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.single_precision import may_gain_a_tie, round_ranking
from retrieval_metrics.matching.judged_run import Duplicates, Items, JudgedRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics._internal.validation import DocumentId, QueryId
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.budget import Lengths
    from retrieval_metrics.matching.ranking_order import ScoreOrder

EXACT = 2.0**53
"""Integers beyond this limit tie if their nearest floats do, as in columns and files."""
MANY = 64
"""The number of scores from which numpy sorts them faster than Python."""
FEW = 8
"""The number of first scores that tell whether a run is stored best first."""


def judge_by_id(qrels: Qrels, run: RunMapping, order: ScoreOrder, lengths: Lengths | None = None) -> JudgedRun:
    """Find the judged documents of every query in its ranking."""
    finder = IdFinder(qrels.queries, qrels.documents, qrels.bounds, order)
    n_retrieved = [0] * len(qrels)
    id_types: set[type] = set()
    rankings: Mapping[Any, Any] = run
    for index, query in enumerate(qrels.queries):
        ranking = rankings.get(query)
        if ranking is None and query not in rankings:
            continue
        if type(ranking) is dict or isinstance(ranking, Mapping):  # checking for dict first is much cheaper
            if ranking:
                id_types.add(type(next(iter(ranking))))
                finder.scored(index, ranking)
                n_retrieved[index] = len(ranking)
        else:
            ranked = as_list(ranking, query)
            if ranked:
                id_types.update(map(type, ranked))
                n_retrieved[index] = len(ranked)
                finder.ranked(index, ranked)
    run_kind = common_id_type(id_types - {MissingId}, "document ids in the run")
    ids = "document ids in the qrels"
    if run_kind is str and qrels.document_kind is int and {0, 1} <= set(qrels.documents) <= {0, 1, 2, 3}:
        ids += " (if these are grades, write {id: grade})"
    require_same_id_type(qrels.document_kind, ids, run_kind, "those in the run")
    return JudgedRun(qrels, finder.items(qrels), np.array(n_retrieved), finder.repeats(), lengths=lengths)


class MissingId:
    """A placeholder for an item without an id: it keeps its rank and equals nothing."""


class IdFinder:
    """Looks up the judged documents and collects their ranks."""

    def __init__(
        self, queries: Sequence[QueryId], documents: Sequence[Any], bounds: Sequence[int], order: ScoreOrder
    ) -> None:
        self.queries, self.documents, self.bounds = queries, documents, bounds
        self.by_document_id, self.single_precision = order.ties != "input", order.single_precision
        self.found: list[int] = []
        self.above: list[int] = []
        self.tied: dict[int, tuple[int, int]] = {}
        self.repeated: list[tuple[int, int, int]] = []

    def scored(self, index: int, ranking: Mapping[Any, float]) -> None:
        """Rank the judged documents of a query by score, then by document id, both descending."""
        start, end = self.bounds[index], self.bounds[index + 1]
        get = ranking.get
        judged = enumerate(self.documents[start:end], start)
        hits = [(at, score) for at, document in judged if (score := get(document)) is not None]
        scores = list(ranking.values())
        try:
            # One pass in C over every score: the sum is finite only if all of them are.
            total = sum(scores)
            sound = isfinite(total)
        except (TypeError, OverflowError):
            sound = False
        if not sound:
            require_finite_scores(ranking, self.queries[index])
        if not hits:
            return
        ordered = _ascending(scores, total)
        if ordered[-1] > EXACT or ordered[0] < -EXACT:
            ordered = list(map(float, ordered))
            hits = [(at, float(score)) for at, score in hits]
        ends = [bisect_right(ordered, score) for _, score in hits]
        if self.single_precision and may_gain_a_tie(ordered, ends):
            ranking = round_ranking(ranking)
            hits = [(at, ranking[self.documents[at]]) for at, _ in hits]
            ordered = sorted(ranking.values())
            ends = [bisect_right(ordered, score) for _, score in hits]
        n, first = len(ordered), len(self.found)
        tied = {
            place: float(ordered[end - 1])
            for place, end in enumerate(ends, start=first)
            if end > 1 and ordered[end - 2] == ordered[end - 1]
        }
        self.found += [at for at, _ in hits]
        self.above += [n - end for end in ends]
        if tied:
            self._break_ties(tied, ranking)

    def _break_ties(self, tied: Mapping[int, float], ranking: Mapping[Any, float]) -> None:
        blocks: dict[float, list[str]] = {score: [] for score in tied.values()}
        for document, score in ranking.items():
            if (block := blocks.get(float(score))) is not None:
                block.append(str(document))
        if self.by_document_id:
            for block in blocks.values():
                block.sort()
        for place, score in tied.items():
            block = blocks[score]
            self.tied[place] = len(block), self.above[place] + 1
            document = str(self.documents[self.found[place]])
            if self.by_document_id:
                self.above[place] += len(block) - bisect_right(block, document)
            else:
                self.above[place] += block.index(document)

    def ranked(self, index: int, ranking: Sequence[DocumentId]) -> None:
        """Take the documents of a query in the given order."""
        n = len(ranking)
        try:
            position: dict[Any, int] = dict(zip(reversed(ranking), range(n - 1, -1, -1), strict=True))
        except TypeError as error:
            query = self.queries[index]
            raise TypeError(
                f"the ranking of query {query!r} holds something that is not a document id: {error}"
            ) from error
        start, end = self.bounds[index], self.bounds[index + 1]
        for at, document in enumerate(self.documents[start:end], start):
            above = position.get(document)
            if above is not None:
                self.found.append(at)
                self.above.append(above)
        if n > len(position):
            self._note_repeats(index, ranking, position)

    def _note_repeats(self, index: int, ranking: Sequence[DocumentId], position: Mapping[Any, int]) -> None:
        start, end = self.bounds[index], self.bounds[index + 1]
        judged: dict[Any, int] = {document: at for at, document in enumerate(self.documents[start:end], start)}
        self.repeated.extend(
            (index, above + 1, judged.get(document, -1))
            for above, document in enumerate(ranking)
            if position[document] != above
        )

    def repeats(self) -> Duplicates:
        """Return the ranks of documents that appear earlier in the ranking."""
        columns = np.array(self.repeated, dtype=np.int64).reshape(-1, 3).T
        return Duplicates(*columns)

    def items(self, qrels: Qrels) -> Items:
        """Return the columns, ordered by query and rank."""
        document, rank = np.array(self.found, dtype=np.int64), np.array(self.above, dtype=np.int64) + 1
        if not self.tied:
            return Items.ordered(qrels, document, rank)
        tied, tied_from = np.ones_like(rank), rank.copy()
        at = list(self.tied)
        tied[at], tied_from[at] = np.array(list(self.tied.values()), dtype=np.int64).T
        return Items.ordered(qrels, document, rank, tied, tied_from)


def _ascending(scores: list[Any], total: Any) -> Any:
    """Sort scores, of which `total` is the sum."""
    if len(scores) < MANY:
        scores.sort()
        return scores
    beginning = scores[:FEW]
    if not isinstance(total, float | int) or beginning == sorted(beginning, reverse=True):
        scores.sort()  # in place, because a copy would double the cost
        return scores
    numbers = np.fromiter(scores, np.float64, len(scores))
    numbers.sort()
    return numbers


def count_common_queries(run: RunMapping, qrels: Qrels) -> int:
    """Count the judged queries of the run, and raise if the run cannot belong to these judgments."""
    if not isinstance(run, Mapping):
        refuse_frame(run, "rankings", "Run.from_frame")
        raise TypeError(
            f"a run must map each query id to its ranking, got {type(run).__name__}{wrong_argument_hint(run, 'run')}"
        )
    if hasattr(run, "interleaved"):  # Trajectories, which this folder does not know
        raise TypeError("trajectories are no run yet; evaluate a view of them, such as trajectories.union()")
    if isinstance(run, RetrievedRun):
        run.require_judged_rows(frozenset(qrels.queries))
    if not run:
        raise ValueError("the run is empty; write a query without retrieved documents as {query: []}")
    run_kind = common_id_type(set(map(type, run)), "query ids in the run")
    require_same_id_type(qrels.query_kind, "query ids in the qrels", run_kind, "those in the run")
    common = sum(map(run.__contains__, qrels.queries))
    if not common:
        raise ValueError(
            f"the run and the qrels have no query in common: the run begins with {_some(run)}, the qrels with "
            f"{_some(qrels.queries)}; {argument_order_hint()}"
        )
    return common


def _some(queries: Iterable[QueryId]) -> str:
    return ", ".join(map(repr, islice(queries, 3)))
