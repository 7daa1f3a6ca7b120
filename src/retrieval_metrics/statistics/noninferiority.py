"""Test whether a system is no worse than a baseline by more than a margin."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from retrieval_metrics._internal.validation import positive_number, proportion
from retrieval_metrics.statistics.clustered_values import MIN_UNITS_FOR_SPREAD, Units
from retrieval_metrics.statistics.distributions import t_quantile
from retrieval_metrics.statistics.rare_changes import estimate_rare_change

if TYPE_CHECKING:
    from collections.abc import Sequence


MarginOutcome: TypeAlias = Literal["noninferior", "inferior", "inconclusive"]


class MarginTest(NamedTuple):
    """The outcome of a test against a margin.

    Attributes:
        outcome: `"noninferior"` if the system is no worse by more than the margin, `"inferior"` if it is worse by more,
            or `"inconclusive"`.
        low: Lower confidence bound of the mean difference, one-sided.
        high: Upper confidence bound, one-sided.
        min_units: With fewer queries than this, no system that is merely equal can pass the margin; clusters count as
            n / design effect.
    """

    outcome: MarginOutcome
    low: float
    high: float
    min_units: int


def within_margins(
    samples: Sequence[Units], spans: Sequence[float], margin: float, *, alpha: float = 0.05
) -> list[MarginTest]:
    """Test for each sample of paired differences whether its mean is above -margin or below it.

    The lower bound is the largest mu that both Student's t and Johnson's, which is adjusted for the skewness of the
    sample, reject in favour of a larger mean. With n differences of mean m, standard deviation s and third central
    moment k, and D = m - mu:

        t = D sqrt(n) / s                                       t_J = (D + k / (6 s^2 n) + k D^2 / (3 s^4)) sqrt(n) / s

    and each has to exceed the 1 - alpha quantile of Student's t with n - 1 degrees of freedom. Student's t alone passes
    too many systems that lose much on few queries; a sample of them is skewed. Clusters take the place of queries, with
    their influence on the mean as differences.

    A system is "noninferior" if the lower bound is above -margin, and there are enough queries for it: n queries
    without a loss only exclude a mean loss of (1 - alpha^(1/n)) span, so at alpha = 0.05 it takes about 3 / margin
    queries. Fewer are enough if the mean stays above -margin when that share of queries is lost and the others have the
    lower bound as their mean, so if the system is clearly better.
    It is "inferior" if the upper bound, which mirrors the lower one, is below -margin.

    The level is approximate; see the simulations in the documentation. It was exceeded by less than a point there.

    The level is that of one sample. It also holds for the claim that all of several systems or metrics pass, but not
    for the claim that at least one of them does.

    Args:
        samples: The differences of each sample.
        spans: The largest possible difference, one per sample.
        margin: The largest acceptable loss; positive.
        alpha: Accepted probability of calling a system "noninferior" whose true mean difference is -margin or lower.

    Raises:
        ValueError: If `margin` is not positive or `alpha` not between 0 and 1.

    Example:
        150 queries without a difference rule out a mean loss of 0.02 (0.05^(1/150) = 0.980), 100 do not.

        >>> from retrieval_metrics.statistics.clustered_values import Units
        >>> samples = [Units.from_values([0.0] * n) for n in (100, 160)]
        >>> tests = within_margins(samples, [1.0, 1.0], 0.02)
        >>> [test.outcome for test in tests], tests[0].min_units
        (['inconclusive', 'noninferior'], 149)

    References:
        N. J. Johnson (1978). Modified t tests and confidence intervals for asymmetrical populations.
    """
    positive_number(margin, "margin")
    proportion(alpha, "alpha")
    tests = []
    for units, span in zip(samples, spans, strict=True):
        min_units = min_units_for_margin(margin, span=span, alpha=alpha)
        low = max(_lower_bound(units, alpha), -span)
        high = min(-_lower_bound(units.negated(), alpha), span)
        has_enough_units = bool(len(units.sizes)) and units.effective_n >= min_units
        if not has_enough_units and low > -margin:
            # Fewer are enough for a system so much better that even the losses it may not have shown leave it above.
            unseen = estimate_rare_change(units.effective_n, span=span, level=1 - alpha)
            # A query with a loss takes the place of one with a gain, so the mean loses its gain too.
            unseen_loss = unseen.mean_shift + unseen.share * max(low, 0.0)
            has_enough_units = low - unseen_loss > -margin
        outcome: MarginOutcome = "inconclusive"
        if low > -margin and has_enough_units:
            outcome = "noninferior"
        elif high < -margin:
            outcome = "inferior"
        tests.append(MarginTest(outcome, low, high, min_units))
    return tests


def _lower_bound(units: Units, alpha: float) -> float:
    """Return the lower confidence bound of the mean; NaN without queries, minus infinity if nothing can be excluded."""
    n = len(units.sizes)
    if n < MIN_UNITS_FOR_SPREAD:
        return -math.inf if n else math.nan  # a single query excludes nothing
    influence = (units.totals - units.mean * units.sizes) * n / units.queries
    variance = units.variance_of_mean * n
    third_moment = float(np.mean(influence**3)) * n**2 / ((n - 1) * max(n - 2, 1))

    student_distance = t_quantile(n - 1, 1 - alpha) * math.sqrt(variance / n)
    if third_moment >= 0 or not variance:  # Johnson's is then the larger t
        return units.mean - student_distance
    # The smaller D at which Johnson's t is large enough.
    quadratic = third_moment / (3 * variance**2)
    constant = third_moment / (6 * variance * n)
    discriminant = 1 - 4 * quadratic * (constant - student_distance)
    if discriminant < 0:
        return -math.inf
    return units.mean - max(student_distance, (math.sqrt(discriminant) - 1) / (2 * quadratic))


def min_units_for_margin(margin: float, *, span: float = 1.0, alpha: float = 0.05) -> int:
    """Return the number of queries below which a sample without a difference cannot rule out a loss of a margin.

    It is the smallest n with (1 - alpha^(1/n)) span < margin, about 3 span / margin at alpha = 0.05.

    Example:
        >>> min_units_for_margin(0.02), min_units_for_margin(0.1)
        (149, 29)
    """
    if margin >= span:
        return 1
    return math.floor(math.log(alpha) / math.log1p(-margin / span)) + 1
