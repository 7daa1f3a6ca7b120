"""Read judgments as users write them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, chain
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.inputs.pieces import Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.shapes import QrelsMapping, Relevant

    Graded = Mapping[Relevant, float]

NESTED = (list, tuple, set, frozenset, Mapping)


class ReadGroups(NamedTuple):
    """The groups of all queries; a flat judgment is a group of one.

    Attributes:
        queries: The position of the query of each group.
        sizes: How many members each group has.
        documents: For each member of each group, its position among the documents.
        grades: The grade of each member; it may be anything.
    """

    queries: list[int]
    sizes: list[int]
    documents: list[int]
    grades: list[Any]


class ReadJudgments(NamedTuple):
    """The judgments of all queries.

    Attributes:
        documents: The judged documents, query by query, each once per query.
        bounds: Query `i` owns `documents[bounds[i]:bounds[i + 1]]`.
        grades: The grade of each document, its largest if it is in several groups; it may be anything.
        groups: The groups; None if no query has any.
    """

    documents: list[Relevant]
    bounds: list[int]
    grades: list[Any]
    groups: ReadGroups | None


def read_judgments(qrels: QrelsMapping) -> ReadJudgments:
    """Return the judgments of all queries; some may be flat and others grouped.

    Raises:
        TypeError: If those of a query are no judgments, or mix flat and nested ones.
        ValueError: If a group is empty.
    """
    # A dict is by far the most frequent, and asking for its type the cheapest check.
    read: list[Any] = [judged if type(judged) is dict else _plain(judged, query) for query, judged in qrels.items()]
    if list in set(map(type, read)):
        return _grouped(read)
    flat: list[Graded] = read
    documents, grades = list(chain.from_iterable(flat)), list(chain.from_iterable(each.values() for each in flat))
    return ReadJudgments(documents, [0, *accumulate(map(len, flat))], grades, None)


def _grouped(read: Sequence[Graded | list[Graded]]) -> ReadJudgments:
    documents: list[Relevant] = []
    bounds: list[int] = [0]
    grades: list[Any] = []
    groups = ReadGroups([], [], [], [])
    for query, judged in enumerate(read):
        place: dict[Relevant, int] = {}
        for group in judged if isinstance(judged, list) else [{document: grade} for document, grade in judged.items()]:
            for document, grade in group.items():
                at = place.setdefault(document, len(documents))
                if at == len(documents):
                    documents.append(document)
                    grades.append(grade)
                elif isinstance(grade, Real) and isinstance(grades[at], Real):
                    grades[at] = max(grades[at], grade)
                groups.documents.append(at)
                groups.grades.append(grade)
            groups.queries.append(query)
            groups.sizes.append(len(group))
        bounds.append(len(documents))
    return ReadJudgments(documents, bounds, grades, groups)


def _plain(judgments: Any, query: QueryId) -> Graded | list[Graded]:
    """Return the judgments of a query as grades by document, or as a list of these if they are groups."""
    if isinstance(judgments, (str, bytes, Piece)):
        what = f"the bare {type(judgments).__name__}" if isinstance(judgments, Piece) else "the bare string"
        raise TypeError(f"the judgments of query {query!r} are {what} {judgments!r}; write a list: [{judgments!r}]")
    if isinstance(judgments, Mapping):
        return judgments
    if not isinstance(judgments, NESTED):
        if not hasattr(judgments, "tolist"):  # an array or a series
            raise TypeError(
                f"the judgments of query {query!r} must be a mapping of ids to grades, a list or set of ids, or a list "
                f"of groups, got {type(judgments).__name__}"
            )
        judgments = judgments.tolist()
    if isinstance(judgments, (set, frozenset)):
        judgments = in_order(judgments)
    if any(isinstance(entry, NESTED) for entry in judgments):
        return [_group(group, number, query) for number, group in enumerate(judgments, start=1)]
    return dict.fromkeys(judgments, 1.0)


def in_order(entries: Iterable[Any]) -> list[Any]:
    """Return the entries of a set in an order that is the same in every process."""
    return sorted(entries, key=lambda one: (type(one).__name__, repr(one)))


def _group(group: Any, number: int, query: QueryId) -> Graded:
    if not isinstance(group, NESTED):
        raise TypeError(
            f"query {query!r} mixes flat and nested judgments: entry {number} is {group!r} beside groups; "
            f"write it as a group of one: [{group!r}]"
        )
    if not group:
        raise ValueError(f"group {number} of query {query!r} is empty, so nothing could ever satisfy it; leave it out")
    if isinstance(group, Mapping):
        return group
    if isinstance(group, (set, frozenset)):
        group = in_order(group)
    for document in group:
        if isinstance(document, NESTED):
            raise TypeError(
                f"group {number} of query {query!r} holds {document!r}; groups hold ids and cannot be nested deeper"
            )
    return dict.fromkeys(group, 1.0)
