"""Gather rows that each hold one judgment of a question into rows that hold all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.column_detection import DOCUMENT_COLUMNS, GRADE_COLUMNS, RELEVANT_COLUMNS
from retrieval_metrics.inputs.grade_checks import describe_grade, read_grade_number, read_truth_value
from retrieval_metrics.inputs.ignored_grades import choose_grade_column, is_flag, read_number, refuse_false_flags
from retrieval_metrics.inputs.json_codec import PIECE_TYPES
from retrieval_metrics.inputs.question_columns import FILE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


# How many names of a column a message lists.
MAX_SHOWN_NAMES = 4
# The keys of the grade in an object that names a document.
OBJECT_GRADE_KEYS = (*GRADE_COLUMNS, "gain", "relevant")


@dataclass(frozen=True, slots=True)
class GatheredJudgments:
    """Rows that each hold a question with all its judgments.

    Attributes:
        rows: The rows.
        row_numbers: The number of each row, for messages, the first one of a question; None if they count from 1.
    """

    rows: list[Any]
    row_numbers: Sequence[int] | None


def number_rows(rows: Iterable[Any], row_numbers: Sequence[int] | None) -> Iterable[tuple[int, Any]]:
    """Return each row with its number, which is that of a spreadsheet if it is known; else they count from 1."""
    if row_numbers is None:
        return enumerate(rows, start=1)
    return zip(row_numbers, rows, strict=True)


def gather_judgment_rows(
    rows: Sequence[Any],
    find_id: Callable[[Mapping[str, Any], int], Any],
    text_keys: Sequence[str] = ("query",),
    row_numbers: Sequence[int] | None = None,
    *,
    has_named_grade: bool = False,
) -> GatheredJudgments:
    """Return a row for each question if the rows hold one judgment each; else the rows as they are.

    Args:
        rows: The rows of a dataset. The document of a row can be a list of ids, which have its grade, or a dict of
            grades; None if nothing is relevant to its question.
        find_id: Returns the id of the question of a row, given the row and its number.
        text_keys: The keys of the text of a question, of which the first in a row counts. What differs between the rows
            of a question in another column is about the document, and left out.
        row_numbers: The number of each row, for messages; None to count from 1.
        has_named_grade: Whether the user named the column of the grade, or said that there is none.

    Raises:
        ValueError: If a document is judged twice for a question, a grade is not a number, a question has two texts, or
            only some rows have a document, or only some documents a grade; or if two columns of grades disagree, or
            another column says that a document without a grade is not relevant.
    """
    if not holds_judgment_rows(rows):
        return GatheredJudgments(list(rows), row_numbers)
    _require_documents(rows, row_numbers)
    grade_column = choose_grade_column(rows)
    _require_grades(rows, row_numbers, grade_column)
    if grade_column is None and not has_named_grade:
        owners = [find_id(row, number) for number, row in number_rows(rows, row_numbers)]
        refuse_false_flags(rows, owners, [number for number, _row in number_rows(rows, row_numbers)])
    row_by_query: dict[Any, dict[str, Any]] = {}
    number_by_query: dict[Any, int] = {}
    differing_keys: set[tuple[Any, str]] = set()
    for number, row in number_rows(rows, row_numbers):
        query = find_id(row, number)
        document_key = _find_key(row, DOCUMENT_COLUMNS)
        grade_key = grade_column if grade_column in row else None
        own = {key: value for key, value in row.items() if key not in {document_key, grade_key}}
        question = row_by_query.setdefault(query, {**own, "relevant": {}})
        number_by_query.setdefault(query, number)
        text_key = _find_first_key(own, text_keys)
        for key, value in own.items():
            if question.setdefault(key, value) == value:
                continue
            if key == text_key:
                raise ValueError(
                    f"row {number}: {key!r} of query {query!r} is {value!r}, and {question[key]!r} in a row before it"
                )
            differing_keys.add((query, key))
        for document, grade in _read_documents(row, document_key or "", grade_key, number).items():
            if document in question["relevant"]:
                raise ValueError(f"row {number}: document {document!r} is judged twice for query {query!r}")
            question["relevant"][document] = grade
    for query, key in differing_keys:
        del row_by_query[query][key]
    return GatheredJudgments(list(row_by_query.values()), list(number_by_query.values()))


def holds_judgment_rows(rows: Sequence[Any]) -> bool:
    """Return whether rows hold one judgment each: some name a document, and none has a list of all."""
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        return False
    if not any(find_document_column(row) for row in rows):
        return False
    return not any(_find_key(row, RELEVANT_COLUMNS) for row in rows)


def read_document_objects(judgments: list[Any], number: int) -> Any:
    """Return a list of objects that each name a document, such as `{"doc_id": "d1", "grade": 2}`, as ids or grades.

    Args:
        judgments: The judgments of a question; what holds no such objects is returned as it is.
        number: The number of its row, for messages.

    Raises:
        ValueError: If an object names no document, or only some have a grade, or a document is named twice.
    """
    if not any(map(is_object, judgments)):
        return judgments
    grades: dict[Any, Any] = {}
    n_graded = 0
    for element in judgments:
        if not isinstance(element, Mapping) or find_document_column(element) is None:
            names = ", ".join(DOCUMENT_COLUMNS[:MAX_SHOWN_NAMES])
            raise ValueError(
                f"row {number}: {element!r:.200} names no document ({names}, ...); write ids, or {{id: grade}}"
            )
        document = element[find_document_column(element) or ""]
        if document in grades:
            raise ValueError(f"row {number}: document {document!r} is judged twice")
        grade_key = _find_grade_key(element, number)
        n_graded += grade_key is not None
        grades[document] = _read_grade(element, grade_key, number)
    if n_graded not in {0, len(grades)}:
        raise ValueError(f"row {number}: {n_graded} of {len(grades)} judged documents have a grade; give all one")
    return grades if n_graded else list(grades)


def _find_grade_key(judgment: Mapping[str, Any], number: int) -> str | None:
    """Return the key of the grade of an object that names a document; None if it has none.

    Raises:
        ValueError: If two keys disagree, or another key says that the document is not relevant.
    """
    grade_key = None
    for key in judgment:
        if not isinstance(key, str) or key.strip().lower() not in OBJECT_GRADE_KEYS:
            continue
        if grade_key is None:
            grade_key = key
        elif read_number(judgment[key]) != read_number(judgment[grade_key]):
            raise ValueError(
                f"row {number}: {judgment!r:.200} has two grades, {grade_key!r} and {key!r}; remove one of them"
            )
    if grade_key is None:
        for key, value in judgment.items():
            if read_truth_value(value) == 0:
                raise ValueError(
                    f"row {number}: {judgment!r:.200} has no grade, but {value!r} in {key!r}; if this says that the "
                    f"document is not relevant, name it 'grade', otherwise remove it"
                )
    return grade_key


def is_object(value: Any) -> bool:
    """Return whether a value is a mapping that is neither a judged piece nor a group of documents with grades."""
    if not isinstance(value, Mapping) or value.get("type") in PIECE_TYPES:
        return False
    has_only_grades = all(isinstance(element, Real) for element in value.values())
    return not has_only_grades or find_document_column(value) is not None


def find_document_column(row: Mapping[str, Any]) -> str | None:
    """Return the column of the document in a row that holds one judgment; None if it has none."""
    return _find_key(row, DOCUMENT_COLUMNS)


def _require_documents(rows: Sequence[Mapping[str, Any]], row_numbers: Sequence[int] | None) -> None:
    """Raise if a row has no column for its document, though others have one."""
    column = next(filter(None, map(find_document_column, rows)))
    for number, row in number_rows(rows, row_numbers):
        if find_document_column(row) is None:
            raise ValueError(
                f"row {number} has no {column!r}, as other rows have; it has {', '.join(map(repr, row)) or 'nothing'}; "
                f"write {column!r}: null in JSON, or None, if nothing is relevant to its question"
            )


def _require_grades(rows: Sequence[Mapping[str, Any]], row_numbers: Sequence[int] | None, column: str | None) -> None:
    """Raise if a document has no grade, though others have one: it may not have been judged."""
    if column is None:
        return
    for number, row in number_rows(rows, row_numbers):
        documents = row[find_document_column(row) or ""]
        if column not in row and documents not in (None, []) and not isinstance(documents, Mapping):
            raise ValueError(
                f"row {number}: document {documents!r} has no {column!r}, as others have; write its grade, or leave "
                "the row out if it was not judged"
            )


def refuse_flags(rows: Sequence[Any], row_numbers: Sequence[int] | None = None) -> None:
    """Raise if a column that usually holds all relevant documents says of the one beside it whether it is relevant.

    Args:
        rows: The rows of a dataset, with usual names.
        row_numbers: The number of each row, for messages; None to count from 1.

    Raises:
        ValueError: If all filled cells of the column hold truth values or words for them, or 0 and 1, and the rows
            have a document.
    """
    relevant_columns: dict[str, None] = {}
    document_columns: dict[str, None] = {}
    file_columns: dict[str, None] = {}
    for row in rows:
        if not isinstance(row, Mapping):
            return
        for name in row:
            if name in RELEVANT_COLUMNS:
                relevant_columns[name] = None
            elif name in DOCUMENT_COLUMNS:
                document_columns[name] = None
            elif name in FILE_COLUMNS:
                file_columns[name] = None
    if not document_columns:
        document_columns = file_columns
    if len(relevant_columns) != 1 or len(document_columns) != 1:
        return
    (relevant_column,) = relevant_columns
    (document_column,) = document_columns
    flags: list[Any] = []
    first_number = 0
    for number, row in number_rows(rows, row_numbers):
        flag = row.get(relevant_column)
        if flag is None or (isinstance(flag, (str, list)) and not flag):
            continue
        if not is_flag(flag) or str(flag) == str(row.get(document_column)):
            return
        first_number = first_number or number
        flags.append(flag)
    # Numbers of files may be those of pages, which are ids.
    has_words = any(read_truth_value(flag) is not None for flag in flags)
    if not flags or (document_columns is file_columns and not has_words):
        return
    raise ValueError(
        f"row {first_number} has {flags[0]!r} in {relevant_column!r}, beside a document in {document_column!r}; if "
        f"these are grades, pass columns={{'document': {document_column!r}, 'grade': {relevant_column!r}}}"
    )


def _read_documents(
    row: Mapping[str, Any], document_key: str, grade_key: str | None, number: int
) -> Mapping[Any, float]:
    """Return the grade of each document of a row."""
    documents = row[document_key]
    if documents is None:
        documents = []
    if isinstance(documents, Mapping):
        if grade_key is not None:
            raise ValueError(
                f"row {number}: {document_key!r} holds grades, {documents!r}, and so does {grade_key!r}; remove one"
            )
        return documents
    if not isinstance(documents, (list, tuple, set, frozenset)):
        documents = [documents]
    elif not documents and grade_key is not None and _read_grade(row, grade_key, number) > 0:
        raise ValueError(
            f"row {number} has a grade, {row[grade_key]!r}, but {document_key!r} is empty; write the document, or "
            "leave both empty if nothing is relevant to the question"
        )
    grades: dict[Any, float] = {}
    for document in documents:
        if isinstance(document, (list, tuple, set, frozenset, dict)):
            raise ValueError(
                f"row {number}: {document_key!r} holds {documents!r}, which are groups; write them in a column named "
                "'relevant', one row per question"
            )
        if document in grades:
            raise ValueError(f"row {number}: {document_key!r} holds {document!r} twice; remove one")
        grades[document] = _read_grade(row, grade_key, number)
    return grades


def _find_key(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the first key of a row that is one of some names; None if there is none."""
    for key in row:
        if isinstance(key, str) and key.strip().lower() in names:
            return key
    return None


def _find_first_key(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the first of some names that is a key of a row; None if none is."""
    for name in names:
        if name in row:
            return name
    return None


def _read_grade(row: Mapping[str, Any], grade_key: str | None, number: int) -> float:
    if grade_key is None:
        return 1.0
    grade = row[grade_key]
    truth_grade = read_truth_value(grade)
    if truth_grade is not None:
        return truth_grade
    number_in_cell = read_grade_number(grade)
    if number_in_cell is None:
        if grade == grade_key:
            raise ValueError(f"row {number} repeats the header, as where files were joined; remove it")
        raise ValueError(f"row {number}: the grade must be a number, got {grade!r}; {describe_grade(grade)}")
    return number_in_cell


def require_number_grades(judgments: Any, where: str) -> None:
    """Raise if a grade in the judgments of a question is no finite number.

    Args:
        judgments: The judgments; those without grades are not looked at.
        where: How messages name their row.
    """
    groups = judgments if isinstance(judgments, (list, tuple)) else [judgments]
    for group in groups:
        if not isinstance(group, Mapping):
            continue
        for document, grade in group.items():
            is_number = isinstance(grade, Real)
            if not is_number and group is not judgments:
                continue  # an object in a list may be something other than grades, of which judging it says more
            if not is_number or read_grade_number(grade) is None:
                raise ValueError(
                    f"{where}: the grade of document {document!r} must be a number, got {grade!r}; "
                    f"{describe_grade(grade)}"
                )
