"""How large a drop must be to be found: a claim that is kept, also where few queries show how much values vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval_metrics.results.difference import Difference

POWER = 0.8


def detectable_drop(difference: Difference, largest: float) -> float:
    """Return a drop that a check like this one finds in at least 80 % of builds, however the drop is distributed.

    It is `Difference.detectable`, where a query can lose what it has, and no more.

    Args:
        difference: The comparison with the baseline.
        largest: The largest value that a query has to lose.

    Returns:
        The drop; infinite where no drop can be found, or where no query differs: then nothing is known of the spread.
    """
    return difference.detectable(POWER, span=largest)
