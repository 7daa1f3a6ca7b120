"""The smallest drop that a check detects, valid even if few queries show how much values vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval_metrics.types import Difference

POWER = 0.8


def detectable_drop(difference: Difference, largest: float) -> float:
    """Return a drop that a check like this one finds in at least 80 % of builds, however the drop is distributed.

    It is the upper end of `Difference.detectable` with the largest value that a query can lose.

    Args:
        difference: The comparison with the baseline.
        largest: The largest value that a query has to lose.

    Returns:
        The drop; infinite if no drop can be found, or if no query differs, so that the spread is unknown.
    """
    return difference.detectable(POWER, span=largest).high
