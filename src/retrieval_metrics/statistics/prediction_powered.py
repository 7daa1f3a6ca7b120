"""Estimate a mean from a model's values on all queries and people's on some: prediction-powered inference."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics._internal.validation import positive_number, proportion
from retrieval_metrics.statistics.distributions import t_quantile
from retrieval_metrics.statistics.labelled_sample import (
    MIN_SHOWING_SLOPE,
    MIN_SHOWING_SLOPE_OF_DIFFERENCE,
    DrawnSample,
    FittedLine,
)
from retrieval_metrics.statistics.mean_intervals import Interval, beta_interval
from retrieval_metrics.statistics.rare_changes import estimate_rare_change
from retrieval_metrics.statistics.sums import Sums
from retrieval_metrics.statistics.value_arrays import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from retrieval_metrics.statistics.rare_changes import RareChange


# The share of samples in which so many labels suffice if residuals are normal; theirs have long tails, and so it is
# about four of five in simulation.
LABELS_ASSURANCE = 0.95

# An extrapolation matters if it moves the estimate by more than this share of the half width.
MATERIAL_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMean:
    """A mean estimated from a model's values for all queries and people's values for a random sample of them.

    Attributes:
        mean: The estimate; its target is the mean over the population of which all queries are a random sample.
        variance: Its variance.
        degrees: The degrees of freedom of that variance.
        labelled: How many labelled queries people's values are defined for.
        queries: How many queries there are in all.
        human: The mean of people's values alone, weighted by the sample's weights.
        model: The mean of the model's values alone; NaN if none is defined.
        slope: How much people's value rises per 1 of the model's, on the labelled queries.
        spread: The variance of people's values.
        sampled: The part of `variance` that comes from so few labels.
        explained_part: The part of `variance` that more labels cannot reduce, but more queries can.
        unseen: The part of `variance` that allows for differences of people and model that no label shows.
        span: The largest possible difference of two values.
        independent: How many independent labelled queries the weights, strata and clusters leave.
        all_equal: Whether people's values are equal on all labelled queries, so that their variance says nothing.
        n_outside: How many queries have a model's value far outside those of the labelled queries of their stratum.
        extrapolated: How much of `mean` comes from how far these lie outside.
        human_only: The estimate from people's labels alone; None if this is it.
    """

    mean: float
    variance: float
    degrees: int
    labelled: int
    queries: int
    human: float
    model: float
    slope: float
    spread: float
    sampled: float
    explained_part: float
    unseen: float = 0.0
    span: float = 1.0
    independent: float = math.inf
    all_equal: bool = False
    n_outside: int = 0
    extrapolated: float = 0.0
    human_only: CorrectedMean | None = None

    @property
    def effective_n(self) -> float:
        """How many labels from people alone would give the same variance; `labelled` if that is unknown."""
        if self.spread > 0 and self.variance > 0:
            return self.spread / self.variance
        return float(self.labelled)

    @property
    def helps(self) -> bool:
        """Whether the estimate is worth at least one label more than people's labels alone."""
        return self.effective_n >= self.labelled + 1

    def half_width(self, level: float = 0.95) -> float:
        """Return the half width of Student's interval: t(degrees) sqrt(variance).

        If people's values are all alike, it is at least the shift of `rare`: they show no variance to rely on.
        """
        return self._half_width(self.variance, self.degrees, self.independent, level)

    def rare(self, level: float = 0.95) -> RareChange:
        """Return which rare, large differences the labels cannot show; see `statistics.rare_change`.

        Example:
            Of 18% of all queries, 15 labels hold none in .82^15 = 5% of samples.

            >>> from retrieval_metrics.statistics import corrected_mean
            >>> estimate = corrected_mean([0.0] * 15, [0.0] * 100, range(15))
            >>> "{:.3f}, {:.3f}".format(*estimate.rare())
            '0.181, 0.181'
        """
        return estimate_rare_change(self.independent, span=self.span, level=level)

    def extrapolates(self, level: float = 0.95) -> bool:
        """Whether values of the model that no label touches move the estimate by more than a tenth of its half width.

        A model that favours one system on a few queries shows it there, and no label has shown whether people agree.
        """
        return abs(self.extrapolated) > MATERIAL_SHARE * self.half_width(level)

    def interval(
        self, level: float = 0.95, *, bounds: tuple[float, float] = (0.0, 1.0), binary: float = 0.0
    ) -> Interval:
        """Return the confidence interval of a mean of values between two bounds.

        It is the Beta interval of `mean_interval` for as many independent queries as the estimate is worth, n, times
        (t(n - 1) / t(degrees))^2, because only the labelled queries show the variance. Few queries do not add to the
        share of whole observations, which is `binary`: t(degrees) widens the interval for them. Without finite bounds
        it is Student's, mean -+ t(degrees) sqrt(variance).

        Args:
            level: Confidence level, strictly between 0 and 1.
            bounds: Smallest and largest value the metric can take on these queries.
            binary: The share of queries for which the metric can only be 0 or 1.
        """
        proportion(level, "level")
        low, high = bounds
        if math.isinf(low) or math.isinf(high):
            half_width = self.half_width(level)
            return Interval(max(self.mean - half_width, low), min(self.mean + half_width, high))
        mean = min(max(self.mean, low), high)
        n = max(self.effective_n, 2.0)
        upper = (1 + level) / 2
        count = n * (t_quantile(n - 1, upper) / t_quantile(self.degrees, upper)) ** 2
        max_spread = (mean - low) * (high - mean)
        spread = min(max(self.spread, binary * max_spread), max_spread)
        sums = Sums(count, count * mean, count * (spread + mean**2), low, high)
        ends = beta_interval(sums, ends=bounds, level=level, whole_observation_share=binary)
        return Interval(max(min(ends.low, mean), low), min(max(ends.high, mean), high))

    def difference_interval(self, level: float = 0.95, *, span: float = 1.0) -> Interval:
        """Return the confidence interval of a mean of differences that lie between -span and span.

        It is Student's, mean -+ t(degrees) sqrt(variance), cut at the span. It is never a single point: labels that
        are all alike leave room for what they cannot show (`half_width`).
        """
        proportion(level, "level")
        half_width = self.half_width(level)
        mean = min(max(self.mean, -span), span)
        return Interval(max(mean - half_width, -span), min(mean + half_width, span))

    def labels_needed(self, width: float, *, level: float = 0.95) -> float:
        """Return how many more labelled queries an interval of a given width needs; 0 if it is narrow enough.

        It aims at four of five samples, because the labels so far show the variance only roughly. In simulation so
        many sufficed in 71 to 97% of the samples, and in 55 to 89% of the worst: drawn plainly at random for a model
        that errs on a few queries or grades the wrong way round.

        Infinite if labels for all queries would not be enough: more queries are needed then.

        Args:
            width: The requested width, from end to end.
            level: Confidence level of the interval.

        Raises:
            ValueError: If the width is not positive.
        """
        target = positive_number(width, "width") / 2
        if self.half_width(level) <= target:
            return 0.0
        n_more = np.arange(1, self.queries - self.labelled + 1)
        sufficient = np.flatnonzero(self._assured_half_widths(n_more, level) <= target)
        return float(n_more[sufficient[0]]) if sufficient.size else math.inf

    def _assured_half_widths(self, n_more: NDArray[np.int64], level: float) -> NDArray[np.float64]:
        """Return the half width that so many more labels should reach in four of five samples."""
        from scipy.special import fdtri

        degrees = self.degrees
        growth = 1 + n_more / self.labelled
        inflation = (degrees + n_more * fdtri(n_more, degrees, LABELS_ASSURANCE)) / (degrees + n_more)
        variances = self.sampled / growth * inflation + self.explained_part + self.unseen / growth**2
        half_widths = []
        for variance, added, factor in zip(variances.tolist(), n_more.tolist(), growth.tolist(), strict=True):
            half_widths.append(self._half_width(variance, degrees + added, self.independent * factor, level))
        return np.array(half_widths)

    def _half_width(self, variance: float, degrees: int, independent: float, level: float) -> float:
        half_width = t_quantile(degrees, (1 + level) / 2) * math.sqrt(variance)
        if not self.all_equal:
            return half_width
        rare = estimate_rare_change(independent, span=self.span, level=level)
        return max(half_width, rare.mean_shift)


# A slope and a spread need a few labelled queries.
MIN_LABELLED = 5

# If people and model differ on fewer labelled queries than this, the variance allows for unseen differences.
MIN_DIFFERING = 3

# The variance of a stratum counts that of all strata as so many degrees of freedom more (Smyth 2004): a few labels
# cannot have shown its rare large residuals.
SHARED_DF = 4.0


def corrected_mean(
    human: ArrayLike,
    model: ArrayLike,
    labelled: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    span: float = 1.0,
    of_difference: bool = False,
) -> CorrectedMean:
    r"""Return the mean that people's values would have on all queries, estimated by regression on a model's values.

    For n labelled of N queries, people's values y and the model's values f:

        b = sum (f - mean f)(y - mean y) / sum (f - mean f)^2                            over the labelled
        estimate = mean y over the labelled + b (mean f over all N - mean f over the labelled)

    The model may be biased in any way: b corrects its scale, and the labelled queries its level. An uninformative model
    gets a slope near 0, and the estimate is the mean of people's values. With c the weight of each labelled query in
    the estimate (sum c y), e its residual and h its leverage, the variance is

        max(sum c^2 e^2 / (1 - h), sum e^2 / (n - 2) sum c^2) + b^2 s_f^2 / N

    the larger of the HC2 and the least-squares variance, plus the variance from the N queries being a sample. If the
    values of people and the model differ on only k < 3 labelled queries, (1 - k / 3) span^2 / (2 n^2) is added: queries
    on which they differ may not have been drawn. If the line passes through all labelled values, k is 0.
    The interval uses Student's t with n - 2 degrees of freedom.

    Each stratum has its own mean and its own residual variance, moderated by that of all labels, which counts as 4
    degrees of freedom more; the slope is common. With weights (1 / the probability of being drawn) the least
    squares are weighted. With clusters, the variance is the largest of the two above and one that sums within clusters.
    Queries without a value from people are left out of the mean, which is then a ratio with the variance of
    y - estimate. A query without a value from the model counts as the mean of the others. If
    fewer than 1.5 labelled queries show the slope, 1 / sum (h - 1 / n)^2, or 6 that of differences drawn without
    strata, or they are unlike the others, b is 0: the estimate is that of people alone.

    Args:
        human: Shape (n,), people's value of each labelled query; NaN where it is undefined.
        model: Shape (N,), the model's value of each query; NaN where it is undefined.
        labelled: Shape (n,), the positions of the labelled queries among all N.
        weights: Shape (n,), positive: 1 / the probability of drawing each labelled query. None: all equal.
        strata: Shape (N,), the stratum of each query; each needs at least two labelled queries.
        clusters: Shape (N,), the cluster of each query. None: queries are independent.
        span: The largest possible difference of two values.
        of_difference: Whether the values are differences of two systems, of which the model may favour one.

    Raises:
        ValueError: If fewer than 5 labelled queries have a value, shapes do not match, a position is out of range or
            occurs twice, a weight is not positive, a stratum has fewer than two labelled queries, or there are too few
            clusters.

    Example:
        The model is .2 above people everywhere, so the estimate is the model's mean over all queries, .6, less .2.

        >>> estimate = corrected_mean([0.1, 0.5, 0.3, 0.7, 0.4], [0.3, 0.7, 0.5, 0.9, 0.6, 0.6], [0, 1, 2, 3, 4])
        >>> round(estimate.mean, 12), round(estimate.human, 12), round(estimate.model, 12)
        (0.4, 0.4, 0.6)

    References:
        W. G. Cochran (1977). Sampling Techniques, chapter 7.
        J. G. MacKinnon, H. White (1985). Some heteroskedasticity-consistent covariance matrix estimators.
        G. K. Smyth (2004). Linear models and empirical Bayes methods for assessing differential expression.
        A. N. Angelopoulos, J. C. Duchi, T. Zrnic (2023). PPI++: efficient prediction-powered inference.
    """
    sample = DrawnSample.from_arguments(human, model, labelled, weights, strata, clusters)
    defined = ~np.isnan(sample.human)
    count = int(defined.sum())
    if count < MIN_LABELLED:
        raise ValueError(
            f"human values are defined for {count} of {len(defined)} labelled queries; at least {MIN_LABELLED} "
            "are needed"
        )
    min_showing_slope = MIN_SHOWING_SLOPE
    if of_difference and strata is None:
        min_showing_slope = MIN_SHOWING_SLOPE_OF_DIFFERENCE
    line = sample.fit_line(min_showing_slope)
    estimate = _estimate(sample, line, defined, span)
    if not line.has_slope:
        return estimate
    outside = sample.measure_outside(defined)
    human_only = _estimate(sample, sample.fit_means(), defined, span)
    return replace(
        estimate,
        n_outside=outside.n_outside,
        extrapolated=estimate.slope * outside.mean_distance,
        human_only=human_only,
    )


def _estimate(sample: DrawnSample, line: FittedLine, defined: NDArray[np.bool_], span: float) -> CorrectedMean:
    """Return the estimate with its variance, from one regression; `defined` are the labels with a value."""
    count = int(defined.sum())
    n_labelled = len(defined)
    labelled_design = line.design[sample.labelled]
    n_parameters = labelled_design.shape[1]
    weights = sample.weights
    values = np.where(defined, sample.human, 0.0)
    share = float(line.share @ defined)
    mean = float(line.share @ values) / share
    rounding = ROUNDING * max(1.0, float(np.abs(values).max()))
    all_equal = float(np.ptp(values[defined])) <= rounding
    outcomes = np.where(defined & (not all_equal), sample.human - mean, 0.0)
    coefficients = line.inverse @ labelled_design.T @ (weights * outcomes)
    residuals = outcomes - labelled_design @ coefficients
    residuals[np.abs(residuals) <= rounding] = 0.0
    sampled = _sampling_variance(sample, line, residuals)
    predicted = line.design @ coefficients
    explained = float(predicted.var(ddof=1)) / len(predicted)
    variance = sampled + explained
    degrees = count - n_parameters
    independent = count / n_labelled / float(line.share @ line.share)
    if sample.clusters is not None:
        contributions = predicted / len(predicted)
        contributions[sample.labelled] += line.share * residuals / np.sqrt(1 - line.leverage)
        between_clusters = sample.estimate_between_clusters(contributions)
        variance = max(variance, between_clusters.variance)
        degrees = min(count, between_clusters.n_labelled) - n_parameters
        independent = min(independent, between_clusters.n_labelled)
    if degrees < 1:
        raise ValueError(
            f"the labelled queries come from too few clusters to show a variance: {degrees + n_parameters} for "
            f"{n_parameters} parameters"
        )
    labelled_model = sample.model[sample.labelled]
    differs = np.abs(values - labelled_model)[defined & ~np.isnan(labelled_model)] > rounding
    n_differing = int(np.sum(differs)) if residuals.any() else 0
    unseen = max(0.0, 1 - n_differing / MIN_DIFFERING) * span**2 / (2 * count**2)
    human_mean = float(weights @ values) / float(weights @ defined)
    human_variance = float(weights[defined] @ (values[defined] - human_mean) ** 2 / weights[defined].sum())
    return CorrectedMean(
        mean=mean,
        variance=variance / share**2 + unseen,
        degrees=degrees,
        labelled=count,
        queries=len(predicted),
        human=human_mean,
        model=sample.centre,
        slope=float(coefficients[-1]) if line.has_slope else 0.0,
        spread=0.0 if all_equal else human_variance * count / (count - 1),
        sampled=sampled / share**2,
        explained_part=explained / share**2,
        unseen=unseen,
        span=span,
        independent=independent,
        all_equal=all_equal,
    )


def _sampling_variance(sample: DrawnSample, line: FittedLine, residuals: NDArray[np.float64]) -> float:
    """Return the part of the variance that comes from sampling labels: the larger of HC2's and that of the strata."""
    weights = sample.weights
    n_labelled = len(residuals)
    n_parameters = line.design.shape[1]
    strata = sample.strata[sample.labelled]
    unexplained = float(weights @ residuals**2 / weights.sum()) * n_labelled / (n_labelled - n_parameters)
    robust = float(np.sum(line.share**2 * residuals**2 / (1 - line.leverage)))
    n_strata = len(np.unique(strata))
    slope_cost = (n_parameters - n_strata) / n_labelled  # what the slope, which is common, costs each label
    stratum_variances = []
    for stratum in np.unique(strata):
        is_in_stratum = strata == stratum
        stratum_variances.append(
            _stratum_variance(
                residuals[is_in_stratum],
                weights[is_in_stratum],
                line.share[is_in_stratum],
                overall_variance=unexplained,
                slope_cost=slope_cost,
            )
        )
    return max(robust, sum(stratum_variances))


def _stratum_variance(
    residuals: NDArray[np.float64],
    weights: NDArray[np.float64],
    shares: NDArray[np.float64],
    overall_variance: float,
    slope_cost: float,
) -> float:
    """Return the part of the variance of an estimate that comes from the labels of one stratum."""
    count = len(residuals)
    df = count - 1 - slope_cost * count
    own_variance = float(weights @ residuals**2 / weights.sum()) * count / df
    moderated = own_variance + (overall_variance - own_variance) * SHARED_DF / (SHARED_DF + df)
    return moderated * float(shares @ shares)
