"""Whether a system is no worse than a baseline by more than a margin."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from retrieval_metrics.checks import positive_number, proportion
from retrieval_metrics.statistics.dirichlet import mean_quantiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.statistics.clusters import Units

MarginOutcome: TypeAlias = Literal["no worse", "worse", "cannot tell"]


class WithinMargin(NamedTuple):
    """The outcome of a test against a margin.

    Attributes:
        outcome: `"no worse"` if the system is no worse by more than the margin, `"worse"` if it is worse by more, or
            `"cannot tell"`.
        low: Lower confidence bound of the mean difference, one-sided.
        high: Upper confidence bound, one-sided.
        fewest: With fewer queries than this (a cluster counts as one), no sample can pass the margin.
    """

    outcome: MarginOutcome
    low: float
    high: float
    fewest: int


def within_margins(
    samples: Sequence[Units], spans: Sequence[float], margin: float, *, alpha: float = 0.05
) -> list[WithinMargin]:
    """Test for each sample of paired differences whether its mean is above -margin, below it, or cannot be told.

    The lower bound is the alpha quantile of the mean under Dirichlet(1, ..., 1) weights of the differences and one
    unseen query at -span; the upper bound mirrors it (Gaffke 2005). The system is "no worse" if the lower bound is
    above -margin, and "worse" if the upper bound is below it. Unlike a t interval, the bound holds if a few queries
    lose much and the sample happens to contain none of them: n queries without a loss only exclude a mean loss of
    (1 - alpha^(1/n)) span. A margin is therefore never passed with fewer than about 3 / margin queries at alpha = 0.05.

    The level is that of one sample. It also holds for the claim that all of several systems or metrics pass, but not
    for the claim that at least one of them does.

    Args:
        samples: The differences of each sample.
        spans: The largest possible difference, one per sample.
        margin: The largest acceptable loss; positive.
        alpha: Accepted probability of calling a system "no worse" whose true mean difference is -margin or lower.

    Raises:
        ValueError: If `margin` is not positive or `alpha` not between 0 and 1.

    Example:
        150 queries without a difference rule out a mean loss of 0.02 (0.05^(1/150) = 0.980), 100 do not.

        >>> from retrieval_metrics.statistics.clusters import Units
        >>> [each.outcome for each in within_margins([Units.of([0.0] * n) for n in (100, 160)], [1.0] * 2, 0.02)]
        ['cannot tell', 'no worse']
        >>> within_margins([Units.of([0.0] * 100)], [1.0], 0.02)[0].fewest
        149

    References:
        N. Gaffke (2005). Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
        variable.
    """
    positive_number(margin, "margin")
    proportion(alpha, "alpha")
    counted = [at for at, units in enumerate(samples) if len(units.sizes)]
    bounds = dict.fromkeys(range(len(samples)), (math.nan, math.nan))
    if counted:
        both = [samples[at] for at in counted] + [samples[at].negated() for at in counted]
        upper = mean_quantiles(both, [spans[at] for at in counted] * 2, share=1 - alpha, above=1.0).tolist()
        for place, at in enumerate(counted):
            bounds[at] = (-upper[place + len(counted)], upper[place])
    found = []
    for at, span in enumerate(spans):
        low, high = bounds[at]
        outcome: MarginOutcome = "no worse" if low > -margin else "worse" if high < -margin else "cannot tell"
        found.append(WithinMargin(outcome, low, high, fewest_for_margin(margin, span=span, alpha=alpha)))
    return found


def fewest_for_margin(margin: float, *, span: float = 1.0, alpha: float = 0.05) -> int:
    """Return the number of queries below which no sample can show that a mean loss is smaller than a margin.

    It is the smallest n with (1 - alpha^(1/n)) span < margin, about 3 span / margin at alpha = 0.05.

    Example:
        >>> fewest_for_margin(0.02), fewest_for_margin(0.1)
        (149, 29)
    """
    if margin >= span:
        return 1
    return math.floor(math.log(alpha) / math.log1p(-margin / span)) + 1
