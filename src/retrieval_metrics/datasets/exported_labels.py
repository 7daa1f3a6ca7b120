"""Gather the answers in an export of a labelling tool, and read them as grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date as calendar_date
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from retrieval_metrics.datasets.label import Label
from retrieval_metrics.datasets.rubric import GRADES, Scale
from retrieval_metrics.files.encodings import name_file_in_errors
from retrieval_metrics.files.json_parsing import read_json_file
from retrieval_metrics.files.opening import open_source
from retrieval_metrics.inputs.column_detection import QUERY_ID_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.datasets.label import Grader

# The grade of each choice, None for one that is no grade; or the grades of the first places of a ranking.
ChoiceGrades: TypeAlias = Mapping[Any, "float | None"] | Sequence[float]
# A document without a grade; None in its place if a query has no document at all.
Unrated: TypeAlias = "tuple[QueryId, DocumentId | None]"
# The path of an export, or its entries.
ExportSource: TypeAlias = "str | PathLike[str] | Iterable[Any]"

# The name of a grader that the tool does not tell.
ANONYMOUS = "Anonymous"
# Names under which tools keep the id or the text of a query, those of ids first.
QUERY_NAMES = (*QUERY_ID_COLUMNS, "query", "question", "user_input", "query_text", "prompt")
# Names under which tools keep the id of a document. A plain "document" holds its text in most projects.
DOCUMENT_NAMES = (
    *("document_id", "document-id", "doc_id", "docid", "docno", "corpus-id", "corpus_id"),
    *("pid", "passage_id", "chunk_id"),
)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a document in a ranking that a person made, from 1."""

    rank: int


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """What a person or a model said of a document.

    Attributes:
        query: The query.
        document: The document.
        choice: The choice, the rating or the place; None if the grader could not tell.
        grader: The name of the grader.
        kind: `human` or `model`.
        reason: The reason in words.
        date: The date, such as `2026-05-31`.
    """

    query: QueryId
    document: DocumentId
    choice: Any
    grader: str
    kind: Grader = "human"
    reason: str | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class ExportedLabels:
    """The labels of an export.

    Attributes:
        labels: One per grade.
        unrated: The documents without a grade, in the order of the export.
        scale: The grades, if it is known from which one a document is relevant.
    """

    labels: tuple[Label, ...]
    unrated: tuple[Unrated, ...]
    scale: Scale | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """The options with which an export is read.

    Attributes:
        grades: The grade of each choice, or of each of the first places of a ranking; None if the choices are numbers.
        query: The name under which the query stands; None to try the usual ones.
        document: The name under which the document stands; None to try the usual ones.
        question: The name of the question whose answers are the grades; None if there is only one.
        graders: Names of the graders, by their ids in the tool.
        relevant_from: The lowest grade with which a document is relevant; None if that is not said.
    """

    grades: ChoiceGrades | None
    query: str | None
    document: str | None
    question: str | None
    graders: Mapping[Any, str] | None
    relevant_from: float | None

    def find_query(self, values: Mapping[str, Any], where: str) -> Any:
        """Return the query of a record, whose location `where` names; see `find_value`."""
        return find_value(values, self.query, QUERY_NAMES, "query", where)

    def find_document(self, values: Mapping[str, Any], where: str) -> Any:
        """Return the document of a record, whose location `where` names; see `find_value`."""
        return find_value(values, self.document, DOCUMENT_NAMES, "document", where)

    def name_grader(self, grader: Any, prefix: str = "") -> str:
        """Return the name of the grader with an id; a key of `graders` may be the id or its text."""
        if grader is None:
            return ANONYMOUS
        if self.graders is not None:
            for key in (grader, str(grader)):
                if key in self.graders:
                    return self.graders[key]
        return f"{prefix}{grader}"


class AnswerCollector:
    """The documents of an export, and the answers about them."""

    def __init__(self) -> None:
        self._documents: dict[Unrated, None] = {}
        self._answers: list[GivenAnswer] = []

    def add_document(self, query: QueryId, document: DocumentId | None) -> None:
        """Record a document that was shown to graders; None stands for a query without documents."""
        self._documents[query, document] = None

    def add_answer(self, answer: GivenAnswer) -> None:
        """Record an answer."""
        self.add_document(answer.query, answer.document)
        self._answers.append(answer)

    def as_labels(self, grades: ChoiceGrades | None, relevant_from: float | None) -> ExportedLabels:
        """Return the answers as labels.

        Args:
            grades: The grade of each choice, or of each of the first places of a ranking. None: the choices are
                numbers.
            relevant_from: The lowest grade with which a document is relevant; None if that is not said.

        Raises:
            ValueError: If there is no answer, or one that has no grade.
        """
        if not self._documents:
            raise ValueError("the export holds no documents to grade")
        self._require_grades(grades)
        labels = []
        for answer in self._answers:
            label = Label(
                query=answer.query,
                document=answer.document,
                grade=_find_grade(answer.choice, grades),
                grader=answer.grader,
                kind=answer.kind,
                reason=answer.reason,
                date=answer.date,
            )
            labels.append(label)
        graded = {(label.query, label.document) for label in labels}
        unrated = tuple(key for key in self._documents if key not in graded)
        scale = None
        if relevant_from is not None:
            scale = Scale.from_grades(relevant_from, _list_grades(labels, relevant_from))
        return ExportedLabels(tuple(labels), unrated, scale)

    def _require_grades(self, grades: ChoiceGrades | None) -> None:
        """Raise if the choices are no numbers and `grades` does not name the grade of each."""
        choices = list(dict.fromkeys(answer.choice for answer in self._answers if answer.choice is not None))
        has_places = any(isinstance(choice, Place) for choice in choices)
        is_for_places = grades is not None and not isinstance(grades, Mapping)
        if has_places and not is_for_places:
            raise ValueError(
                "a ranking orders documents and does not grade them; pass the grades of its first places, such as "
                "grades=[3, 2, 1]: documents in later places get 0"
            )
        if is_for_places and not has_places:
            raise ValueError(
                f"grades={grades!r} is for rankings, but this export has choices; pass a grade for each: "
                f"grades={_format_choices(choices)}"
            )
        without_grade = [choice for choice in choices if not _has_grade(choice, grades)]
        if without_grade:
            raise ValueError(
                f"choices such as {without_grade[0]!r} are not numbers; pass the grade of each, such as 0 for not "
                f"relevant and None for no grade: grades={_format_choices(without_grade)}"
            )
        if isinstance(grades, Mapping):
            unused = [choice for choice in grades if choice not in choices]
            if choices and len(unused) == len(grades):
                raise ValueError(
                    f"nobody chose {', '.join(map(repr, unused))}, which grades= names; the choices are "
                    f"{', '.join(map(repr, choices))}"
                )


def _format_choices(choices: Iterable[Any]) -> str:
    return "{" + ", ".join(f"{choice!r}: ..." for choice in choices) + "}"


def _has_grade(choice: Any, grades: ChoiceGrades | None) -> bool:
    if isinstance(choice, Place):
        return True
    if isinstance(grades, Mapping) and choice in grades:
        return True
    return _as_number(choice) is not None


def _find_grade(choice: Any, grades: ChoiceGrades | None) -> float | None:
    """Return the grade of a choice; None if it is no grade."""
    if choice is None:
        return None
    if isinstance(choice, Place) and isinstance(grades, Sequence):
        is_graded = choice.rank <= len(grades)
        return grades[choice.rank - 1] if is_graded else 0
    if isinstance(grades, Mapping) and choice in grades:
        return grades[choice]
    return _as_number(choice)


def _as_number(choice: Any) -> float | None:
    """Return a choice that is a number, or the text of one; else None."""
    if isinstance(choice, bool):
        return None
    try:
        number = float(choice)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def _list_grades(labels: Iterable[Label], relevant_from: float) -> tuple[float, ...]:
    """Return the grades of a scale: all whole numbers from 0 on, if those that occur are whole."""
    grades = {0.0, float(relevant_from)}
    for label in labels:
        if label.grade is not None:
            grades.add(float(label.grade))
    if grades <= set(GRADES):
        return GRADES
    are_whole = all(grade.is_integer() for grade in grades)
    if are_whole:
        return tuple(range(int(min(grades)), int(max(grades)) + 1))
    return tuple(sorted(grades))


def find_value(values: Mapping[str, Any], name: str | None, usual_names: Sequence[str], role: str, where: str) -> Any:
    """Return the id of a query or of a document from the values of a record.

    Args:
        values: The values by name.
        name: The name that the user gave; None to try the usual ones.
        usual_names: The usual names, the best first.
        role: `query` or `document`, for messages.
        where: The location of the record, for messages.

    Raises:
        ValueError: If there is no such value.
    """
    names = usual_names if name is None else (name,)
    for candidate in names:
        value = values.get(candidate)
        if value is not None and value != "":
            return value
    listed = ", ".join(map(repr, values)) or "nothing"
    if name is not None:
        raise ValueError(f"{where} has no {name!r}, which {role}= names; it has {listed}")
    raise ValueError(
        f"{where} has no ID of its {role} ({', '.join(usual_names)}); it has {listed}: choose the one with the IDs of "
        f"the run, as {role}=..."
    )


def choose_question(names: Sequence[str], question: str | None, tool: str) -> str:
    """Return the name of the question whose answers are the grades.

    Raises:
        ValueError: If there is none of that name, or there are several and none was chosen.
    """
    listed = ", ".join(map(repr, names))
    if not names:
        raise ValueError(f"no answer in this export of {tool} is a choice, a rating or a ranking")
    if question is not None:
        if question not in names:
            raise ValueError(f"question={question!r} is not in this export of {tool}; answered are {listed}")
        return question
    if len(names) > 1:
        raise ValueError(f"this export of {tool} answers {listed}; choose the grades with question=...")
    return names[0]


def read_date(value: Any) -> str | None:
    """Return the date of a time as tools write it, such as `2026-05-31T10:00:00Z`; None if it is none."""
    if not isinstance(value, str):
        return None
    try:
        return calendar_date.fromisoformat(value[:10]).isoformat()
    except ValueError:
        return None


@contextmanager
def name_export_in_errors(source: ExportSource) -> Iterator[None]:
    """Write the name of the file of an export in front of the messages of errors."""
    if isinstance(source, (str, PathLike)):
        with name_file_in_errors(str(source)):
            yield
    else:
        yield


def read_entries(source: ExportSource, tool: str) -> list[Any]:
    """Return the entries of an export: of a JSON file, or as they are."""
    if isinstance(source, (str, PathLike)):
        with open_source(Path(source)) as reader:
            content = read_json_file(reader)
        return content if isinstance(content, list) else [content]
    if isinstance(source, Mapping):
        return [source]
    try:
        return list(source)
    except TypeError:
        raise TypeError(
            f"an export of {tool} is a path or a list of its entries, got {type(source).__name__}"
        ) from None
