"""A mean and a difference, estimated from a model's grades and people's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval_metrics.presentation import numbers

if TYPE_CHECKING:
    from retrieval_metrics.statistics import CorrectedMean, Interval, RareChange


@dataclass(frozen=True, slots=True)
class EstimatedMean:
    """The estimated mean of one metric for one system if people graded all queries.

    Attributes:
        metric: The metric.
        system: The system.
        corrected: The estimate with its variance.
        bounds: The least and the largest value the metric can have on these queries.
        binary: Whether the metric is 0 or 1 for every query.
    """

    metric: str
    system: str
    corrected: CorrectedMean
    bounds: tuple[float, float]
    binary: bool

    def interval(self, level: float = 0.95) -> Interval:
        """Return the confidence interval of the mean; see `retrieval_metrics.statistics.CorrectedMean`."""
        return self.corrected.interval(level, bounds=self.bounds, binary=self.binary)


@dataclass(frozen=True, slots=True, repr=False)
class EstimatedDifference:
    """The estimated difference of two systems in one metric if people graded all queries.

    It is estimated from the differences of each query, so it may differ slightly from that of the two means.

    Attributes:
        metric: The metric.
        system: The system.
        baseline: The system it is compared with.
        corrected: The estimate with its variance.
        span: The largest possible difference.
        level: The confidence level of the interval.
        comparisons: The number of differences in all.
    """

    metric: str
    system: str
    baseline: str
    corrected: CorrectedMean
    span: float
    level: float
    comparisons: int

    @property
    def pair(self) -> tuple[str, str]:
        """The system and its baseline."""
        return self.system, self.baseline

    @property
    def mean(self) -> float:
        """The mean difference, system minus baseline."""
        return self.corrected.mean

    @property
    def interval(self) -> Interval:
        """The confidence interval of the mean difference, not corrected for other differences."""
        return self.corrected.difference_interval(self.level, span=self.span)

    @property
    def decided(self) -> bool:
        """Whether the two are told apart: the interval excludes 0 at a level corrected for all differences.

        If the model's differences lie outside the graded ones (`extrapolates`), people's own interval must exclude it
        as well, on the same side.
        """
        level = 1 - (1 - self.level) / self.comparisons
        found = [self.corrected, *([self.corrected.alone] if self.corrected.alone and self.extrapolates else [])]
        ends = [each.difference_interval(level, span=self.span) for each in found]
        return all(low > 0 for low, _ in ends) or all(high < 0 for _, high in ends)

    @property
    def extrapolates(self) -> bool:
        """Whether the mean rests on differences of the model that lie outside those of the graded queries."""
        return self.corrected.extrapolates(self.level)

    @property
    def people_interval(self) -> Interval:
        """The confidence interval from people's grades alone."""
        return (self.corrected.alone or self.corrected).difference_interval(self.level, span=self.span)

    @property
    def rare(self) -> RareChange:
        """What so few labels cannot have shown: rare, large differences, none of which they happen to contain."""
        return self.corrected.rare(self.level)

    @property
    def rare_matters(self) -> bool:
        """Whether to say so: rare differences could shift the mean beyond the interval."""
        return self.rare.shift > self.interval.high - self.mean

    @property
    def n(self) -> int:
        """The number of queries for which people's grades define it."""
        return self.corrected.labelled

    def labels_needed(self, width: float) -> float:
        """Return how many more queries people must grade for an interval of a given width, from end to end.

        So many sufficed in 72 to 92 % of simulated samples, and in 52 to 66 % of the worst: drawn plainly at random
        for a model that errs on a few queries or grades the wrong way round. Infinite if all queries would not be
        enough.
        """
        return self.corrected.labels_needed(width, level=self.level)

    def __repr__(self) -> str:
        ends = numbers.interval(self.interval, difference=True)
        what = f"{self.system} - {self.baseline} in {self.metric}"
        return f"<EstimatedDifference {what}: {numbers.signed(self.mean)} {ends}>"
