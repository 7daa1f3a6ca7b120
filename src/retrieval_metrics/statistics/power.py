"""The smallest difference that an evaluation set detects, and the number of queries that a difference needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import positive_number, proportion
from retrieval_metrics.statistics import arrays

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

FEWEST_FOR_A_SPREAD = 2  # queries
MOST_QUERIES = 2**40


def detectable_difference(
    differences: ArrayLike, *, power: float = 0.8, level: float = 0.05, span: float = 1.0
) -> float:
    """Return the smallest true mean difference that a paired test on this many queries finds with a given power.

    With s the standard deviation of the n paired differences, the t statistic under a true mean difference D has the
    noncentral t distribution with n - 1 degrees of freedom and noncentrality D sqrt(n) / s. The result is the D >= 0
    at which a two-sided test at `level` rejects in the right direction with probability `power`. The power of the
    randomisation test is the same within one or two percentage points. The result is infinite for fewer than two
    queries. It is as accurate as s: if s comes from only 25 queries, or only a few queries differ, the power is on
    average a few percentage points lower than `power`.

    If all differences are zero, as when a system is compared with itself, they do not show how much other differences
    would vary. Half a difference of `span` is then added in each direction, so that s = span / sqrt(n + 1).

    Args:
        differences: One difference per query, shape (n,).
        power: Probability of finding the difference, strictly between `level` and 1.
        level: Level of the two-sided test, strictly between 0 and 1.
        span: The largest possible difference: the distance between the metric's bounds.

    Raises:
        ValueError: If a difference is NaN or infinite, or another argument is out of range.

    Example:
        25 queries, half of them 0.1 better and half 0.1 worse, s = 0.1: 2.9 standard errors of 0.02.

        >>> round(detectable_difference([0.1, -0.1] * 12 + [0.0]), 3)
        0.058
    """
    _check(power, level, span)
    array = arrays.vector(differences, "differences")
    if len(array) < FEWEST_FOR_A_SPREAD:
        return math.inf

    from scipy.optimize import brentq  # noqa: PLC0415 - importing the package must not load scipy

    def excess(effect: float) -> float:
        return paired_t_power(effect, len(array), level) - power

    enough = 1.0
    while excess(enough) < 0:
        enough *= 2
    effect = float(brentq(excess, 0.0, enough, xtol=1e-12))
    return effect * _standard_deviation(array, span)


def queries_needed(
    differences: ArrayLike, difference: float, *, power: float = 0.8, level: float = 0.05, span: float = 1.0
) -> int:
    """Return the number of queries on which a paired test finds a true mean difference with a given power.

    It is the smallest n >= 2 for which the power of `detectable_difference` at `difference` reaches `power`, assuming
    that the standard deviation of other queries is that of `differences`.

    Args:
        differences: One difference per query of a sample, shape (m,).
        difference: The true mean difference to find; its sign does not matter.
        power: Probability of finding the difference, strictly between `level` and 1.
        level: Level of the two-sided test, strictly between 0 and 1.
        span: The largest possible difference: the distance between the metric's bounds.

    Raises:
        ValueError: If `difference` is zero or not finite, if there are fewer than two differences, or if another
            argument is out of range.

    Example:
        s = 0.1; a difference of 0.02 is 0.2 s, and (2.8 / 0.2)^2 = 196 before the correction for estimating s.

        >>> queries_needed([0.1, -0.1] * 12 + [0.0], 0.02)
        199
    """
    _check(power, level, span)
    array = arrays.vector(differences, "differences")
    if len(array) < FEWEST_FOR_A_SPREAD:
        raise ValueError(f"differences must hold at least two queries to show their spread; got {len(array)}")
    if difference == 0 or not math.isfinite(difference):
        raise ValueError(f"difference must be a finite number other than 0, got {difference!r}")
    effect = abs(difference) / _standard_deviation(array, span)
    enough = FEWEST_FOR_A_SPREAD
    while paired_t_power(effect, enough, level) < power:
        enough *= 2
        if enough > MOST_QUERIES:
            raise ValueError(f"difference {difference!r} is too small to be found with fewer than 2^40 queries")
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if paired_t_power(effect, middle, level) < power:
            too_few = middle
        else:
            enough = middle
    return enough


def paired_t_power(effect: float, count: int, level: float) -> float:
    """Return the power of the two-sided paired t test to find a true mean difference of `effect` standard deviations.

    A rejection in the wrong direction does not count as finding it.
    """
    from scipy.stats import nct, t  # noqa: PLC0415 - importing the package must not load scipy

    freedom = count - 1
    with np.errstate(divide="ignore"):  # scipy 1.11 divides by zero for effects near 0, but its result is right
        return float(nct.sf(t.isf(level / 2, freedom), freedom, effect * math.sqrt(count)))


def _standard_deviation(differences: NDArray[np.float64], span: float) -> float:
    if not differences.any():
        return span / math.sqrt(len(differences) + 1)
    return float(differences.std(ddof=1))


def _check(power: float, level: float, span: float) -> None:
    proportion(power, "power")
    proportion(level, "level")
    positive_number(span, "span")
    if power <= level:
        raise ValueError(
            f"power must exceed level, which a test reaches without any difference; got {power} <= {level}"
        )
