"""Check the grades of judgments, and put them into a column."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.checks import FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.shapes import Relevant

LARGEST_GRADE = 2.0**53
"""Above it floats cannot hold every integer, and no scale of relevance goes that far."""


def grade_column(
    grades: Sequence[Any], documents: Sequence[Relevant], owners: IntArray, queries: Sequence[QueryId]
) -> FloatArray:
    """Return grades as a column.

    Args:
        grades: The grades.
        documents: The document of each grade.
        owners: Shape (grades,), the query of each grade, as its position in `queries`.
        queries: The ids of the queries.

    Raises:
        TypeError: If a grade is not a number.
        ValueError: If a grade is NaN, infinite or beyond 2**53.
    """
    if not all(issubclass(cls, Real) for cls in set(map(type, grades))):
        at, wrong = next((at, grade) for at, grade in enumerate(grades) if not isinstance(grade, Real))
        nested = "; groups are written as a list of lists or a list of {id: grade}"
        complaint = _complaint(wrong, documents[at], queries[int(owners[at])], "a number")
        raise TypeError(complaint + (nested if isinstance(wrong, Collection) else ""))
    return finite_grades(np.fromiter(grades, np.float64, len(grades)), documents, owners, queries)


def finite_grades(
    column: FloatArray, documents: Sequence[Relevant], owners: IntArray, queries: Sequence[QueryId]
) -> FloatArray:
    """Return a column of grades unchanged, if every grade is finite and at most 2**53.

    Args:
        column: Shape (grades,).
        documents: The document of each grade.
        owners: Shape (grades,), the query of each grade, as its position in `queries`.
        queries: The ids of the queries.

    Raises:
        ValueError: If a grade is NaN, infinite or beyond 2**53.
    """
    bad = np.flatnonzero(~(np.abs(column) <= LARGEST_GRADE))
    if bad.size:
        at = int(bad[0])
        raise ValueError(
            _complaint(float(column[at]), documents[at], queries[int(owners[at])], "finite and at most 2**53")
        )
    return column


def _complaint(grade: Any, document: Relevant, query: QueryId, must: str) -> str:
    return f"the grade of document {document!r} for query {query!r} must be {must}, got {grade!r}"
