"""Find ids that are shifted by one: documents counted from 0 here and from 1 there, or rankings of the query before."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, islice, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from retrieval_metrics.evaluation.own_id_first import iterate_first_rankings
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import BoolArray, QueryId
    from retrieval_metrics.evaluation.scores import Origin, Scores
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.judged_run import JudgedRun

# The first so many queries are looked at, and the first so many results of each.
MAX_QUERIES = 100
MAX_RANK = 10
# With fewer relevant documents, it could be chance.
MIN_DOCUMENTS = 20
# Documents are counted if so many have ids that differ in the number alone; of a few, it is a year, version or part.
MIN_NUMBERS = 10
# Shifted ids find most relevant documents, and the ids as they are hardly any.
MAX_FOUND_SHARE = 0.2
MIN_SHIFTED_SHARE = 0.5

DIGITS = "0123456789"
# The digit after each, and the one before, where there is one: most numbers are shifted in the last digit alone.
NEIGHBOURS = {1: dict(pairwise(DIGITS)), -1: {digit: before for before, digit in pairwise(DIGITS)}}


@dataclass(frozen=True, slots=True)
class ShiftedIds:
    """How many relevant documents are found if one side is shifted by one.

    Attributes:
        side: Whether the ids of documents are shifted, or the rankings of queries.
        offset: What to add to an id of the judgments, or to the place of a query, to get that of the run.
        n_shifted: How many relevant documents are found so among the first results.
        n_found: How many are found as the ids are.
        n_relevant: Of how many.
        judged_id: One of the documents.
        retrieved_id: The id under which it is retrieved; for shifted rankings, the query whose ranking has it.
    """

    side: Literal["documents", "queries"]
    offset: int
    n_shifted: int
    n_found: int
    n_relevant: int
    judged_id: Any
    retrieved_id: Any


def find_shifted_ids(scores: Scores) -> ShiftedIds | None:
    """Return that ids or rankings of a run are shifted by one; None if they are not, or the run is unknown.

    They are looked for once.
    """
    cache = scores.cache
    if cache.shifted_ids is None:
        shifted_ids = None if scores.origin is None else search_shifted_ids(scores.origin)
        cache.shifted_ids = [] if shifted_ids is None else [shifted_ids]
    return cache.shifted_ids[0] if cache.shifted_ids else None


def search_shifted_ids(origin: Origin) -> ShiftedIds | None:
    """Return that ids or rankings are shifted by one, if hardly any relevant document is found otherwise; else None."""
    judged = origin.judged
    is_relevant = judged.qrels.document_grade > 0
    n_relevant = int(np.count_nonzero(is_relevant))
    if n_relevant < MIN_DOCUMENTS or len(judged.items.document) > n_relevant / 2:
        return None
    if not isinstance(origin.run, Run) and not _may_be_shifted(judged, is_relevant):
        return None
    key = get_match_key(origin.match)
    documents = _FirstDocuments(judged.qrels, is_relevant)
    for query, ranking in iterate_first_rankings(origin.run, judged, MAX_QUERIES):
        documents.add(query, _list_first_ids(ranking, key))
    for count_shifted in (documents.count_shifted_documents, documents.count_shifted_queries):
        up = count_shifted(1)
        down = count_shifted(-1)
        if _is_conclusive(up, down):
            return up
        if _is_conclusive(down, up):
            return down
    return None


def _may_be_shifted(judged: JudgedRun, is_relevant: BoolArray) -> bool:
    """Return False if too many relevant documents are found, or too few are counted, for ids to be shifted.

    Looks only at the documents that were found already, because most runs need no more.
    """
    qrels = judged.qrels
    n_queries = min(MAX_QUERIES, len(qrels.queries))
    n_documents = int(qrels.bounds[n_queries])
    is_wanted = is_relevant[:n_documents]
    has_results = judged.n_retrieved[:n_queries] > 0
    if not has_results.all():
        is_wanted = is_wanted & has_results[qrels.document_query[:n_documents]]
    relevant = list(compress(qrels.documents[:n_documents], is_wanted.tolist()))
    if len(relevant) < MIN_DOCUMENTS:
        return False
    items = judged.items
    # Of equal scores, those that are all among the first results.
    is_found = (items.tied_from + items.tied <= MAX_RANK + 1) & (items.grade > 0) & (items.document < n_documents)
    found: list[Any] = [qrels.documents[position] for position in items.document[is_found].tolist()]
    n_without_other = _count_without_other_ranking(qrels.bounds[: n_queries + 1], has_results)
    if len(found) - n_without_other <= MAX_FOUND_SHARE * len(relevant):
        return True
    counted = _find_counted(set(relevant))
    if not counted:
        return False
    n_found = sum(map(counted.__contains__, found))
    n_relevant = sum(map(counted.__contains__, relevant))
    return n_found <= MAX_FOUND_SHARE * n_relevant


def _count_without_other_ranking(bounds: Sequence[int], has_results: BoolArray) -> int:
    """Return how many documents are judged for queries after which, or before which, there is no ranking."""
    n_without_next = bounds[-1] - bounds[-2]
    n_without_previous = bounds[1] - bounds[0]
    if not has_results.all():
        n_documents = np.diff(bounds)
        n_without_next += int(n_documents[:-1][~has_results[1:]].sum())
        n_without_previous += int(n_documents[1:][~has_results[:-1]].sum())
    return max(n_without_next, n_without_previous)


def _is_conclusive(shifted: ShiftedIds | None, opposite: ShiftedIds | None) -> bool:
    """Return whether ids are shifted in one direction, and not in the opposite one as well, as by neighbours."""
    if shifted is None or shifted.n_relevant < MIN_DOCUMENTS:
        return False
    if shifted.n_found > MAX_FOUND_SHARE * shifted.n_relevant:
        return False
    if opposite is not None and opposite.n_shifted > MAX_FOUND_SHARE * shifted.n_relevant:
        return False
    return shifted.n_shifted >= MIN_SHIFTED_SHARE * shifted.n_relevant


def _list_first_ids(ranking: Any, key: Key) -> set[Any]:
    if isinstance(ranking, Mapping):
        if len(ranking) <= MAX_RANK:
            return set(ranking)
        # At once, because a guarded ranking is checked whenever it is read.
        entries = list(ranking.items())
        return {document for document, _ in heapq.nlargest(MAX_RANK, entries, key=itemgetter(1))}
    ids = set()
    for element in islice(ranking, MAX_RANK):
        ids.add(key(element) if isinstance(element, Retrieved) else element)
    return ids


class _FirstDocuments:
    """The relevant documents of the first queries, and the ids that were retrieved for them first."""

    def __init__(self, qrels: Qrels, is_relevant: BoolArray) -> None:
        self._qrels = qrels
        self._is_relevant = is_relevant
        self._first_ids: dict[QueryId, set[Any]] = {}
        self._relevant: dict[QueryId, list[Any]] = {}

    def add(self, query: QueryId, first_ids: set[Any]) -> None:
        """Add a query with its first results."""
        qrels = self._qrels
        position = qrels.place[query]
        documents = slice(qrels.bounds[position], qrels.bounds[position + 1])
        self._first_ids[query] = first_ids
        self._relevant[query] = list(compress(qrels.documents[documents], self._is_relevant[documents].tolist()))

    @cached_property
    def _counted(self) -> set[Any]:
        return _find_counted(set(chain.from_iterable(self._relevant.values())))

    def count_shifted_documents(self, offset: int) -> ShiftedIds | None:
        """Return how many relevant documents are found if the numbers at the end of their ids are shifted."""
        shifted_id_by_document = {document: _shift_id(document, offset) for document in self._counted}
        n_relevant = 0
        n_found = 0
        shifted: list[tuple[Any, Any]] = []
        for query, ids in self._first_ids.items():
            for document in self._relevant[query]:
                if document not in shifted_id_by_document:
                    continue
                n_relevant += 1
                if document in ids:
                    n_found += 1
                elif shifted_id_by_document[document] in ids:
                    shifted.append((document, shifted_id_by_document[document]))
        if not shifted:
            return None
        return ShiftedIds("documents", offset, len(shifted), n_found, n_relevant, *shifted[0])

    def count_shifted_queries(self, offset: int) -> ShiftedIds | None:
        """Return how many relevant documents are found in the ranking of the query after or before."""
        qrels = self._qrels
        n_relevant = 0
        n_found = 0
        shifted: list[tuple[Any, Any]] = []
        for query, ids in self._first_ids.items():
            place = qrels.place[query] + offset
            if not 0 <= place < len(qrels) or qrels.queries[place] not in self._first_ids:
                continue
            other_query = qrels.queries[place]
            other_ids = self._first_ids[other_query]
            n_relevant += len(self._relevant[query])
            for document in self._relevant[query]:
                if document in ids:
                    n_found += 1
                elif document in other_ids:
                    shifted.append((document, other_query))
        if not shifted:
            return None
        return ShiftedIds("queries", offset, len(shifted), n_found, n_relevant, *shifted[0])


def _shift_id(document: str | int, offset: int) -> Any:
    """Return an id with a number at its end, larger by the offset; None if that is no number of documents."""
    if isinstance(document, int):
        return document + offset
    digit = NEIGHBOURS[offset].get(document[-1])
    if digit is not None:  # no other digit changes
        return document[:-1] + digit
    series = document.rstrip(DIGITS)
    digits = document[len(series) :]
    number = int(digits) + offset
    if number < 0:
        return None
    width = len(digits) if digits[0] == "0" else 1
    return f"{series}{number:0{width}d}"


def _find_counted(documents: set[Any]) -> set[Any]:
    """Return the documents whose ids count them: many differ in the number at the end alone."""
    documents_by_series: dict[str | None, list[Any]] = {}
    for document in documents:
        series = None
        if isinstance(document, str):
            series = document.rstrip(DIGITS)
            # Without a number at its end, or with digits of several scripts, it counts nothing.
            if series == document or series[-1:].isdecimal():
                continue
        elif not isinstance(document, int):
            continue
        documents_by_series.setdefault(series, []).append(document)
    counted: set[Any] = set()
    for documents_of_series in documents_by_series.values():
        if len(documents_of_series) >= MIN_NUMBERS:
            counted.update(documents_of_series)
    return counted
