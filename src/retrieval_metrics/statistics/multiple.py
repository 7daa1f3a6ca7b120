"""Several comparisons at a time: corrected p values, and a test of all pairs of systems."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.statistics import arrays

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

QUERIES_BY_SYSTEMS = 2  # dimensions
LARGEST_TABLE = 512  # sums of permuted queries per random draw: small enough for the cache
MOST_SYSTEMS_BY_TABLE = 6  # 6! = 720 orders of one query; with more systems, drawing orders is faster than listing them


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Correct p values for multiple testing by Holm's step-down method.

    With p(1) <= ... <= p(m), the corrected value of p(i) is max over j <= i of min(1, (m - j + 1) p(j)). Rejecting
    where it is at most 0.05 keeps the probability of any false rejection at 5 %, however the p values depend on each
    other. Corrected values are in the order of the input, at least as large as the input, and at most 1.

    Args:
        p_values: Numbers in [0, 1], shape (m,).

    Raises:
        ValueError: If a p value is NaN or outside [0, 1].

    Example:
        Sorted .01 .02 .04 times 3, 2, 1 are .03 .04 .04.

        >>> holm([0.04, 0.01, 0.02]).round(6).tolist()
        [0.04, 0.03, 0.04]

    References:
        S. Holm (1979). A simple sequentially rejective multiple test procedure.
    """
    array = arrays.vector(p_values, "p_values")
    wrong = np.flatnonzero((array < 0) | (array > 1))
    if len(wrong):
        raise ValueError(f"p_values[{wrong[0]}] is {array[wrong[0]]}; a p value lies in [0, 1]")
    order = np.argsort(array, kind="stable")
    stepped = array[order] * np.arange(len(array), 0, -1)
    corrected = np.empty_like(array)
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return corrected


def tukey_hsd(values: ArrayLike, *, resamples: int = 10_000, seed: int = 0) -> NDArray[np.float64]:
    """Test all pairs of systems by Tukey's honestly significant difference under randomisation.

    If the systems do not differ, each query's values could have been assigned to them in any order. `resamples` times,
    they are assigned at random, and the distance between the best and the worst mean is recorded; b of these distances
    are at least as large as the difference between the means of i and j. The best and the worst system are further
    apart than any other pair, so no further correction for the number of pairs is needed:

        p(i, j) = (b + 1) / (resamples + 1)

    The matrix is symmetric with ones on its diagonal. Systems with equal means have p = 1. Without
    queries every p is 1.

    Args:
        values: One row per query, one column per system, shape (n, s).
        resamples: Number of random assignments.
        seed: Seed of the assignments; the same seed gives the same matrix.

    Returns:
        p values, shape (s, s).

    Raises:
        ValueError: If `values` does not have two dimensions, has no system, or holds NaN, or `resamples` is below 1.

    Example:
        >>> p = tukey_hsd([[0.9, 0.1, 0.1], [0.8, 0.2, 0.2], [1.0, 0.3, 0.3], [0.9, 0.0, 0.0], [0.7, 0.1, 0.1]])
        >>> p.shape, bool(p[0, 1] < 0.05), float(p[1, 2])
        ((3, 3), True, 1.0)

    References:
        B. Carterette (2012). Multiple testing in statistical analysis of systems-based information retrieval
        experiments.
    """
    positive_integer(resamples, "resamples")
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != QUERIES_BY_SYSTEMS or not array.shape[1]:
        raise ValueError(
            f"values must have one row per query and one column per system; got an array of shape {array.shape}"
        )
    arrays.finite(array, "values")
    scaled = array / max(np.abs(array).max(initial=0.0), np.finfo(np.float64).tiny)
    totals = scaled.sum(axis=0)
    differences = np.abs(totals[:, None] - totals[None, :])
    # A query on which all systems are equal adds the same to every total in any order.
    moving = scaled[np.ptp(scaled, axis=1) > arrays.ROUNDING]
    distances = np.sort(_random_distances(moving, resamples, seed))
    reach = differences - len(moving) * arrays.ROUNDING
    reached = resamples - np.searchsorted(distances, reach, side="left")
    p_values: NDArray[np.float64] = (reached + 1) / (resamples + 1)
    return p_values


def _random_distances(values: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """Return the range of the totals of each random assignment, in memory of the order of resamples x systems."""
    random = np.random.default_rng(seed)
    totals = np.zeros((resamples, values.shape[1]))
    for dealt in _deals(values, resamples, random):
        totals += dealt
    distances: NDArray[np.float64] = np.ptp(totals, axis=1)
    return distances


def _deals(values: NDArray[np.float64], resamples: int, random: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """Yield random assignments, shape (resamples, systems), group of queries by group, summed within the group."""
    systems = values.shape[1]
    if systems > MOST_SYSTEMS_BY_TABLE:
        for row in values:
            yield random.permuted(np.broadcast_to(row, (resamples, systems)), axis=1)
        return
    orders = np.array(list(itertools.permutations(range(systems))))
    together = max(1, int(math.log(LARGEST_TABLE) / math.log(max(2, len(orders)))))
    for start in range(0, len(values), together):
        table = np.zeros((1, systems))
        for row in values[start : start + together]:
            table = (table[:, None, :] + row[orders]).reshape(-1, systems)
        yield table[random.integers(len(table), size=resamples, dtype=np.uint16)]
