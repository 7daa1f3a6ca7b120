"""Divide the error between several looks at growing data, so that all looks together keep one level."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics._internal.validation import positive_integer, proportion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


# Points of the grid on which the sums that have not been decided are integrated.
N_GRID_POINTS = 801

# Standard deviations after which a sum is as good as impossible.
MAX_BOUND = 8.0

# A bound is found up to this.
BOUND_TOLERANCE = 1e-9


def spending_levels(looks: Sequence[int], level: float = 0.95) -> tuple[float, ...]:
    r"""Return the confidence level of the interval at each of several looks, so that together they keep one level.

    Who looks at an interval of 95% after 15, 25 and 40 labels, and stops as soon as it excludes 0, finds a difference
    between equal systems in more than 5% of cases. With n_k of the n_K labels planned, the looks up to the k-th may
    spend

        a(t) = (1 - level) log(1 + (e - 1) t)          t = n_k / n_K

    of the error, which is all at the last look. The level at look k is that of the interval that excludes 0 for the
    first time with probability a(t_k) - a(t_(k - 1)), for a sum with independent normal increments. One look has the
    level itself.

    Args:
        looks: The number of labels at each look, rising; the last is the largest planned.
        level: Confidence level of all together, strictly between 0 and 1.

    Raises:
        TypeError: If a number is not an integer.
        ValueError: If there is none, one is not positive, or they do not rise.

    Example:
        >>> [round(level, 4) for level in spending_levels([25])]
        [0.95]
        >>> [round(level, 4) for level in spending_levels([25, 50])]
        [0.969, 0.9723]

    References:
        K. K. G. Lan, D. L. DeMets (1983). Discrete sequential boundaries for clinical trials.
        P. Armitage, C. K. McPherson, B. C. Rowe (1969). Repeated significance tests on accumulating data.
    """
    from scipy.special import ndtr, ndtri

    proportion(level, "level")
    counts = [positive_integer(count, "a look") for count in looks]
    if not counts or any(count >= following for count, following in pairwise(counts)):
        raise ValueError(f"looks must be increasing numbers of labels, such as [15, 25, 40], got {list(looks)}")
    times = np.array(counts) / counts[-1]
    spent = np.diff((1 - level) * np.log1p((math.e - 1) * times), prepend=0.0)
    bounds = [float(ndtri(1 - spent[0] / 2))]
    # The sums at the previous look where nothing was decided, and the weight of each; before the first look, 0.
    grid = np.array([0.0])
    weights = np.array([1.0])
    previous_time = 0.0
    for look, time in enumerate(times):
        sigma = math.sqrt(time - previous_time)
        if look:
            bounds.append(_find_bound(grid, weights, sigma, math.sqrt(time), float(spent[look])))
        edge = bounds[-1] * math.sqrt(time)
        points = np.linspace(-edge, edge, N_GRID_POINTS)
        increments = (points[:, None] - grid[None, :]) / sigma
        density = np.exp(-(increments**2) / 2) @ weights / (sigma * math.sqrt(2 * math.pi))
        steps = np.full(N_GRID_POINTS, points[1] - points[0])
        steps[[0, -1]] /= 2
        grid = points
        weights = density * steps
        previous_time = float(time)
    return tuple(float(2 * ndtr(bound) - 1) for bound in bounds)


def _find_bound(
    grid: NDArray[np.float64], weights: NDArray[np.float64], sigma: float, root: float, spent: float
) -> float:
    """Return the standardised bound that a sum exceeds for the first time with the probability `spent`."""
    from scipy.special import ndtr

    low = 0.0
    high = MAX_BOUND
    while high - low > BOUND_TOLERANCE:
        middle = (low + high) / 2
        edge = middle * root
        outside = float(weights @ (ndtr((grid - edge) / sigma) + ndtr((-edge - grid) / sigma)))
        if outside > spent:
            low = middle
        else:
            high = middle
    return high
