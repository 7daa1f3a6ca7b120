"""The confidence interval of a mean difference between two systems."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from retrieval_metrics.checks import proportion
from retrieval_metrics.statistics.dirichlet import mean_quantiles
from retrieval_metrics.statistics.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.statistics.clusters import Units

RARE = 2.5
"""The mean difference, in spans divided by the number of queries, that rare differences can hide at 95 %."""
UNSEEN = 0.2
"""Weight of an unseen query at either end."""


def fewest_units(level: float) -> int:
    """Return how many queries, or clusters, a two-sided sign-flip test needs before it can reject at 1 - level.

    Its smallest p value is 2 / 2^n.

    Example:
        >>> fewest_units(0.95), fewest_units(0.99)  # 2 / 2^6 = .031, 2 / 2^8 = .0078
        (6, 8)
    """
    return max(2, math.ceil(1 - math.log2(1 - level) - 1e-9))


def difference_intervals(samples: Sequence[Units], spans: Sequence[float], *, level: float = 0.95) -> list[Interval]:
    """Return the confidence interval of the mean of each sample of paired differences.

    It is the union of three intervals; each fails where another holds. With n differences of mean m:

        Student's t          m -+ t(n - 1) sqrt(v)             v = s^2 / n, fails where few queries differ
        rare differences     m -+ c span / n                   c = 2.5 log(1 / (1 - level)) / log(20)
        Dirichlet            quantiles of the mean under Dirichlet weights, 1 for each difference and 0.2 for each of
                             plus and minus the span            skewed differences

    The second covers losses that a sample does not contain: if 5 % of all queries lost 1, 8 % of samples of 50 queries
    would show no loss. It is 0.05 at 50 queries and negligible at 1,000. Clusters count as units: v is the
    delete-one-cluster jackknife's, t has G - 1 degrees of freedom, the Dirichlet weights belong to clusters, and n in
    the second is n / design effect.

    The ends are continuous in the data and lie within -span and span. With fewer units than can show any difference at
    this level (6 at 95 %), no interval can be given: (nan, nan).

    Args:
        samples: The differences of each sample.
        spans: The largest possible difference, one per sample.
        level: Confidence level, strictly between 0 and 1.

    Raises:
        ValueError: If `level` is not between 0 and 1.

    Example:
        No difference on 50 queries leaves room for 2.5 / 50 on either side.

        >>> from retrieval_metrics.statistics.clusters import Units
        >>> "[{:.3f}, {:.3f}]".format(*difference_intervals([Units.of([0.0] * 50)], [1.0])[0])
        '[-0.050, 0.050]'

    References:
        D. B. Rubin (1981). The Bayesian bootstrap.
        T. S. Ferguson (1973). A Bayesian analysis of some nonparametric problems.
        R. G. Miller (1974). The jackknife: a review.
    """
    proportion(level, "level")
    shown = [at for at, units in enumerate(samples) if len(units.sizes) >= fewest_units(level)]
    found = [Interval(math.nan, math.nan)] * len(samples)
    if not shown:
        return found
    # The lower end is minus the upper end of the negated sample, so exchanging the systems exchanges the ends.
    both = [samples[at] for at in shown] + [samples[at].negated() for at in shown]
    ends = [spans[at] for at in shown] * 2
    upper = mean_quantiles(both, ends, share=(1 + level) / 2, above=UNSEEN, below=UNSEEN)
    for place, at in enumerate(shown):
        units, span = samples[at], spans[at]
        half = max(_student(units, level), _rare(units, span, level))
        low = min(units.mean - half, -float(upper[place + len(shown)]))
        high = max(units.mean + half, float(upper[place]))
        found[at] = Interval(max(low, -span), min(high, span))
    return found


def _student(units: Units, level: float) -> float:
    from scipy.special import stdtrit  # noqa: PLC0415 - importing the package must not load scipy

    return float(stdtrit(len(units.sizes) - 1, (1 + level) / 2)) * math.sqrt(units.variance_of_mean)


def _rare(units: Units, span: float, level: float) -> float:
    """Return how far rare differences could shift the mean."""
    return RARE * math.log(1 / (1 - level)) / math.log(20) * span / units.effective_count
