"""Means of queries: exact sums, clusters, confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import proportion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from retrieval_metrics._internal.validation import FloatArray


# Two per-query values closer than this, relative to the largest, differ only by rounding.
ROUNDING = 1e-12


def vector(values: ArrayLike, name: str = "values") -> NDArray[np.float64]:
    """Return one number per query as a float64 array; the caller's array is never written to."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, one number per query; got an array of shape {array.shape}")
    return finite(array, name)


def finite(array: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return the array unchanged if all its numbers are finite."""
    non_finite = np.argwhere(~np.isfinite(array))
    if len(non_finite):
        index = tuple(int(axis_index) for axis_index in non_finite[0])
        position = index[0] if len(index) == 1 else index
        raise ValueError(
            f"{name}[{position}] is {array[index]}; leave out the queries for which the metric is undefined"
        )
    return array


def settings_table(values: ArrayLike) -> NDArray[np.float64]:
    """Return values of several settings as a float64 array, shape (questions, settings)."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or not array.size:
        raise ValueError(f"values must have a row per question and a column per setting; got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("values must be finite; leave out the questions for which the metric is undefined")
    return array


def sum_by_cluster(
    array: NDArray[np.float64], clusters: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum of the rows of each cluster, and how many rows it has; every row is one if there are none."""
    numbers = np.arange(len(array)) if clusters is None else cluster_numbers(clusters)
    sums = np.zeros((int(numbers.max()) + 1, array.shape[1]))
    np.add.at(sums, numbers, array)
    return sums, np.bincount(numbers).astype(np.float64)


def cluster_numbers(labels: ArrayLike) -> NDArray[np.int64]:
    """Return the number of each label among the different ones in sorted order, shape (n,).

    Example:
        >>> cluster_numbers(["b", "a", "b"]).tolist()
        [1, 0, 1]
    """
    numbers: NDArray[np.int64] = np.unique(np.asarray(labels), return_inverse=True)[1].reshape(-1)
    return numbers


# Sums of values that can be merged across parts of an evaluation and are rounded only once.

_MANTISSA_BITS = 53

# Half of the bits of a mantissa, so that sums of halves fit into a float.
_HALF_BITS = 26

# Every finite float, with its mantissa written out in full, is a multiple of 2**-1126.
_UNIT_EXPONENT = 1126

# The sum of this many halves is below 2**53, and so exact.
_MAX_HALVES = 2**25


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums from which a mean and its interval are computed; each is rounded once.

    Attributes:
        count: The number of values; for clustered queries, the number of independent queries they are worth.
        total: Their sum.
        total_of_squares: The sum of their squares, each rounded to a float.
        smallest: The smallest of them; NaN if there are none.
        largest: The largest of them; NaN if there are none.
    """

    count: float
    total: float
    total_of_squares: float
    smallest: float
    largest: float

    @classmethod
    def from_values(cls, values: FloatArray) -> Sums:
        """Return the sums of finite values.

        Example:
            >>> Sums.from_values(np.array([0.5, 1.0, 0.5]))
            Sums(count=3, total=2.0, total_of_squares=1.5, smallest=0.5, largest=1.0)
        """
        if not len(values):
            return cls(0, 0.0, 0.0, math.nan, math.nan)
        smallest = float(values.min())
        largest = float(values.max())
        squares = values * values
        if largest <= 1 and (squares == values).all():
            # Every value is 0 or 1, so counting gives the same sums in a tenth of the time.
            total = float(np.count_nonzero(values))
            return cls(len(values), total, total, smallest, largest)
        total = math.fsum(values.tolist())
        total_of_squares = math.fsum(squares.tolist())
        return cls(len(values), total, total_of_squares, smallest, largest)

    @classmethod
    def from_defined_values(cls, values: FloatArray) -> Sums:
        """Return the sums of the values that are not NaN."""
        sums = cls.from_values(values)
        if math.isnan(sums.total):
            return cls.from_values(values[~np.isnan(values)])
        return sums

    @classmethod
    def empty(cls) -> Sums:
        """Return the sums of no values."""
        return cls.from_values(np.empty(0))

    @property
    def mean(self) -> float:
        """The mean; NaN if there are no values."""
        return self.total / self.count if self.count else math.nan


@dataclass(frozen=True, slots=True)
class ExactSums:
    """The same sums before rounding: those of the parts add up to those of the whole, in any order.

    Attributes:
        count: How many values there are.
        total: Their sum, in units of 2**-1126.
        total_of_squares: The sum of their squares, in the same unit.
        smallest: The smallest of them; infinity if there are none.
        largest: The largest of them; minus infinity if there are none.
    """

    count: int = 0
    total: int = 0
    total_of_squares: int = 0
    smallest: float = math.inf
    largest: float = -math.inf

    @classmethod
    def from_values(cls, values: FloatArray) -> ExactSums:
        """Return the sums of the values that are not NaN.

        Raises:
            ValueError: If a value is infinite.

        Example:
            >>> whole = ExactSums.from_values(np.array([0.1, 0.2, 0.3]))
            >>> parts = np.array([0.3]), np.array([0.2, np.nan, 0.1])
            >>> ExactSums.merge(map(ExactSums.from_values, parts)) == whole
            True
        """
        values = values[~np.isnan(values)]
        if not len(values):
            return cls()
        if not np.isfinite(values).all():
            raise ValueError("values must be finite to be summed, but at least one is infinite")
        return cls(
            count=len(values),
            total=_exact_sum(values),
            total_of_squares=_exact_sum(values * values),
            smallest=float(values.min()),
            largest=float(values.max()),
        )

    @classmethod
    def merge(cls, parts: Iterable[ExactSums]) -> ExactSums:
        """Return the sums of all values of all parts."""
        merged = cls()
        for part in parts:
            merged = cls(
                merged.count + part.count,
                merged.total + part.total,
                merged.total_of_squares + part.total_of_squares,
                min(merged.smallest, part.smallest),
                max(merged.largest, part.largest),
            )
        return merged

    def rounded(self) -> Sums:
        """Return the sums, each rounded to the nearest float, equal to those of `Sums.from_values` to the last bit.

        Example:
            >>> ExactSums.from_values(np.full(10, 0.1)).rounded().total
            1.0
        """
        if not self.count:
            return Sums.empty()
        units_per_1 = 2**_UNIT_EXPONENT
        return Sums(
            count=self.count,
            total=self.total / units_per_1,
            total_of_squares=self.total_of_squares / units_per_1,
            smallest=self.smallest,
            largest=self.largest,
        )


def _exact_sum(values: FloatArray) -> int:
    """Return the sum of finite values as a multiple of 2**-1126."""
    total = 0
    for start in range(0, len(values), _MAX_HALVES):
        mantissa, exponent = np.frexp(values[start : start + _MAX_HALVES])
        digits = np.ldexp(mantissa, _MANTISSA_BITS).astype(np.int64)
        shift = exponent.astype(np.int64) + _UNIT_EXPONENT - _MANTISSA_BITS
        smallest_shift = int(shift.min())
        # Values of one exponent are summed as floats, in two halves that stay exact; the exponents as Python integers.
        high_sums = np.bincount(shift - smallest_shift, digits >> _HALF_BITS)
        low_sums = np.bincount(shift - smallest_shift, digits & (2**_HALF_BITS - 1))
        for extra_shift in np.flatnonzero((high_sums != 0) | (low_sums != 0)).tolist():
            digits_sum = (int(high_sums[extra_shift]) << _HALF_BITS) + int(low_sums[extra_shift])
            total += digits_sum << (smallest_shift + extra_shift)
    return total


# Clusters of queries: their sums, and the variance of their mean.

# Queries, or clusters of them.
MIN_UNITS_FOR_SPREAD = 2


class Units(NamedTuple):
    """Independent parts of a sample: single queries, or clusters of queries.

    Attributes:
        totals: Shape (units,), the sum of the values of each.
        sizes: Shape (units,), how many values each has; at least 1.
        squares: The sum of the squares of all values.
    """

    totals: NDArray[np.float64]
    sizes: NDArray[np.float64]
    squares: float

    @classmethod
    def from_values(cls, values: ArrayLike, clusters: ArrayLike | None = None) -> Units:
        """Return the units of per-query values.

        Args:
            values: One finite number per query, shape (n,).
            clusters: The cluster of each query, shape (n,), as any labels. None: every query is a unit.

        Raises:
            ValueError: If a value is not finite, or the numbers of values and labels differ.

        Example:
            >>> Units.from_values([1.0, 2.0, 5.0], ["a", "a", "b"]).totals.tolist()
            [3.0, 5.0]
        """
        array = vector(values)
        squares = float(array @ array)
        if clusters is None:
            return cls(array, np.ones_like(array), squares)
        labels = np.asarray(clusters)
        if labels.shape != array.shape:
            raise ValueError(f"there must be one cluster per value; got {labels.shape} and {array.shape}")
        unit = cluster_numbers(labels)
        return cls(np.bincount(unit, array).astype(np.float64), np.bincount(unit).astype(np.float64), squares)

    def negated(self) -> Units:
        """Return the units of the values with the opposite sign."""
        return self._replace(totals=-self.totals)

    @property
    def queries(self) -> float:
        """The number of queries."""
        return float(self.sizes.sum())

    @property
    def mean(self) -> float:
        """The mean over all queries; NaN without any."""
        if not len(self.sizes):
            return math.nan
        return math.fsum(self.totals.tolist()) / self.queries

    @property
    def effective_units(self) -> float:
        """How many units of equal size say as much: (sum of sizes)^2 / sum of squared sizes, at most their number.

        Example:
            >>> Units.from_values([1.0] * 12, [*"aaaaaaaaaa", "b", "c"]).effective_units  # 12^2 / (10^2 + 1 + 1)
            1.411764705882353
        """
        return self.queries**2 / float(self.sizes @ self.sizes)

    @property
    def variance_of_mean(self) -> float:
        """The delete-one jackknife estimate of the variance of the mean.

        With G units, and m(g) the mean without unit g:

            v = (G - 1) / G * sum over g of (m(g) - mean of all m(g))^2

        For single queries it is s^2 / n. For clusters of equal size it is the cluster-robust variance of a mean, with
        the factor G / (G - 1). Infinite with fewer than two units.
        """
        units = len(self.sizes)
        if units < MIN_UNITS_FOR_SPREAD:
            return math.inf
        if (self.sizes == 1).all():
            return float(self.totals.var(ddof=1)) / units
        without = (self.totals.sum() - self.totals) / (self.sizes.sum() - self.sizes)
        return (units - 1) * float(without.var())

    @property
    def design_effect(self) -> float:
        """How many times larger the variance of the mean is than that of as many independent queries.

        Range [0, inf); 1 if clusters do not matter, about m if all queries of a cluster of m are alike. NaN where all
        values are equal, or there are fewer than two units.
        """
        n = self.queries
        spread = self.squares - n * self.mean**2
        if len(self.sizes) < MIN_UNITS_FOR_SPREAD or spread <= ROUNDING * self.squares:
            return math.nan
        return self.variance_of_mean * n * (n - 1) / spread

    @property
    def effective_n(self) -> float:
        """The number of independent queries with the same information: n / design effect, from `effective_units` to n.

        It is `effective_units` if all queries of a cluster say the same, also if all values are equal, which do not
        show how alike a cluster is. That is fewer than the clusters if a few of them hold most queries.
        """
        n = self.queries
        effect = self.design_effect
        if math.isnan(effect):
            return self.effective_units
        return min(max(n / max(effect, 1.0), self.effective_units), n)


# Degrees of freedom of a variance beside one for each cluster that holds a failure; chosen by simulation.
EXTRA_DF = 4


def effective_sums(values: ArrayLike, clusters: ArrayLike) -> Sums:
    """Return the sums of as many independent queries as carry the information of the clustered ones.

    With n_j queries in cluster j, g = (sum n_j)^2 / sum n_j^2 is the number of clusters, or fewer if a few of them hold
    most queries. The number of independent queries is n / D, from g to n, where D is the larger of two design effects:
    that of the jackknife, and 1 + (n / g - 1) r with r the correlation within clusters, which small clusters show too.

    It is multiplied by the squared ratio of the 97.5 % quantiles of Student's t of n - 1 queries and of the degrees of
    freedom that clusters leave: g - 1 (Korn and Graubard 1998), or h + 4 if that is less, for the share 1 - g / n of
    queries that are not alone. h is the effective number of clusters which hold what is lacking to the largest value,
    or what exceeds the smallest, whichever are fewer: if all failures are in three clusters, no more than three show
    how they vary. Mean, mean square, smallest and largest value stay the same.

    Args:
        values: One finite number per query, shape (n,).
        clusters: The cluster of each query, shape (n,). A single cluster shows no variance between clusters, so the
            sums are then those of the queries.

    Raises:
        ValueError: If a value is not finite, or the numbers of values and labels differ.
    """
    array = vector(values)
    sums = Sums.from_values(array)
    units = Units.from_values(array, clusters)
    n = len(array)
    n_clusters = len(units.sizes)
    if n_clusters in {n, 1}:
        return sums

    from scipy.special import stdtrit

    def t_ratio(df: float) -> float:
        """Return the squared ratio of the quantiles of Student's t of n - 1 queries and of fewer degrees of freedom."""
        return (float(stdtrit(n - 1, 0.975)) / float(stdtrit(df, 0.975))) ** 2

    g = units.effective_units
    effect = _correlation_design_effect(array - sums.mean, units, clusters, sums.mean)
    count = min(units.effective_n, max(n / effect, g))
    lacking = _effective_number(units.sizes * sums.largest - units.totals)
    exceeding = _effective_number(units.totals - units.sizes * sums.smallest)
    df = min(g - 1, min(lacking, exceeding) + EXTRA_DF)
    ratio = g / n * t_ratio(g - 1) + (1 - g / n) * t_ratio(df)
    share = max(count * ratio, g * t_ratio(g - 1)) / n
    return Sums(sums.count * share, sums.total * share, sums.total_of_squares * share, sums.smallest, sums.largest)


def _correlation_design_effect(
    deviations: NDArray[np.float64], units: Units, clusters: ArrayLike, mean: float
) -> float:
    """Return the design effect 1 + (n / g - 1) r that the correlation r within clusters would have."""
    n = len(deviations)
    sizes = units.sizes
    squares = np.bincount(cluster_numbers(clusters), deviations**2)
    products = float((((units.totals - sizes * mean) ** 2 - squares) / sizes).sum()) / (n - len(sizes))
    if squares.sum() <= ROUNDING * units.squares:
        return 1.0
    correlation = min(max(products * n / float(squares.sum()), 0.0), 1.0)
    return 1 + (n / units.effective_units - 1) * correlation


def _effective_number(amounts: NDArray[np.float64]) -> float:
    """Return how many equal amounts are as uneven as these: (sum)^2 / sum of squares; 0 without any."""
    squares = float(amounts @ amounts)
    if not squares > 0:
        return 0.0
    return float(amounts.sum()) ** 2 / squares


# The confidence interval of a mean of per-query values.

# A sum of rounded gains may slightly exceed 1.
TOLERANCE_AT_BOUNDS = 1e-9


class Interval(NamedTuple):
    """The two ends of a confidence interval."""

    low: float
    high: float


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
    which the metric can only be 0 or 1, and w = (1 - b) / 2 at the lower end of the interval, (1 + b) / 2 at the upper:

        m = (sum y + w) / (n + 1)
        v = ((sum y^2 + w) / (n + 1) - m^2) / (n + 2)
        c = m (1 - m) / v - 1
        interval = quantiles of Beta(m c, (1 - m) c), scaled back to x

    If all queries are 0 or 1 (b = 1: hit rate, and recall where each question needs one document) it is the
    Clopper-Pearson interval, which covers the true rate with probability at least `level`; each query that can be
    anything between takes it a little nearer to the interval with half an observation at each end (b = 0).

    m and v are the mean and the variance of the unknown mean under the Dirichlet process posterior with that prior
    (Ferguson 1973; without the two ends it is the Bayesian bootstrap, Rubin 1981), and c is the number of
    yes-or-no queries that carry the same information, as in Korn and Graubard (1998). With b = 0, values that are 0 or
    1 get the Jeffreys interval (Brown, Cai and DasGupta 2001), which covers only 88 to 97 % of samples.

    The ends are the `bounds`. The lower bound is the metric's, because a query can always fail. The upper bound should
    be the value of an ideal ranking on these queries: 1 for most metrics, but 0.2 for precision@5 if each query has one
    relevant document. An unreachable bound makes the interval wider than necessary. On a side without a bound, the end
    is one observed range beyond the most extreme value.

    Why not Student's t or a bootstrap: at a mean of 0.95 and 25 queries a 95 % t interval covers the truth in about
    84 % of samples. The percentile bootstrap does no better, and BCa also under-covers in small samples (Owen 2025):
    from a sample without failures they conclude that there are none. For values like those of retrieval metrics and at
    least 25 queries, this interval covers 93 to 98 %, and it approaches Student's as n grows. If a few values are close
    together and far from both bounds, it is wider than necessary. The interval is deterministic.

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
    ends = _ends(sums.smallest, sums.largest, bounds)
    if binary == 1:
        if sums.total != sums.total_of_squares or sums.smallest not in (0, 1) or sums.largest not in (0, 1):
            raise ValueError(
                f"binary=True needs values that are 0 or 1; these range from {sums.smallest} to {sums.largest} "
                f"with sum {sums.total} and sum of squares {sums.total_of_squares}"
            )
        ends = (0.0, 1.0)
    low, high = beta_interval(sums, ends=ends, level=level, binary=binary)
    # The half observations move the interval off the edge: if every value is 0, its low end would be above 0. And the
    # mean of values at the upper bound may be rounded to a number above it, as that of three times 0.2 is.
    return Interval(float(min(max(low, lower), sums.mean)), float(max(min(high, upper), sums.mean)))


def beta_interval(sums: Sums, *, ends: tuple[float, float], level: float, binary: float = 0.0) -> Interval:
    """Return the Beta interval of `mean_interval` for values between two ends, or the ends if one is infinite."""
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
        return _beta_quantile(mean * concentration, (1 - mean) * concentration, p)

    low = quantile((1 - binary) / 2, tail)
    high = quantile((1 + binary) / 2, 1 - tail)
    return Interval(low_end + width * low, low_end + width * high)


def _ends(smallest: float, largest: float, bounds: tuple[float, float]) -> tuple[float, float]:
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


def _beta_quantile(a: float, b: float, p: float) -> float:
    # Not scipy.stats, which has the same function but takes three times as long to import.
    from scipy.special import betaincinv

    return float(betaincinv(a, b, p))
