"""Find judged documents that were not found though an id that nearly equals theirs was retrieved for the same query.

Where texts are known, so is a document under another id, if its text is the same. Only judged ids that were not found
are looked for, and only among the ids retrieved for their queries, so nothing is searched where everything relevant was
found. In a large run, the first results of some queries are searched first, and the rest only if they hold a near miss.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.inputs.document_texts import iterate_items, unify_text
from retrieval_metrics.inputs.items import Piece, Retrieved
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.run import Run, StreamedRun
from retrieval_metrics.matching.near_ids import (
    NearIdIndex,
    find_near_kind,
    find_query_prefix,
    list_short_forms,
    list_wholes,
    may_hold_near_ids,
    remove_extension,
    remove_prefix,
    unify_loosely,
    unify_spelling,
)
from retrieval_metrics.matching.rank_rows import is_new

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import BoolArray, IntArray, QueryId
    from retrieval_metrics.inputs.batch import Batch
    from retrieval_metrics.inputs.document_texts import DocumentTexts
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.matching.near_ids import NearIdKind
    from retrieval_metrics.matching.value_types import TypeMismatch

# How many queries, and how many ids in all of them, are searched at first.
MAX_SAMPLED_QUERIES = 100
MAX_SAMPLED_IDS = 7_000
# If at least one of so many judged documents is listed, all are.
MAX_DOCUMENTS_PER_LISTED = 2
# How many ids of each side are searched for documents that differ in the same way.
MAX_COMPARED_IDS = 20_000
# How many ids of each query are searched for forms that no other query has.
MAX_COMPARED_FORMS = 20
# Fewer ids of another form could be a few documents of another kind.
MIN_IDS_OF_ANOTHER_FORM = 5
# If documents that differ in the same way are more than this share of the near misses, ids of this form are different
# documents in this collection.
MAX_DISTINCT_SHARE = 0.3
# Kinds that different documents also show: a single near miss among many documents that were not found is chance.
MIN_SHARE_BY_KIND: Mapping[NearIdKind, float] = {
    "case": 0.05,
    "leading_zeros": 0.05,
    "decimal_point": 0.05,
    "markup": 0.05,
    "quotation_marks": 0.05,
    "separators": 0.05,
    "diacritics": 0.05,
    "printed": 0.05,
    "joined": 0.05,
    "uuid_form": 0.05,
    "url_form": 0.05,
    "number_form": 0.05,
    "prefix": 0.05,
    "query_prefix": 0.05,
    "path": 0.05,
    "part": 0.05,
    "numbered_part": 0.1,
    "version": 0.1,
    "truncated": 0.1,
    "file_extension": 0.05,
}
# In these, no two documents of a collection differ, whatever else is judged or retrieved.
UNAMBIGUOUS_KINDS: frozenset[NearIdKind] = frozenset(
    {"unicode_form", "invisible_characters", "blanks", "percent_encoding", "slashes", "encoding"}
)
# In these, queries whose ids all have another form were answered by another index. In others, such as parts, they may
# have found documents of another kind, as the answers in a forum whose questions are judged.
KINDS_OF_ANOTHER_INDEX: frozenset[NearIdKind] = frozenset(
    {
        "case",
        "leading_zeros",
        "decimal_point",
        "separators",
        "diacritics",
        "url_form",
        "uuid_form",
        "file_extension",
    }
)
# As many ids of whole documents end in a number, or hold a comma, a single one says nothing.
AMBIGUOUS_KINDS: frozenset[NearIdKind] = frozenset({"numbered_part", "version", "prefix", "joined", "truncated"})
MIN_NUMBERED_PARTS = 2


class NearMiss(NamedTuple):
    """A relevant document that was not found, and the retrieved id that nearly equals its own.

    Attributes:
        position: The position of the document in `Qrels.documents`.
        query: Its query.
        judged_id: Its id.
        retrieved_id: The retrieved id, as it was compared with the judgments.
        kind: In what the two differ.
    """

    position: int
    query: QueryId
    judged_id: Any
    retrieved_id: Any
    kind: NearIdKind


class NearCandidates(NamedTuple):
    """Missing documents for which another spelling of their ids was retrieved.

    Attributes:
        near_misses: Those whose two ids are not both in use, query by query.
        n_distinct: How many pairs of different documents differ so, by kind.
    """

    near_misses: tuple[NearMiss, ...]
    n_distinct: Mapping[NearIdKind, int]

    def select_near_misses(self, n_missing: int) -> list[NearMiss]:
        """Return the candidates that are no different documents, judged by all of the run.

        Args:
            n_missing: How many relevant documents were not found in queries with results.
        """
        by_kind: dict[NearIdKind, list[NearMiss]] = {}
        for candidate in self.near_misses:
            by_kind.setdefault(candidate.kind, []).append(candidate)
        accepted: list[NearMiss] = []
        n_without_candidate = n_missing - len(self.near_misses)
        for kind, near_misses in by_kind.items():
            n_distinct = self.n_distinct.get(kind, 0)
            if kind not in UNAMBIGUOUS_KINDS and n_distinct > MAX_DISTINCT_SHARE * len(near_misses):
                continue
            # What another kind explains is no sign that this one is chance.
            if len(near_misses) < MIN_SHARE_BY_KIND.get(kind, 0) * (n_without_candidate + len(near_misses)):
                continue
            if kind == "truncated" and not _are_cut_alike(near_misses):
                continue
            is_ambiguous = kind in AMBIGUOUS_KINDS and not _is_first_part(near_misses[0])
            if is_ambiguous and len(near_misses) < MIN_NUMBERED_PARTS:
                continue
            accepted += near_misses
        return sorted(accepted, key=lambda near_miss: near_miss.position)


NO_CANDIDATES = NearCandidates((), {})


@dataclass(frozen=True, slots=True)
class NearMisses:
    """The near misses of a run.

    Attributes:
        entries: The near misses, query by query.
        n_missing: How many relevant documents were not found in queries with results.
        candidates: What was found before the whole run decided, which the parts of a larger run need.
    """

    entries: tuple[NearMiss, ...] = ()
    n_missing: int = 0
    candidates: NearCandidates = NO_CANDIDATES

    @classmethod
    def merge(cls, parts: Iterable[NearMisses]) -> NearMisses:
        """Return the near misses of a run of which these are parts, with different queries."""
        candidates: list[NearMiss] = []
        n_distinct: Counter[NearIdKind] = Counter()
        n_missing = 0
        for part in parts:
            for near_miss in part.candidates.near_misses:
                candidates.append(near_miss._replace(position=len(candidates)))
            n_distinct.update(part.candidates.n_distinct)
            n_missing += part.n_missing
        merged = NearCandidates(tuple(candidates), n_distinct)
        return cls(tuple(merged.select_near_misses(n_missing)), n_missing, merged)

    def __len__(self) -> int:
        return len(self.entries)

    def count_by_kind(self) -> Counter[NearIdKind]:
        """Return how many near misses there are of each kind, the most frequent first."""
        return Counter(dict(Counter(near_miss.kind for near_miss in self.entries).most_common()))

    def find_example(self) -> NearMiss | None:
        """Return the first near miss of the most frequent kind; None if there is none."""
        if not self.entries:
            return None
        most_frequent = next(iter(self.count_by_kind()), None)
        for near_miss in self.entries:
            if near_miss.kind == most_frequent:
                return near_miss
        return None


NO_NEAR_MISSES = NearMisses()


def find_near_misses(
    judged: JudgedRun,
    run: Mapping[Any, Any],
    match: str | Key | Matching,
    document_texts: DocumentTexts | None = None,
) -> NearMisses:
    """Return the near misses of a judged run; they are searched once and kept in it.

    An id is no near miss if it is judged for the query. Nor are ids that stand for different documents: where the
    judgments or the run hold both forms, or more than a few pairs of documents that differ in the same way; only in
    Unicode form, blanks and the like do no two documents differ. Queries whose ids all have a form of their own do not
    count for that in kinds such as case, because another index has answered them.

    Args:
        judged: The judged run.
        run: The run, as given.
        match: What ids of the judgments were compared with.
        document_texts: The texts of documents, as far as they are known.
    """
    if judged.near_misses is None:
        judged.near_misses = _search(judged, run, match, document_texts)
    return judged.near_misses


def find_type_mismatches(judged: JudgedRun, run: Mapping[Any, Any]) -> Sequence[TypeMismatch]:
    """Return the judgments by metadata or source that differ from results only in a type; they are searched once.

    Args:
        judged: The judged run.
        run: The run, as given.
    """
    if not judged.qrels.has_pieces:
        return ()
    if judged.type_mismatches is None:
        # Imported here because few judgments are such pieces, and the types of values take long to import.
        from retrieval_metrics.matching.value_types import search_type_mismatches

        judged.type_mismatches = search_type_mismatches(judged, run, find_missing(judged))
    return judged.type_mismatches


def _search(
    judged: JudgedRun, run: Mapping[Any, Any], match: str | Key | Matching, document_texts: DocumentTexts | None
) -> NearMisses:
    if judged.qrels.document_kind is None or (judged.qrels.document_kind is int and document_texts is None):
        return NO_NEAR_MISSES
    is_missing = find_missing(judged)
    positions = np.flatnonzero(is_missing)
    if not len(positions):
        return NO_NEAR_MISSES
    candidates = NO_CANDIDATES
    if judged.qrels.document_kind is str:
        candidates = _search_spellings(judged, run, match, positions)
    entries = candidates.select_near_misses(len(positions))
    if document_texts is not None:
        explained = {near_miss.position for near_miss in entries}
        unexplained = [position for position in positions.tolist() if position not in explained]
        entries += find_equal_texts(judged, run, get_match_key(match), unexplained, document_texts)
        entries.sort(key=lambda near_miss: near_miss.position)
    return NearMisses(tuple(entries), len(positions), candidates)


def _search_spellings(
    judged: JudgedRun, run: Mapping[Any, Any], match: str | Key | Matching, positions: IntArray
) -> NearCandidates:
    """Return the missing documents for which another spelling of their ids was retrieved."""
    sampled = _sample_queries(judged, positions)
    if not isinstance(run, Run) and not _may_hold_near_misses(judged, run, match, sampled):
        return NO_CANDIDATES
    sample = _Search(judged, run, match, sampled)
    if next(sample.find(MAX_SAMPLED_IDS // max(len(sample.queries), 1), is_sample=True), None) is None:
        return NO_CANDIDATES
    search = _Search(judged, run, match, positions)
    candidates = list(search.find(None))
    return _separate_distinct_documents(candidates, search)


def find_equal_texts(
    judged: JudgedRun,
    run: Mapping[Any, Any],
    key: Key,
    positions: Sequence[int],
    document_texts: DocumentTexts,
) -> list[NearMiss]:
    """Return the missing documents whose texts were retrieved under ids that nobody knows.

    An id that is judged, or that stands beside the missing one in a corpus or in a run, is another document, which
    happens to have the same text.

    Args:
        judged: The judged run.
        run: The run, as given.
        key: Returns the id of an item.
        positions: The missing documents, as positions in `Qrels.documents`.
        document_texts: The texts of documents.
    """
    if not any(iterate_items(run, 1)):
        return []
    qrels = judged.qrels
    positions_by_query: dict[QueryId, dict[str, int]] = {}
    for position in positions:
        document = qrels.documents[position]
        judged_text = None if isinstance(document, Piece) else document_texts.find_text(document)
        if judged_text is not None:
            query = qrels.queries[int(qrels.document_query[position])]
            positions_by_query.setdefault(query, {}).setdefault(judged_text, position)
    judged_ids = {document for document in qrels.documents if not isinstance(document, Piece)}
    entries = []
    for query, position_by_text in positions_by_query.items():
        for item in run[query]:
            item_id = key(item) if isinstance(item, Retrieved) and item.text is not None else None
            if item_id is None or item_id in judged_ids:
                continue
            text = unify_text(item.text)
            if text not in position_by_text:
                continue
            judged_id: Any = qrels.documents[position_by_text[text]]
            if not document_texts.are_different(judged_id, item_id):
                entries.append(NearMiss(position_by_text.pop(text), query, judged_id, item_id, "same_text"))
    return entries


def _may_hold_near_misses(
    judged: JudgedRun, run: Mapping[Any, Any], match: str | Key | Matching, positions: IntArray
) -> bool:
    """Return whether missing documents could have near misses: never wrong if it says no.

    Most collections hold ids of one form, which one look at all of them together shows; a search takes longer than the
    metrics of a small run.
    """
    qrels = judged.qrels
    ids = _list_documents(qrels, positions)
    owners = qrels.document_query[positions]
    queries = owners[is_new(owners)].tolist()
    depth = MAX_SAMPLED_IDS // len(queries)
    for owner in queries:
        ids.extend(islice(run[qrels.queries[owner]], depth))
    try:
        return may_hold_near_ids(ids)
    except TypeError:  # items, or pieces, which have no id
        return may_hold_near_ids(_list_text_ids(ids, get_match_key(match)))


def _list_text_ids(elements: Sequence[Any], key: Key) -> list[str]:
    """Return the ids that are text among ids, items and pieces."""
    text_ids = []
    for element in elements:
        element_id = key(element) if isinstance(element, Retrieved) else element
        if isinstance(element_id, str):
            text_ids.append(element_id)
    return text_ids


def _list_documents(qrels: Qrels, positions: IntArray) -> list[Any]:
    """Return the documents at some positions, or all if these are many, because a copy takes no look at each."""
    if len(positions) * MAX_DOCUMENTS_PER_LISTED < len(qrels.documents):
        return list(map(qrels.documents.__getitem__, positions.tolist()))
    return list(qrels.documents)


def _sample_queries(judged: JudgedRun, positions: IntArray) -> IntArray:
    """Return the missing documents of some queries, evenly spread; all if the queries are few."""
    if judged.n_queries <= MAX_SAMPLED_QUERIES:
        return positions
    owners = judged.qrels.document_query[positions]
    queries = owners[is_new(owners)]
    if len(queries) <= MAX_SAMPLED_QUERIES:
        return positions
    indices = np.linspace(0, len(queries) - 1, MAX_SAMPLED_QUERIES).astype(np.int64)
    is_sampled = np.zeros(judged.n_queries, dtype=np.bool_)
    is_sampled[queries[indices]] = True
    sampled: IntArray = positions[is_sampled[owners]]
    return sampled


def find_missing(judged: JudgedRun) -> BoolArray:
    """Return which judged documents matter, were not found, and belong to a query with results."""
    qrels = judged.qrels
    is_missing: BoolArray = qrels.document_grade != 0
    is_missing[judged.items.document] = False
    if not qrels.is_flat and is_missing.any():
        # An alternative is not missing if another member of its group was found.
        is_found_group = np.zeros(len(qrels.group_grade), dtype=np.bool_)
        was_found = np.isin(qrels.member_document, judged.items.document)
        is_found_group[qrels.member_group[was_found]] = True
        is_needed = np.zeros(len(qrels.documents), dtype=np.bool_)
        is_needed[qrels.member_document[~is_found_group[qrels.member_group]]] = True
        is_missing &= is_needed
    if judged.without_results:
        is_missing &= judged.n_retrieved[qrels.document_query] > 0
    return is_missing


class _RetrievedIds(NamedTuple):
    """The ids that were retrieved for some queries.

    Attributes:
        wanted: Those that were looked for.
        many: Many of them, of all queries.
    """

    wanted: set[str]
    many: set[str]


class _Search:
    """A search for near misses in the rankings of a run.

    Attributes:
        queries: The queries with missing documents.
    """

    def __init__(
        self, judged: JudgedRun, run: Mapping[Any, Any], match: str | Key | Matching, positions: IntArray
    ) -> None:
        self._qrels = judged.qrels
        self._judged = judged
        self._run = run
        self._key = get_match_key(match)
        self._missing_by_query: dict[QueryId, list[int]] = {}
        owners = self._qrels.document_query[positions].tolist()
        for position, owner in zip(positions.tolist(), owners, strict=True):
            if isinstance(self._qrels.documents[position], str):  # pieces have no id
                self._missing_by_query.setdefault(self._qrels.queries[owner], []).append(position)
        self.queries = list(self._missing_by_query)

    def find(self, depth: int | None, *, is_sample: bool = False) -> Iterator[NearMiss]:
        """Yield a near miss for each missing document that has one among the first `depth` ids of its query."""
        for query, ids in self._iterate_ids(self.queries, depth, is_sample=is_sample):
            index = NearIdIndex(ids)
            for position in self._missing_by_query[query]:
                near_miss = self._find_near_miss(query, position, index)
                if near_miss is not None:
                    yield near_miss

    def _find_near_miss(self, query: QueryId, position: int, index: NearIdIndex) -> NearMiss | None:
        judged_id: Any = self._qrels.documents[position]
        place = self._qrels.place[query]
        rows = slice(self._qrels.bounds[place], self._qrels.bounds[place + 1])
        candidates = index.find(judged_id)
        id_within_query = judged_id.removeprefix(str(query))[1:]
        if id_within_query and judged_id.startswith(str(query)):
            candidates = chain(candidates, index.find(id_within_query))
        for retrieved_id in candidates:
            if retrieved_id in self._qrels.documents[rows] or retrieved_id == judged_id:
                continue
            kind = find_near_kind(judged_id, retrieved_id)
            if find_query_prefix(judged_id, retrieved_id, query):
                kind = "query_prefix"
            if kind == "joined" and len(retrieved_id) > len(judged_id):
                continue  # only the cells of judgments hold several ids
            if kind is not None:
                return NearMiss(position, query, judged_id, retrieved_id, kind)
        return None

    def _iterate_ids(
        self, queries: Sequence[QueryId], depth: int | None, *, is_sample: bool = False
    ) -> Iterator[tuple[QueryId, list[str]]]:
        """Yield the first text ids of each query, as the judgments are compared with them."""
        if not isinstance(self._run, Run):
            for query in queries:
                if query in self._run:
                    yield query, self._list_ids(self._run[query], depth)
            return
        wanted = set(queries)
        # A sample of a run on disk is the first part of the file, because reading it whole takes long.
        is_partial = is_sample and isinstance(self._run, StreamedRun)
        for batch in islice(self._run.batches(), 1 if is_partial else None):
            if batch.documents.dtype.is_integer():
                continue
            yield from _iterate_batch(batch, wanted, depth)

    def _list_ids(self, ranking: Any, depth: int | None) -> list[str]:
        ids = list(islice(ranking, depth))
        if ids and isinstance(ids[0], Retrieved):
            ids = [self._key(item) for item in ids]
        if set(map(type, ids)) == {str}:  # much faster than a look at each
            return ids
        return [document_id for document_id in ids if isinstance(document_id, str)]

    def collect_judged_ids(self) -> dict[str, None]:
        """Return the text ids that are judged for any query, each once."""
        return {document: None for document in self._qrels.documents if isinstance(document, str)}

    def find_queries_of_another_form(self) -> set[QueryId]:
        """Return the queries whose ids are all of another form: of no judged id, and of none beside one that matches.

        Another index has answered them, so their ids do not tell which documents there are.
        """
        # Imported here because few runs hold ids that nearly match.
        from retrieval_metrics.matching.id_forms import describe_form

        has_hit = np.zeros(self._judged.n_queries, dtype=np.bool_)
        has_hit[self._qrels.document_query[self._judged.items.document]] = True
        with_hits = [self._qrels.queries[place] for place in np.flatnonzero(has_hit).tolist()]
        known_ids = list(islice(self.collect_judged_ids(), MAX_COMPARED_IDS))
        n_with_hits = MAX_COMPARED_IDS // MAX_COMPARED_FORMS
        for _, ids in self._iterate_ids(with_hits[:n_with_hits], MAX_COMPARED_FORMS):
            known_ids += ids
        known_forms = {describe_form(document_id) for document_id in known_ids}
        without_hits = set(self._run).difference(with_hits)
        queries: set[QueryId] = set()
        unknown_ids: set[str] = set()
        for query, ids in self._iterate_ids(list(without_hits), MAX_COMPARED_FORMS):
            if not any(describe_form(document_id) in known_forms for document_id in ids):
                queries.add(query)
                unknown_ids.update(ids)
        return queries if len(unknown_ids) >= MIN_IDS_OF_ANOTHER_FORM else set()

    def collect_retrieved_ids(self, wanted: set[str], excluded: set[QueryId]) -> _RetrievedIds:
        """Return which of the wanted ids were retrieved for any query, and many retrieved ids.

        Args:
            wanted: The ids to look for.
            excluded: Queries that are left out.
        """
        retrieved_wanted: set[str] = set()
        retrieved: set[str] = set()
        for _, ids in self._iterate_ids([query for query in self._run if query not in excluded], None):
            retrieved_wanted |= wanted.intersection(ids)
            if len(retrieved) < MAX_COMPARED_IDS:
                retrieved.update(ids)
        return _RetrievedIds(retrieved_wanted, retrieved)


def _iterate_batch(batch: Batch, wanted: set[QueryId], depth: int | None) -> Iterator[tuple[QueryId, list[str]]]:
    """Yield the first ids of each wanted query of a batch."""
    for number, query in enumerate(batch.queries):
        if query in wanted:
            start = int(batch.bounds[number])
            size = int(batch.bounds[number + 1]) - start
            if depth is not None:
                size = min(size, depth)
            yield query, batch.documents.slice(start, size).to_list()


def _separate_distinct_documents(candidates: Sequence[NearMiss], search: _Search) -> NearCandidates:
    """Return the candidates, without those whose two ids are both in use, and count these as different documents."""
    judged_ids = search.collect_judged_ids()
    excluded = set()
    if any(candidate.kind in KINDS_OF_ANOTHER_INDEX for candidate in candidates):
        excluded = search.find_queries_of_another_form()
    wanted = {candidate.judged_id for candidate in candidates}
    wanted.update(candidate.retrieved_id for candidate in candidates if candidate.query in excluded)
    by_any = search.collect_retrieved_ids(wanted, set())
    by_others = search.collect_retrieved_ids(wanted, excluded) if excluded else by_any
    judged_pairs = _count_distinct_pairs(islice(judged_ids, MAX_COMPARED_IDS))
    n_distinct = judged_pairs + _count_distinct_pairs(by_any.many)
    n_distinct_by_others = judged_pairs + _count_distinct_pairs(by_others.many)
    for kind in KINDS_OF_ANOTHER_INDEX:
        n_distinct[kind] = n_distinct_by_others[kind]
    near_misses: list[NearMiss] = []
    for candidate in candidates:
        if candidate.query in excluded and candidate.kind in KINDS_OF_ANOTHER_INDEX:
            # The rankings that count would hold the retrieved id if it were another document.
            are_both_in_use = candidate.retrieved_id in by_others.wanted
        else:
            are_both_in_use = candidate.judged_id in by_any.wanted
        are_both_in_use |= candidate.retrieved_id in judged_ids
        if are_both_in_use and candidate.kind not in UNAMBIGUOUS_KINDS:
            n_distinct[candidate.kind] += 1
        else:
            near_misses.append(candidate)
    return NearCandidates(tuple(near_misses), n_distinct)


def _are_cut_alike(near_misses: Sequence[NearMiss]) -> bool:
    """Return whether several ids are cut off, on one side and at one length: otherwise they are other words."""
    lengths = set()
    for near_miss in near_misses:
        is_judged = len(near_miss.judged_id) < len(near_miss.retrieved_id)
        lengths.add((is_judged, min(len(near_miss.judged_id), len(near_miss.retrieved_id))))
    return len(lengths) == 1


def _is_first_part(near_miss: NearMiss) -> bool:
    """Return whether a file was retrieved as its first part, such as `d7-1.md`; `covid-19.md` is another file."""
    stem = remove_extension(near_miss.retrieved_id)
    return stem is not None and stem.endswith(("-0", "-1", "_0", "_1", ".0", ".1"))


def _count_distinct_pairs(ids: Iterable[str]) -> Counter[NearIdKind]:
    """Count, by kind, the ids that nearly equal another id of the same side: different documents, both in use."""
    first_by_spelling: dict[str, str] = {}
    n_pairs: Counter[NearIdKind] = Counter()
    for document_id in ids:
        spelling = unify_spelling(document_id)
        first = first_by_spelling.setdefault(spelling, document_id)
        if first != document_id:
            kind = find_near_kind(first, document_id)
            if kind is not None:
                n_pairs[kind] += 1
    first_by_loose_spelling: dict[str, str] = {}
    for spelling, document_id in first_by_spelling.items():
        first = first_by_loose_spelling.setdefault(unify_loosely(document_id), document_id)
        if first != document_id:
            loose_kind = find_near_kind(first, document_id)
            if loose_kind is not None:
                n_pairs[loose_kind] += 1
        if remove_prefix(spelling) in first_by_spelling:
            n_pairs["prefix"] += 1
    stems: set[str] = set()
    for spelling in first_by_spelling:
        wholes = [*list_wholes(spelling), *list_short_forms(spelling)]
        stem = remove_extension(spelling)
        if stem:
            extension = spelling[len(stem) :]
            wholes += [whole + extension for whole in list_wholes(stem)]
            n_pairs["file_extension"] += stem in stems
            stems.add(stem)
        for whole in dict.fromkeys(wholes):
            if whole in first_by_spelling:
                kind = find_near_kind(whole, spelling)
                if kind is not None:
                    n_pairs[kind] += 1
    return n_pairs
