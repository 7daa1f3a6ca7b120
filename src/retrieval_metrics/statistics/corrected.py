"""The mean of people's values on all queries, as a model's values on all and people's on some show it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import positive_number, proportion
from retrieval_metrics.statistics.interval_of_difference import rare_change_of
from retrieval_metrics.statistics.intervals import Interval, beta_interval, clopper_pearson
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retrieval_metrics.statistics.interval_of_difference import RareChange

ASSURED = 0.95
"""The part of samples in which so many labels suffice if residuals are normal; theirs have long tails, and so it is
about four of five in simulation."""
MATERIAL = 0.1
"""An extrapolation matters if it moves the estimate by more than this part of the half width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMean:
    """A mean estimated from a model's values for all queries and people's values for a random sample of them.

    Attributes:
        mean: The estimate; its target is the mean over the population of which all queries are a random sample.
        variance: Its variance.
        degrees: The degrees of freedom of that variance.
        labelled: How many labelled queries people's values are defined for.
        queries: How many queries there are in all.
        people: The mean of people's values alone, weighted by the sample's weights.
        model: The mean of the model's values alone; NaN if none is defined.
        slope: How much people's value rises per 1 of the model's, on the labelled queries.
        spread: The variance of people's values.
        sampled: The part of `variance` that comes from so few labels.
        explained_part: The part of `variance` that more labels cannot reduce, but more queries can.
        unseen: The part of `variance` that allows for differences of people and model that no label shows.
        span: The largest possible difference of two values.
        independent: How many independent labelled queries the weights, strata and clusters leave.
        alike: Whether people's values are equal on all labelled queries, so that their variance says nothing.
        outside: How many unlabelled queries have a model's value that is outside those of the labelled queries.
        beyond: How much of `mean` comes from how far these lie outside.
        alone: The estimate from people's labels alone; None if this is it.
    """

    mean: float
    variance: float
    degrees: int
    labelled: int
    queries: int
    people: float
    model: float
    slope: float
    spread: float
    sampled: float
    explained_part: float
    unseen: float = 0.0
    span: float = 1.0
    independent: float = math.inf
    alike: bool = False
    outside: int = 0
    beyond: float = 0.0
    alone: CorrectedMean | None = None

    @property
    def worth(self) -> float:
        """How many labels from people alone would give the same variance; `labelled` if that is unknown."""
        return self.spread / self.variance if self.spread > 0 and self.variance > 0 else float(self.labelled)

    @property
    def helps(self) -> bool:
        """Whether the estimate is worth at least one label more than people's labels alone."""
        return self.worth >= self.labelled + 1

    def half_width(self, level: float = 0.95) -> float:
        """Return the half width of Student's interval: t(degrees) sqrt(variance).

        If people's values are all alike, it is at least the shift of `rare`: they show no variance to rely on.
        """
        return self._half_width(self.variance, self.degrees, self.independent, level)

    def rare(self, level: float = 0.95) -> RareChange:
        """Return which rare, large differences the labels cannot show; see `statistics.rare_change`.

        Example:
            Of 18 % of all queries, 15 labels hold none in .82^15 = 5 % of samples.

            >>> from retrieval_metrics.statistics import corrected_mean
            >>> found = corrected_mean([0.0] * 15, [0.0] * 100, range(15))
            >>> "{:.3f}, {:.3f}".format(*found.rare())
            '0.181, 0.181'
        """
        return rare_change_of(self.independent, span=self.span, level=level)

    def extrapolates(self, level: float = 0.95) -> bool:
        """Whether values of the model that no label touches move the estimate by more than a tenth of its half width.

        A model that favours one system on a few queries shows it there, and no label has shown whether people agree.
        """
        return abs(self.beyond) > MATERIAL * self.half_width(level)

    def interval(
        self, level: float = 0.95, *, bounds: tuple[float, float] = (0.0, 1.0), binary: bool = False
    ) -> Interval:
        """Return the confidence interval of a mean of values between two bounds.

        It is the Beta interval of `mean_interval` for as many independent queries as the estimate is worth, times
        (t(worth - 1) / t(degrees))^2, because only the labelled queries show the variance. Without finite bounds it is
        Student's, mean -+ t(degrees) sqrt(variance). A binary metric gets the Clopper-Pearson interval for that number
        of queries (Korn and Graubard 1998).

        Args:
            level: Confidence level, strictly between 0 and 1.
            bounds: Smallest and largest value the metric can take on these queries.
            binary: Whether the metric is 0 or 1 by definition.
        """
        proportion(level, "level")
        low, high = bounds
        if math.isinf(low) or math.isinf(high):
            half = self.half_width(level)
            return Interval(max(self.mean - half, low), min(self.mean + half, high))
        mean = min(max(self.mean, low), high)
        worth = max(self.worth, 2.0)
        count = worth * (_student(worth - 1, level) / _student(self.degrees, level)) ** 2
        if binary:
            return clopper_pearson(count * mean, count, level)
        spread = min(self.spread, (mean - low) * (high - mean))
        sums = Sums(count, count * mean, count * (spread + mean**2), low, high)
        ends = beta_interval(sums, ends=bounds, level=level)
        return Interval(max(min(ends.low, mean), low), min(max(ends.high, mean), high))

    def difference_interval(self, level: float = 0.95, *, span: float = 1.0) -> Interval:
        """Return the confidence interval of a mean of differences that lie between -span and span.

        It is Student's, mean -+ t(degrees) sqrt(variance), cut at the span. It is never a single point: labels that
        are all alike leave room for what they cannot show (`half_width`).
        """
        proportion(level, "level")
        half, mean = self.half_width(level), min(max(self.mean, -span), span)
        return Interval(max(mean - half, -span), min(mean + half, span))

    def labels_needed(self, width: float, *, level: float = 0.95) -> float:
        """Return how many more labelled queries an interval of a given width needs; 0 if it is narrow enough.

        It aims at four of five samples, because the labels so far show the variance only roughly. In simulation so
        many sufficed in 72 to 92 % of the samples, and in 52 to 66 % of the worst: drawn plainly at random for a model
        that errs on a few queries or grades the wrong way round.

        Infinite if labels for all queries would not be enough: more queries are needed then.

        Args:
            width: The wanted width, from end to end.
            level: Confidence level of the interval.

        Raises:
            ValueError: If the width is not positive.
        """
        wanted = positive_number(width, "width") / 2
        if self.half_width(level) <= wanted:
            return 0.0
        more = np.arange(1, self.queries - self.labelled + 1)
        enough = np.flatnonzero(self._assured_half_widths(more, level) <= wanted)
        return float(more[enough[0]]) if enough.size else math.inf

    def _assured_half_widths(self, more: NDArray[np.int64], level: float) -> NDArray[np.float64]:
        """Return the half width that so many more labels should reach in four of five samples.

        The variance that n labels show is uncertain, and so is that of the labels to come: the quotient of the two has
        an F distribution.
        """
        from scipy.special import fdtri  # noqa: PLC0415 - importing the package must not load scipy

        degrees, growth = self.degrees, 1 + more / self.labelled
        larger = (degrees + more * fdtri(more, degrees, ASSURED)) / (degrees + more)
        variance = self.sampled / growth * larger + self.explained_part + self.unseen / growth**2
        return np.array(
            [
                self._half_width(each, degrees + new, self.independent * times, level)
                for each, new, times in zip(variance.tolist(), more.tolist(), growth.tolist(), strict=True)
            ]
        )

    def _half_width(self, variance: float, degrees: int, independent: float, level: float) -> float:
        half = _student(degrees, level) * math.sqrt(variance)
        return max(half, rare_change_of(independent, span=self.span, level=level).shift) if self.alike else half


def _student(degrees: float, level: float) -> float:
    from scipy.special import stdtrit  # noqa: PLC0415 - importing the package must not load scipy

    return float(stdtrit(degrees, (1 + level) / 2))
