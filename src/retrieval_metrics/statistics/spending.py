"""Looking again after more data: how much of the error each look may spend."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import positive_integer, proportion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

POINTS = 801
"""Points of the grid on which the sums that have not been decided are integrated."""
WIDEST = 8.0
"""Standard deviations after which a sum is as good as impossible."""


def spending_levels(looks: Sequence[int], level: float = 0.95) -> tuple[float, ...]:
    r"""Return the confidence level of the interval at each of several looks, so that together they keep one level.

    Who looks at an interval of 95 % after 15, 25 and 40 labels, and stops as soon as it excludes 0, finds a difference
    between equal systems in more than 5 % of cases. With n_k of the n_K labels planned, the looks up to the k-th may
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
        >>> ["%.4f" % each for each in spending_levels([25])]
        ['0.9500']
        >>> ["%.4f" % each for each in spending_levels([25, 50])]
        ['0.9690', '0.9723']

    References:
        K. K. G. Lan, D. L. DeMets (1983). Discrete sequential boundaries for clinical trials.
        P. Armitage, C. K. McPherson, B. C. Rowe (1969). Repeated significance tests on accumulating data.
    """
    from scipy.special import ndtr, ndtri  # noqa: PLC0415 - importing the package must not load scipy

    proportion(level, "level")
    counts = [positive_integer(each, "a look") for each in looks]
    if not counts or any(one >= other for one, other in pairwise(counts)):
        raise ValueError(f"looks must be rising numbers of labels, such as [15, 25, 40], got {list(looks)}")
    times = np.array(counts) / counts[-1]
    spent = np.diff((1 - level) * np.log1p((math.e - 1) * times), prepend=0.0)
    bounds = [float(ndtri(1 - spent[0] / 2))]
    grid, density = np.array([0.0]), np.array([1.0])  # the sum at the last look, where nothing was decided; its weights
    before = 0.0
    for at, time in enumerate(times):
        sigma = math.sqrt(time - before)
        if at:
            bounds.append(_bound(grid, density, sigma, math.sqrt(time), float(spent[at])))
        edge = bounds[-1] * math.sqrt(time)
        points = np.linspace(-edge, edge, POINTS)
        apart = (points[:, None] - grid[None, :]) / sigma
        values = np.exp(-(apart**2) / 2) @ density / (sigma * math.sqrt(2 * math.pi))
        steps = np.full(POINTS, points[1] - points[0])
        steps[[0, -1]] /= 2
        grid, density, before = points, values * steps, float(time)
    return tuple(float(2 * ndtr(bound) - 1) for bound in bounds)


def _bound(grid: NDArray[np.float64], density: NDArray[np.float64], sigma: float, root: float, spent: float) -> float:
    """Return the standardised bound that a sum exceeds for the first time with a given probability."""
    from scipy.special import ndtr  # noqa: PLC0415 - importing the package must not load scipy

    low, high = 0.0, WIDEST
    while high - low > 1e-9:  # noqa: PLR2004  (far below what a grid of so many points gives)
        middle = (low + high) / 2
        edge = middle * root
        outside = float(density @ (ndtr((grid - edge) / sigma) + ndtr((-edge - grid) / sigma)))
        low, high = (middle, high) if outside > spent else (low, middle)
    return high
