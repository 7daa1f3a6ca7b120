"""Read judgments in every shape that users write them in: grades, lists, sets and groups."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, chain
from numbers import Real
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics._internal.validation import show_value
from retrieval_metrics.inputs.bare_values import require_no_bare_value
from retrieval_metrics.inputs.id_checks import join_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import QrelsMapping, Relevant

    Grades = Mapping[Relevant, float]

# What may hold the alternatives of a group.
NESTED_TYPES = (list, tuple, set, frozenset, Mapping)
# Comparing types is much cheaper than asking what an object is, or each of its entries.
_COLLECTION_TYPES = (list, set, tuple, frozenset)
_SET_TYPES = {set, frozenset}


class GroupColumns(NamedTuple):
    """The groups of all queries; a flat judgment is a group of one.

    Attributes:
        queries: The position of the query of each group.
        sizes: How many members each group has.
        documents: For each member of each group, its position among the documents.
        grades: The grade of each member, not checked yet.
    """

    queries: list[int]
    sizes: list[int]
    documents: list[int]
    grades: list[Any]


class JudgmentColumns(NamedTuple):
    """The judgments of all queries.

    Attributes:
        documents: The judged documents, query by query, each once per query.
        bounds: Query `i` owns `documents[bounds[i]:bounds[i + 1]]`.
        grades: The grade of each document, its largest if it is in several groups; not checked yet.
        groups: The groups; None if no query has any.
        joined: The documents joined by blanks; None if they are not all text.
    """

    documents: list[Relevant]
    bounds: list[int]
    grades: list[Any]
    groups: GroupColumns | None
    joined: str | None


def read_judgments(qrels: QrelsMapping) -> JudgmentColumns:
    """Return the judgments of all queries; some may be flat and others grouped."""
    judgments_of_queries: list[Any] = list(qrels.values())
    # Most judgments are dicts, and comparing all their types at once is the cheapest check.
    types = set(map(type, judgments_of_queries))
    if types <= _SET_TYPES:
        columns = _read_sets_of_text(judgments_of_queries)
        if columns is not None:
            return columns
    if types != {dict}:
        judgments_of_queries = list(map(_read_query, judgments_of_queries, qrels))
        types = set(map(type, judgments_of_queries))
    if list in types:
        # Imported here because only groups need it.
        from retrieval_metrics.inputs.judgment_shapes import require_no_pairs

        require_no_pairs(qrels)
        return _read_groups(judgments_of_queries)
    grades_of_queries: list[Grades] = judgments_of_queries
    documents = list(chain.from_iterable(grades_of_queries))
    get_values = dict.values if types == {dict} else methodcaller("values")
    grades = list(chain.from_iterable(map(get_values, judgments_of_queries)))
    bounds = [0, *accumulate(map(len, grades_of_queries))]
    return JudgmentColumns(documents, bounds, grades, None, join_ids(documents))


def _read_sets_of_text(sets: Sequence[set[Any] | frozenset[Any]]) -> JudgmentColumns | None:
    """Return the judgments of sets of text ids; None if there is any other id.

    A set holds each id once, so no dict is made of it, as of a list: that takes longer than the order.
    """
    documents: list[Relevant] = []
    bounds = [0]
    joined_sets = []
    for judgments in sets:
        # Set by set, because the ids of a set lie anywhere in memory, and those just sorted are read again much faster.
        try:
            document_ids = sorted(judgments)
        except TypeError:
            return None
        joined = join_ids(document_ids)
        if joined is None:
            return None
        documents += document_ids
        bounds.append(len(documents))
        if document_ids:
            joined_sets.append(joined)
    return JudgmentColumns(documents, bounds, [1.0] * len(documents), None, " ".join(joined_sets))


def _read_groups(judgments_of_queries: Sequence[Grades | list[Grades]]) -> JudgmentColumns:
    documents: list[Relevant] = []
    bounds: list[int] = [0]
    grades: list[Any] = []
    groups = GroupColumns([], [], [], [])
    for query, judgments in enumerate(judgments_of_queries):
        position_by_document: dict[Relevant, int] = {}
        for group in _list_groups(judgments):
            for document, grade in group.items():
                position = position_by_document.setdefault(document, len(documents))
                if position == len(documents):
                    documents.append(document)
                    grades.append(grade)
                elif isinstance(grade, Real) and isinstance(grades[position], Real):
                    grades[position] = max(grades[position], grade)
                groups.documents.append(position)
                groups.grades.append(grade)
            groups.queries.append(query)
            groups.sizes.append(len(group))
        bounds.append(len(documents))
    return JudgmentColumns(documents, bounds, grades, groups, join_ids(documents))


def _list_groups(judgments: Grades | list[Grades]) -> list[Any]:
    """Return the groups of a query; a flat judgment is a group of one."""
    if isinstance(judgments, list):
        return judgments
    return [{document: grade} for document, grade in judgments.items()]


def _read_query(judgments: Any, query: QueryId) -> Grades | list[Grades]:
    """Return the judgments of a query as grades by document, or as a list of these if they are groups."""
    if type(judgments) is dict:
        return judgments
    if type(judgments) in _COLLECTION_TYPES and set(map(type, judgments)) == {str}:
        return _grade_text_ids(judgments)
    require_no_bare_value(judgments, f"query {query!r}")
    if isinstance(judgments, Mapping):
        return judgments
    if not isinstance(judgments, NESTED_TYPES):
        if not hasattr(judgments, "tolist"):  # arrays and series have it
            raise TypeError(
                f"the judgments of query {query!r} must be a mapping of IDs to grades, a list or set of IDs, or a list "
                f"of groups, got {type(judgments).__name__}"
            )
        judgments = judgments.tolist()
        if not isinstance(judgments, list):  # an array without a dimension holds one value, which may be a text
            require_no_bare_value(judgments, f"query {query!r}")
            raise TypeError(f"the judgments of query {query!r} are the bare value {judgments!r}; write [{judgments!r}]")
    if set(map(type, judgments)) == {str}:
        return _grade_text_ids(judgments)
    if isinstance(judgments, (set, frozenset)):
        judgments = sort_entries(judgments)
    if any(isinstance(entry, NESTED_TYPES) for entry in judgments):
        # Imported here because only groups need it.
        from retrieval_metrics.inputs.judgment_shapes import require_groups

        require_groups(judgments, f"query {query!r}")
        return [_read_group(group, number, query) for number, group in enumerate(judgments, start=1)]
    return dict.fromkeys(judgments, 1.0)


def _grade_text_ids(document_ids: Iterable[str]) -> dict[Any, float]:
    """Return the grade 1 for each text id, those of a set in an order that is the same in every process."""
    if isinstance(document_ids, (set, frozenset)):
        document_ids = sorted(document_ids)
    return dict.fromkeys(document_ids, 1.0)


def sort_entries(entries: Iterable[Any]) -> list[Any]:
    """Return the entries of a set in an order that is the same in every process."""
    return sorted(entries, key=_type_and_repr)


def _type_and_repr(entry: Any) -> tuple[str, str]:
    if isinstance(entry, frozenset):  # its own representation depends on the process, too
        return type(entry).__name__, repr(sort_entries(entry))
    return type(entry).__name__, repr(entry)


def _read_group(group: Any, number: int, query: QueryId) -> Grades:
    if not isinstance(group, NESTED_TYPES):
        raise TypeError(
            f"query {query!r} mixes flat and nested judgments: entry {number}, {group!r}, is not a group, but others "
            f"are; write it as a group of one: [{group!r}]"
        )
    if not group:
        raise ValueError(f"group {number} of query {query!r} is empty, so nothing could ever satisfy it; leave it out")
    if isinstance(group, Mapping):
        return group
    if isinstance(group, (set, frozenset)):
        group = sort_entries(group)
    for document in group:
        if isinstance(document, NESTED_TYPES):
            raise TypeError(
                f"group {number} of query {query!r} holds {show_value(document)}; groups hold IDs and cannot be nested "
                "deeper"
            )
    return dict.fromkeys(group, 1.0)
