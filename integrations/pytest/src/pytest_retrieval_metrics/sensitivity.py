"""How large a drop must be to be found: a claim that is kept, also where few queries show how much values vary."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.adapting import detectable_difference

if TYPE_CHECKING:
    from retrieval_metrics.adapting import Difference

POWER = 0.8


def detectable_drop(difference: Difference, largest: float) -> float:
    """Return a drop that a check like this one finds in at least 80 % of builds, however the drop is distributed.

    The differences seen in one build understate those of a build that is worse: they may come from a handful of
    queries, and a drop brings a spread of its own. So with n queries, s the standard deviation of the differences seen
    and c the drop in standard errors that the test needs for a power of 80 %, the claim is the root D of

        D^2 = c^2 / n * (u s^2 + D (L - D))        u = (n - 1) / chi2_{0.2, n - 1}

    u raises s^2 to the upper end of its one-sided 80 % interval; D (L - D) is the variance of the most uneven drop of
    mean D: some queries lose L, all that a query has to lose, and the others nothing.

    Args:
        difference: The comparison with the baseline.
        largest: The largest value that a query has to lose.

    Returns:
        The drop; infinite where no drop can be found, or where no query differs: then nothing is known of the spread.
    """
    n = difference.n
    if difference.identical or n < difference.fewest_queries or largest <= 0:
        return math.inf

    from scipy.stats import chi2  # noqa: PLC0415  (only where something differs)

    unit = np.array([1.0, -1.0, *[0.0] * (n - 2)])
    level = difference.alpha / difference.comparisons
    # For any spread the detectable difference is the same multiple of it.
    multiple = detectable_difference(unit, power=POWER, level=level) / float(unit.std(ddof=1))
    variance = float(difference.values.var(ddof=1)) * (n - 1) / float(chi2.ppf(1 - POWER, n - 1))
    squared = multiple**2
    linear = squared * largest
    return (linear + math.sqrt(linear**2 + 4 * (1 + squared) * squared * variance)) / (2 * (1 + squared))
