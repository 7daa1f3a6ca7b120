"""Find out why `exclude=` left nothing out of a whole run, if something is retrieved that it nearly names.

Nothing left out is often right: the retriever has left out the query itself, or the listed documents were not
retrieved. So this speaks only where the run holds another form of what is listed:

* An id in another spelling or of another type, in the ranking of its query. Where queries list several ids, one is
  enough. Where each lists one, as its own id, or where the spelling may be that of another document, most of the
  queries must have one, because ids of queries and documents can be alike by chance.
* The id of an item if `match=` compares its source, its source if `match=` compares its id, and the like.

An id that is retrieved for another query, or judged, exists in this form, and was simply not retrieved here; and what
is judged relevant is not meant to be left out. Apart from that, items without any value to compare, and listed ids of
which the corpus of the dataset has none, can never be left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from retrieval_metrics._internal.warn import warn
from retrieval_metrics.files.record_classes import register_record
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.match_key import FILE_NAME, METADATA_PREFIX, get_file_name, get_match_key
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.near_ids import NearIdIndex, find_near_kind
from retrieval_metrics.matching.near_misses import AMBIGUOUS_KINDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.exclusion import ExcludedRun, Exclusion
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.matching.near_ids import NearIdKind

# The first so many queries with something to leave out are looked at.
MAX_QUERIES = 50
# How many results of each, the first ones.
MAX_ITEMS = 100
# How many of the ids that are listed for a query are looked at.
MAX_IDS = 20
# How many rankings are searched for an id that a ranking holds in another form.
MAX_RANKINGS = 1_000
# Among fewer queries, a spelling that other documents have, too, may be chance.
MIN_QUERIES = 5

ExclusionIssue: TypeAlias = Literal["spelling", "type", "attribute", "no_value", "not_in_corpus"]


@register_record
@dataclass(frozen=True, slots=True)
class UnusedExclusion:
    """Why nothing was left out.

    Attributes:
        issue: What is wrong with the ids: another spelling or type is retrieved, they are those of another attribute
            of the items, no item has a value, or the corpus of the dataset has none of them.
        query: A query as an example; None without an example.
        excluded_id: One of its ids to leave out; None without an example.
        retrieved_id: What is retrieved for it; None if nothing is, or without an example.
        kind: In what the spellings differ; None for another issue.
        attribute: The `match=` that compares the attribute with that value; empty for another issue.
        match: The `match=` that compares the items now; empty for a function.
        is_own_id: Whether the excluded id is that of the query.
    """

    issue: ExclusionIssue
    query: QueryId | None = None
    excluded_id: DocumentId | None = None
    retrieved_id: Any = None
    kind: NearIdKind | None = None
    attribute: str = ""
    match: str = "id"
    is_own_id: bool = False

    def without_example(self) -> UnusedExclusion:
        """Return the same issue without ids."""
        return replace(self, query=None, excluded_id=None, retrieved_id=None)


def warn_about_unused_exclusion(
    exclusion: Exclusion | None, excluded_run: ExcludedRun, qrels: Qrels, match: str | Key | Matching
) -> None:
    """Warn if nothing was left out of a run although something is retrieved that is nearly what was to be left out.

    Args:
        exclusion: What was to be left out.
        excluded_run: The run without it.
        qrels: The judgments.
        match: What ids are compared with.
    """
    if exclusion is None or excluded_run.total:
        return
    unused = find_unused_exclusion(exclusion, excluded_run.run, qrels, match)
    if unused is not None:
        # Imported here because few runs are so.
        from retrieval_metrics.evaluation.data_warning_wording import format_unused_exclusion

        warn(format_unused_exclusion(unused))


def with_unused_exclusion(scores: Scores, exclusion: Exclusion, qrels: Qrels) -> Scores:
    """Return the scores of a run with why nothing was left out of it, if something looks wrong.

    Args:
        scores: The scores.
        exclusion: What was to be left out.
        qrels: The judgments, with the corpus of the dataset if it is known.
    """
    origin = scores.require_origin("checked")
    n_excluded = origin.judged.n_excluded
    if n_excluded is not None and n_excluded.any():
        return scores
    unused = find_unused_exclusion(exclusion, origin.run, qrels, origin.match)
    return scores if unused is None else replace(scores, origin=origin._replace(unused_exclusion=unused))


def find_unused_exclusion(
    exclusion: Exclusion, run: Mapping[Any, Any], qrels: Qrels, match: str | Key | Matching
) -> UnusedExclusion | None:
    """Return why nothing was left out of a run; None if nothing looks wrong.

    Args:
        exclusion: What was to be left out.
        run: The run, of which nothing was left out.
        qrels: The judgments.
        match: What ids are compared with.
    """
    search = _Search(exclusion, run, qrels, match)
    if not search.rankings:
        return None
    return search.find_missing_value() or search.find_other_form() or search.find_unknown_ids()


class _Search:
    """A search for what the ids to leave out are called in a run.

    Attributes:
        rankings: The first rankings from which something was to be left out, by query.
    """

    def __init__(self, exclusion: Exclusion, run: Mapping[Any, Any], qrels: Qrels, match: str | Key | Matching) -> None:
        self._exclusion = exclusion
        self._run = run
        self._qrels = qrels
        by = getattr(match, "by", match)
        self._match = by if isinstance(by, str) else ""
        self._key = get_match_key(match)
        self._known_ids: set[Any] | None = None
        with_exclusion = (pair for pair in _iterate_rankings(run) if pair[0] in qrels.place and exclusion.ids(pair[0]))
        self.rankings: dict[Any, Sequence[Any]] = {}
        for query, ranking in islice(with_exclusion, MAX_QUERIES):
            elements = list(islice(ranking, MAX_ITEMS))
            if elements:
                self.rankings[query] = elements
        # The id of the query itself, perhaps under the name of a row.
        self._has_one_id_each = all(len(exclusion.ids(query)) == 1 for query in self.rankings)

    def find_missing_value(self) -> UnusedExclusion | None:
        """Return that no item has a value to compare, if none has."""
        for elements in self.rankings.values():
            if any(value is not None for value in self._read_values(elements)):
                return None
        query = next(iter(self.rankings))
        return UnusedExclusion("no_value", query, self._list_excluded(query)[0], match=self._match)

    def find_other_form(self) -> UnusedExclusion | None:
        """Return the first other form of an id to leave out, if it is not a chance that it was retrieved."""
        by_issue: dict[ExclusionIssue, list[UnusedExclusion]] = {}
        for query, elements in self.rankings.items():
            unused = self._find_in_ranking(query, elements)
            if unused is not None:
                by_issue.setdefault(unused.issue, []).append(unused)
        for same_issue in by_issue.values():
            unambiguous = [unused for unused in same_issue if unused.kind not in AMBIGUOUS_KINDS]
            if unambiguous and not self._has_one_id_each:
                return unambiguous[0]
            n_required = 0 if len(unambiguous) == len(same_issue) else MIN_QUERIES
            if len(same_issue) >= n_required and 2 * len(same_issue) > len(self.rankings):
                return same_issue[0]
        return None

    def find_unknown_ids(self) -> UnusedExclusion | None:
        """Return that the corpus of the dataset has none of the listed ids, if it is known."""
        corpus = self._qrels.corpus
        if not corpus or self._match != "id":
            return None
        example: UnusedExclusion | None = None
        for query in self._qrels.queries:
            for excluded_id in self._list_excluded(query):
                if excluded_id == query or excluded_id in corpus:
                    return None
                if example is None:
                    example = UnusedExclusion("not_in_corpus", query, excluded_id)
        return example

    def _list_excluded(self, query: QueryId) -> list[Any]:
        return list(self._exclusion.ids(query))

    def _read_values(self, elements: Sequence[Any]) -> list[Any]:
        """Return what is compared with the ids to leave out."""
        return [self._key(element) if isinstance(element, Retrieved) else element for element in elements]

    def _find_in_ranking(self, query: QueryId, elements: Sequence[Any]) -> UnusedExclusion | None:
        """Return the first id to leave out of which a ranking holds another form."""
        relevant_ids = self._find_relevant(query)
        names = _Names(elements, self._key, self._match, relevant_ids)
        for excluded_id in self._list_excluded(query)[:MAX_IDS]:
            unused = names.find(query, excluded_id)
            if unused is not None and not self._is_known(excluded_id):
                return unused
        return None

    def _find_relevant(self, query: QueryId) -> Collection[Any]:
        position = self._qrels.place[query]
        rows = range(self._qrels.bounds[position], self._qrels.bounds[position + 1])
        return [self._qrels.documents[row] for row in rows if self._qrels.document_grade[row] > 0]

    def _is_known(self, excluded_id: Any) -> bool:
        """Return whether an id is judged, or retrieved for any query, so that it exists in this form."""
        if self._known_ids is None:
            self._known_ids = set()
            for document in self._qrels.documents:
                if isinstance(document, (str, int)):
                    self._known_ids.add(document)
            for _, ranking in islice(_iterate_rankings(self._run), MAX_RANKINGS):
                self._known_ids.update(self._read_values(list(ranking)))
        return excluded_id in self._known_ids


class _Names:
    """What the results of one ranking are called."""

    def __init__(self, elements: Sequence[Any], key: Key, match: str, relevant_ids: Collection[Any]) -> None:
        self._match = match
        self._values: list[Any] = []
        # By the value of another attribute, which that is and the compared value of its item.
        self._by_attribute: dict[Any, tuple[str, Any]] = {}
        for element in elements:
            value = key(element) if isinstance(element, Retrieved) else element
            if value is None or value in relevant_ids:
                continue
            self._values.append(value)
            if isinstance(element, Retrieved):
                for attribute, attribute_value in _iterate_attributes(element):
                    if attribute != match:
                        self._by_attribute.setdefault(attribute_value, (attribute, value))
        self._first = self._values[0] if self._values else None
        self._types = set(map(type, self._values))
        self._near_ids = NearIdIndex([value for value in self._values if isinstance(value, str)])

    def find(self, query: QueryId, excluded_id: Any) -> UnusedExclusion | None:
        """Return under what other name a document that is to be left out may be in the ranking."""
        is_own_id = excluded_id == query
        if self._types - {type(excluded_id)}:
            for value in self._values:
                if type(value) is not type(excluded_id) and str(value) == str(excluded_id):
                    return UnusedExclusion("type", query, excluded_id, value, is_own_id=is_own_id)
        if isinstance(excluded_id, str):
            for candidate in self._near_ids.find(excluded_id):
                kind = find_near_kind(excluded_id, candidate)
                # Behind the first result, other documents with similar names are to be expected.
                if kind is not None and (kind not in AMBIGUOUS_KINDS or candidate == self._first):
                    return UnusedExclusion("spelling", query, excluded_id, candidate, kind, is_own_id=is_own_id)
        if excluded_id not in self._by_attribute:
            return None
        attribute, value = self._by_attribute[excluded_id]
        return UnusedExclusion(
            "attribute",
            query,
            excluded_id,
            value,
            attribute=attribute,
            match=self._match,
            is_own_id=is_own_id,
        )


def _iterate_rankings(run: Mapping[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the queries and rankings of a run; of one that stays on disk, its first part, because all takes long."""
    if isinstance(run, Run) and not run.is_in_memory:
        for batch in islice(run.batches(), 1):
            yield from Run([batch]).items()
        return
    yield from run.items()


def _iterate_attributes(item: Retrieved) -> Iterator[tuple[str, Any]]:
    """Yield the values of an item that may be its name, with the `match=` that compares them."""
    if item.id is not None:
        yield "id", item.id
    if isinstance(item.source, str):
        yield "source", item.source
    file_name = get_file_name(item)
    if file_name is not None:
        yield FILE_NAME, file_name
    for name, value in (item.metadata or {}).items():
        if isinstance(value, str):
            yield METADATA_PREFIX + name, value
