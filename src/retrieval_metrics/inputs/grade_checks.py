"""Check the grades of judgments, and put them into a column."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from retrieval_metrics._internal.validation import show_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.items import Relevant

# Floats cannot hold every integer above it, and no scale of relevance goes that far.
MAX_GRADE_VALUE = 2.0**53
# What the sign of a grade says, for messages.
GRADE_MEANING = "above 0 is relevant, 0 is not, and below 0 is forbidden"
# The words in which tables say whether a document is relevant, and the grades that they mean.
GRADE_OF_WORD = {"true": 1.0, "yes": 1.0, "y": 1.0, "false": 0.0, "no": 0.0, "n": 0.0}
# Asking a type whether it is a number takes longer than comparing it.
_USUAL_TYPES = ({int}, {float})


def describe_repeated_judgment(first_grade: float, second_grade: float) -> str:
    """Return what to do about a judgment that stands twice, for messages."""
    if first_grade == second_grade:
        return "; remove one of them, or pass allow='repeated', which accepts the same grade twice"
    return f", with the grades {first_grade:g} and {second_grade:g}; remove the wrong one"


def read_truth_value(value: Any) -> float | None:
    """Return the grade that a truth value or a word for one means, 1 or 0; None for anything else.

    Example:
        >>> read_truth_value("Yes"), read_truth_value(False), read_truth_value("d1")
        (1.0, 0.0, None)
    """
    if isinstance(value, (bool, np.bool_)):
        return float(value)
    if isinstance(value, str):
        return GRADE_OF_WORD.get(value.strip().lower())
    return None


def read_grade_number(value: Any) -> float | None:
    """Return the finite number that a grade gives, also as text; None if it gives none.

    Example:
        >>> read_grade_number("2.0"), read_grade_number("2,5"), read_grade_number(float("inf"))
        (2.0, None, None)
    """
    if not isinstance(value, (str, Real)) or (isinstance(value, str) and "_" in value):
        return None  # `float` allows an underscore between digits
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) <= MAX_GRADE_VALUE else None


def describe_grade(value: Any) -> str:
    """Return what to write in place of something that is no grade, for messages."""
    if isinstance(value, str) and value.count(",") == 1 and read_grade_number(value.replace(",", ".")) is not None:
        return f"write {value.strip().replace(',', '.')}, with a decimal point"
    return f"write a finite number, at most 2**53: {GRADE_MEANING}"


def as_grade_column(
    grades: Sequence[Any], documents: Sequence[Relevant], owners: IntArray, queries: Sequence[QueryId]
) -> FloatArray:
    """Return grades as a column.

    Args:
        grades: The grade of each document.
        documents: The judged documents.
        owners: For each document, the position of its query.
        queries: The ids of the queries.

    Raises:
        TypeError: If a grade is not a number.
        ValueError: If a grade is NaN, infinite or beyond 2**53.
    """
    types = set(map(type, grades))
    if types not in _USUAL_TYPES and not all(issubclass(cls, Real) for cls in types):
        for grade, document, owner in zip(grades, documents, owners.tolist(), strict=True):
            if not isinstance(grade, Real):
                _refuse_grade(grade, document, queries[owner])
    try:
        column = np.fromiter(grades, np.float64, len(grades))
    except OverflowError:
        for grade, document, owner in zip(grades, documents, owners.tolist(), strict=True):
            if isinstance(grade, int) and abs(grade) > MAX_GRADE_VALUE:
                # Not the number itself, which may have thousands of digits.
                raise ValueError(
                    f"the grade of document {document!r} for query {queries[owner]!r} must be finite and at most "
                    f"2**53, got an integer of {grade.bit_length()} bits"
                ) from None
        raise
    return require_finite_grades(column, documents, owners, queries)


def _refuse_grade(grade: Any, document: Relevant, query: QueryId) -> NoReturn:
    message = _format_complaint(grade, document, query, "a number")
    if isinstance(grade, str):
        message += _text_grade_hint(grade)
    elif isinstance(grade, Collection):
        message += "; groups are written as a list of lists or a list of {id: grade}"
    raise TypeError(message)


def _text_grade_hint(grade: str) -> str:
    try:
        float(grade)
    except ValueError:
        return f"; {GRADE_MEANING}"
    return f"; convert it, as float({grade!r})"


def require_finite_grades(
    column: FloatArray, documents: Sequence[Relevant], owners: IntArray, queries: Sequence[QueryId]
) -> FloatArray:
    """Return a column of grades unchanged, if every grade is finite and at most 2**53."""
    invalid = np.flatnonzero(~(np.abs(column) <= MAX_GRADE_VALUE))
    if invalid.size:
        index = int(invalid[0])
        query = queries[int(owners[index])]
        raise ValueError(_format_complaint(float(column[index]), documents[index], query, "finite and at most 2**53"))
    return column


def _format_complaint(grade: Any, document: Relevant, query: QueryId, requirement: str) -> str:
    return f"the grade of document {document!r} for query {query!r} must be {requirement}, got {show_value(grade)}"
