"""Compute which differences a sample can detect, and how many queries it takes to detect one."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import positive_number, proportion
from retrieval_metrics.statistics.clustered_values import MIN_UNITS_FOR_SPREAD, Units
from retrieval_metrics.statistics.difference_intervals import min_significant_units
from retrieval_metrics.statistics.distributions import (
    beta_cdf,
    beta_quantile,
    chi_squared_quantile,
    find_root,
    noncentral_t_quantile,
    noncentral_t_upper,
    normal_quantile,
    t_quantile,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


# The probability that the spread of other queries is below its upper bound, and above its lower one.
SPREAD_CONFIDENCE = 0.8

# A difference that takes more queries is refused.
MAX_UNITS = 2**40

# A standard deviation that is smaller than this share of the difference hides nothing.
NEGLIGIBLE_DEVIATION = 1e-6


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
    alpha: float = 0.05,
    span: float = 1.0,
    clusters: ArrayLike | None = None,
) -> Detectable:
    """Return the mean difference that a paired test finds with a given power, as a range.

    One sample does not show how the difference of another system is spread over the queries. With n queries, s the
    standard deviation of the differences seen, e the effect (in standard deviations) for which the t test has the
    power, and k the number of queries that must change alike before a sign-flip test finds anything (6 at 5%):

        spread    max(e s sqrt(r), m w)                as the differences seen are
        sparse    max(D, m span) + span / n            a few queries may carry all of it
                  D^2 = e^2 (u s^2 + D (span - D))     u = (n - 1) / chi2_{0.2, n - 1}

    r is the room that the error of s takes, 1.13 for 15 queries, so that the power is reached on average over samples.
    m is the share of queries of which n hold k with the given power, and w the mean size of the differences that are
    not 0. `sparse` is valid however the difference is spread: u raises s^2 to the upper end of its one-sided 80%
    interval; D (span - D) is the variance of the most uneven difference of mean D, that of some queries changing by the
    whole span and the others not at all; and one query more makes up for p values that come in steps. Clusters count
    as single queries that change as a whole, and s is the delete-one-cluster jackknife's; if they are of unequal size,
    t has the degrees of freedom of (sum of sizes)^2 / sum of squared sizes clusters.

    Infinite where even a difference of `span` is not found with the given power, or if no query differs: that does not
    show how much other differences would vary.

    Args:
        differences: One difference per query, shape (n,).
        power: Probability of finding the difference, strictly between `alpha` and 1.
        alpha: Significance level of the two-sided test, strictly between 0 and 1.
        span: The largest possible change of a query: the distance between the metric's bounds, or what it has to lose.
        clusters: The cluster of each query, shape (n,); None: queries are independent.

    Raises:
        ValueError: If a difference is NaN or infinite, or another argument is out of range.

    Example:
        s = .1, and (2.8 / sqrt(50)) .1 = .04. If a few of the 50 queries carry it, their share matters: six must move
        the same way before a test can find anything, and if 15% of all queries do, 80% of samples hold six.

        >>> spread, sparse = detectable_difference([0.1, -0.1] * 25)
        >>> round(spread, 2), round(sparse, 2)
        (0.04, 0.17)
    """
    _require_power_above_alpha(power, alpha, span)
    units = Units.from_values(differences, clusters)
    n = len(units.sizes)
    n_moving = min_significant_units(1 - alpha)
    if n < n_moving or not units.totals.any():
        return Detectable(math.inf, math.inf)

    share = beta_quantile(n_moving, n - n_moving + 1, power)
    effect = _detectable_effect(units.effective_units, power, alpha) * math.sqrt(units.effective_units / n)
    variance = units.variance_of_mean * n
    magnitudes = np.abs(units.totals[units.totals != 0]) * n / units.queries
    allowance = variance_allowance(max(units.effective_units - 1, 1.0), power, alpha)
    spread = max(effect * math.sqrt(variance * allowance), share * min(float(magnitudes.mean()), span))
    max_variance = variance * (n - 1) / chi_squared_quantile(n - 1, SPREAD_CONFIDENCE)
    # The positive root D of the docstring's equation.
    linear = effect**2 * span
    root = math.sqrt(linear**2 + 4 * (1 + effect**2) * effect**2 * max_variance)
    uneven = (linear + root) / (2 * (1 + effect**2))
    sparse = max(spread, max(uneven, span * share) + span / n)
    return Detectable(_infinite_above(span, spread), _infinite_above(span, sparse))


def _infinite_above(span: float, difference: float) -> float:
    """Return the difference, or infinity if it is larger than the largest possible one."""
    return difference if difference <= span else math.inf


def queries_needed(
    differences: ArrayLike,
    difference: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    span: float = 1.0,
    clusters: ArrayLike | None = None,
) -> QueriesNeeded:
    """Return how many queries a paired test needs to find a true mean difference with a given power, as a range.

    One sample shows neither how the difference is spread over other queries, nor exactly how much they vary:

        low    every query changes alike           variance s^2 at the lower end of its one-sided 80% CI
        high   a few queries change by the span    as in `detectable_difference`

    Each is the smallest n for which the power of the t test reaches `power`, and at least the number of queries without
    which a sign-flip test finds nothing. With clusters both are numbers of queries, in clusters of the average size.

    Args:
        differences: One difference per query of a sample, shape (m,).
        difference: The true mean difference to find; its sign does not matter.
        power: Probability of finding the difference, strictly between `alpha` and 1.
        alpha: Significance level of the two-sided test, strictly between 0 and 1.
        span: The largest possible change of a query.
        clusters: The cluster of each query, shape (m,); None: queries are independent.

    Raises:
        ValueError: If `difference` is zero, not finite or larger than `span`, if there are fewer than two queries, or
            if another argument is out of range.

    Example:
        s = 0.1; a difference of 0.02 is 0.2 s, and (2.8 / 0.2)^2 = 196 queries. A sample of 25 allows 0.89 s to 1.15 s,
        and a difference of 0.02 that is 1 on 2% of the queries adds a spread of 0.14.

        >>> queries_needed([0.1, -0.1] * 12 + [0.0], 0.02)
        QueriesNeeded(low=162, high=718)
    """
    _require_power_above_alpha(power, alpha, span)
    units = Units.from_values(differences, clusters)
    n = len(units.sizes)
    if n < MIN_UNITS_FOR_SPREAD:
        raise ValueError(f"differences must hold at least two queries to show their spread; got {n}")
    target = abs(difference)
    if not 0 < target <= span:
        raise ValueError(
            f"difference must be a finite number other than 0, got {difference!r}; the largest possible is {span:g}"
        )

    squares = units.variance_of_mean * n * (n - 1)
    min_variance = squares / chi_squared_quantile(n - 1, 1 - SPREAD_CONFIDENCE)
    max_variance = squares / chi_squared_quantile(n - 1, SPREAD_CONFIDENCE)
    cluster_size = units.queries / n
    return QueriesNeeded(
        low=math.ceil(cluster_size * min_units_for_power(target, min_variance, 0.0, power, alpha)),
        high=math.ceil(cluster_size * min_units_for_power(target, max_variance, span, power, alpha)),
    )


def min_units_for_power(
    difference: float, variance: float, step: float, power: float, alpha: float, *, df: float = math.inf
) -> int:
    """Return the fewest units with which a paired test finds a difference.

    Args:
        difference: The true mean difference.
        variance: The variance of the differences.
        step: By how much each of a few units changes that carry the whole difference; 0 if all change alike.
        power: Probability of finding the difference.
        alpha: Significance level of the two-sided test.
        df: Degrees of freedom with which the variance was estimated.

    Raises:
        ValueError: If it takes more than 2^40 units.
    """
    variance *= variance_allowance(df, power, alpha)
    min_units = min_significant_units(1 - alpha)

    def suffices(n: int) -> bool:
        remaining = difference - step / n
        if remaining <= 0:
            return False
        if step and beta_cdf(min_units, n - min_units + 1, remaining / step) < power:
            return False
        deviation = math.sqrt(variance + max(remaining * (step - remaining), 0.0))
        if deviation <= remaining * NEGLIGIBLE_DEVIATION:
            return True
        return paired_t_power(remaining / deviation, n, alpha) >= power

    enough = min_units
    while not suffices(enough):
        enough *= 2
        if enough > MAX_UNITS:
            raise ValueError(f"difference {difference!r} is too small to be detected with fewer than 2^40 queries")
    too_few = max(enough // 2, min_units - 1)
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if suffices(middle):
            enough = middle
        else:
            too_few = middle
    return enough


def variance_allowance(df: float, power: float, alpha: float) -> float:
    """Return by how much more to plan with an estimated variance than with one that is known.

    Example:
        >>> round(variance_allowance(14, 0.8, 0.05), 2), variance_allowance(math.inf, 0.8, 0.05)
        (1.13, 1.0)
    """
    if math.isinf(df):
        return 1.0
    z = -normal_quantile(alpha / 2)
    ratio = noncentral_t_quantile(df, z, power) / (z + normal_quantile(power))
    return max(ratio**2, 1.0)


def sd_bounds(count: float) -> tuple[float, float]:
    """Return by which factors the standard deviation of so many differences may be off, each at 80% confidence.

    Example:
        >>> low, high = sd_bounds(30)
        >>> round(low, 2), round(high, 2)
        (0.91, 1.14)
    """
    low = math.sqrt((count - 1) / chi_squared_quantile(count - 1, 1 - SPREAD_CONFIDENCE))
    high = math.sqrt((count - 1) / chi_squared_quantile(count - 1, SPREAD_CONFIDENCE))
    return low, high


@lru_cache(maxsize=256)
def _detectable_effect(count: float, power: float, alpha: float) -> float:
    """Return the effect in standard deviations for which the paired t test has that power."""

    def excess(effect: float) -> float:
        return paired_t_power(effect, count, alpha) - power

    enough = 1.0
    while excess(enough) < 0:
        enough *= 2
    return find_root(excess, 0.0, enough)


def paired_t_power(effect: float, count: float, alpha: float) -> float:
    """Return the power of the two-sided paired t test to find a mean difference of `effect` standard deviations."""
    df = count - 1
    return noncentral_t_upper(df, effect * math.sqrt(count), -t_quantile(df, alpha / 2))


def _require_power_above_alpha(power: float, alpha: float, span: float) -> None:
    proportion(power, "power")
    proportion(alpha, "alpha")
    positive_number(span, "span")
    if power <= alpha:
        raise ValueError(
            f"power must exceed alpha, which a test reaches without any difference; got {power} <= {alpha}"
        )
