"""Rare, large differences: what a sample of queries may not contain."""

import pytest

from retrieval_metrics.statistics import Units, rare_change
from retrieval_metrics.statistics.rare_changes import estimate_rare_change


def test_a_sample_misses_the_share_with_the_probability_that_the_level_leaves() -> None:
    share, mean_shift = rare_change(Units.from_values([0.0] * 50), span=0.5)
    assert (1 - share) ** 50 == pytest.approx(0.05)
    assert mean_shift == pytest.approx(share / 2)


def test_no_queries_may_miss_everything() -> None:
    assert estimate_rare_change(0, span=0.5) == (1.0, 0.5)
    assert rare_change(Units.from_values([]), span=0.5) == (1.0, 0.5)


@pytest.mark.parametrize("options", [{"span": 0.0}, {"level": 1.0}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        estimate_rare_change(10, **options)
