"""Metrics computed by a function of one ranking: user-defined metrics."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.definition.largest_grade import largest_grade
from retrieval_metrics.judging.judged_run import within

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics.checks import Cut, FloatArray, IntArray
    from retrieval_metrics.judging.judged_run import JudgedRun

ROUNDING = 1e-9
"""Rounding can take a sum out of [0, 1] by this much."""


@dataclass(frozen=True, slots=True)
class PerRanking:
    """The score of a metric computed by a function of one ranking.

    Attributes:
        name: The name of the metric, for messages.
        function: Takes the grades of one ranking and returns a number.
        asks: Which of `ideal`, `k` and `max_grade` the function takes beside the grades.
        bounded: Whether every value must lie in [0, 1].
        binary: Whether every value must be 0 or 1.
        needs_relevant: Whether the function is called only for queries with a relevant document.
    """

    name: str
    function: Callable[..., float]
    asks: frozenset[str]
    bounded: bool
    binary: bool
    needs_relevant: bool

    def __call__(self, judged: JudgedRun, *, k: Cut, max_grade: float | None = None, **parameters: Any) -> FloatArray:
        """Return the value of every query, shape (queries,); an empty ranking scores 0."""
        if "k" in self.asks:
            # A budget cuts the grades, but not the ideal, which does not depend on how texts are split.
            parameters["k"] = k if isinstance(k, int) else None
        if "max_grade" in self.asks:
            parameters["max_grade"] = largest_grade(judged, max_grade)
        values = np.zeros(judged.n_queries)
        for query, (grades, ideal) in enumerate(zip(grades_of_rows(judged, k), ideal_grades(judged), strict=True)):
            if len(grades) and (len(ideal) or not self.needs_relevant):
                if "ideal" in self.asks:
                    parameters["ideal"] = ideal
                values[query] = self._value(judged.qrels.queries[query], grades, parameters)
        return values

    def _value(self, query: object, grades: FloatArray, parameters: dict[str, Any]) -> float:
        try:
            value = self.function(grades, **parameters)
        except Exception as error:
            raise ValueError(f"{self._where(query, grades)} failed: {type(error).__name__}: {error}") from error
        if not isinstance(value, (Real, np.bool_)):
            raise TypeError(
                f"{self._where(query, grades)} must return one number, got {value!r} ({type(value).__name__})"
            )
        if not isfinite(value):
            raise ValueError(f"{self._where(query, grades)} must return a finite number, got {value!r}")
        if self.binary and value not in {0, 1}:
            raise ValueError(
                f"{self._where(query, grades)} returned {value!r}, but with binary=True every value must be 0 or 1"
            )
        if not self.bounded:
            return float(value)
        if not -ROUNDING <= value <= 1 + ROUNDING:
            raise ValueError(
                f"{self._where(query, grades)} returned {value!r}, which is not between 0 and 1; if that is intended, "
                "define it with bounded=False"
            )
        return min(max(float(value), 0.0), 1.0)

    def _where(self, query: object, grades: FloatArray) -> str:
        some = ", ".join(f"{grade:g}" for grade in grades[:10])
        return f"the metric {self.name!r}, for query {query!r} with the grades [{some}{', ...' * (len(grades) > 10)}],"  # noqa: PLR2004


def grades_of_rows(judged: JudgedRun, k: Cut) -> list[FloatArray]:
    """Return, for each query, the grade of each row of the expanded ranking within the cut-off.

    It is 0 for rows that are not hits. The arrays are read-only.
    """
    hits = judged.hits().cut(k)
    n_rows = _n_rows(judged, k)
    first = np.cumsum(n_rows) - n_rows
    grades = np.zeros(int(n_rows.sum()))
    grades[first[hits.query] + hits.row - 1] = hits.grade
    grades.flags.writeable = False
    return np.split(grades, first[1:])


def _n_rows(judged: JudgedRun, k: Cut) -> IntArray:
    """Return how many rows the first `k` items have, shape (queries,); a number of items cuts the rows as well."""
    n_items = judged.n_within(k)
    if judged.is_the_ranking:
        return n_items
    hits = judged.hits()
    crediting = np.diff(hits.query, prepend=-1).astype(bool) | np.diff(hits.rank, prepend=0).astype(bool)
    n_rows = n_items + _count(judged, k, hits.query[~crediting], hits.rank[~crediting])  # c hits of an item are c rows
    if judged.additions is not None:
        n_rows -= _count(judged, k, *judged.additions.partial(None))  # these items have none
    return np.minimum(n_rows, k) if isinstance(k, int) else n_rows


def _count(judged: JudgedRun, k: Cut, query: IntArray, rank: IntArray) -> IntArray:
    kept = query if k is None else query[within(query, rank, k)]
    return np.bincount(kept, minlength=judged.n_queries)


def ideal_grades(judged: JudgedRun) -> list[FloatArray]:
    """Return, for each query, the grades of its ideal ranking, best first, each group's largest; read-only."""
    query, grade, _ = judged.ideal()
    grade = grade.copy()
    grade.flags.writeable = False
    return np.split(grade, np.searchsorted(query, np.arange(1, judged.n_queries)))
