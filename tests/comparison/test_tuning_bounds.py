"""By how much the means of a setting break the bounds of a tuning."""

from math import inf, nan

import pytest

from retrieval_metrics.comparison.tuning_bounds import BoundedMean


@pytest.mark.parametrize(
    ("mean", "bound", "is_lower_bound", "shortfall"),
    [
        (0.5, 0.5, True, 0.0),
        (0.5, 0.5, False, 0.0),
        (0.3, 0.6, True, 0.5),
        (0.3, 0.2, False, 0.5),
        (-1.0, 0.0, True, 1.0),
        (nan, 0.2, True, inf),
        (nan, 0.2, False, inf),
    ],
)
def test_a_shortfall_is_a_share_of_the_bound(mean: float, bound: float, is_lower_bound: bool, shortfall: float) -> None:
    bounded = BoundedMean("mrr", mean, bound, is_lower_bound)
    assert bounded.shortfall == pytest.approx(shortfall)
    assert bounded.is_kept == (shortfall == 0)
