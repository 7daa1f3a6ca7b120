"""Read judgments as users write them, and collect them in columns."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from numbers import Real
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.grades import grade_column
from retrieval_metrics.inputs.pieces import Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.aliases import FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.shapes import Relevant


class JudgmentReader:
    """Collects the columns of the judgments, query by query; some queries may be flat and others grouped."""

    def __init__(self) -> None:
        self.documents: list[Relevant] = []
        self.bounds: list[int] = [0]
        self.grades: list[float] = []
        self.group_queries: list[int] = []
        self.group_sizes: list[int] = []
        self.member_documents: list[int] = []
        self.member_grades: list[float] = []

    def read(self, query: QueryId, judgments: Any) -> None:
        """Add the judgments of the next query.

        Raises:
            TypeError: If they are not judgments, or mix flat and nested ones.
            ValueError: If a group is empty.
        """
        if type(judgments) is not dict:  # by far the most frequent, and the cheapest check
            judgments = _plain(judgments, query)
        if isinstance(judgments, dict) or isinstance(judgments, Mapping):  # noqa: SIM101  (in one call, twice the time)
            self._flat(judgments, judgments.values())
        elif any(isinstance(entry, (list, tuple, set, frozenset, Mapping)) for entry in judgments):
            self._grouped(query, judgments)
        else:
            unique = dict.fromkeys(judgments)
            self._flat(unique, repeat(1.0, len(unique)))
        self.bounds.append(len(self.documents))

    def _flat(self, documents: Iterable[Relevant], grades: Iterable[float]) -> None:
        start = len(self.documents)
        self.documents.extend(documents)
        self.grades.extend(grades)
        if self.group_sizes:
            self._singletons(start, len(self.bounds) - 1)

    def _singletons(self, start: int, query: int) -> None:
        count = len(self.documents) - start
        self.group_queries.extend(repeat(query, count))
        self.group_sizes.extend(repeat(1, count))
        self.member_documents.extend(range(start, start + count))
        self.member_grades.extend(self.grades[start:])

    def _grouped(self, query: QueryId, groups: Iterable[Any]) -> None:
        if not self.group_sizes:  # the first query with groups: the flat ones before it get groups of one
            for index, (start, end) in enumerate(zip(self.bounds, self.bounds[1:], strict=False)):
                self.group_queries.extend(repeat(index, end - start))
            self.group_sizes.extend(repeat(1, len(self.documents)))
            self.member_documents.extend(range(len(self.documents)))
            self.member_grades.extend(self.grades)
        start = len(self.documents)
        position: dict[Relevant, int] = {}
        for number, group in enumerate(groups, start=1):
            grades = _group_grades(group, number, query)
            self.group_queries.append(len(self.bounds) - 1)
            self.group_sizes.append(len(grades))
            for document, grade in grades.items():
                at = position.setdefault(document, start + len(position))
                if at == len(self.documents):
                    self.documents.append(document)
                    self.grades.append(grade)
                elif isinstance(grade, Real) and isinstance(self.grades[at], Real):
                    self.grades[at] = max(self.grades[at], grade)
                self.member_documents.append(at)
                self.member_grades.append(grade)

    def member_column(self, owners: IntArray, queries: Sequence[QueryId]) -> FloatArray:
        """Return the grade of each member of each group.

        Args:
            owners: Shape (documents,), the query of each document, as its position in `queries`.
            queries: The ids of the queries.

        Raises:
            TypeError: If a grade is not a number.
            ValueError: If a grade is NaN, infinite or beyond 2**53.
        """
        documents = [self.documents[at] for at in self.member_documents]
        return grade_column(self.member_grades, documents, owners[self.member_documents], queries)


def in_order(entries: Iterable[Any]) -> list[Any]:
    """Return the entries of a set in an order that is the same in every process."""
    return sorted(entries, key=lambda one: (type(one).__name__, repr(one)))


def _plain(judgments: Any, query: QueryId) -> Any:
    """Return judgments as a mapping or a list, with arrays and series as lists."""
    if isinstance(judgments, (set, frozenset)):
        return in_order(judgments)
    if isinstance(judgments, (dict, list, tuple, Mapping)):
        return judgments
    if isinstance(judgments, (str, bytes, Piece)):
        what = f"the bare {type(judgments).__name__}" if isinstance(judgments, Piece) else "the bare string"
        raise TypeError(f"the judgments of query {query!r} are {what} {judgments!r}; write a list: [{judgments!r}]")
    if hasattr(judgments, "tolist"):
        return judgments.tolist()
    raise TypeError(
        f"the judgments of query {query!r} must be a mapping of ids to grades, a list or set of ids, or a list of "
        f"groups, got {type(judgments).__name__}"
    )


def _group_grades(group: Any, number: int, query: QueryId) -> Mapping[Relevant, float]:
    if not isinstance(group, (list, tuple, set, frozenset, Mapping)):
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
        if isinstance(document, (list, tuple, set, frozenset, Mapping)):
            raise TypeError(
                f"group {number} of query {query!r} holds {document!r}; groups hold ids and cannot be nested deeper"
            )
    return dict.fromkeys(group, 1.0)
