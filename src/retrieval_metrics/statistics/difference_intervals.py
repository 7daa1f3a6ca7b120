"""Compute the confidence interval of a mean difference between two systems from its sign-flip test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from retrieval_metrics._internal.validation import positive_number, proportion
from retrieval_metrics.statistics.distributions import t_cdf, t_quantile
from retrieval_metrics.statistics.mean_intervals import Interval

if TYPE_CHECKING:
    from retrieval_metrics.statistics.clustered_values import Units


# A number of units this close above a whole number is that number, up to rounding.
COUNT_TOLERANCE = 1e-9


def min_significant_units(level: float) -> int:
    """Return how many queries, or clusters, a two-sided sign-flip test needs before it can reject at 1 - level.

    Its smallest p value is 2 / 2^n.

    Example:
        >>> min_significant_units(0.95), min_significant_units(0.99)  # 2 / 2^6 = .031, 2 / 2^8 = .0078
        (6, 8)
    """
    return max(2, math.ceil(1 - math.log2(1 - level) - COUNT_TOLERANCE))


def difference_interval(
    units: Units, critical: float, *, simultaneous: float = 0.0, span: float = 1.0, level: float = 0.95
) -> Interval:
    """Return the confidence interval of the mean of paired differences that belongs to a sign-flip test.

    It holds every theta that the test does not reject as the mean, by its critical value c:

        |sum of (d - theta)| / sqrt(sum of (d - theta)^2) <= c

    For n single queries of standard deviation s that is mean -+ t s / sqrt(n) with t = c sqrt((n - 1) / (n - c^2)),
    Student's interval with a critical value from the signs of these queries. With clusters, d - theta is summed over
    each. It excludes 0 if and only if the test rejects 0, and its ends lie within -span and span.

    Where few queries move, their signs alone would make it too narrow, so it is never narrower than Student's own
    interval, nor than that of the simultaneous critical value. The exception is the end next to 0 of a difference that
    the test finds and one of these does not: it has the largest of the critical values that exclude 0.

    If all differences are equal, the interval is that one point: such a sample shows no spread. What it cannot have
    shown is `rare_change`. With fewer units than can show any difference at this level (6 at 95%), no interval can be
    given: (nan, nan).

    Args:
        units: The differences.
        critical: The critical value c, such as `JointTest.critical`.
        simultaneous: The critical value of all differences together, such as `JointTest.simultaneous`.
        span: The largest possible difference.
        level: Confidence level, strictly between 0 and 1.

    Raises:
        ValueError: If an argument is out of range.

    Example:
        The mean is .1, s^2 / n = .01 / 3, and t = 1.5 sqrt(2 / (3 - 1.5^2)).

        >>> from retrieval_metrics.statistics.clustered_values import Units
        >>> ends = difference_interval(Units.from_values([0.0, 0.1, 0.2]), 1.5, level=0.5)
        >>> "[{:.3f}, {:.3f}]".format(*ends)
        '[-0.041, 0.241]'

    References:
        E. L. Lehmann, J. P. Romano (2005). Testing statistical hypotheses, section 3.5.
    """
    proportion(level, "level")
    positive_number(span, "span")
    if len(units.sizes) < min_significant_units(level):
        return Interval(math.nan, math.nan)
    if not units.squares:
        return Interval(0.0, 0.0)
    student = student_critical_value(units.effective_units, level)
    squares = float(units.totals @ units.totals)
    observed = abs(float(units.totals.sum())) / math.sqrt(squares) if squares else 0.0
    widest = max(critical, student, simultaneous)
    low, high = _find_ends(units, widest, span)
    if critical < observed <= widest:
        values_excluding_0 = [value for value in (critical, student, simultaneous) if critical <= value < observed]
        narrower = _find_ends(units, max(values_excluding_0), span)
        if units.mean > 0:
            low = narrower.low
        else:
            high = narrower.high
    return Interval(low, high)


def _find_ends(units: Units, critical: float, span: float) -> Interval:
    """Return the smallest and the largest mean whose standardised sum does not exceed the critical value."""
    mean = units.mean
    sizes = units.sizes
    # About the mean, where no digits cancel: with r = totals - mean sizes, sum r is 0, and theta = mean + x solves
    # (N x)^2 = c^2 (sum r^2 - 2 x sum r sizes + x^2 sum sizes^2).
    residuals = units.totals - mean * sizes
    squared = critical**2
    leading = float(sizes.sum()) ** 2 - squared * float(sizes @ sizes)
    if math.isinf(critical) or not leading:
        return Interval(-span, span)
    half_linear = squared * float(residuals @ sizes)
    discriminant = half_linear**2 + leading * squared * float(residuals @ residuals)
    is_one_sided = leading < 0
    if is_one_sided and discriminant <= 0:
        return Interval(-span, span)
    root = math.sqrt(discriminant)
    with_minus = mean + (-half_linear - root) / leading
    with_plus = mean + (-half_linear + root) / leading
    if not is_one_sided:
        return Interval(max(with_minus, -span), min(with_plus, span))
    # With clusters of unequal size there is one end at most, and both roots are on its side of the mean.
    ends = Interval(-span, min(with_minus, with_plus, span))
    if half_linear < 0:
        ends = Interval(max(with_minus, with_plus, -span), span)
    # Beyond both roots lie more means that are not rejected; if 0 is one of them, the interval reaches it.
    is_0_rejected = min(with_minus, with_plus) < 0 < max(with_minus, with_plus)
    if ends.low <= 0 <= ends.high or is_0_rejected:
        return ends
    return Interval(-span, span)


def student_critical_value(count: float, level: float = 0.95) -> float:
    """Return the critical value of the standardised sum of so many differences that belongs to Student's t.

    With t its quantile with n - 1 degrees of freedom, it is t sqrt(n / (n - 1 + t^2)), and below sqrt(n).

    Example:
        >>> [round(student_critical_value(n), 3) for n in (25, 100_000)]  # t = 2.064 and 1.960
        [1.941, 1.96]
    """
    t = t_quantile(count - 1, (1 + level) / 2)
    return t * math.sqrt(count / (count - 1 + t**2))


def critical_value_to_p(critical_value: float, count: int) -> float:
    """Return the p value of Student's t for a standardised sum of so many differences; 0 if it cannot be reached.

    Example:
        >>> round(critical_value_to_p(student_critical_value(25), 25), 6)
        0.05
    """
    if critical_value**2 >= count:
        return 0.0
    t_statistic = critical_value * math.sqrt((count - 1) / (count - critical_value**2))
    return 2 * t_cdf(count - 1, -t_statistic)
