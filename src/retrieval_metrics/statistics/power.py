"""What a sample can detect, and how much of the error each look at it may spend."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import positive_integer, positive_number, proportion
from retrieval_metrics.statistics.means import MIN_UNITS_FOR_SPREAD, Units
from retrieval_metrics.statistics.paired import min_significant_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


CONFIDENCE = 0.8
"""The probability that the spread of other queries is below its upper bound, and above its lower one."""
MOST_QUERIES = 2**40


class Detectable(NamedTuple):
    """The size of a difference that a comparison finds, as a range.

    Attributes:
        spread: Found if the difference is spread over the queries as the differences seen are.
        sparse: Found even if a few queries carry the whole difference.
    """

    spread: float
    sparse: float


class QueriesNeeded(NamedTuple):
    """The number of queries needed to find a difference, as a range.

    Attributes:
        low: Enough if the difference is the same on every query and they vary as little as the sample allows.
        high: Enough if a few queries carry the whole difference and the others vary as much as the sample allows.
    """

    low: int
    high: int


def detectable_difference(
    differences: ArrayLike,
    *,
    power: float = 0.8,
    level: float = 0.05,
    span: float = 1.0,
    clusters: ArrayLike | None = None,
) -> Detectable:
    """Return the mean difference that a paired test finds with a given power, as a range.

    One sample does not show how the difference of another system is spread over the queries. With n queries, s the
    standard deviation of the differences seen, e the effect (in standard deviations) for which the t test has the
    power, and k the number of queries that must change alike before a sign-flip test finds anything (6 at 5 %):

        low    max(e s sqrt(r), m w)                   spread as the differences seen are
        high   max(D, m span) + span / n               a few queries may carry all of it
               D^2 = e^2 (u s^2 + D (span - D))        u = (n - 1) / chi2_{0.2, n - 1}

    r is the room that the error of s takes, 1.13 for 15 queries, so that the power is reached on average over samples.
    m is the share of queries of which n hold k with the given power, and w the mean size of the differences that are
    not 0. `high` is valid however the difference is spread: u raises s^2 to the upper end of its one-sided 80 %
    interval; D (span - D) is the variance of the most uneven difference of mean D, that of some queries changing by the
    whole span and the others not at all; and one query more makes up for p values that come in steps. Clusters count
    as single queries that change as a whole, and s is the delete-one-cluster jackknife's; if they are of unequal size,
    t has the degrees of freedom of (sum of sizes)^2 / sum of squared sizes clusters.

    Infinite where even a difference of `span` is not found with the given power, or if no query differs: that does not
    show how much other differences would vary.

    Args:
        differences: One difference per query, shape (n,).
        power: Probability of finding the difference, strictly between `level` and 1.
        level: Level of the two-sided test, strictly between 0 and 1.
        span: The largest possible change of a query: the distance between the metric's bounds, or what it has to lose.
        clusters: The cluster of each query, shape (n,); None: queries are independent.

    Raises:
        ValueError: If a difference is NaN or infinite, or another argument is out of range.

    Example:
        s = .1, and (2.8 / sqrt(50)) .1 = .04. If a few of the 50 queries carry it, their share matters: six must move
        the same way before a test can find anything, and if 15 % of all queries do, 80 % of samples hold six.

        >>> low, high = detectable_difference([0.1, -0.1] * 25)
        >>> round(low, 2), round(high, 2)
        (0.04, 0.17)
    """
    _check(power, level, span)
    units = Units.of(differences, clusters)
    n = len(units.sizes)
    if n < min_significant_units(1 - level) or not units.totals.any():
        return Detectable(math.inf, math.inf)

    from scipy.special import betaincinv, chdtri  # noqa: PLC0415 - importing the package must not load scipy

    movers = min_significant_units(1 - level)
    share = float(betaincinv(movers, n - movers + 1, power))
    effect = _effect_found(units.has_equal_values, power, level) * math.sqrt(units.has_equal_values / n)
    variance = units.variance_of_mean * n
    sizes = np.abs(units.totals[units.totals != 0]) * n / units.queries
    room = variance_allowance(max(units.has_equal_values - 1, 1.0), power, level)
    low = max(effect * math.sqrt(variance * room), share * min(float(sizes.mean()), span))
    upper = variance * (n - 1) / float(chdtri(n - 1, CONFIDENCE))
    linear = effect**2 * span
    uneven = (linear + math.sqrt(linear**2 + 4 * (1 + effect**2) * effect**2 * upper)) / (2 * (1 + effect**2))
    high = max(uneven, span * share) + span / n
    return Detectable(*(found if found <= span else math.inf for found in (low, max(low, high))))


def queries_needed(
    differences: ArrayLike,
    difference: float,
    *,
    power: float = 0.8,
    level: float = 0.05,
    span: float = 1.0,
    clusters: ArrayLike | None = None,
) -> QueriesNeeded:
    """Return how many queries a paired test needs to find a true mean difference with a given power, as a range.

    One sample shows neither how the difference is spread over other queries, nor exactly how much they vary:

        low    every query changes alike           variance s^2 at the lower end of its one-sided 80 % interval
        high   a few queries change by the span    as in `detectable_difference`

    Each is the smallest n for which the power of the t test reaches `power`, and at least the number of queries without
    which a sign-flip test finds nothing. With clusters both are numbers of queries, in clusters of the average size.

    Args:
        differences: One difference per query of a sample, shape (m,).
        difference: The true mean difference to find; its sign does not matter.
        power: Probability of finding the difference, strictly between `level` and 1.
        level: Level of the two-sided test, strictly between 0 and 1.
        span: The largest possible change of a query.
        clusters: The cluster of each query, shape (m,); None: queries are independent.

    Raises:
        ValueError: If `difference` is zero, not finite or larger than `span`, if there are fewer than two queries, or
            if another argument is out of range.

    Example:
        s = 0.1; a difference of 0.02 is 0.2 s, and (2.8 / 0.2)^2 = 196 queries. A sample of 25 allows 0.89 s to 1.15 s,
        and a difference of 0.02 that is 1 on 2 % of the queries adds a spread of 0.14.

        >>> queries_needed([0.1, -0.1] * 12 + [0.0], 0.02)
        QueriesNeeded(low=162, high=718)
    """
    _check(power, level, span)
    units = Units.of(differences, clusters)
    n = len(units.sizes)
    if n < MIN_UNITS_FOR_SPREAD:
        raise ValueError(f"differences must hold at least two queries to show their spread; got {n}")
    wanted = abs(difference)
    if not 0 < wanted <= span:
        raise ValueError(
            f"difference must be a finite number other than 0, got {difference!r}; the largest possible is {span:g}"
        )

    from scipy.special import chdtri  # noqa: PLC0415 - importing the package must not load scipy

    squares = units.variance_of_mean * n * (n - 1)
    average = units.queries / n
    low, high = (
        math.ceil(average * min_units_for_power(wanted, squares / float(chdtri(n - 1, tail)), step, power, level))
        for tail, step in ((1 - CONFIDENCE, 0.0), (CONFIDENCE, span))
    )
    return QueriesNeeded(low, high)


def min_units_for_power(
    difference: float, variance: float, step: float, power: float, level: float, *, freedom: float = math.inf
) -> int:
    """Return the fewest units with which a paired test finds a difference."""
    variance *= variance_allowance(freedom, power, level)
    from scipy.special import betainc  # noqa: PLC0415 - importing the package must not load scipy

    fewest = min_significant_units(1 - level)

    def suffices(n: int) -> bool:
        left = difference - step / n
        if left <= 0 or (step and betainc(fewest, n - fewest + 1, left / step) < power):
            return False
        deviation = math.sqrt(variance + max(left * (step - left), 0.0))
        return deviation <= left * 1e-6 or paired_t_power(left / deviation, n, level) >= power

    enough = fewest
    while not suffices(enough):
        enough *= 2
        if enough > MOST_QUERIES:
            raise ValueError(f"difference {difference!r} is too small to be found with fewer than 2^40 queries")
    too_few = max(enough // 2, fewest - 1)
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        too_few, enough = (too_few, middle) if suffices(middle) else (middle, enough)
    return enough


def variance_allowance(freedom: float, power: float, level: float) -> float:
    """Return by how much more to plan with an estimated variance than with one that is known.

    Example:
        >>> round(variance_allowance(14, 0.8, 0.05), 2), variance_allowance(math.inf, 0.8, 0.05)
        (1.13, 1.0)
    """
    if math.isinf(freedom):
        return 1.0
    from scipy.special import nctdtrit, ndtri  # noqa: PLC0415 - importing the package must not load scipy

    z = float(ndtri(1 - level / 2))
    return max((float(nctdtrit(freedom, z, power)) / (z + float(ndtri(power)))) ** 2, 1.0)


def sd_bounds(count: float) -> tuple[float, float]:
    """Return by which factors the standard deviation of so many differences may be off, each at 80 % confidence.

    Example:
        >>> low, high = sd_bounds(30)
        >>> round(low, 2), round(high, 2)
        (0.91, 1.14)
    """
    from scipy.special import chdtri  # noqa: PLC0415 - importing the package must not load scipy

    low, high = (math.sqrt((count - 1) / float(chdtri(count - 1, tail))) for tail in (1 - CONFIDENCE, CONFIDENCE))
    return low, high


def _effect_found(count: float, power: float, level: float) -> float:
    """Return the effect in standard deviations for which the paired t test has that power."""
    from scipy.optimize import brentq  # noqa: PLC0415 - importing the package must not load scipy

    def excess(effect: float) -> float:
        return paired_t_power(effect, count, level) - power

    enough = 1.0
    while excess(enough) < 0:
        enough *= 2
    return float(brentq(excess, 0.0, enough, xtol=1e-12))


def paired_t_power(effect: float, count: float, level: float) -> float:
    """Return the power of the two-sided paired t test to find a mean difference of `effect` standard deviations."""
    from scipy.stats import nct, t  # noqa: PLC0415 - importing the package must not load scipy

    freedom = count - 1
    with np.errstate(divide="ignore"):  # scipy 1.11 divides by zero for effects near 0, but its result is right
        return float(nct.sf(t.isf(level / 2, freedom), freedom, effect * math.sqrt(count)))


def _check(power: float, level: float, span: float) -> None:
    proportion(power, "power")
    proportion(level, "level")
    positive_number(span, "span")
    if power <= level:
        raise ValueError(
            f"power must exceed level, which a test reaches without any difference; got {power} <= {level}"
        )


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
    while high - low > 1e-9:
        middle = (low + high) / 2
        edge = middle * root
        outside = float(density @ (ndtr((grid - edge) / sigma) + ndtr((-edge - grid) / sigma)))
        low, high = (middle, high) if outside > spent else (low, middle)
    return high
