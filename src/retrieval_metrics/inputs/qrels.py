"""Relevance judgments as users hold them, read once into columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from functools import cached_property
from itertools import repeat
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.checks import id_kind
from retrieval_metrics.inputs.pieces import Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.types import DocumentId, FloatArray, IntArray, Judgments, QrelsMapping, QueryId, Relevant

LARGEST_GRADE = 2.0**53
"""Beyond this a float no longer holds every integer, and no scale of relevance is meant."""


class Qrels:
    """The judgments of all queries, in columns.

    A group is a set of alternatives of which one suffices, and all groups of a query are needed. A flat judgment is a
    group of one, so every query has groups and every metric is defined on them.

    Attributes:
        queries: The ids of the judged queries.
        documents: The judged documents, by id or as pieces such as quotes, query by query; each once per query.
        bounds: Query `i` owns `documents[bounds[i]:bounds[i + 1]]`.
        document_query: Shape (documents,), the query of each document, as its position in `queries`.
        document_grade: Shape (documents,), the grade of each document: its largest where it is in several groups.
        group_query: Shape (groups,), the query of each group, ascending.
        group_grade: Shape (groups,), the largest grade of each group.
        member_document: Shape (members,), ascending: position of the document in `documents`.
        member_group: Shape (members,), the group the document belongs to.
        member_grade: Shape (members,), the grade the document has in that group.
        document_kind: `str` or `int`, the type of the document ids; None if there is no document id.
        has_pieces: Whether something is judged that is no id.
        query_kind: `str` or `int`, the type of the query ids.
    """

    def __init__(self, qrels: QrelsMapping) -> None:
        """Read `{query: judgments}`.

        Args:
            qrels: Per query `{"d1": 2, "d7": 1}` (grades), `["d1", "d7"]` or a set (binary), `[["d1", "d2"], ["d9"]]`
                (groups) or `[{"d1": 2, "d2": 1}, {"d9": 3}]` (graded groups). In place of an id may stand a `Quote`,
                `Text`, `Span` or `Metadata`. A document repeated in a list or in a group counts once. Nothing in it is
                changed.

        Raises:
            TypeError: If it is no mapping, an id is neither str nor int, a bare string stands for a list of ids, flat
                and nested judgments are mixed, or a grade is no number.
            ValueError: If there are no queries, a group is empty, or a grade is NaN, infinite or beyond 2**53.
        """
        if not isinstance(qrels, Mapping):
            raise TypeError(f"qrels must map each query id to its judgments, got {type(qrels).__name__}")
        if not qrels:
            raise ValueError("qrels are empty: there is no judged query to evaluate")
        reader = _Reader()
        for query, judgments in qrels.items():
            reader.read(query, judgments)
        self._set_documents(list(qrels), reader.documents, reader.bounds)
        self.document_grade = reader.grade_column(self)
        self._set_groups(reader)

    def _set_documents(self, queries: Sequence[QueryId], documents: Sequence[Relevant], bounds: Sequence[int]) -> None:
        self.queries, self.documents, self.bounds = queries, documents, bounds
        self.query_kind = id_kind(set(map(type, queries)), "query ids in the qrels")
        types = set(map(type, documents))
        pieces = {cls for cls in types if issubclass(cls, Piece)}
        self.document_kind = id_kind(types - pieces, "document ids in the qrels")
        self.has_pieces = bool(pieces)
        self.document_query = np.repeat(np.arange(len(queries)), np.diff(np.array(bounds)))

    @classmethod
    def from_grouped(
        cls,
        queries: Sequence[QueryId],
        bounds: IntArray,
        documents: Sequence[DocumentId],
        grades: FloatArray | None,
    ) -> Qrels:
        """Take flat judgments that stand in columns, every query's together and no document twice for it.

        Args:
            queries: The judged queries.
            bounds: Shape (queries + 1,): query `i` owns the judgments from `bounds[i]` to `bounds[i + 1]`.
            documents: The judged document of each judgment.
            grades: Shape (judgments,); None if every document has grade 1.

        Raises:
            ValueError: If a grade is not finite or beyond 2**53.

        Example:
            >>> Qrels.from_grouped(["q1"], np.array([0, 2]), ["d3", "d7"], np.array([2.0, 1.0])).judgments(0)
            {'d3': 2.0, 'd7': 1.0}
        """
        qrels = cls.__new__(cls)
        cls._set_documents(qrels, queries, documents, bounds.tolist())
        column = np.ones(len(documents)) if grades is None else grades
        qrels.document_grade = _finite(column, documents, qrels.document_query, qrels)
        cls._set_groups(qrels, _Reader())
        return qrels

    @classmethod
    def from_frame(cls, frame: Any, *, columns: Mapping[str, str] | None = None) -> Qrels:
        """Read a DataFrame with a row per judged document.

        Args:
            frame: A pandas or polars DataFrame, an Arrow table, or a mapping of column names to columns.
            columns: The names of the columns `query`, `document` and `grade`, where they are not found by their usual
                names (`query_id`, `qid`, `doc_id`, `docno`, `relevance`, `rel` and the like). Without a column of
                grades every document has grade 1.

        Raises:
            ValueError: If a column is not found, or two could be meant; if an id is missing, a grade is not finite, or
                a document is judged twice for a query.
            ImportError: If polars is not installed.

        Example:
            >>> Qrels.from_frame({"query_id": ["q1", "q1"], "doc_id": ["d3", "d7"], "relevance": [2, 1]})
            <Qrels: 1 queries, 2 judgments, 2 groups>
        """
        from retrieval_metrics.files.tables import qrels_of_frame  # noqa: PLC0415  (tables know qrels)

        return qrels_of_frame(frame, columns)

    def _set_groups(self, reader: _Reader) -> None:
        if not reader.group_sizes:
            # Flat truth: every document is its own group, so the columns are the same arrays.
            self.group_query: IntArray = self.document_query
            self.group_grade: FloatArray = self.document_grade
            self.member_document: IntArray = np.arange(len(self.documents))
            self.member_group: IntArray = self.member_document
            self.member_grade: FloatArray = self.document_grade
            return
        members = reader.member_column(self)
        groups = len(reader.group_sizes)
        self.group_query = np.array(reader.group_queries, dtype=np.int64)
        group = np.repeat(np.arange(groups), reader.group_sizes)
        self.group_grade = np.full(groups, -np.inf)
        np.maximum.at(self.group_grade, group, members)
        by_document = np.argsort(np.array(reader.member_documents, dtype=np.int64), kind="stable")
        self.member_document = np.array(reader.member_documents, dtype=np.int64)[by_document]
        self.member_group = group[by_document]
        self.member_grade = members[by_document]

    @property
    def is_flat(self) -> bool:
        """Whether every group is a single document of its own."""
        return self.member_group is self.member_document

    @cached_property
    def largest_grade(self) -> float:
        """The largest grade of the whole set; 0 if nothing is graded above 0."""
        return float(max(self.document_grade.max(initial=0.0), 0.0))

    def with_largest_grade(self, largest_grade: float) -> Qrels:
        """Return the same judgments as a part of a set whose largest grade is given."""
        part = copy(self)
        part.largest_grade = largest_grade
        return part

    def without_negative_grades(self) -> Qrels:
        """Return the judgments without the documents whose grade is negative: itself if there are none."""
        if not (self.member_grade < 0).any():
            return self
        kept: dict[Any, Judgments] = {q: _drop_negative(self.judgments(at)) for at, q in enumerate(self.queries)}
        return Qrels(kept)

    def flattened(self) -> Qrels:
        """Return the judgments with every document of every group needed on its own: itself if they are flat."""
        if self.is_flat:
            return self
        flat: dict[Any, dict[Relevant, float]] = {}
        for query, start, end in zip(self.queries, self.bounds, self.bounds[1:], strict=False):
            flat[query] = dict(zip(self.documents[start:end], self.document_grade[start:end].tolist(), strict=True))
        return Qrels(flat)

    def judgments(self, index: int) -> Judgments:
        """Return what is true for one query: graded documents, or graded groups."""
        start, end = self.bounds[index], self.bounds[index + 1]
        if self.is_flat:
            return dict(zip(self.documents[start:end], self.document_grade[start:end].tolist(), strict=True))
        groups: dict[int, dict[Relevant, float]] = {}
        first, last = np.searchsorted(self.member_document, [start, end])
        for member in range(first, last):
            group = groups.setdefault(int(self.member_group[member]), {})
            group[self.documents[int(self.member_document[member])]] = float(self.member_grade[member])
        return [groups[group] for group in sorted(groups)]

    def require_integer_grades(self, rules: str) -> None:
        """Raise if a grade is no whole number.

        Raises:
            ValueError: If a grade is no whole number, naming it.
        """
        fractions = np.flatnonzero(self.document_grade % 1)
        if fractions.size:
            at = int(fractions[0])
            raise ValueError(
                f"{rules} knows whole grades only, and document {self.documents[at]!r} for query "
                f"{self.queries[int(self.document_query[at])]!r} has {self.document_grade[at]:g}"
            )

    def __len__(self) -> int:
        """Return the number of judged queries."""
        return len(self.queries)

    def __repr__(self) -> str:
        return f"<Qrels: {len(self.queries)} queries, {len(self.documents)} judgments, {len(self.group_query)} groups>"


class _Reader:
    """Collects the columns while the judgments are walked; flat and grouped queries may be mixed between queries."""

    def __init__(self) -> None:
        self.documents: list[Relevant] = []
        self.bounds: list[int] = [0]
        self.grades: list[float] = []
        self.group_queries: list[int] = []
        self.group_sizes: list[int] = []
        self.member_documents: list[int] = []
        self.member_grades: list[float] = []

    def read(self, query: QueryId, judgments: Any) -> None:
        judgments = _plain(judgments, query)
        if isinstance(judgments, Mapping):
            self._flat(judgments.keys(), judgments.values())
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
        if not self.group_sizes:  # the first grouped query: give the flat ones before it their groups of one
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
                elif _comparable(grade) and _comparable(self.grades[at]):
                    self.grades[at] = max(self.grades[at], grade)
                self.member_documents.append(at)
                self.member_grades.append(grade)

    def grade_column(self, qrels: Qrels) -> FloatArray:
        return _grade_column(self.grades, self.documents, qrels.document_query, qrels)

    def member_column(self, qrels: Qrels) -> FloatArray:
        documents = [self.documents[at] for at in self.member_documents]
        queries = qrels.document_query[self.member_documents]
        return _grade_column(self.member_grades, documents, queries, qrels)


def _plain(judgments: Any, query: QueryId) -> Any:
    """Return judgments as a mapping or an iterable collection, arrays and series as lists."""
    if isinstance(judgments, (dict, list, tuple, set, frozenset, Mapping)):
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
    for document in group:
        if isinstance(document, (list, tuple, set, frozenset, Mapping)):
            raise TypeError(
                f"group {number} of query {query!r} holds {document!r}; groups hold ids and cannot be nested deeper"
            )
    return dict.fromkeys(group, 1.0)


def _drop_negative(judgments: Any) -> Any:
    if isinstance(judgments, Mapping):
        return {document: grade for document, grade in judgments.items() if grade >= 0}
    return [kept for group in judgments if (kept := _drop_negative(group))]


def _comparable(grade: Any) -> bool:
    return isinstance(grade, Real)


def _grade_column(grades: Sequence[Any], documents: Sequence[Relevant], queries: IntArray, qrels: Qrels) -> FloatArray:
    if not all(issubclass(cls, Real) for cls in set(map(type, grades))):
        at, wrong = next((at, grade) for at, grade in enumerate(grades) if not isinstance(grade, Real))
        nested = "; groups are written as a list of lists or a list of {id: grade}"
        complaint = _complaint(wrong, documents[at], qrels.queries[int(queries[at])], "a number")
        raise TypeError(complaint + (nested if isinstance(wrong, Collection) else ""))
    return _finite(np.fromiter(grades, np.float64, len(grades)), documents, queries, qrels)


def _finite(column: FloatArray, documents: Sequence[Relevant], queries: IntArray, qrels: Qrels) -> FloatArray:
    bad = np.flatnonzero(~(np.abs(column) <= LARGEST_GRADE))
    if bad.size:
        at = int(bad[0])
        query = qrels.queries[int(queries[at])]
        raise ValueError(_complaint(float(column[at]), documents[at], query, "finite and at most 2**53"))
    return column


def _complaint(grade: Any, document: Relevant, query: QueryId, must: str) -> str:
    return f"the grade of document {document!r} for query {query!r} must be {must}, got {grade!r}"


def as_qrels(qrels: Qrels | QrelsMapping) -> Qrels:
    """Return judgments in columns; those already read are returned as they are."""
    return qrels if isinstance(qrels, Qrels) else Qrels(qrels)
