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


def test_what_opposes_a_mean_takes_the_place_of_queries_with_it() -> None:
    rare = estimate_rare_change(6)
    # If 39% lose 1 and 61% gain 0.5, the mean is -0.09; if they gain 0.7, it is 0.03.
    assert rare.share == pytest.approx(0.393, abs=5e-4)
    assert [rare.outweighs(mean) for mean in (0.5, -0.5, 0.7)] == [True, True, False]
    assert tuple(rare.opposing(-0.5)) == pytest.approx((rare.share, 1.5 * rare.share))
