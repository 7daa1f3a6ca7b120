"""Compute metrics that users define as a function of one ranking."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.matching.rank_rows import is_new, within
from retrieval_metrics.metrics.base.grade_scale import largest_grade

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics._internal.plain_types import Cut, FloatArray, IntArray
    from retrieval_metrics.matching.judged_run import JudgedRun

# Rounding can take a sum out of [0, 1] by this much.
ROUNDING_TOLERANCE = 1e-9

# How many grades of a ranking a message shows.
_MAX_SHOWN_GRADES = 10


@dataclass(frozen=True, slots=True)
class RankingMetric:
    """The score of a metric computed by a function of one ranking.

    Attributes:
        name: The name of the metric, for messages.
        function: Takes the grades of one ranking and returns a number.
        requested: Which of `ideal`, `k` and `max_grade` the function takes beside the grades.
        bounded: Whether every value must lie in [0, 1].
        binary: Whether every value must be 0 or 1.
        needs_relevant: Whether the function is called only for queries with a relevant document.
        higher_is_better: Whether a larger value is better.
    """

    name: str
    function: Callable[..., float]
    requested: frozenset[str]
    bounded: bool
    binary: bool
    needs_relevant: bool
    higher_is_better: bool

    def __call__(self, judged: JudgedRun, *, k: Cut, max_grade: float | None = None, **parameters: Any) -> FloatArray:
        """Return the value of every query, shape (queries,); an empty ranking scores 0."""
        if "k" in self.requested:
            # A budget cuts the grades, but not the ideal, which does not depend on how texts are split.
            parameters["k"] = k if isinstance(k, int) else None
        if "max_grade" in self.requested:
            parameters["max_grade"] = largest_grade(judged, max_grade)
        values = np.zeros(judged.n_queries)
        for query, (grades, ideal) in enumerate(zip(grades_of_rows(judged, k), ideal_grades(judged), strict=True)):
            if not len(grades) and self.higher_is_better:
                continue
            if not len(ideal) and self.needs_relevant:
                continue
            if "ideal" in self.requested:
                parameters["ideal"] = ideal
            values[query] = self._compute(judged.qrels.queries[query], grades, parameters)
        if judged.unanswered is not None and not self.higher_is_better:
            values[judged.unanswered] = np.nan
        return values

    def _compute(self, query: object, grades: FloatArray, parameters: dict[str, Any]) -> float:
        """Return the value of one query; raise if it is not what the metric is defined to return."""
        try:
            value = self.function(grades, **parameters)
        except Exception as error:
            raise ValueError(f"{self._describe(query, grades)} failed: {type(error).__name__}: {error}") from error
        if not isinstance(value, (Real, np.bool_)):
            raise TypeError(
                f"{self._describe(query, grades)} must return one number, got {value!r} ({type(value).__name__})"
            )
        if not isfinite(value):
            raise ValueError(f"{self._describe(query, grades)} must return a finite number, got {value!r}")
        if self.binary and value not in {0, 1}:
            raise ValueError(
                f"{self._describe(query, grades)} returned {value!r}, but with binary=True every value must be 0 or 1"
            )
        if not self.bounded:
            return float(value)
        if not -ROUNDING_TOLERANCE <= value <= 1 + ROUNDING_TOLERANCE:
            raise ValueError(
                f"{self._describe(query, grades)} returned {value!r}, which is not between 0 and 1; if that is "
                "intended, define it with bounded=False"
            )
        return min(max(float(value), 0.0), 1.0)

    def _describe(self, query: object, grades: FloatArray) -> str:
        shown = [f"{grade:g}" for grade in grades[:_MAX_SHOWN_GRADES]]
        if len(grades) > _MAX_SHOWN_GRADES:
            shown.append("...")
        return f"the metric {self.name!r}, for query {query!r} with the grades [{', '.join(shown)}],"


def grades_of_rows(judged: JudgedRun, k: Cut) -> list[FloatArray]:
    """Return, for each query, the grade of each row of the expanded ranking within the cutoff."""
    hits = judged.hits_within(k)
    n_rows = _count_rows(judged, k)
    first_row = np.cumsum(n_rows) - n_rows
    grades = np.zeros(int(n_rows.sum()))
    grades[first_row[hits.query] + hits.row - 1] = hits.grade
    grades.flags.writeable = False
    return np.split(grades, first_row[1:])


def _count_rows(judged: JudgedRun, k: Cut) -> IntArray:
    """Return how many rows the first `k` items have, shape (queries,); a number of items cuts the rows as well."""
    n_items = judged.n_within(k)
    if judged.rows_are_ranks:
        return n_items
    hits = judged.hits()
    # An item with c hits has c rows.
    is_further_hit = ~is_new(hits.query, hits.rank)
    n_rows = n_items + _count_within(judged, k, hits.query[is_further_hit], hits.rank[is_further_hit])
    if judged.new_coverage is not None:
        # An item that only adds to a piece has no row.
        n_rows -= _count_within(judged, k, *judged.new_coverage.partial(None))
    return np.minimum(n_rows, k) if isinstance(k, int) else n_rows


def _count_within(judged: JudgedRun, k: Cut, query: IntArray, rank: IntArray) -> IntArray:
    """Return how many of some ranks are among the first `k`, shape (queries,)."""
    if k is not None:
        query = query[within(query, rank, k)]
    return np.bincount(query, minlength=judged.n_queries)


def ideal_grades(judged: JudgedRun) -> list[FloatArray]:
    """Return, for each query, the grades of its ideal ranking, best first, each group's largest; read-only."""
    ideal = judged.ideal()
    grade = ideal.grade.copy()
    grade.flags.writeable = False
    return np.split(grade, np.searchsorted(ideal.query, np.arange(1, judged.n_queries)))
