"""Which spread of differences is expected of a metric that no pilot measured."""

import pytest

from retrieval_metrics.comparison.usual_spreads import MEASURED_SPREADS, SPREADS_OF_OTHERS, find_usual_spread
from retrieval_metrics.metrics.base.metric import Metric


@pytest.mark.parametrize("metric_name", sorted(MEASURED_SPREADS))
def test_a_measured_metric_has_its_own_spread_at_every_cutoff(metric_name: str) -> None:
    assert find_usual_spread(Metric(metric_name, 7)) is MEASURED_SPREADS[metric_name]


def test_a_metric_that_was_not_measured_may_vary_as_any_of_the_others() -> None:
    spread = find_usual_spread(Metric.parse("rbp(p=0.5)"))

    assert spread is SPREADS_OF_OTHERS
    assert (spread.smallest, spread.largest) == (0.07, 0.54)


@pytest.mark.parametrize("spread", [*MEASURED_SPREADS.values(), SPREADS_OF_OTHERS])
def test_spreads_ascend(spread: tuple[float, float, float]) -> None:
    assert 0 < spread[0] < spread[1] < spread[2] < 1
