"""The relevance judgments of all queries, checked and kept in columns."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import cached_property
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import common_id_type
from retrieval_metrics.inputs.allowances import parse_allowances
from retrieval_metrics.inputs.grade_checks import MAX_GRADE_VALUE, as_grade_column, require_finite_grades
from retrieval_metrics.inputs.id_checks import may_joined_ids_be_invalid, require_valid_ids
from retrieval_metrics.inputs.items import Piece, Retrieved
from retrieval_metrics.inputs.judgments import read_judgments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, KeysView, Sequence
    from typing import TypeAlias, TypeGuard

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.batch import Batch
    from retrieval_metrics.inputs.document_texts import DocumentTexts
    from retrieval_metrics.inputs.frame_columns import Frame
    from retrieval_metrics.inputs.items import Judgments, QrelsMapping, Relevant
    from retrieval_metrics.inputs.judgments import GroupColumns
    from retrieval_metrics.inputs.provenance import Provenance
    from retrieval_metrics.inputs.questions import Questions

    # The judgments of all queries, alone or with the questions' texts and provenance.
    QuestionsOrQrels: TypeAlias = "Questions | Qrels | QrelsMapping"


class GradedByRubric(dict[Any, Any]):
    """Judgments as a dict, with the grade from which a document is relevant by their rubric; None if unknown."""

    relevant_from: float | None = None


class Qrels:
    """The judgments of all queries, in columns.

    A group is a set of alternatives of which one suffices, and all groups of a query are needed. A flat judgment is a
    group of one, so every query has groups and every metric is defined on them.

    Attributes:
        queries: The ids of the judged queries.
        documents: The judged documents, by id or as pieces such as quotes, query by query; each once per query.
        bounds: Query `i` owns `documents[bounds[i]:bounds[i + 1]]`.
        document_query: Shape (documents,), the query of each document, as its position in `queries`.
        document_grade: Shape (documents,), the grade of each document: its largest if it is in several groups.
        group_query: Shape (groups,), the query of each group, ascending.
        group_grade: Shape (groups,), the largest grade of each group.
        member_document: Shape (members,), ascending: position of the document in `documents`.
        member_group: Shape (members,), the group the document belongs to.
        member_grade: Shape (members,), the grade the document has in that group.
        document_kind: `str` or `int`, the type of the document ids; None if there is no document id.
        has_pieces: Whether anything other than an id is judged.
        query_kind: `str` or `int`, the type of the query ids.
        provenance: Where each question comes from, by query id, if an `EvaluationSet` says so.
        texts: The texts of the questions, by query id, if they come from an `EvaluationSet`.
        relevant_from: The grade from which a document is relevant by the rubric of its graders; None if unknown.
        corpus: The texts of all documents, by id, if the dataset of the questions holds them.
        document_texts: The texts of documents, by which a judged one is recognised under another id; None if they are
            unknown.
    """

    provenance: Mapping[QueryId, Provenance] = MappingProxyType({})
    texts: Mapping[Any, str] = MappingProxyType({})
    relevant_from: float | None = None
    corpus: Mapping[Any, str] = MappingProxyType({})
    document_texts: DocumentTexts | None = None

    def __init__(self, qrels: QuestionsOrQrels, *, allow: str | Collection[str] = ()) -> None:
        """Read `{query: judgments}`, or the judgments of an `EvaluationSet` with the texts of its questions.

        Args:
            qrels: Per query `{"d1": 2, "d7": 1}` (grades), `["d1", "d7"]` or a set (binary), `[["d1", "d2"], ["d9"]]`
                (groups) or `[{"d1": 2, "d2": 1}, {"d9": 3}]` (graded groups). A grade below 0 is forbidden: it must
                not come back. A `Quote`, `Text`, `Span` or `Metadata` can stand in for an id. A document repeated in a
                list or in a group counts once. The mapping is not changed.
            allow: `"blanks"` accepts ids that begin or end with a blank.

        Raises:
            TypeError: If it is not a mapping, an id is neither str nor int, judgments are a bare string, pairs of
                ids and grades, or rows, flat and nested judgments are mixed, or a grade is not a number.
            ValueError: If there are no queries, a group is empty, a grade is NaN, infinite or beyond 2**53, or an id is
                empty or blank, begins or ends with whitespace, holds a control character or a list that was written as
                text.
        """
        if isinstance(qrels, Qrels) or _are_questions(qrels):
            self._share_columns(qrels)
            return
        if not isinstance(qrels, Mapping):
            # Imported here because only an error needs it.
            from retrieval_metrics.inputs.input_hints import refuse_frame, wrong_argument_hint

            refuse_frame(qrels, "judgments", "Qrels.from_frame(frame)")
            hint = wrong_argument_hint(qrels, "qrels")
            raise TypeError(f"qrels must map each query ID to its judgments, got {type(qrels).__name__}{hint}")
        if not qrels:
            raise ValueError("the qrels are empty: there is no judged query to evaluate")
        joined = self._read(qrels)
        self._require_valid_ids(joined, parse_allowances(allow))

    @classmethod
    def unchecked(cls, qrels: Questions | QrelsMapping) -> Qrels:
        """Read judgments whose ids were checked before, or must not be, as in the drop-in for pytrec_eval."""
        read_qrels = cls.__new__(cls)
        if isinstance(qrels, Mapping):
            cls._read(read_qrels, qrels)
        else:
            cls._read(read_qrels, qrels.qrels)
            read_qrels.provenance = qrels.provenance
            read_qrels.texts = qrels.queries
        return read_qrels

    def _read(self, qrels: QrelsMapping) -> str | None:
        """Read judgments, and return the documents joined by blanks; None if they are not all text."""
        if isinstance(qrels, GradedByRubric):
            self.relevant_from = qrels.relevant_from
        columns = read_judgments(qrels)
        self._set_documents(list(qrels), columns.documents, columns.bounds, are_text=columns.joined is not None)
        self.document_grade = as_grade_column(columns.grades, columns.documents, self.document_query, self.queries)
        if columns.groups is None:
            self._set_groups_of_one()
        else:
            self._set_groups(columns.groups)
        return columns.joined

    def _share_columns(self, source: Questions | Qrels) -> None:
        """Share the columns of other qrels, or those of questions, whose texts and provenance are taken, too."""
        if isinstance(source, Qrels):
            vars(self).update(vars(source))
            return
        vars(self).update(vars(as_qrels(source.qrels)))
        self.provenance = source.provenance
        self.texts = source.queries
        if source.corpus:
            self.corpus = source.corpus

    def _set_documents(
        self,
        queries: Sequence[QueryId],
        documents: Sequence[Relevant],
        bounds: Sequence[int],
        *,
        are_text: bool = False,
    ) -> None:
        """Take the documents of all queries; whether all are text is looked at unless it is known."""
        self.queries = queries
        self.documents = documents
        self.bounds = bounds
        self.query_kind = common_id_type(set(map(type, queries)), "query IDs in the qrels")
        types = {str} if are_text and documents else set(map(type, documents))
        piece_types = {cls for cls in types if issubclass(cls, Piece)}
        if Retrieved in types:
            raise TypeError(
                "the qrels hold retrieved items, which belong to a run; evaluate(qrels, run) takes the judgments first"
            )
        self.document_kind = common_id_type(types - piece_types, "document IDs in the qrels")
        self.has_pieces = bool(piece_types)
        self.document_query = np.repeat(np.arange(len(queries)), np.diff(np.array(bounds)))

    def _require_valid_ids(self, joined: str | None, allow: Collection[str]) -> None:
        documents: Any = self.documents
        queries: Any = self.queries
        # Both sides are usually text without a fault, which one pass over all of it shows.
        if self.document_kind is str and (joined is None or may_joined_ids_be_invalid(joined, len(documents))):
            require_valid_ids(documents, self._name_document, allow=allow)
        if self.query_kind is str and all(map(str.strip, queries)):
            return
        for query in queries:
            # The text of a question can be its id, so only one that says nothing is refused.
            if isinstance(query, str) and not query.strip():
                raise ValueError(f"the qrels hold the query ID {query!r}, which is blank; give each query its own ID")

    def _name_document(self, position: int) -> str:
        query = self.queries[int(self.document_query[position])]
        return f"document {self.documents[position]!r} judged for query {query!r}"

    @classmethod
    def from_batch(cls, batch: Batch) -> Qrels:
        """Take flat judgments in columns, in which no query has a document twice.

        Args:
            batch: The judged documents of each query, with their grades as scores.

        Raises:
            ValueError: If a grade is NaN, infinite or beyond 2**53.
        """
        qrels = cls.__new__(cls)
        documents = batch.documents.to_list()
        cls._set_documents(qrels, batch.queries, documents, batch.bounds.tolist())
        grades = np.ones(len(documents)) if batch.scores is None else batch.scores
        qrels.document_grade = require_finite_grades(grades, documents, qrels.document_query, batch.queries)
        cls._set_groups_of_one(qrels)
        return qrels

    @classmethod
    def from_frame(
        cls, frame: Frame, *, columns: Mapping[str, str | int | None] | None = None, allow: str | Collection[str] = ()
    ) -> Qrels:
        """Read a DataFrame with one row per judged document.

        Args:
            frame: A pandas or polars DataFrame, an Arrow table, or a mapping of column names to columns.
            columns: The names of the columns `query`, `document`, `grade` and `group`, if they differ from the usual
                ones (`query_id`, `qid`, `doc_id`, `docno`, `relevance`, `rel` and the like). Documents of a query with
                the same `group` are alternatives of which one suffices. None stands for a missing column: with
                `{"grade": None}` every document has grade 1, as in a table of only queries and documents.
            allow: What to accept that is refused otherwise: `"blanks"`, ids that begin or end with a blank;
                `"repeated"`, columns with the same name, of which the first counts.

        Raises:
            ValueError: If a column is not found or ambiguous, or there is no grade but an unknown column that could be
                it; if an id is missing, a grade is not finite, or a document is judged twice for a query.
            ImportError: If polars is not installed.

        Example:
            >>> Qrels.from_frame({"query_id": ["q1", "q1"], "doc_id": ["d3", "d7"], "relevance": [2, 1]})
            <Qrels: 1 queries, 2 judgments, 2 groups>
        """
        # Imported here because only judgments in a table need it.
        from retrieval_metrics.inputs.column_detection import JUDGMENT_ROLES
        from retrieval_metrics.inputs.dataframes import LongTable

        return cls.from_table(LongTable(frame, JUDGMENT_ROLES, columns, allow=allow, is_kept=True).judgments())

    @classmethod
    def from_table(cls, judgments: Batch | QrelsMapping) -> Qrels:
        """Take the judgments of a `LongTable`: flat ones as a batch, or groups by query."""
        if isinstance(judgments, Mapping):
            return cls(judgments)
        return cls.from_batch(judgments)

    def _set_groups_of_one(self) -> None:
        # In flat judgments every document is a group of one, so the columns are the same arrays.
        self.group_query: IntArray = self.document_query
        self.group_grade: FloatArray = self.document_grade
        self.member_document: IntArray = np.arange(len(self.documents))
        self.member_group: IntArray = self.member_document
        self.member_grade: FloatArray = self.document_grade

    def _set_groups(self, groups: GroupColumns) -> None:
        member_document = np.array(groups.documents, dtype=np.int64)
        member_ids = [self.documents[position] for position in groups.documents]
        owners = self.document_query[member_document]
        member_grade = as_grade_column(groups.grades, member_ids, owners, self.queries)
        member_group = np.repeat(np.arange(len(groups.sizes)), groups.sizes)
        self.group_query = np.array(groups.queries, dtype=np.int64)
        self.group_grade = np.full(len(groups.sizes), -np.inf)
        np.maximum.at(self.group_grade, member_group, member_grade)
        by_document = np.argsort(member_document, kind="stable")
        self.member_document = member_document[by_document]
        self.member_group = member_group[by_document]
        self.member_grade = member_grade[by_document]

    @property
    def unit(self) -> str:
        """The word for one group: a passage, a document, or a fact that each document of the group states."""
        if self.has_pieces:
            return "passage"
        if self.is_flat:
            return "document"
        return "fact"

    @property
    def is_flat(self) -> bool:
        """Whether every group is a single document of its own."""
        return self.member_group is self.member_document

    @cached_property
    def smallest_grade(self) -> FloatArray:
        """Shape (documents,), the smallest grade of each document over the groups it belongs to.

        A document may be relevant in one group and forbidden in another.
        """
        if self.is_flat:
            return self.document_grade
        smallest = np.full(len(self.documents), np.inf)
        np.minimum.at(smallest, self.member_document, self.member_grade)
        return smallest

    @cached_property
    def largest_grade(self) -> float:
        """The largest grade of the whole set; 0 if nothing is graded above 0."""
        return float(max(self.document_grade.max(initial=0.0), 0.0))

    def with_largest_grade(self, grade: float) -> Qrels:
        """Return these judgments as part of a larger set, whose largest grade ERR and RBP divide by.

        The copy shares the columns; the original keeps its largest grade.

        Args:
            grade: The largest grade of the larger set.

        Raises:
            TypeError: If it is not a number.
            ValueError: If it is not finite, beyond 2**53, or below the largest grade of these judgments.

        Example:
            >>> part = Qrels({"q1": {"d1": 1}})
            >>> part.with_largest_grade(3).largest_grade, part.largest_grade
            (3.0, 1.0)
        """
        if isinstance(grade, bool) or not isinstance(grade, Real):
            raise TypeError(f"the largest grade must be a number, got {grade!r} ({type(grade).__name__})")
        if not self.largest_grade <= grade <= MAX_GRADE_VALUE:
            raise ValueError(
                f"the largest grade must be between {self.largest_grade:g}, the largest of these judgments, and 2**53, "
                f"got {grade!r}"
            )
        part = copy(self)
        part.largest_grade = float(grade)
        return part

    def without_negative_grades(self) -> Qrels:
        """Return the judgments without the documents whose grade is negative; unchanged if there are none."""
        if not (self.member_grade < 0).any():
            return self
        return self.with_judgments({query: _drop_negative(judgments) for query, judgments in self.as_dict().items()})

    def flattened(self) -> Qrels:
        """Return the judgments with every document of every group as a group of one; unchanged if they are flat."""
        if self.is_flat:
            return self
        return self.with_judgments(self.graded())

    def with_judgments(self, judgments: QrelsMapping) -> Qrels:
        """Return qrels with other judgments and the same texts, provenance and rubric."""
        qrels = Qrels.unchecked(judgments)
        qrels.provenance = self.provenance
        qrels.texts = self.texts
        qrels.relevant_from = self.relevant_from
        if self.corpus:
            qrels.corpus = self.corpus
        qrels.document_texts = self.document_texts
        return qrels

    def with_document_texts(self, document_texts: DocumentTexts | None) -> Qrels:
        """Return the same judgments with the texts of documents, or without any, nor a corpus, if they are None."""
        qrels = copy(self)
        qrels.document_texts = document_texts
        if document_texts is None:
            vars(qrels).pop("corpus", None)
        return qrels

    def judgments(self, index: int) -> Judgments:
        """Return the judgments of one query: graded documents, or graded groups."""
        return self._grades(index) if self.is_flat else self._groups(index)

    def _grades(self, index: int) -> dict[Relevant, float]:
        rows = slice(self.bounds[index], self.bounds[index + 1])
        return dict(zip(self.documents[rows], self.document_grade[rows].tolist(), strict=True))

    def _groups(self, index: int) -> list[dict[Relevant, float]]:
        if self.is_flat:
            return [{document: grade} for document, grade in self._grades(index).items()]
        groups: dict[int, dict[Relevant, float]] = {}
        start, end = np.searchsorted(self.member_document, [self.bounds[index], self.bounds[index + 1]])
        for member in range(start, end):
            group = groups.setdefault(int(self.member_group[member]), {})
            group[self.documents[int(self.member_document[member])]] = float(self.member_grade[member])
        return [groups[group] for group in sorted(groups)]

    def has_same_columns(self, other: Qrels) -> bool:
        """Return whether these are the same judgments in the same order, without hashing the documents."""
        return (
            len(self.queries) == len(other.queries)
            and list(self.queries) == list(other.queries)
            and list(self.bounds) == list(other.bounds)
            and list(self.documents) == list(other.documents)
            and np.array_equal(self.group_query, other.group_query)
            and np.array_equal(self.member_document, other.member_document)
            and np.array_equal(self.member_group, other.member_group)
            and np.array_equal(self.member_grade, other.member_grade)
        )

    def require_integer_grades(self, rules: str) -> None:
        """Raise if a grade is not a whole number.

        Raises:
            ValueError: If a grade is not a whole number, naming the document.
        """
        fractions = np.flatnonzero(self.document_grade % 1)
        if fractions.size:
            index = int(fractions[0])
            raise ValueError(
                f"{rules} takes whole grades only, and document {self.documents[index]!r} for query "
                f"{self.queries[int(self.document_query[index])]!r} has {self.document_grade[index]:g}"
            )

    def as_dict(self) -> dict[Any, Any]:
        """Return the judgments query by query, as graded documents or groups, in a form that `evaluate` takes.

        Example:
            >>> Qrels({"q1": ["d1", "d7"], "q2": {"d3": 2}}).as_dict()
            {'q1': {'d1': 1.0, 'd7': 1.0}, 'q2': {'d3': 2.0}}
        """
        return {query: self.judgments(index) for index, query in enumerate(self.queries)}

    def graded(self) -> dict[Any, dict[Any, float]]:
        """Return the grade of each judged document, query by query: its largest if it is in several groups.

        Example:
            >>> Qrels({"q1": [{"d1": 2, "d2": 1}, ["d1"]]}).graded()
            {'q1': {'d1': 2.0, 'd2': 1.0}}
        """
        return {query: self._grades(index) for index, query in enumerate(self.queries)}

    def groups(self) -> dict[Any, list[dict[Any, float]]]:
        """Return the groups with their grades, query by query; a flat judgment is a group of one.

        Example:
            >>> Qrels({"q1": {"d1": 2, "d7": 1}}).groups()
            {'q1': [{'d1': 2.0}, {'d7': 1.0}]}
        """
        return {query: self._groups(index) for index, query in enumerate(self.queries)}

    @cached_property
    def place(self) -> dict[Any, int]:
        """The position of each query in `queries`."""
        return dict(zip(self.queries, range(len(self.queries)), strict=True))

    def keys(self) -> KeysView[Any]:
        """Return the ids of the judged queries, so that `dict(qrels)` is `qrels.as_dict()`."""
        return self.place.keys()

    def items(self) -> Iterator[tuple[Any, Judgments]]:
        """Yield each query with its judgments."""
        return ((query, self[query]) for query in self)

    def values(self) -> Iterator[Judgments]:
        """Yield the judgments of each query."""
        return (self[query] for query in self)

    def get(self, query: Any, default: Any = None) -> Any:
        """Return the judgments of a query, or the default if it is not judged."""
        if query not in self:
            return default
        return self[query]

    def __getitem__(self, query: Any) -> Judgments:
        """Return the judgments of a query: graded documents, or graded groups if any query has groups.

        `graded()` has the grades of documents in any case, and `groups()` groups.

        Example:
            >>> Qrels({"q1": ["d1", "d7"], "q2": {"d3": 2}})["q2"]
            {'d3': 2.0}
        """
        return self.judgments(self.place[query])

    def __contains__(self, query: object) -> bool:
        return query in self.place

    def __iter__(self) -> Iterator[Any]:
        return iter(self.place)

    def __len__(self) -> int:
        """Return the number of judged queries."""
        return len(self.queries)

    def __repr__(self) -> str:
        return f"<Qrels: {len(self.queries)} queries, {len(self.documents)} judgments, {len(self.group_query)} groups>"


def _drop_negative(judgments: Any) -> Any:
    if isinstance(judgments, Mapping):
        return {document: grade for document, grade in judgments.items() if grade >= 0}
    groups = map(_drop_negative, judgments)
    return [group for group in groups if group]


def _are_questions(judgments: QuestionsOrQrels) -> TypeGuard[Questions]:
    """Return whether judgments come with questions."""
    if type(judgments) is dict:
        return False
    # Imported here because judgments in a dict, the usual ones, never need it.
    from retrieval_metrics.inputs.questions import Questions

    return isinstance(judgments, Questions)


def as_qrels(questions: QuestionsOrQrels) -> Qrels:
    """Return the judgments of questions in columns; a `Qrels` is returned as it is."""
    if isinstance(questions, Qrels):
        return questions
    return Qrels(questions)


def judgments_by_query(qrels: QrelsMapping | Qrels) -> dict[Any, Any]:
    """Return the judgments of each query as given; those of a `Qrels` as graded documents or groups."""
    if isinstance(qrels, Qrels):
        return qrels.as_dict()
    return dict(qrels)
