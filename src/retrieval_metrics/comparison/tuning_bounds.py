"""Hold the means of a setting against the bounds of a tuning."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics.comparison.tuning_result import TuningRule
    from retrieval_metrics.evaluation.evaluation import Evaluation

# The name of the time of a query among the bounds.
LATENCY_COLUMN = "seconds"


@dataclass(frozen=True, slots=True)
class BoundedMean:
    """A mean beside its bound.

    Attributes:
        name: The metric, or `"seconds"`.
        mean: The mean of a setting.
        bound: The bound.
        is_lower_bound: Whether the mean must be at least the bound, not at most.
    """

    name: str
    mean: float
    bound: float
    is_lower_bound: bool

    @property
    def is_kept(self) -> bool:
        """Whether the mean keeps the bound; an undefined mean keeps none."""
        if self.is_lower_bound:
            return self.mean >= self.bound
        return self.mean <= self.bound

    @property
    def shortfall(self) -> float:
        """By how much the mean breaks the bound, as a share of the bound unless that is 0; infinite if undefined."""
        if self.is_kept:
            return 0.0
        if isnan(self.mean):
            return inf
        return abs(self.mean - self.bound) / (abs(self.bound) or 1.0)


def list_bounded_means(evaluation: Evaluation, rule: TuningRule) -> list[BoundedMean]:
    """Return the means of a setting that have bounds, beside these."""
    bounded_means = []
    for name, bound in rule.at_least.items():
        bounded_means.append(BoundedMean(name, _find_bounded_mean(evaluation, name), bound, is_lower_bound=True))
    for name, bound in rule.at_most.items():
        bounded_means.append(BoundedMean(name, _find_bounded_mean(evaluation, name), bound, is_lower_bound=False))
    return bounded_means


def _find_bounded_mean(evaluation: Evaluation, name: str) -> float:
    """Return the mean of a metric, or the mean of the seconds per query, to compare it with a bound."""
    if name != LATENCY_COLUMN:
        return evaluation.means[name]
    if not evaluation.scores.seconds:
        raise ValueError("seconds are known only for retrievers, which tune times, and for the results of rm.retrieve")
    return float(np.mean(list(evaluation.scores.seconds.values())))
