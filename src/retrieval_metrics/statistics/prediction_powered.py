"""A mean from a model's values on all queries and people's on some."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import positive_number, proportion
from retrieval_metrics.statistics import means as arrays
from retrieval_metrics.statistics.means import Interval, Sums, beta_interval
from retrieval_metrics.statistics.paired import estimate_rare_change, t_quantile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from retrieval_metrics.statistics.paired import RareChange


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
        human: The mean of people's values alone, weighted by the sample's weights.
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
    human: float
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
    def effective_n(self) -> float:
        """How many labels from people alone would give the same variance; `labelled` if that is unknown."""
        return self.spread / self.variance if self.spread > 0 and self.variance > 0 else float(self.labelled)

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
            Of 18 % of all queries, 15 labels hold none in .82^15 = 5 % of samples.

            >>> from retrieval_metrics.statistics import corrected_mean
            >>> found = corrected_mean([0.0] * 15, [0.0] * 100, range(15))
            >>> "{:.3f}, {:.3f}".format(*found.rare())
            '0.181, 0.181'
        """
        return estimate_rare_change(self.independent, span=self.span, level=level)

    def extrapolates(self, level: float = 0.95) -> bool:
        """Whether values of the model that no label touches move the estimate by more than a tenth of its half width.

        A model that favours one system on a few queries shows it there, and no label has shown whether people agree.
        """
        return abs(self.beyond) > MATERIAL * self.half_width(level)

    def interval(
        self, level: float = 0.95, *, bounds: tuple[float, float] = (0.0, 1.0), binary: float = 0.0
    ) -> Interval:
        """Return the confidence interval of a mean of values between two bounds.

        It is the Beta interval of `mean_interval` for as many independent queries as the estimate is worth, times
        (t(worth - 1) / t(degrees))^2, because only the labelled queries show the variance. Without finite bounds it is
        Student's, mean -+ t(degrees) sqrt(variance).

        Args:
            level: Confidence level, strictly between 0 and 1.
            bounds: Smallest and largest value the metric can take on these queries.
            binary: The share of queries for which the metric can only be 0 or 1.
        """
        proportion(level, "level")
        low, high = bounds
        if math.isinf(low) or math.isinf(high):
            half = self.half_width(level)
            return Interval(max(self.mean - half, low), min(self.mean + half, high))
        mean = min(max(self.mean, low), high)
        worth = max(self.effective_n, 2.0)
        upper = (1 + level) / 2
        count = worth * (t_quantile(worth - 1, upper) / t_quantile(self.degrees, upper)) ** 2
        most = (mean - low) * (high - mean)
        spread = min(max(self.spread, binary * most), most)
        sums = Sums(count, count * mean, count * (spread + mean**2), low, high)
        ends = beta_interval(sums, ends=bounds, level=level, binary=binary)
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
        many sufficed in 71 to 97 % of the samples, and in 55 to 89 % of the worst: drawn plainly at random for a model
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
        """Return the half width that so many more labels should reach in four of five samples."""
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
        half = t_quantile(degrees, (1 + level) / 2) * math.sqrt(variance)
        return (
            max(half, estimate_rare_change(independent, span=self.span, level=level).mean_shift) if self.alike else half
        )


FEWEST = 5
"""The fewest labelled queries for an estimate: a slope and a spread need a few."""
FEW_DISAGREEMENTS = 3
"""If people and model differ on fewer labelled queries than this, the variance allows for unseen differences."""
BORROWED = 4.0
"""The variance of a stratum counts that of all strata as so many degrees of freedom more (Smyth 2004): a few labels
cannot have shown its rare large residuals."""


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

        >>> found = corrected_mean([0.1, 0.5, 0.3, 0.7, 0.4], [0.3, 0.7, 0.5, 0.9, 0.6, 0.6], [0, 1, 2, 3, 4])
        >>> round(found.mean, 12), round(found.human, 12), round(found.model, 12)
        (0.4, 0.4, 0.6)

    References:
        W. G. Cochran (1977). Sampling Techniques, chapter 7.
        J. G. MacKinnon, H. White (1985). Some heteroskedasticity-consistent covariance matrix estimators.
        G. K. Smyth (2004). Linear models and empirical Bayes methods for assessing differential expression.
        A. N. Angelopoulos, J. C. Duchi, T. Zrnic (2023). PPI++: efficient prediction-powered inference.
    """
    drawn = DrawnSample.of(human, model, labelled, weights, strata, clusters)
    defined = ~np.isnan(drawn.human)
    count = int(defined.sum())
    if count < FEWEST:
        raise ValueError(
            f"people's values are defined for {count} of {len(defined)} labelled queries; at least {FEWEST} are needed"
        )
    chosen = drawn.line(FEWEST_OF_A_DIFFERENCE if of_difference and strata is None else FEWEST_BEHIND)
    found = _estimated(drawn, chosen, defined, span)
    if not chosen.slope:
        return found
    outside, beyond = drawn.outside(defined)
    alone = _estimated(drawn, drawn.without_slope(), defined, span)
    return replace(found, outside=outside, beyond=found.slope * beyond, alone=alone)


def _estimated(drawn: DrawnSample, fitted_line: FittedLine, defined: NDArray[np.bool_], span: float) -> CorrectedMean:
    design, inverse, share_of, leverage, has_slope = fitted_line
    count = int(defined.sum())
    rows, weight = design[drawn.labelled], drawn.weights
    values = np.where(defined, drawn.human, 0.0)
    share = float(share_of @ defined)
    mean = float(share_of @ values) / share
    rounding = arrays.ROUNDING * max(1.0, float(np.abs(values).max()))
    alike = float(np.ptp(values[defined])) <= rounding
    outcome = np.where(defined & (not alike), drawn.human - mean, 0.0)
    line = inverse @ rows.T @ (weight * outcome)
    residuals = outcome - rows @ line
    residuals[np.abs(residuals) <= rounding] = 0.0
    parameters = rows.shape[1]
    length = len(residuals)
    unexplained = float(weight @ residuals**2 / weight.sum()) * length / (length - parameters)
    robust = float(np.sum(share_of**2 * residuals**2 / (1 - leverage)))
    squares = float(share_of @ share_of)
    layers = [drawn.strata[drawn.labelled] == stratum for stratum in np.unique(drawn.strata[drawn.labelled])]
    common = (parameters - len(layers)) / length  # what the slope, which is common, costs each label
    sampled = max(
        robust, sum(_of_stratum(residuals[at], weight[at], share_of[at], unexplained, common) for at in layers)
    )
    fitted = design @ line
    explained = float(fitted.var(ddof=1)) / len(fitted)
    variance, degrees, independent = sampled + explained, count - parameters, count / length / squares
    if drawn.clusters is not None:
        parts = fitted / len(fitted)
        parts[drawn.labelled] += share_of * residuals / np.sqrt(1 - leverage)
        between, groups = drawn.between_clusters(parts)
        variance, degrees = max(variance, between), min(count, groups) - parameters
        independent = min(independent, groups)
    if degrees < 1:
        raise ValueError(
            f"the labelled queries come from too few clusters to show a variance: {degrees + parameters} for "
            f"{parameters} parameters"
        )
    model_here = drawn.model[drawn.labelled]
    apart = np.abs(values - model_here)[defined & ~np.isnan(model_here)] > rounding
    differing = int(np.sum(apart)) if residuals.any() else 0
    unseen = max(0.0, 1 - differing / FEW_DISAGREEMENTS) * span**2 / (2 * count**2)
    people_mean = float(weight @ values) / float(weight @ defined)
    spread = float(weight[defined] @ (values[defined] - people_mean) ** 2 / weight[defined].sum()) * count / (count - 1)
    return CorrectedMean(
        mean=mean,
        variance=variance / share**2 + unseen,
        degrees=degrees,
        labelled=count,
        queries=len(fitted),
        human=people_mean,
        model=drawn.centre,
        slope=float(line[-1]) if has_slope else 0.0,
        spread=0.0 if alike else spread,
        sampled=sampled / share**2,
        explained_part=explained / share**2,
        unseen=unseen,
        span=span,
        independent=independent,
        alike=alike,
    )


def _of_stratum(
    residuals: NDArray[np.float64],
    weights: NDArray[np.float64],
    shares: NDArray[np.float64],
    overall: float,
    common: float,
) -> float:
    """Return the part of the variance of an estimate that comes from the labels of one stratum."""
    count = len(residuals)
    degrees = count - 1 - common * count
    own = float(weights @ residuals**2 / weights.sum()) * count / degrees
    return (own + (overall - own) * BORROWED / (BORROWED + degrees)) * float(shares @ shares)


# Labelled queries drawn from all queries, and the line that predicts people's values from a model's.

FEWEST_BEHIND, FEWEST_OF_A_DIFFERENCE = 1.5, 6.0
"""No slope is used if fewer labelled queries, of equal leverage, show it. Of a difference it takes more without strata,
which label the large ones: if a model likes one of two equal systems, half of its large differences are wrong, and a
few labels may hold only such as are right."""
LONGEST_STRETCH = 2.0
"""No slope is used if it would make the weights of the labelled queries more uneven than this."""
FAR = 0.25
"""A value of the model is far outside the labelled ones if it is more than this part of their range beyond them."""


class FittedLine(NamedTuple):
    """A regression of people's values on the model's, as far as it does not depend on people's.

    Attributes:
        design: Shape (N, parameters), a column of each stratum, and perhaps the model's values about their mean.
        inverse: Shape (parameters, parameters), the inverse of the weighted squares over the labelled queries.
        share: Shape (n,), the weight of each labelled value in the estimate.
        leverage: Shape (n,), the leverage of each labelled query.
        slope: Whether the design contains the model's values.
    """

    design: NDArray[np.float64]
    inverse: NDArray[np.float64]
    share: NDArray[np.float64]
    leverage: NDArray[np.float64]
    slope: bool


@dataclass(frozen=True, slots=True)
class DrawnSample:
    """People's values of the labelled queries, the model's of all, and how the labelled were drawn; checked.

    Attributes:
        human: Shape (n,), people's values; NaN where undefined.
        model: Shape (N,), the model's values; NaN where undefined.
        labelled: Shape (n,), the positions of the labelled queries.
        weights: Shape (n,), 1 / the probability of drawing each.
        strata: Shape (N,), the number of each query's stratum.
        clusters: Shape (N,), the number of each query's cluster; None if queries are independent.
    """

    human: NDArray[np.float64]
    model: NDArray[np.float64]
    labelled: NDArray[np.int64]
    weights: NDArray[np.float64]
    strata: NDArray[np.int64]
    clusters: NDArray[np.int64] | None

    @classmethod
    def of(
        cls,
        human: ArrayLike,
        model: ArrayLike,
        labelled: ArrayLike,
        weights: ArrayLike | None,
        strata: ArrayLike | None,
        clusters: ArrayLike | None,
    ) -> DrawnSample:
        """Check the arguments of `corrected_mean`."""
        values, predicted = np.asarray(human, np.float64), np.asarray(model, np.float64)
        at = np.asarray(labelled, np.int64)
        if values.ndim != 1 or predicted.ndim != 1 or at.shape != values.shape:
            raise ValueError(
                f"human and labelled must have the shape (n,), model (N,); got {values.shape}, {at.shape} and "
                f"{predicted.shape}"
            )
        for name, array in (("human", values), ("model", predicted)):
            arrays.finite(np.nan_to_num(array, nan=0.0, posinf=np.inf, neginf=-np.inf), name)
        if len(np.unique(at)) < len(at) or (at.size and not 0 <= at.min() <= at.max() < len(predicted)):
            raise ValueError(f"labelled must be {len(at)} different positions below {len(predicted)}, got {at}")
        weight = np.ones(len(at)) if weights is None else arrays.vector(weights, "weights")
        if weight.shape != at.shape or not (weight > 0).all():
            raise ValueError(f"weights must be {len(at)} positive numbers, got {weight}")
        layer = _numbered(strata, len(predicted), "strata")
        layers = np.zeros(len(predicted), np.int64) if layer is None else layer
        few = np.flatnonzero(np.bincount(layers[at], minlength=int(layers.max(initial=0)) + 1) < 2)
        if layer is not None and few.size:
            raise ValueError(f"stratum {few[0]} has fewer than two labelled queries, which show no spread")
        return cls(values, predicted, at, weight, layers, _numbered(clusters, len(predicted), "clusters"))

    @property
    def centre(self) -> float:
        """The mean of the model's values; NaN if there is none."""
        known = ~np.isnan(self.model)
        return float(self.model[known].mean()) if known.any() else math.nan

    def line(self, fewest: float) -> FittedLine:
        """Return the line that predicts people's values from the model's."""
        without = self.without_slope()
        layers = without.design
        centred = np.where(np.isnan(self.model), 0.0, self.model - self.centre)
        here, strata = centred[self.labelled], self.strata[self.labelled]
        means = np.bincount(strata, here) / np.maximum(np.bincount(strata), 1)
        if not np.abs(here - means[strata]).max(initial=0.0) > arrays.ROUNDING:
            return without
        fitted = self._fitted(np.column_stack([layers, centred]), slope=True)
        of_slope = fitted.leverage - without.leverage  # which sum to 1
        behind = 1 / float(of_slope @ of_slope)
        stretched = float(fitted.share @ fitted.share) / float(without.share @ without.share)
        return without if behind < fewest or stretched > LONGEST_STRETCH else fitted

    def without_slope(self) -> FittedLine:
        """Return the mean of each stratum, which is the estimate from people's labels alone."""
        return self._fitted((self.strata[:, None] == np.unique(self.strata)[None, :]).astype(np.float64), slope=False)

    def outside(self, defined: NDArray[np.bool_]) -> tuple[int, float]:
        """Return how many of the model's values lie far outside those labelled in their stratum, and by how much."""
        count, total = 0, 0.0
        here, strata = self.model[self.labelled], self.strata[self.labelled]
        for stratum in np.unique(self.strata):
            held = here[(strata == stratum) & defined & ~np.isnan(here)]
            values = self.model[(self.strata == stratum) & ~np.isnan(self.model)]
            ends = (held.min(), held.max()) if held.size else (self.centre, self.centre)
            far = values - np.clip(values, *ends)
            far = far[np.abs(far) > FAR * (ends[1] - ends[0]) + arrays.ROUNDING]
            count += len(far)
            total += float(far.sum())
        return count, total / len(self.model)

    def _fitted(self, design: NDArray[np.float64], *, slope: bool) -> FittedLine:
        rows = design[self.labelled]
        inverse = np.linalg.inv(rows.T @ (rows * self.weights[:, None])).astype(np.float64)
        share = (rows @ inverse @ design.mean(axis=0)) * self.weights
        leverage = self.weights * np.einsum("ij,jk,ik->i", rows, inverse, rows)
        return FittedLine(design, inverse, share, np.clip(leverage, 0.0, 1 - 1e-9), slope)

    def between_clusters(self, parts: NDArray[np.float64]) -> tuple[float, int]:
        """Return the variance of the sum of all parts by cluster, and how many clusters hold labelled queries."""
        clusters: NDArray[np.int64] = self.clusters  # type: ignore[assignment]  # only asked where there are some
        sums = np.bincount(clusters, parts)
        there = len(np.unique(clusters[self.labelled]))
        return float(sums @ sums) * there / max(there - 1, 1), there


def _numbered(labels: ArrayLike | None, length: int, name: str) -> NDArray[np.int64] | None:
    if labels is None:
        return None
    array = np.asarray(labels)
    if array.shape != (length,):
        raise ValueError(f"{name} must have one label per query, shape ({length},); got {array.shape}")
    numbers = np.unique(array, return_inverse=True)[1].reshape(-1)
    return numbers.astype(np.int64)
