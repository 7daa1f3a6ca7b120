"""Describe and test the difference between two systems on the same queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import positive_number, proportion
from retrieval_metrics.statistics.clustered_values import MIN_UNITS_FOR_SPREAD, Units, cluster_numbers
from retrieval_metrics.statistics.difference_intervals import difference_interval
from retrieval_metrics.statistics.distributions import t_cdf
from retrieval_metrics.statistics.multiple_comparisons import Contrasts, joint_sign_flips
from retrieval_metrics.statistics.value_arrays import ROUNDING, vector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from retrieval_metrics.statistics.mean_intervals import Interval


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
            excludes 0 if and only if the corrected p value is at most 1 - level. (nan, nan) if there are too few
            queries (or clusters) for one.
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
        return 2 * t_cdf(self.clusters - 1, -abs(self.t_statistic))


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

    The interval agrees with the test: it excludes 0 if and only if `p_randomisation` is at most 1 - level. Neither says
    anything of rare large losses that a sample of n queries may not contain; see `rare_change`.

    With `clusters`, signs are exchanged by cluster, d' / t is the delete-one-cluster jackknife's standard error, and t
    has G - 1 degrees of freedom.

    If no query differs, the difference and the effect size are 0 and the p values 1. If every query differs by the same
    amount, the effect size is infinite and p_t = 0: use the randomisation test. With one query, the p values are 1.
    Without queries, the mean is NaN and the p values 1. With fewer than 6 queries no interval can be given at 95%.

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
        contrasts = contrasts._replace(columns=_sum_exactly_by_cluster(contrasts.columns, labels))
    test = joint_sign_flips(
        _sum_exactly_by_cluster(np.where(defined, array, 0.0), labels),
        alpha=1 - level,
        resamples=resamples,
        seed=seed,
        contrasts=contrasts,
        advance=advance,
    )
    paired = []
    for hypothesis, (mask, span) in enumerate(zip(defined.T, spans, strict=True)):
        column = array[mask, hypothesis]
        critical = float(test.critical[hypothesis])
        units = Units.from_values(column, None if labels is None else labels[mask])
        t_test = _compute_t_test(column, units)
        paired.append(
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
                t_statistic=t_test.t_statistic,
                effect_size=t_test.effect_size,
                wins=int((column > 0).sum()),
                ties=int((column == 0).sum()),
                losses=int((column < 0).sum()),
            )
        )
    return PairedDifferences(paired, test.corrected.tolist())


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
    """Return value minus baseline, exactly 0 where they differ by rounding only, NaN where either is NaN."""
    differences = values - baseline
    rounding = ROUNDING * np.maximum(np.abs(values), np.abs(baseline))
    return np.where(np.abs(differences) <= rounding, 0.0, differences)


def _sum_exactly_by_cluster(array: NDArray[np.float64], labels: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """Return the sums of the clusters, exactly 0 where a sum differs from 0 by rounding only."""
    if labels is None:
        return array
    n_clusters = int(labels.max(initial=-1)) + 1
    sums = np.zeros((n_clusters, array.shape[1]))
    magnitudes = np.zeros_like(sums)
    np.add.at(sums, labels, array)
    np.add.at(magnitudes, labels, np.abs(array))
    return np.where(np.abs(sums) <= ROUNDING * magnitudes, 0.0, sums)


class _TTest(NamedTuple):
    """Student's t of paired differences, and their effect size."""

    t_statistic: float
    effect_size: float


def _compute_t_test(differences: NDArray[np.float64], units: Units) -> _TTest:
    """Return Student's t and the effect size, also if the differences do not vary."""
    if len(units.sizes) < MIN_UNITS_FOR_SPREAD or not differences.any():
        return _TTest(0.0, 0.0)
    mean = units.mean
    deviation = float(differences.std(ddof=1))
    if deviation <= ROUNDING * abs(mean):
        return _TTest(math.copysign(math.inf, mean), math.copysign(math.inf, mean))
    standard_error = math.sqrt(units.variance_of_mean)
    if not mean:
        return _TTest(0.0, 0.0)
    t_statistic = mean / standard_error if standard_error else math.copysign(math.inf, mean)
    return _TTest(t_statistic, mean / deviation)
