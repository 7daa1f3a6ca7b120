"""Refuse tables in which a column that is not read says that a judged document is not relevant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isnan
from numbers import Real
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.inputs.column_detection import (
    DOCUMENT_COLUMNS,
    GRADE_COLUMNS,
    QUERY_COLUMNS,
    RELEVANT_COLUMNS,
)
from retrieval_metrics.inputs.grade_checks import read_truth_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.inputs.column_detection import Columns

# Beside truth values, these numbers mean the same.
TRUTH_NUMBERS = ("0", "1", "0.0", "1.0")
# Columns that say in words or numbers whether the document of their row is relevant, but can mean something else.
RELEVANCE_COLUMNS = (
    *("relevant", "correct", "is_correct", "match", "is_match", "useful", "is_useful", "helpful", "is_helpful"),
    *("positive", "is_positive", "gold", "is_gold", "answers", "contains_answer", "verdict", "ok"),
)
# Beside a list of relevant documents, a score is that of some result, and a label often one of the question.
_SCORE_COLUMN = "score"
_LABEL_COLUMN = "label"
# Several grades in a cell of text: `[2, 0]` or `2;0`.
_SEVERAL_NUMBERS = lazy_pattern(r"[\[(]?\s*-?[\d.]+(\s*[;|,\s]\s*-?[\d.]+)*\s*[\])]?")
_SEPARATORS = lazy_pattern(r"[\[\]();|,\s]+")


def is_flag(value: Any) -> bool:
    """Return whether a cell holds a truth value, a word for one, or 0 or 1."""
    if read_truth_value(value) is not None:
        return True
    return isinstance(value, (str, Real)) and str(value).strip() in TRUTH_NUMBERS


def read_number(value: Any) -> float | None:
    """Return the grade that a cell gives, as a number, a truth value or a word for one; None if it gives none."""
    truth = read_truth_value(value)
    if truth is not None:
        return truth
    if not isinstance(value, (str, Real)):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def is_filled(value: Any) -> bool:
    """Return whether a cell holds anything."""
    if isinstance(value, float) and isnan(value):  # as pandas writes an empty cell
        return False
    return value is not None and not (isinstance(value, str) and not value.strip())


def choose_grade_column(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the column of the grades of rows that hold one judgment each; None if there is none.

    Args:
        rows: The rows, with usual names.

    Raises:
        ValueError: If several columns could be it, and do not agree.
    """
    values_by_column = _list_values(rows, GRADE_COLUMNS)
    if len(values_by_column) < 2:
        return next(iter(values_by_column), None)
    numbers_by_column: dict[str, list[float | None]] = {}
    for column, values in values_by_column.items():
        numbers = [read_number(value) for value in values]
        holds_numbers = all(
            number is not None or not is_filled(value) for number, value in zip(numbers, values, strict=True)
        )
        if holds_numbers:
            numbers_by_column[column] = numbers
    if not numbers_by_column:
        return next(iter(values_by_column))
    first_column, *other_columns = numbers_by_column
    for column in other_columns:
        if numbers_by_column[column] != numbers_by_column[first_column]:
            raise ValueError(
                f"there are {first_column!r} and {column!r}, either of which could be the grade; choose one of them "
                "with read_questions(..., columns={'grade': ...})"
            )
    return first_column


def refuse_false_flags(rows: Sequence[Mapping[str, Any]], owners: Sequence[Any], row_numbers: Iterable[int]) -> None:
    """Raise if rows without grades say of a document, in another column, that it is not relevant.

    Such a column has a name that says so, or its truth values differ between the rows of a question, so that they are
    about the documents. A truth value that all rows of a question share is a label of the question.

    Args:
        rows: Rows that hold one judgment each, without a grade.
        owners: The query of each row.
        row_numbers: The number of each row.
    """
    document_column = next(iter(_list_values(rows, DOCUMENT_COLUMNS)))
    candidates: dict[str, None] = {}
    for row in rows:
        candidates.update(dict.fromkeys(name for name in row if isinstance(name, str)))
    for column in candidates:
        if column in DOCUMENT_COLUMNS or column in QUERY_COLUMNS:
            continue
        values = [row.get(column) for row in rows]
        if not _says_no(values):
            continue
        if _usual_form(column) not in RELEVANCE_COLUMNS and not _differs_within_query(values, owners):
            continue
        for number, row, value in zip(row_numbers, rows, values, strict=True):
            if read_number(value) == 0:
                raise ValueError(
                    f"row {number} has {value!r} in {column!r}, beside the document {row.get(document_column)!r}, "
                    "which would count as relevant; if this is its grade, pass "
                    f"columns={{'document': {document_column!r}, 'grade': {column!r}}} to read_questions, and "
                    f"columns={{'document': {document_column!r}, 'grade': None}} if all documents are relevant"
                )


def refuse_dropped_flags(rows: Iterable[Mapping[Any, Any]], columns: Columns, source: str) -> None:
    """Raise if a column of relevant documents, in whose place the user named another, says that one is not relevant.

    Args:
        rows: The rows of a dataset, with their own names.
        columns: The columns that the user named, by role.
        source: The name of the dataset, for messages.
    """
    document_column = columns.get("document")
    if document_column is None or "grade" in columns or "relevant" in columns:
        return
    rows = list(rows)
    flag_columns: dict[str, None] = {}
    for row in rows:
        for name in row:
            is_dropped = isinstance(name, str) and _usual_form(name) in RELEVANT_COLUMNS
            if is_dropped and name != document_column:
                flag_columns[name] = None
    for column in flag_columns:
        values = [row.get(column) for row in rows]
        if not _says_no(values):
            continue
        for row, value in zip(rows, values, strict=True):
            if read_number(value) == 0:
                raise ValueError(
                    f"{source} has {value!r} in {column!r}, beside the document {row.get(document_column)!r}, which "
                    f"would count as relevant; if this is its grade, pass columns={ {**columns, 'grade': column} }, "
                    f"and columns={ {**columns, 'grade': None} } if all documents are relevant"
                )


def refuse_grades_beside_lists(rows: Sequence[Any], numbers: Sequence[int], columns: Columns | None) -> None:
    """Raise if grades stand beside the column of all relevant documents of a question, which would ignore them.

    Args:
        rows: The rows of a dataset, with usual names.
        numbers: The number of each row.
        columns: The columns that the user named, by role; with a grade, nothing is refused.
    """
    if columns is not None and "grade" in columns:
        return
    present_rows = [row for row in rows if isinstance(row, Mapping)]
    relevant_column = next(iter(_list_values(present_rows, RELEVANT_COLUMNS)), None)
    if relevant_column is None:
        return
    own_column = (columns or {}).get("relevant") or relevant_column
    for column, values in _list_values(present_rows, (*GRADE_COLUMNS, "grades")).items():
        if column == _SCORE_COLUMN or (column == _LABEL_COLUMN and not _says_no(values)):
            continue
        for number, row in zip(numbers, rows, strict=True):
            grade = row.get(column) if isinstance(row, Mapping) else None
            if not is_filled(grade) or not _gives_other_grade(grade):
                continue
            advice = f"write each document with its grade in {own_column!r}: {{'d1': 2, 'd2': 0}}"
            if _has_one_grade(row.get(relevant_column), grade):
                advice = f"pass columns={{'document': {own_column!r}, 'grade': {column!r}}} to read_questions"
            raise ValueError(
                f"row {number} has {grade!r} in {column!r}, beside the documents in {own_column!r}, which it would not "
                f"change; if these are grades, {advice}; if they are something else, pass "
                f"columns={{'relevant': {own_column!r}, 'grade': None}} to read_questions"
            )


def describe_grade_beside_list(row: Mapping[str, Any], list_key: str) -> str:
    """Return what is wrong with a row of judgments that has a grade beside the list of its documents; empty if nothing.

    Args:
        row: A row that holds all judged documents of a query.
        list_key: The key of the list.
    """
    for key, value in row.items():
        if (
            key == list_key
            or key in {_SCORE_COLUMN, _LABEL_COLUMN}
            or key.strip().lower() not in (*GRADE_COLUMNS, "grades")
        ):
            continue
        if _gives_other_grade(value):
            return (
                f"{value!r} in {key!r} stands beside the documents in {list_key!r}, which it would not change; write "
                f"each document with its grade, {list_key!r}: {{'d1': 2, 'd2': 0}}, or remove {key!r}"
            )
    return ""


def _list_values(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the cells of the columns that have some names, one for each row, where any row has such a column."""
    columns: dict[str, None] = {}
    for row in rows:
        for name in row:
            if isinstance(name, str) and name.strip().lower() in names:
                columns[name] = None
    return {column: [row.get(column) for row in rows] for column in columns}


def _says_no(values: Iterable[Any]) -> bool:
    """Return whether the filled cells of a column hold truth values or 0 and 1, some of which mean no."""
    filled_values = [value for value in values if is_filled(value)]
    return all(map(is_flag, filled_values)) and any(read_number(value) == 0 for value in filled_values)


def _differs_within_query(values: Sequence[Any], owners: Sequence[Any]) -> bool:
    """Return whether a column holds truth values that differ between the rows of a query; 0 and 1 can be indices."""
    first_by_owner: dict[Any, float] = {}
    differs = False
    for value, owner in zip(values, owners, strict=True):
        truth = read_truth_value(value)
        if truth is not None:
            differs = differs or first_by_owner.setdefault(owner, truth) != truth
        elif is_filled(value):
            return False
    return differs


def _gives_other_grade(grade: Any) -> bool:
    """Return whether a cell holds a grade other than 1, or several grades."""
    if isinstance(grade, str):
        text = grade.replace("'", "").replace('"', "")
        if _SEVERAL_NUMBERS.fullmatch(text) is not None:
            grade = _SEPARATORS.sub(" ", text).split()
    if isinstance(grade, (list, tuple)):
        return any(read_number(element) not in {None, 1.0} for element in grade)
    number = read_number(grade)
    return number is not None and number != 1


def _has_one_grade(judgments: Any, grade: Any) -> bool:
    """Return whether a row holds ids and one grade for all of them."""
    if isinstance(grade, (list, tuple)) or read_number(grade) is None:
        return False
    if isinstance(judgments, str):
        return not judgments.lstrip().startswith(("{", "[["))
    if isinstance(judgments, (list, tuple)):
        return not any(isinstance(element, (list, tuple, Mapping)) for element in judgments)
    return not isinstance(judgments, Mapping)


def _usual_form(name: str) -> str:
    return name.strip().lower().replace(" ", "_")
