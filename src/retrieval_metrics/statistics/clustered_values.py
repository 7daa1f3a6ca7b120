"""Sum the values of queries by cluster, and estimate the variance and the effective number of queries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.statistics.distributions import t_quantile
from retrieval_metrics.statistics.sums import Sums
from retrieval_metrics.statistics.value_arrays import ROUNDING, vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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
# How many pairs a sample must show before its correlation counts more than the assumption that queries of a cluster are
# alike, and how fast that assumption then fades; chosen by simulation.
PRIOR_PAIRS = 5
FADING_POWER = 3
# The pairs that the queries of one cluster count as, at most, because they are not independent evidence.
MAX_PAIRS = 3


def effective_sums(values: ArrayLike, clusters: ArrayLike) -> Sums:
    """Return the sums of as many independent queries as carry the information of the clustered ones.

    With n_j queries in cluster j, g = (sum n_j)^2 / sum n_j^2 is the number of clusters, or fewer if a few of them hold
    most queries. The number of independent queries is n / D, from g to n, where D is the larger of two design effects:
    that of the jackknife, and 1 + (n / g - 1) r with r the correlation within clusters, which small clusters show too.
    A sample in which few clusters hold a failure hardly shows r. So r is replaced by r + (1 - r) (5 / (T + 5))^3 where
    the sample shows T pairs of queries: T is the effective number of clusters in which queries deviate from the mean,
    times the other queries of such a cluster, at most 3. Many pairs leave r as it is.

    It is multiplied by the squared ratio of the 97.5% quantiles of Student's t of n - 1 queries and of the degrees of
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

    def t_ratio(df: float) -> float:
        """Return the squared ratio of the quantiles of Student's t of n - 1 queries and of fewer degrees of freedom."""
        return (t_quantile(n - 1, 0.975) / t_quantile(df, 0.975)) ** 2

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
    """Return the design effect 1 + (n / g - 1) r of the correlation r within clusters; see `effective_sums`."""
    n = len(deviations)
    sizes = units.sizes
    squares: NDArray[np.float64] = np.bincount(cluster_numbers(clusters), deviations**2).astype(np.float64)
    products = float((((units.totals - sizes * mean) ** 2 - squares) / sizes).sum()) / (n - len(sizes))
    if squares.sum() <= ROUNDING * units.squares:
        return 1.0
    correlation = min(max(products * n / float(squares.sum()), 0.0), 1.0)
    pairs = _effective_number(squares) * float(squares @ np.minimum(sizes - 1, MAX_PAIRS)) / float(squares.sum())
    correlation += (1 - correlation) * (PRIOR_PAIRS / (pairs + PRIOR_PAIRS)) ** FADING_POWER
    return 1 + (n / units.effective_units - 1) * correlation


def _effective_number(amounts: NDArray[np.float64]) -> float:
    """Return how many equal amounts are as uneven as these: (sum)^2 / sum of squares; 0 without any."""
    squares = float(amounts @ amounts)
    if not squares > 0:
        return 0.0
    return float(amounts.sum()) ** 2 / squares
