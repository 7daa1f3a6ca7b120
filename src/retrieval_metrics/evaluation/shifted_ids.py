"""Find ids that are shifted by one: documents counted from 0 here and from 1 there, or rankings of the query before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, compress, islice, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from retrieval_metrics.evaluation.own_id_first import iterate_first_rankings
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.matching.guarded_scores import check_once

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from retrieval_metrics._internal.plain_types import BoolArray, QueryId
    from retrieval_metrics.evaluation.scores import Origin, Scores
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels

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

_DIGITS = "0123456789"
# The digits that a shift changes alone, by offset.
_SHIFTED_DIGITS = {1: dict(pairwise(_DIGITS)), -1: dict(pairwise(reversed(_DIGITS)))}


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
    qrels = judged.qrels
    is_relevant = qrels.document_grade > 0
    n_relevant = int(np.count_nonzero(is_relevant))
    if n_relevant < MIN_DOCUMENTS or len(judged.items.document) > n_relevant / 2:
        return None
    rankings = dict(iterate_first_rankings(origin.run, judged, MAX_QUERIES))
    if not _may_hold_most(qrels, is_relevant, rankings):
        return None
    relevant = {query: _list_relevant(qrels, is_relevant, query) for query in rankings}
    key = get_match_key(origin.match)
    first_ids = {query: _list_first_ids(ranking, key) for query, ranking in rankings.items()}
    numbered = _find_counted(chain.from_iterable(relevant.values()))
    up = _count_documents(relevant, first_ids, numbered, 1)
    down = _count_documents(relevant, first_ids, numbered, -1)
    if not _is_conclusive(up, down) and not _is_conclusive(down, up):
        up = _count_queries(relevant, first_ids, qrels, 1)
        down = _count_queries(relevant, first_ids, qrels, -1)
    if _is_conclusive(up, down):
        return up
    if _is_conclusive(down, up):
        return down
    return None


def _may_hold_most(qrels: Qrels, is_relevant: BoolArray, queries: Collection[QueryId]) -> bool:
    """Return whether the first results of queries are enough to hold most of their relevant documents."""
    n_relevant_by_query = np.bincount(qrels.document_query[is_relevant], minlength=len(qrels))
    n_relevant = n_relevant_by_query[[qrels.place[query] for query in queries]].sum()
    return bool(n_relevant >= MIN_DOCUMENTS and MIN_SHIFTED_SHARE * n_relevant <= MAX_RANK * len(queries))


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
        scores = check_once(ranking)
        if len(scores) <= MAX_RANK:
            return set(scores)
        return set(sorted(scores, key=scores.__getitem__, reverse=True)[:MAX_RANK])
    ids = set()
    for element in islice(ranking, MAX_RANK):
        ids.add(key(element) if isinstance(element, Retrieved) else element)
    return ids


def _list_relevant(qrels: Qrels, is_relevant: BoolArray, query: QueryId) -> list[Any]:
    place = qrels.place[query]
    rows = slice(qrels.bounds[place], qrels.bounds[place + 1])
    return list(compress(qrels.documents[rows], is_relevant[rows].tolist()))


def _count_documents(
    relevant: Mapping[QueryId, list[Any]],
    first_ids: Mapping[QueryId, set[Any]],
    series_by_document: Mapping[Any, str],
    offset: int,
) -> ShiftedIds | None:
    """Return how many relevant documents are found if the numbers at the end of their ids are shifted."""
    n_relevant = 0
    n_found = 0
    shifted: list[tuple[Any, Any]] = []
    for query, ids in first_ids.items():
        for document in relevant[query]:
            series = series_by_document.get(document)
            if series is None:
                continue
            n_relevant += 1
            if document in ids:
                n_found += 1
                continue
            shifted_id = _shift_id(document, series, offset)
            if shifted_id in ids:
                shifted.append((document, shifted_id))
    if not shifted:
        return None
    return ShiftedIds("documents", offset, len(shifted), n_found, n_relevant, *shifted[0])


def _count_queries(
    relevant: Mapping[QueryId, list[Any]], first_ids: Mapping[QueryId, set[Any]], qrels: Qrels, offset: int
) -> ShiftedIds | None:
    """Return how many relevant documents are found in the ranking of the query after or before."""
    n_relevant = 0
    n_found = 0
    shifted: list[tuple[Any, Any]] = []
    for query, ids in first_ids.items():
        place = qrels.place[query] + offset
        if not 0 <= place < len(qrels) or qrels.queries[place] not in first_ids:
            continue
        other_query = qrels.queries[place]
        other_ids = first_ids[other_query]
        for document in relevant[query]:
            n_relevant += 1
            if document in ids:
                n_found += 1
            elif document in other_ids:
                shifted.append((document, other_query))
    if not shifted:
        return None
    return ShiftedIds("queries", offset, len(shifted), n_found, n_relevant, *shifted[0])


def _find_counted(documents: Iterable[Any]) -> dict[Any, str]:
    """Return the documents whose ids count them, with what stands before the number.

    Many of them differ in the number at the end alone.
    """
    documents_by_series: dict[str, set[Any]] = {}
    for document in documents:
        series = ""
        if isinstance(document, str):
            series = document.rstrip(_DIGITS)
        elif not isinstance(document, int):
            continue
        if series != document:
            documents_by_series.setdefault(series, set()).add(document)
    series_by_document: dict[Any, str] = {}
    for series, documents_of_series in documents_by_series.items():
        if len(documents_of_series) >= MIN_NUMBERS:
            series_by_document.update(dict.fromkeys(documents_of_series, series))
    return series_by_document


def _shift_id(document: Any, series: str, offset: int) -> Any:
    """Return an id whose last number, behind its series, is larger or smaller by one; None if there is none."""
    if isinstance(document, int):
        return document + offset
    last_digit = _SHIFTED_DIGITS[offset].get(document[-1])
    if last_digit is not None:  # nothing is carried, so the others stay, and this is faster
        return document[:-1] + last_digit
    digits = document[len(series) :]
    number = int(digits) + offset
    if number < 0:
        return None
    if digits.startswith("0"):
        return f"{series}{number:0{len(digits)}d}"
    return f"{series}{number}"
