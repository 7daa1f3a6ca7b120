"""Two systems on the same queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import positive_number, proportion
from retrieval_metrics.statistics import arrays
from retrieval_metrics.statistics.intervals import Interval, beta_interval
from retrieval_metrics.statistics.power import FEWEST_FOR_A_SPREAD
from retrieval_metrics.statistics.sign_flip import sign_flip_test
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How a system differs from a baseline on the same queries.

    Attributes:
        count: Number of queries n.
        mean: Mean of the differences, system minus baseline; NaN without queries.
        interval: Confidence interval of that mean.
        level: Confidence level of the interval.
        p_randomisation: p value of the two-sided sign-flip test.
        exact: Whether that p value comes from all choices of signs rather than a random sample.
        p_t: p value of the two-sided paired t test.
        effect_size: Mean difference in standard deviations of the differences; 0 if all differences are 0.
        wins: Queries on which the system is better.
        ties: Queries on which both are equal, up to rounding.
        losses: Queries on which the baseline is better.
    """

    count: int
    mean: float
    interval: Interval
    level: float
    p_randomisation: float
    exact: bool
    p_t: float
    effect_size: float
    wins: int
    ties: int
    losses: int


def paired_difference(
    values: ArrayLike,
    baseline: ArrayLike,
    *,
    level: float = 0.95,
    span: float = 1.0,
    resamples: int = 10_000,
    seed: int = 0,
) -> PairedDifference:
    """Compare the means of a metric between a system and a baseline, from their values on the same queries.

    With d = value - baseline for each of n queries, of mean d' and standard deviation s (denominator n - 1):

        effect size = d' / s                       (Cohen's d for paired differences)
        t = d' sqrt(n) / s                         p_t from Student's t with n - 1 degrees of freedom
        p_randomisation                            see `sign_flip_test`
        interval                                   the Beta interval of `mean_interval`

    The two ends of the interval are plus and minus the largest difference (`span` if all are 0). Half an observation
    at each end represents queries that are not in the sample. The interval is about as wide as Student's, but does not
    shrink to a point if few queries or none differ. With 25 queries and rare large gains it covers the true mean less
    often than `level`, because the sample may not contain such a gain.

    If no query differs, the difference and the effect size are 0 and the p values 1. If every query differs by the same
    amount, the effect size is infinite and p_t = 0: use the randomisation test. With one query, the p values are 1.
    Without queries, mean and interval are NaN and the p values 1.

    Args:
        values: The system's values, one per query, shape (n,).
        baseline: The baseline's values for the same queries in the same order, shape (n,).
        level: Confidence level of the interval, strictly between 0 and 1.
        span: The largest possible difference: the distance between the metric's bounds.
        resamples: Number of random choices of signs if the randomisation test cannot be exact.
        seed: Seed of the random choices.

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
    """
    proportion(level, "level")
    positive_number(span, "span")
    differences = differences_of(values, baseline)
    count = len(differences)
    sign_flip = sign_flip_test(differences, resamples=resamples, seed=seed)
    mean = math.fsum(differences.tolist()) / count if count else math.nan
    p_t, effect_size = _t_test(differences, mean)
    return PairedDifference(
        count=count,
        mean=mean,
        interval=_interval(differences, mean, level, span),
        level=level,
        p_randomisation=sign_flip.p_value,
        exact=sign_flip.exact,
        p_t=p_t,
        effect_size=effect_size,
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences < 0).sum()),
    )


def differences_of(values: ArrayLike, baseline: ArrayLike) -> NDArray[np.float64]:
    """Return value minus baseline, and exactly 0 if they differ by rounding only."""
    ours, theirs = arrays.vector(values), arrays.vector(baseline, "baseline")
    if len(ours) != len(theirs):
        raise ValueError(
            f"values and baseline must belong to the same queries; got {len(ours)} values "
            f"and {len(theirs)} of the baseline"
        )
    differences = ours - theirs
    rounding = arrays.ROUNDING * np.maximum(np.abs(ours), np.abs(theirs))
    return np.where(np.abs(differences) <= rounding, 0.0, differences)


def _t_test(differences: NDArray[np.float64], mean: float) -> tuple[float, float]:
    """Return the p value of the paired t test and the effect size, also if the differences do not vary."""
    if len(differences) < FEWEST_FOR_A_SPREAD or not differences.any():
        return 1.0, 0.0
    deviation = float(differences.std(ddof=1))
    if deviation <= arrays.ROUNDING * abs(mean):
        return 0.0, math.copysign(math.inf, mean)

    from scipy.stats import ttest_1samp  # noqa: PLC0415 - importing the package must not load scipy

    return float(ttest_1samp(differences, 0.0).pvalue), mean / deviation


def _interval(differences: NDArray[np.float64], mean: float, level: float, span: float) -> Interval:
    if not len(differences):
        return Interval(math.nan, math.nan)
    largest = float(np.abs(differences).max()) or span
    low, high = beta_interval(Sums.of(differences / largest), ends=(-1.0, 1.0), level=level)
    return Interval(min(largest * low, mean), max(largest * high, mean))
