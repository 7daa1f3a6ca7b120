"""Two systems on the same queries: their difference, and its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import positive_number, proportion
from retrieval_metrics.statistics.means import (
    MIN_UNITS_FOR_SPREAD,
    ROUNDING,
    Interval,
    Units,
    cluster_numbers,
    vector,
)
from retrieval_metrics.statistics.multiple_comparisons import Contrasts, joint_sign_flips

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How a system differs from a baseline on the same queries.

    Attributes:
        count: Number of queries n.
        clusters: Number of clusters they belong to; n if queries are independent.
        design_effect: How many times larger the variance of the mean is than that of n independent queries; 1 without
            clusters, NaN where it cannot be known.
        mean: Mean of the differences, system minus baseline; NaN without queries.
        interval: Confidence interval of that mean, simultaneous with those of all differences tested together: it
            excludes 0 exactly if the corrected p value is at most 1 - level. (nan, nan) if there are too few queries
            (or clusters) for one.
        level: Confidence level of the interval.
        critical_value: The critical value of the standardised sum that it belongs to; see `difference_interval`.
        p_randomisation: p value of the two-sided sign-flip test.
        exact: Whether that p value comes from all choices of signs rather than a random sample.
        t_statistic: Student's t; 0 if no query differs, infinite if all differ by the same.
        effect_size: Mean difference in standard deviations of the differences; 0 if all differences are 0.
        wins: Queries on which the system is better.
        ties: Queries on which both are equal, up to rounding.
        losses: Queries on which the baseline is better.
    """

    count: int
    clusters: int
    design_effect: float
    mean: float
    interval: Interval
    level: float
    critical_value: float
    p_randomisation: float
    exact: bool
    t_statistic: float
    effect_size: float
    wins: int
    ties: int
    losses: int

    @property
    def p_t(self) -> float:
        """The p value of the two-sided paired t test."""
        if not self.t_statistic:
            return 1.0

        from scipy.special import stdtr

        return 2 * float(stdtr(self.clusters - 1, -abs(self.t_statistic)))


class PairedDifferences(NamedTuple):
    """Several differences on the same queries, tested together.

    Attributes:
        differences: The differences; their intervals agree with the corrected p values.
        corrected: Their p values, corrected for all of them; see `joint_sign_flips`.
    """

    differences: list[PairedDifference]
    corrected: list[float]


def paired_difference(
    values: ArrayLike,
    baseline: ArrayLike,
    *,
    level: float = 0.95,
    span: float = 1.0,
    resamples: int = 10_000,
    seed: int = 0,
    clusters: ArrayLike | None = None,
) -> PairedDifference:
    """Compare the means of a metric between a system and a baseline, from their values on the same queries.

    With d = value - baseline for each of n queries, of mean d' and standard deviation s (denominator n - 1):

        effect size = d' / s                       (Cohen's d for paired differences)
        t = d' sqrt(n) / s                         p_t from Student's t with n - 1 degrees of freedom
        p_randomisation                            see `sign_flip_test`
        interval                                   see `difference_interval`

    The interval agrees with the test: it excludes 0 exactly if `p_randomisation` is at most 1 - level. Neither says
    anything of rare large losses that a sample of n queries may not contain; see `rare_change`.

    With `clusters`, signs are exchanged by cluster, d' / t is the delete-one-cluster jackknife's standard error, and t
    has G - 1 degrees of freedom.

    If no query differs, the difference and the effect size are 0 and the p values 1. If every query differs by the same
    amount, the effect size is infinite and p_t = 0: use the randomisation test. With one query, the p values are 1.
    Without queries, the mean is NaN and the p values 1. With fewer than 6 queries no interval can be given at 95 %.

    Args:
        values: The system's values, one per query, shape (n,).
        baseline: The baseline's values for the same queries in the same order, shape (n,).
        level: Confidence level of the interval, strictly between 0 and 1.
        span: The largest possible difference: the distance between the metric's bounds.
        resamples: Number of random choices of signs if the randomisation test cannot be exact.
        seed: Seed of the random choices.
        clusters: The cluster of each query, shape (n,); None: queries are independent.

    Raises:
        ValueError: If the numbers of values differ, a value is NaN or infinite, or another argument is out of range.

    Example:
        The differences are .2, .1, .3, 0, with mean .6 / 4. Two of 2^3 choices of signs reach .6: p = 2 / 8.

        >>> result = paired_difference([0.7, 0.6, 0.8, 0.4], [0.5, 0.5, 0.5, 0.4])
        >>> round(result.mean, 6), round(result.p_randomisation, 6), (result.wins, result.ties, result.losses)
        (0.15, 0.25, (3, 1, 0))

    References:
        M. D. Smucker, J. Allan, B. Carterette (2007). A comparison of statistical significance tests for information
        retrieval evaluation.
        E. A. Miller (2024). Adding error bars to evals: a statistical approach to language model evaluations. arXiv
        2411.00640.
    """
    differences = subtract_baseline(values, baseline)
    tested = paired_differences(
        differences[:, None], spans=[span], level=level, resamples=resamples, seed=seed, clusters=clusters
    )
    return tested.differences[0]


def paired_differences(
    differences: ArrayLike,
    *,
    spans: Sequence[float],
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    clusters: ArrayLike | None = None,
    contrasts: Contrasts | None = None,
    advance: Callable[[int], None] | None = None,
) -> PairedDifferences:
    """Describe several differences on the same queries, and test them together.

    Args:
        differences: One row per query, one column per hypothesis (a metric and a pair of systems), shape (n, m), as
            `subtract_baseline` returns them; NaN where a query has no value.
        spans: The largest possible difference of each hypothesis, m of them.
        level: Confidence level of the intervals; 1 - level is the accepted probability of any false finding.
        resamples: Number of random choices of signs if the test cannot be exact.
        seed: Seed of the random choices.
        clusters: The cluster of each query, shape (n,); None: queries are independent.
        contrasts: The same differences as those of fewer columns, 0 instead of NaN, which makes the test faster.
        advance: Told how many random choices of signs are done; see `joint_sign_flips`.

    Raises:
        ValueError: If a difference is infinite or an argument is out of range.

    Example:
        >>> two_metrics = [[0.2, 1.0], [0.1, 1.0], [0.3, 1.0], [0.0, 0.0]]
        >>> [round(p, 6) for p in paired_differences(two_metrics, spans=[1.0, 1.0]).corrected]
        [0.25, 0.25]
    """
    proportion(level, "level")
    for span in spans:
        positive_number(span, "span")
    array = np.asarray(differences, dtype=np.float64)
    defined = ~np.isnan(array)
    labels = None if clusters is None else cluster_numbers(clusters)
    if contrasts is not None:
        contrasts = contrasts._replace(columns=_sum_by_cluster(contrasts.columns, labels))
    test = joint_sign_flips(
        _sum_by_cluster(np.where(defined, array, 0.0), labels),
        alpha=1 - level,
        resamples=resamples,
        seed=seed,
        contrasts=contrasts,
        advance=advance,
    )
    described = []
    for hypothesis, (mask, span) in enumerate(zip(defined.T, spans, strict=True)):
        column = array[mask, hypothesis]
        critical = float(test.critical[hypothesis])
        units = Units.from_values(column, None if labels is None else labels[mask])
        t_statistic, effect_size = _students_t(column, units)
        described.append(
            PairedDifference(
                count=len(column),
                clusters=len(units.sizes),
                design_effect=1.0 if labels is None else units.design_effect,
                mean=units.mean,
                interval=difference_interval(units, critical, simultaneous=test.simultaneous, span=span, level=level),
                level=level,
                critical_value=critical,
                p_randomisation=float(test.p_values[hypothesis]),
                exact=bool(test.exact[hypothesis]),
                t_statistic=t_statistic,
                effect_size=effect_size,
                wins=int((column > 0).sum()),
                ties=int((column == 0).sum()),
                losses=int((column < 0).sum()),
            )
        )
    return PairedDifferences(described, test.corrected.tolist())


def is_significant(p_value: float, level: float) -> bool:
    """Return whether a p value is a finding: at most 1 - level, up to rounding, as 1 - 0.95 is slightly above 0.05."""
    return p_value <= 1 - level + ROUNDING


def subtract_baseline(values: ArrayLike, baseline: ArrayLike) -> NDArray[np.float64]:
    """Return value minus baseline, and exactly 0 if they differ by rounding only."""
    system_values = vector(values)
    baseline_values = vector(baseline, "baseline")
    if len(system_values) != len(baseline_values):
        raise ValueError(
            f"values and baseline must belong to the same queries; got {len(system_values)} values "
            f"and {len(baseline_values)} of the baseline"
        )
    return subtract_exactly(system_values, baseline_values)


def subtract_exactly(values: NDArray[np.float64], baseline: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return value minus baseline, exactly 0 where they differ by rounding only, NaN where one is."""
    differences = values - baseline
    rounding = ROUNDING * np.maximum(np.abs(values), np.abs(baseline))
    return np.where(np.abs(differences) <= rounding, 0.0, differences)


def _sum_by_cluster(array: NDArray[np.float64], labels: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """Return the sums of the clusters, exactly 0 where they differ from it by rounding only."""
    if labels is None:
        return array
    sums, magnitudes = np.zeros((2, int(labels.max(initial=-1)) + 1, array.shape[1]))
    np.add.at(sums, labels, array)
    np.add.at(magnitudes, labels, np.abs(array))
    return np.where(np.abs(sums) <= ROUNDING * magnitudes, 0.0, sums)


def _students_t(differences: NDArray[np.float64], units: Units) -> tuple[float, float]:
    """Return Student's t and the effect size, also if the differences do not vary."""
    if len(units.sizes) < MIN_UNITS_FOR_SPREAD or not differences.any():
        return 0.0, 0.0
    mean = units.mean
    deviation = float(differences.std(ddof=1))
    if deviation <= ROUNDING * abs(mean):
        return math.copysign(math.inf, mean), math.copysign(math.inf, mean)
    standard_error = math.sqrt(units.variance_of_mean)
    if not mean:
        return 0.0, 0.0
    t_statistic = mean / standard_error if standard_error else math.copysign(math.inf, mean)
    return t_statistic, mean / deviation


# The confidence interval of a mean difference between two systems, and what a sample cannot have shown.


class RareChange(NamedTuple):
    """How much a sample may have missed: queries that change a lot, none of which it happens to contain.

    Attributes:
        share: The largest share of all queries of which none would be in the sample with a probability of 1 - level.
        mean_shift: By how much the mean could differ if each of them changed by the largest possible difference.
    """

    share: float
    mean_shift: float


def min_significant_units(level: float) -> int:
    """Return how many queries, or clusters, a two-sided sign-flip test needs before it can reject at 1 - level.

    Its smallest p value is 2 / 2^n.

    Example:
        >>> min_significant_units(0.95), min_significant_units(0.99)  # 2 / 2^6 = .031, 2 / 2^8 = .0078
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

        >>> from retrieval_metrics.statistics.means import Units
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
    reached = abs(float(units.totals.sum())) / math.sqrt(squares) if squares else 0.0
    widest = max(critical, student, simultaneous)
    low, high = _ends(units, widest, span)
    if critical < reached <= widest:
        excluding_0 = [value for value in (critical, student, simultaneous) if critical <= value < reached]
        narrower = _ends(units, max(excluding_0), span)
        if units.mean > 0:
            low = narrower.low
        else:
            high = narrower.high
    return Interval(low, high)


def _ends(units: Units, critical: float, span: float) -> Interval:
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
    half = squared * float(residuals @ sizes)
    discriminant = half**2 + leading * squared * float(residuals @ residuals)
    if leading < 0:  # unequal clusters: one end at most, both roots on its side of the mean
        if discriminant <= 0:
            return Interval(-span, span)
        root = math.sqrt(discriminant)
        roots = (mean + (-half - root) / leading, mean + (-half + root) / leading)
        ends = Interval(max(*roots, -span), span) if half < 0 else Interval(-span, min(*roots, span))
        # Beyond both roots lie more means that are not rejected; if 0 is one of them, the interval reaches it.
        is_0_rejected = min(roots) < 0 < max(roots)
        return ends if ends.low <= 0 <= ends.high or is_0_rejected else Interval(-span, span)
    root = math.sqrt(discriminant)
    return Interval(max(mean + (-half - root) / leading, -span), min(mean + (-half + root) / leading, span))


def student_critical_value(count: float, level: float = 0.95) -> float:
    """Return the critical value of the standardised sum of so many differences that belongs to Student's t.

    With t its quantile with n - 1 degrees of freedom, it is t sqrt(n / (n - 1 + t^2)), and below sqrt(n).

    Example:
        >>> [round(student_critical_value(n), 3) for n in (25, 100_000)]  # t = 2.064 and 1.960
        [1.941, 1.96]
    """
    t = t_quantile(count - 1, (1 + level) / 2)
    return t * math.sqrt(count / (count - 1 + t**2))


def t_quantile(df: float, probability: float) -> float:
    """Return the value below which Student's t is with this probability."""
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def critical_value_to_p(critical_value: float, count: int) -> float:
    """Return the p value of Student's t for a standardised sum of so many differences; 0 if it cannot be reached.

    Example:
        >>> round(critical_value_to_p(student_critical_value(25), 25), 6)
        0.05
    """
    if critical_value**2 >= count:
        return 0.0

    from scipy.special import stdtr

    return 2 * float(stdtr(count - 1, -critical_value * math.sqrt((count - 1) / (count - critical_value**2))))


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

        >>> from retrieval_metrics.statistics.means import Units
        >>> "{:.3f}, {:.3f}".format(*rare_change(Units.from_values([0.0] * 40), span=0.5))
        '0.072, 0.036'
    """
    n = units.effective_n if len(units.sizes) else 0
    return estimate_rare_change(n, span=span, level=level)


def estimate_rare_change(count: float, *, span: float = 1.0, level: float = 0.95) -> RareChange:
    """Return the `rare_change` of so many independent queries; all of them if there are none."""
    proportion(level, "level")
    positive_number(span, "span")
    share = 1 - (1 - level) ** (1 / count) if count else 1.0
    return RareChange(share, share * span)
