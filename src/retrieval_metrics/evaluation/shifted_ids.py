"""Find ids that are shifted by one: documents counted from 0 here and from 1 there, or rankings of the query before."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.evaluation.own_id_first import iterate_first_rankings
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.match_key import get_match_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.evaluation.scores import Origin
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

_LAST_NUMBER = lazy_pattern(r"\d+$")


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


def find_shifted_ids(origin: Origin) -> ShiftedIds | None:
    """Return that ids or rankings are shifted by one, if hardly any relevant document is found otherwise; else None."""
    judged = origin.judged
    n_relevant = int((judged.qrels.document_grade > 0).sum())
    if n_relevant < MIN_DOCUMENTS or len(judged.items.document) > n_relevant / 2:
        return None
    key = get_match_key(origin.match)
    first_ids: dict[QueryId, set[Any]] = {}
    for query, ranking in iterate_first_rankings(origin.run, judged, MAX_QUERIES):
        first_ids[query] = _list_first_ids(ranking, key)
    for count_shifted in (_count_documents, _count_queries):
        up = count_shifted(judged.qrels, first_ids, 1)
        down = count_shifted(judged.qrels, first_ids, -1)
        if _is_conclusive(up, down):
            return up
        if _is_conclusive(down, up):
            return down
    return None


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
        # At once, because a guarded ranking is checked whenever it is read.
        entries = list(ranking.items())
        return {document for document, _ in heapq.nlargest(MAX_RANK, entries, key=itemgetter(1))}
    ids = set()
    for element in islice(ranking, MAX_RANK):
        ids.add(key(element) if isinstance(element, Retrieved) else element)
    return ids


def _list_relevant(qrels: Qrels, query: QueryId) -> list[Any]:
    position = qrels.place[query]
    relevant = []
    for document in range(qrels.bounds[position], qrels.bounds[position + 1]):
        if qrels.document_grade[document] > 0:
            relevant.append(qrels.documents[document])
    return relevant


def _count_documents(qrels: Qrels, first_ids: Mapping[QueryId, set[Any]], offset: int) -> ShiftedIds | None:
    """Return how many relevant documents are found if the numbers at the end of their ids are shifted."""
    counted = _find_counted(document for query in first_ids for document in _list_relevant(qrels, query))
    n_relevant = 0
    n_found = 0
    shifted: list[tuple[Any, Any]] = []
    for query, ids in first_ids.items():
        for document in _list_relevant(qrels, query):
            if document not in counted:
                continue
            shifted_id = _shift_id(document, offset)
            n_relevant += 1
            n_found += document in ids
            if shifted_id in ids and document not in ids:
                shifted.append((document, shifted_id))
    if not shifted:
        return None
    return ShiftedIds("documents", offset, len(shifted), n_found, n_relevant, *shifted[0])


def _count_queries(qrels: Qrels, first_ids: Mapping[QueryId, set[Any]], offset: int) -> ShiftedIds | None:
    """Return how many relevant documents are found in the ranking of the query after or before."""
    n_relevant = 0
    n_found = 0
    shifted: list[tuple[Any, Any]] = []
    for query, ids in first_ids.items():
        place = qrels.place[query] + offset
        if not 0 <= place < len(qrels) or qrels.queries[place] not in first_ids:
            continue
        other_query = qrels.queries[place]
        for document in _list_relevant(qrels, query):
            n_relevant += 1
            n_found += document in ids
            if document in first_ids[other_query] and document not in ids:
                shifted.append((document, other_query))
    if not shifted:
        return None
    return ShiftedIds("queries", offset, len(shifted), n_found, n_relevant, *shifted[0])


class _NumberedId(NamedTuple):
    """An id with a number at its end, without which it names the series; a number alone has the series None."""

    series: str | None
    digits: str


def _split_number(document: Any) -> _NumberedId | None:
    """Return an id split at the number at its end; None if it has none."""
    if isinstance(document, int):
        return _NumberedId(None, str(document))
    if not isinstance(document, str):
        return None
    match = _LAST_NUMBER.search(document)
    if match is None or not match[0].isascii():
        return None
    return _NumberedId(document[: match.start()], match[0])


def _find_counted(documents: Iterable[Any]) -> set[Any]:
    """Return the documents whose ids count them: many differ in the number at the end alone."""
    documents_by_series: dict[str | None, set[Any]] = {}
    for document in documents:
        numbered = _split_number(document)
        if numbered is not None:
            documents_by_series.setdefault(numbered.series, set()).add(document)
    counted: set[Any] = set()
    for documents_of_series in documents_by_series.values():
        if len(documents_of_series) >= MIN_NUMBERS:
            counted |= documents_of_series
    return counted


def _shift_id(document: Any, offset: int) -> Any:
    """Return an id whose last number is larger or smaller by one; None if there is none."""
    if isinstance(document, int):
        return document + offset
    numbered = _split_number(document)
    if numbered is None:
        return None
    number = int(numbered.digits) + offset
    if number < 0:
        return None
    width = len(numbered.digits) if numbered.digits.startswith("0") else 1
    return f"{numbered.series}{number:0{width}d}"
