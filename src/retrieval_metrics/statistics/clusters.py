"""Clusters of queries: their sums, and the variance of their mean."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.statistics import arrays
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

FEWEST_FOR_A_SPREAD = 2  # queries, or clusters of them


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
    def of(cls, values: ArrayLike, clusters: ArrayLike | None = None) -> Units:
        """Return the units of per-query values.

        Args:
            values: One finite number per query, shape (n,).
            clusters: The cluster of each query, shape (n,), as any labels. None: every query is a unit.

        Raises:
            ValueError: If a value is not finite, or the numbers of values and labels differ.

        Example:
            >>> Units.of([1.0, 2.0, 5.0], ["a", "a", "b"]).totals.tolist()
            [3.0, 5.0]
        """
        array = arrays.vector(values)
        squares = float(array @ array)
        if clusters is None:
            return cls(array, np.ones_like(array), squares)
        labels = np.asarray(clusters)
        if labels.shape != array.shape:
            raise ValueError(f"there must be one cluster per value; got {labels.shape} and {array.shape}")
        at = np.unique(labels, return_inverse=True)[1].reshape(-1)
        return cls(np.bincount(at, array).astype(np.float64), np.bincount(at).astype(np.float64), squares)

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
        return math.fsum(self.totals.tolist()) / self.queries if len(self.sizes) else math.nan

    @property
    def alike(self) -> float:
        """How many units of equal size say as much: (sum of sizes)^2 / sum of squared sizes, at most their number.

        Example:
            >>> Units.of([1.0] * 12, [*"aaaaaaaaaa", "b", "c"]).alike  # 12^2 / (10^2 + 1 + 1)
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
        if units < FEWEST_FOR_A_SPREAD:
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
        if len(self.sizes) < FEWEST_FOR_A_SPREAD or spread <= arrays.ROUNDING * self.squares:
            return math.nan
        return self.variance_of_mean * n * (n - 1) / spread

    @property
    def effective_count(self) -> float:
        """The number of independent queries with the same information: n / design effect, from `alike` to n.

        It is `alike` if all queries of a cluster say the same, also if all values are equal, which do not show how
        alike a cluster is. That is fewer than the clusters if a few of them hold most queries.
        """
        n, effect = self.queries, self.design_effect
        return self.alike if math.isnan(effect) else min(max(n / max(effect, 1.0), self.alike), n)


def effective_sums(values: ArrayLike, clusters: ArrayLike) -> Sums:
    """Return the sums of as many independent queries as carry the information of the clustered ones.

    Their number is `Units.effective_count`, times (t(n - 1) / t(g - 1))^2, the squared ratio of the 97.5 % quantiles of
    Student's t, because clusters show a variance less well than n queries (Korn and Graubard 1998). With n_j queries in
    cluster j, g = (sum n_j)^2 / sum n_j^2: the number of clusters, or fewer if a few of them hold most queries. Mean,
    mean square, smallest and largest value stay the same.

    Args:
        values: One finite number per query, shape (n,).
        clusters: The cluster of each query, shape (n,). A single cluster shows no variance between clusters, so the
            sums are then those of the queries.

    Raises:
        ValueError: If a value is not finite, or the numbers of values and labels differ.
    """
    array = arrays.vector(values)
    sums, units = Sums.of(array), Units.of(array, clusters)
    groups = len(units.sizes)
    if groups in {len(array), 1}:
        return sums

    from scipy.special import stdtrit  # noqa: PLC0415 - importing the package must not load scipy

    seen = (float(stdtrit(len(array) - 1, 0.975)) / float(stdtrit(units.alike - 1, 0.975))) ** 2
    share = units.effective_count / len(array) * seen
    return Sums(sums.count * share, sums.total * share, sums.total_of_squares * share, sums.smallest, sums.largest)
