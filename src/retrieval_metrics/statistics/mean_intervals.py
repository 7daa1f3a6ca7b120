"""Compute the mean of a metric over queries with its confidence interval, a Beta interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics._internal.rounding import format_ends
from retrieval_metrics._internal.validation import proportion
from retrieval_metrics.statistics.distributions import beta_quantile
from retrieval_metrics.statistics.sums import Sums
from retrieval_metrics.statistics.value_arrays import vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


# From so many queries, half an observation at each end is enough for values between the ends.
ENOUGH_QUERIES = 20
# How fast fewer queries approach a whole observation; chosen by exact enumeration of recalls of two and three
# documents.
SMALL_SAMPLE_SLOPE = 3

# A sum of rounded gains may slightly exceed 1.
TOLERANCE_AT_BOUNDS = 1e-9


class Interval(NamedTuple):
    """The two ends of a confidence interval; printed as `[0.721, 0.882]`."""

    low: float
    high: float

    def __str__(self) -> str:
        return format_ends(self.low, self.high)


def mean_interval(
    values: ArrayLike,
    *,
    level: float = 0.95,
    binary: float = 0.0,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """Return the confidence interval of the mean of a metric, from its values on a sample of queries.

    It is a Beta interval. To the n values x it adds an observation that is divided between two ends, low and high,
    which represent queries that are not in the sample. With y = (x - low) / (high - low), b the share of queries for
    which the metric can only be 0 or 1, a = b + (1 - b) s where s = (20 - n) / (3 n), from 0 to 1, for few queries, and
    w = (1 - a) / 2 at the lower end of the interval, (1 + a) / 2 at the upper:

        m = (sum y + w) / (n + 1)
        v = ((sum y^2 + w) / (n + 1) - m^2) / (n + 2)
        c = m (1 - m) / v - 1
        interval = quantiles of Beta(m c, (1 - m) c), scaled back to x

    If all queries are 0 or 1 (b = 1: hit rate, and recall where each question needs one document) it is the
    Clopper-Pearson interval, which covers the true rate with probability at least `level`; each query that can be
    anything between takes it a little nearer to the interval with half an observation at each end (b = 0).

    m and v are the mean and the variance of the unknown mean under the Dirichlet process posterior with that prior
    (Ferguson 1973; without the two ends it is the Bayesian bootstrap, Rubin 1981), and c is the number of
    yes-or-no queries that carry the same information, as in Korn and Graubard (1998). With a = 0, values that are 0 or
    1 get the Jeffreys interval (Brown, Cai and DasGupta 2001), which covers only 88 to 97% of samples. Without s, so
    do recalls of two needed documents: 88.6% for 4 and 6 queries. With it at least 93.5% do, for 4 queries or more.

    The ends are the `bounds`. The lower bound is the metric's, because a query can always fail. The upper bound should
    be the value of an ideal ranking on these queries: 1 for most metrics, but 0.2 for precision@5 if each query has one
    relevant document. An unreachable bound makes the interval wider than necessary. On a side without a bound, the end
    is one observed range beyond the most extreme value.

    Why not Student's t or a bootstrap: at a mean of 0.95 and 25 queries a 95% t interval covers the truth in about
    84% of samples. The percentile bootstrap does no better, and BCa also under-covers in small samples (Owen 2025):
    from a sample without failures they conclude that there are none. For values like those of retrieval metrics and 4
    queries or more, this interval covers at least 93%, and it approaches Student's as n grows. If a few values are
    close together and far from both bounds, it is wider than necessary. The interval is deterministic.

    The interval always contains the sample mean and stays within `bounds`. Without values it is (nan, nan). For a
    single value, or equal values, it has a positive width, and is infinite on a side without a bound.

    Args:
        values: One finite number per query, shape (n,).
        level: Confidence level, strictly between 0 and 1.
        binary: The share of queries for which the metric can only be 0 or 1, whatever is retrieved; True is all. A
            value that merely happened to be 0 or 1 does not count.
        bounds: Smallest and largest value the metric can take on these queries; infinite if unbounded.

    Raises:
        ValueError: If a value is NaN, infinite or outside `bounds`, if `binary` is 1 and a value is neither 0 nor 1, or
            if another argument is out of range.

    Example:
        24 of 25 queries have their answer at rank 1, one at rank 2: the mean is (24 + 1/2) / 25 = 0.98.

        >>> "0.98 [{:.2f}, {:.2f}]".format(*mean_interval([1.0] * 24 + [0.5]))
        '0.98 [0.88, 1.00]'
        >>> "1.00 [{:.2f}, {:.2f}]".format(*mean_interval([1.0] * 25))  # no failures seen, but they are possible
        '1.00 [0.91, 1.00]'

    References:
        L. D. Brown, T. T. Cai, A. DasGupta (2001). Interval estimation for a binomial proportion.
        C. J. Clopper, E. S. Pearson (1934). The use of confidence or fiducial limits.
        T. S. Ferguson (1973). A Bayesian analysis of some nonparametric problems.
        E. L. Korn, B. I. Graubard (1998). Confidence intervals for proportions with small expected number of positive
        counts estimated from survey data.
        A. B. Owen (2025). Better bootstrap t confidence intervals for the mean. arXiv 2508.10083.
        D. B. Rubin (1981). The Bayesian bootstrap.
    """
    sums = Sums.from_values(vector(values))
    return interval_from_sums(sums, level=level, binary=binary, bounds=bounds)


def interval_from_sums(
    sums: Sums,
    *,
    level: float = 0.95,
    binary: float = 0.0,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """Return the interval of `mean_interval` from five numbers that can be merged across parts of an evaluation.

    `mean_interval` is this function of n, sum x, sum x^2, min x and max x. Parts merged as `ExactSums` give the
    interval of the whole to the last bit.

    Args:
        sums: The number of values, their sum, the sum of their squares, and the smallest and largest of them; for
            clustered queries those of `effective_sums`.
        level: Confidence level, strictly between 0 and 1.
        binary: The share of queries for which the metric can only be 0 or 1.
        bounds: Smallest and largest value the metric can take on these queries; infinite if unbounded.

    Raises:
        ValueError: As `mean_interval`.

    Example:
        Of [1, 1/2] and [0] together: n = 3, sum = 1 + 1/2 + 0, sum of squares = 1 + 1/4 + 0.

        >>> sums = Sums(count=3, total=1.5, total_of_squares=1.25, smallest=0, largest=1)
        >>> interval_from_sums(sums) == mean_interval([1, 0.5, 0])
        True
    """
    proportion(level, "level")
    if not bounds[0] < bounds[1]:
        raise ValueError(f"bounds must be (lower, upper) with lower < upper, got {bounds!r}")
    if not sums.count:
        return Interval(math.nan, math.nan)
    lower, upper = bounds
    if sums.smallest < lower - TOLERANCE_AT_BOUNDS or sums.largest > upper + TOLERANCE_AT_BOUNDS:
        raise ValueError(
            f"values range from {sums.smallest} to {sums.largest}, outside the metric's bounds {bounds}; "
            "pass the bounds of this metric"
        )
    if not 0 <= binary <= 1:
        raise ValueError(f"binary must be a share of queries, from 0 to 1, got {binary!r}")
    ends = _place_half_observations(sums.smallest, sums.largest, bounds)
    if binary == 1:
        if sums.total != sums.total_of_squares or sums.smallest not in (0, 1) or sums.largest not in (0, 1):
            raise ValueError(
                f"binary=True needs values that are 0 or 1; these range from {sums.smallest} to {sums.largest} "
                f"with sum {sums.total} and sum of squares {sums.total_of_squares}"
            )
        ends = (0.0, 1.0)
    small_sample_share = min(max((ENOUGH_QUERIES - sums.count) / (SMALL_SAMPLE_SLOPE * sums.count), 0.0), 1.0)
    whole_observation_share = binary + (1 - binary) * small_sample_share
    low, high = beta_interval(sums, ends=ends, level=level, whole_observation_share=whole_observation_share)
    # The half observations move the interval off the edge: if every value is 0, its low end would be above 0. And the
    # mean of values at the upper bound may be rounded to a number above it, as that of three times 0.2 is.
    return Interval(float(min(max(low, lower), sums.mean)), float(max(min(high, upper), sums.mean)))


def beta_interval(
    sums: Sums, *, ends: tuple[float, float], level: float, whole_observation_share: float = 0.0
) -> Interval:
    """Return the Beta interval of `mean_interval` for values between two ends, or the ends if one is infinite.

    Args:
        sums: The sums of the values.
        ends: The positions of the half observations.
        level: Confidence level, strictly between 0 and 1.
        whole_observation_share: From 0, half an observation at each end, to 1, a whole one at the farther end of each
            limit; a of the formula of `mean_interval`.
    """
    low_end, high_end = ends
    if math.isinf(low_end) or math.isinf(high_end):
        return Interval(low_end, high_end)

    count = sums.count
    width = high_end - low_end
    # Sums of the values as shares of the width, and of the squares of these.
    total = (sums.total - count * low_end) / width
    squares = (sums.total_of_squares - 2 * low_end * sums.total + count * low_end**2) / width**2
    # Exact arithmetic has total^2 / n <= squares <= total for values between the ends; rounding may not.
    total = min(max(total, 0.0), float(count))
    squares = min(max(squares, total**2 / count), total)
    tail = (1 - level) / 2

    def quantile(end_weight: float, p: float) -> float:
        mean = (total + end_weight) / (count + 1)
        variance = ((squares + end_weight) / (count + 1) - mean**2) / (count + 2)
        if not 0 < mean < 1 or variance <= 0:
            return mean
        concentration = mean * (1 - mean) / variance - 1
        return beta_quantile(mean * concentration, (1 - mean) * concentration, p)

    low = quantile((1 - whole_observation_share) / 2, tail)
    high = quantile((1 + whole_observation_share) / 2, 1 - tail)
    return Interval(low_end + width * low, low_end + width * high)


def _place_half_observations(smallest: float, largest: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the positions of the two half observations: the bounds, or one observed range beyond the values."""
    lower, upper = bounds
    spread = largest - smallest
    if spread == 0:  # the values do not show how far an unbounded one can go
        return bounds
    if math.isinf(lower):
        lower = smallest - spread
    if math.isinf(upper):
        upper = largest + spread
    return lower, upper
