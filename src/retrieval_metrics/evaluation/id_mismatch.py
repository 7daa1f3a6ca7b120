"""Find out why no retrieved document is judged, and what would make the ids of judgments and run match."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from retrieval_metrics.evaluation.near_miss_remedy import cut_at, find_id_change, find_spelling_change
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.match_key import FILE_NAME, get_file_name
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.near_ids import find_near_kind, unify_loosely

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.evaluation.near_miss_remedy import IdChange
    from retrieval_metrics.evaluation.scores import Origin
    from retrieval_metrics.matching.near_ids import NearIdKind


class IdSeparator(NamedTuple):
    """A separator in a longer id, and on which side of it the document id stands."""

    text: str
    side: Literal["before", "after"]


# At the end of a path, or at the beginning of a chunk id.
ID_SEPARATORS = (
    *(IdSeparator("/", "after"), IdSeparator("\\", "after")),
    *(IdSeparator("#", "before"), IdSeparator("_", "before"), IdSeparator("-", "before")),
    *(IdSeparator(":", "before"), IdSeparator("@", "before")),
    *(IdSeparator("_", "after"), IdSeparator("-", "after"), IdSeparator(":", "after")),
)
# The number of rankings, and of items in each, that are searched.
MAX_RANKINGS = 50
MAX_ITEMS = 20
# The number of judged pieces shown as examples.
MAX_PIECES = 3


@dataclass(frozen=True, slots=True)
class OtherQuery:
    """A retrieved document that is judged, but for another query."""

    document: DocumentId


@dataclass(frozen=True, slots=True)
class MatchedAttribute:
    """An attribute of the items that is a judged id; `match` is the option that compares it."""

    value: Any
    match: str


@dataclass(frozen=True, slots=True)
class SpellingDifference:
    """A retrieved and a judged id that are two spellings of one, such as with other case, or ids of the same text.

    Attributes:
        value: The retrieved id.
        judged_id: The judged id.
        kind: In what they differ.
        change: What makes them equal.
    """

    value: Any
    judged_id: Any
    kind: NearIdKind
    change: IdChange


@dataclass(frozen=True, slots=True)
class JudgedPath:
    """A retrieved file name that is the last part of a judged path; `match` is the option that compares it."""

    value: str
    path: str
    match: str


@dataclass(frozen=True, slots=True)
class IdWithin:
    """A retrieved value of which a part is a judged id.

    Attributes:
        value: The value.
        expression: The Python expression that extracts the part.
        is_attribute: Whether the expression takes an item, so that it can be passed as `match`.
    """

    value: str
    expression: str
    is_attribute: bool


IdRemedy: TypeAlias = OtherQuery | MatchedAttribute | SpellingDifference | JudgedPath | IdWithin


@dataclass(frozen=True, slots=True)
class IdMismatch:
    """The ids of judgments and of a run that have none in common.

    Attributes:
        judged_ids: The judged ids, each once.
        run_ids: The first retrieved ids as they were compared, each once.
        remedy: A change that would make ids match; None if none was found.
    """

    judged_ids: Sequence[Any]
    run_ids: Sequence[Any]
    remedy: IdRemedy | None


@dataclass(frozen=True, slots=True)
class PieceMismatch:
    """Judgments by texts, sources or offsets that no item matches.

    Attributes:
        pieces: The first judged pieces.
    """

    pieces: Sequence[Any]


def find_id_mismatch(origin: Origin) -> IdMismatch | PieceMismatch | None:
    """Return why no retrieved document is judged; None if one is, or if nothing is relevant or retrieved."""
    judged = origin.judged
    # Unlocated items have a warning of their own.
    if not judged.is_empty or judged.unlocated or not judged.n_retrieved.any():
        return None
    if not (judged.qrels.document_grade > 0).any():
        return None
    if judged.qrels.has_pieces:
        return PieceMismatch(judged.qrels.documents[:MAX_PIECES])
    judged_ids = dict.fromkeys(judged.qrels.documents)
    run_ids = _collect_run_ids(origin)
    return IdMismatch(list(judged_ids), list(run_ids), _find_remedy(origin, judged_ids, run_ids))


def _collect_run_ids(origin: Origin) -> dict[Any, None]:
    """Return the first retrieved ids, as the judgments were compared with them."""
    from retrieval_metrics.matching.matching_options import as_matching

    key = as_matching(origin.match).key
    run_ids: dict[Any, None] = {}
    for item in _iterate_items(origin):
        run_id = key(item) if isinstance(item, Retrieved) else item
        if run_id is not None:
            run_ids[run_id] = None
    return run_ids


def _iterate_items(origin: Origin) -> Iterator[Any]:
    """Yield the first items of the first judged rankings, as they were given."""
    rankings = origin.run.rankings() if isinstance(origin.run, Run) else origin.run.items()
    judged_rankings = (ranking for query, ranking in rankings if query in origin.judged.qrels.place)
    for ranking in islice(judged_rankings, MAX_RANKINGS):
        yield from islice(ranking, MAX_ITEMS)


def _find_remedy(origin: Origin, judged_ids: Mapping[Any, None], run_ids: Mapping[Any, None]) -> IdRemedy | None:
    """Return a change that would make ids match: one for an equal id if there is any, else for the first near miss."""
    for run_id in run_ids:
        if run_id in judged_ids:
            return OtherQuery(run_id)
    remedy = _find_other_spelling(origin, judged_ids)
    if remedy is None and origin.judged.near_misses is not None:
        near_miss = origin.judged.near_misses.find_example()
        if near_miss is not None:
            change = find_id_change(near_miss, origin)
            return SpellingDifference(near_miss.retrieved_id, near_miss.judged_id, near_miss.kind, change)
    return remedy


def _find_other_spelling(origin: Origin, judged_ids: Mapping[Any, None]) -> IdRemedy | None:
    """Return a change that makes another spelling of an id the judged one; None if none was found."""
    near_misses = _NearMisses(judged_ids)
    near_miss: IdRemedy | None = None
    file_name = None
    for item in _iterate_items(origin):
        if file_name is None and isinstance(item, Retrieved) and get_file_name(item) in judged_ids:
            file_name = get_file_name(item)
        for candidate in _iterate_candidates(item):
            if candidate.value in judged_ids:
                return MatchedAttribute(candidate.value, candidate.match)
            if near_miss is None and isinstance(candidate.value, str):
                near_miss = near_misses.find(candidate)
    if file_name is not None:
        return MatchedAttribute(file_name, FILE_NAME)
    return near_miss


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A value of an item that could be its id, the option that compares it, and the expression that reads it."""

    value: Any
    match: str
    expression: str
    is_attribute: bool = True


def _iterate_candidates(item: Any) -> Iterator[_Candidate]:
    if not isinstance(item, Retrieved):
        yield _Candidate(item, "id", "id", is_attribute=False)
        return
    yield _Candidate(item.id, "id", "item.id")
    yield _Candidate(item.source, "source", "item.source")
    for name, value in (item.metadata or {}).items():
        if isinstance(value, (str, int)):
            yield _Candidate(value, f"metadata:{name}", f"item.metadata[{name!r}]")


class _NearMisses:
    """Finds the judged ids that nearly equal other ids."""

    def __init__(self, judged_ids: Mapping[Any, None]) -> None:
        self._judged_ids = judged_ids
        self._judged_id_by_spelling: dict[str, str] = {}
        self._path_by_file_name: dict[str, str] = {}
        shared_names: set[str] = set()
        for judged_id in judged_ids:
            if isinstance(judged_id, str):
                self._judged_id_by_spelling[unify_loosely(judged_id)] = judged_id
                if "/" in judged_id:
                    name = judged_id.rpartition("/")[2]
                    if name in self._path_by_file_name:
                        shared_names.add(name)
                    self._path_by_file_name[name] = judged_id
        if shared_names:  # cut to their names, several files would be one
            self._path_by_file_name.clear()

    def find(self, candidate: _Candidate) -> IdRemedy | None:
        """Return how a candidate nearly equals a judged id; None if it does not."""
        value: str = candidate.value
        judged_id = self._judged_id_by_spelling.get(unify_loosely(value))
        if judged_id is not None:
            kind = find_near_kind(judged_id, value)
            if kind is not None:
                return SpellingDifference(value, judged_id, kind, find_spelling_change(judged_id, value, kind))
        if value in self._path_by_file_name:
            return JudgedPath(value, self._path_by_file_name[value], candidate.match)
        for separator in ID_SEPARATORS:
            expression = self._find_expression(candidate, separator)
            if expression is not None:
                return IdWithin(value, expression, candidate.is_attribute)
        return None

    def _find_expression(self, candidate: _Candidate, separator: IdSeparator) -> str | None:
        """Return the expression that extracts a judged id from a candidate; None if it holds none there."""
        value: str = candidate.value
        separator_text = separator.text
        if separator.side == "after":
            if value.rpartition(separator_text)[2] in self._judged_ids:
                return f"{candidate.expression}.rpartition({separator_text!r})[2]"
            if value.partition(separator_text)[2] in self._judged_ids:
                return f"{candidate.expression}.split({separator_text!r}, 1)[-1]"
            return None
        for part in (value.rpartition(separator_text)[0], value.partition(separator_text)[0]):
            if part and part in self._judged_ids:
                expression = cut_at(candidate.expression, value, separator_text, part)
                if expression is not None:
                    return expression
        return None
