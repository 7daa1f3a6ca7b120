"""The confidence interval of a mean difference between two systems, and what a sample cannot have shown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.checks import positive_number, proportion
from retrieval_metrics.statistics.intervals import Interval

if TYPE_CHECKING:
    from retrieval_metrics.statistics.clusters import Units


class RareChange(NamedTuple):
    """How much a sample may have missed: queries that change a lot, none of which it happens to contain.

    Attributes:
        share: The largest share of all queries of which none would be in the sample with a probability of 1 - level.
        shift: By how much the mean could differ if each of them changed by the largest possible difference.
    """

    share: float
    shift: float


def fewest_units(level: float) -> int:
    """Return how many queries, or clusters, a two-sided sign-flip test needs before it can reject at 1 - level.

    Its smallest p value is 2 / 2^n.

    Example:
        >>> fewest_units(0.95), fewest_units(0.99)  # 2 / 2^6 = .031, 2 / 2^8 = .0078
        (6, 8)
    """
    return max(2, math.ceil(1 - math.log2(1 - level) - 1e-9))


def difference_interval(
    units: Units, critical: float, *, simultaneous: float = 0.0, span: float = 1.0, level: float = 0.95
) -> Interval:
    """Return the confidence interval of the mean of paired differences that belongs to a sign-flip test.

    It holds every theta that the test does not reject as the mean, by its critical value c:

        |sum of (d - theta)| / sqrt(sum of (d - theta)^2) <= c

    For n single queries of standard deviation s that is mean -+ t s / sqrt(n) with t = c sqrt((n - 1) / (n - c^2)),
    Student's interval with a critical value from the signs of these queries. With clusters, d - theta is summed over
    each. It excludes 0 exactly if the test rejects 0, and its ends lie within -span and span.

    Where few queries move, their signs alone would make it too narrow, so it is never narrower than Student's own
    interval, nor than that of the simultaneous critical value. The exception is the end next to 0 of a difference that
    the test finds and one of these does not: it has the largest of the critical values that exclude 0.

    If all differences are equal, the interval is that one point: such a sample shows no spread. What it cannot have
    shown is `rare_change`. With fewer units than can show any difference at this level (6 at 95 %), no interval can be
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

        >>> from retrieval_metrics.statistics.clusters import Units
        >>> ends = difference_interval(Units.of([0.0, 0.1, 0.2]), 1.5, level=0.5)
        >>> "[{:.3f}, {:.3f}]".format(*ends)
        '[-0.041, 0.241]'

    References:
        E. L. Lehmann, J. P. Romano (2005). Testing statistical hypotheses, section 3.5.
    """
    proportion(level, "level")
    positive_number(span, "span")
    if len(units.sizes) < fewest_units(level):
        return Interval(math.nan, math.nan)
    if not units.squares:
        return Interval(0.0, 0.0)
    student = students_critical(units.alike, level)
    squares = float(units.totals @ units.totals)
    reached = abs(float(units.totals.sum())) / math.sqrt(squares) if squares else 0.0
    widest = max(critical, student, simultaneous)
    low, high = _ends(units, widest, span)
    if critical < reached <= widest:
        next_to_0 = _ends(units, max(c for c in (critical, student, simultaneous) if critical <= c < reached), span)
        low, high = (next_to_0.low, high) if units.mean > 0 else (low, next_to_0.high)
    return Interval(low, high)


def _ends(units: Units, critical: float, span: float) -> Interval:
    """Return the smallest and the largest mean whose standardised sum does not exceed the critical value."""
    mean, sizes = units.mean, units.sizes
    # About the mean, where no digits cancel: with r = totals - mean sizes, sum r is 0, and theta = mean + x solves
    # (N x)^2 = c^2 (sum r^2 - 2 x sum r sizes + x^2 sum sizes^2).
    residuals = units.totals - mean * sizes
    squared = critical**2
    leading = float(sizes.sum()) ** 2 - squared * float(sizes @ sizes)
    if math.isinf(critical) or not leading:
        return Interval(-span, span)
    half = squared * float(residuals @ sizes)
    discriminant = half**2 + leading * squared * float(residuals @ residuals)
    if leading < 0:  # unequal clusters: one end at most, both roots on its side of the mean
        if discriminant <= 0:
            return Interval(-span, span)
        roots = [mean + (-half + sign * math.sqrt(discriminant)) / leading for sign in (-1, 1)]
        ends = Interval(max(*roots, -span), span) if half < 0 else Interval(-span, min(*roots, span))
        # Beyond both roots lie more means that are not rejected; if 0 is one of them, the interval reaches it.
        return ends if ends.low <= 0 <= ends.high or min(roots) < 0 < max(roots) else Interval(-span, span)
    root = math.sqrt(discriminant)
    return Interval(max(mean + (-half - root) / leading, -span), min(mean + (-half + root) / leading, span))


def students_critical(count: float, level: float = 0.95) -> float:
    """Return the critical value of the standardised sum of so many differences that belongs to Student's t.

    With t its quantile with n - 1 degrees of freedom, it is t sqrt(n / (n - 1 + t^2)), and below sqrt(n).

    Example:
        >>> round(students_critical(25), 3), round(students_critical(100_000), 3)  # t = 2.064 and 1.960
        (1.941, 1.96)
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - importing the package must not load scipy

    t = float(stdtrit(count - 1, (1 + level) / 2))
    return t * math.sqrt(count / (count - 1 + t**2))


def level_of_critical(critical: float, count: int) -> float:
    """Return the p value of Student's t for a standardised sum of so many differences; 0 if it cannot be reached.

    Example:
        >>> round(level_of_critical(students_critical(25), 25), 6)
        0.05
    """
    if critical**2 >= count:
        return 0.0

    from scipy.special import stdtr  # noqa: PLC0415 - importing the package must not load scipy

    return 2 * float(stdtr(count - 1, -critical * math.sqrt((count - 1) / (count - critical**2))))


def rare_change(units: Units, *, span: float = 1.0, level: float = 0.95) -> RareChange:
    """Return which rare, large differences a sample may not contain.

    With n queries and alpha = 1 - level it is the share 1 - alpha^(1 / n) of all queries, about 3 / n at 95 %, of which
    a sample holds none with a probability of alpha. If each of them changed by the span, the mean would differ by that
    share of the span. Clusters count as n / design effect queries.

    Args:
        units: The differences.
        span: The largest possible difference.
        level: Confidence level, strictly between 0 and 1.

    Raises:
        ValueError: If an argument is out of range.

    Example:
        Of 7 % of all queries, 40 queries hold none in 0.93^40 = 5 % of samples.

        >>> from retrieval_metrics.statistics.clusters import Units
        >>> "{:.3f}, {:.3f}".format(*rare_change(Units.of([0.0] * 40), span=0.5))
        '0.072, 0.036'
    """
    return rare_change_of(units.effective_count if len(units.sizes) else 0, span=span, level=level)


def rare_change_of(count: float, *, span: float = 1.0, level: float = 0.95) -> RareChange:
    """Return the `rare_change` of so many independent queries; all of them if there are none."""
    proportion(level, "level")
    positive_number(span, "span")
    share = 1 - (1 - level) ** (1 / count) if count else 1.0
    return RareChange(share, share * span)
