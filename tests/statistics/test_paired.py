"""Two systems on the same queries: against scipy, by hand, and where nothing differs."""

import dataclasses
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from retrieval_metrics.statistics import (
    paired_difference,
)

PAIRS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40)


def two_systems(count: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    random = np.random.default_rng(seed)
    baseline = random.beta(1, 2, count)
    return np.clip(baseline + random.normal(0.05, 0.2, count), 0, 1), baseline


@pytest.mark.parametrize("count", [2, 5, 50, 1_000])
def test_the_p_value_of_the_t_test_is_that_of_scipy(count: int) -> None:
    values, baseline = two_systems(count)

    assert paired_difference(values, baseline).p_t == pytest.approx(stats.ttest_rel(values, baseline).pvalue, rel=1e-9)


def test_the_interval_is_about_that_of_student_where_many_queries_differ() -> None:
    values, baseline = two_systems(2_000)
    expected = stats.ttest_rel(values, baseline).confidence_interval(0.95)

    assert paired_difference(values, baseline).interval == pytest.approx((expected.low, expected.high), abs=5e-4)


def test_every_number_by_hand() -> None:
    # Differences 1/2, 1/2, -1/4, 0: mean 3/16; deviations 5/16, 5/16, -7/16, -3/16 with sum of squares 27/64.
    result = paired_difference([1, 0.75, 0.25, 0.5], [0.5, 0.25, 0.5, 0.5])

    assert (result.count, result.wins, result.ties, result.losses) == (4, 2, 1, 1)
    assert result.mean == 3 / 16
    assert result.effect_size == pytest.approx(3 / 16 / math.sqrt(27 / 64 / 3))
    # |+-1/2 +-1/2 +-1/4| reaches 3/4 for 3/4 and 5/4 in either direction: 4 of 8.
    assert result.p_randomisation == pytest.approx(0.5)
    assert result.exact
    assert all(math.isnan(end) for end in result.interval)  # 4 queries are too few for one


@settings(max_examples=80, deadline=None)
@given(PAIRS)
def test_exchanging_the_systems_changes_signs_and_nothing_else(pairs: list[tuple[float, float]]) -> None:
    values = [a for a, _ in pairs]
    baseline = [b for _, b in pairs]
    forward = paired_difference(values, baseline)
    backward = paired_difference(baseline, values)

    assert backward.mean == pytest.approx(-forward.mean, abs=1e-12)
    mirrored = (-forward.interval.high, -forward.interval.low)
    assert backward.interval == pytest.approx(mirrored, abs=1e-9, nan_ok=True)
    assert backward.effect_size == pytest.approx(-forward.effect_size, rel=1e-6, abs=1e-9)
    assert (backward.p_t, backward.p_randomisation) == pytest.approx((forward.p_t, forward.p_randomisation), abs=1e-9)
    assert (backward.wins, backward.ties, backward.losses) == (forward.losses, forward.ties, forward.wins)


@settings(max_examples=80, deadline=None)
@given(PAIRS)
def test_the_interval_contains_the_mean_and_every_number_is_in_its_range(pairs: list[tuple[float, float]]) -> None:
    result = paired_difference([a for a, _ in pairs], [b for _, b in pairs])

    if result.count < 6:
        assert all(math.isnan(end) for end in result.interval)
    else:
        assert -1 <= result.interval.low <= result.mean <= result.interval.high <= 1
        assert result.interval.low < result.interval.high
        assert result.p_randomisation <= 0.05 + 1e-12 or result.interval.low <= 0 <= result.interval.high
    assert 0 <= result.p_t <= 1
    assert 0 < result.p_randomisation <= 1
    assert result.wins + result.ties + result.losses == result.count == len(pairs)


def test_equal_systems_do_not_differ_and_raise_no_warning() -> None:
    values = np.random.default_rng(1).random(50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = paired_difference(values, values)

    assert (result.mean, result.p_t, result.p_randomisation, result.effect_size) == (0.0, 1.0, 1.0, 0.0)
    assert (result.wins, result.ties, result.losses) == (0, 50, 0)
    assert result.interval == (0, 0)


def test_rounding_is_a_tie() -> None:
    result = paired_difference([0.1 + 0.2, 0.5], [0.3, 0.5])

    assert (result.mean, result.ties, result.p_t) == (0.0, 2, 1.0)


def test_the_same_difference_on_every_query_leaves_judgement_to_the_randomisation_test() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = paired_difference([0.7, 0.6, 0.9], [0.5, 0.4, 0.7])

    assert (result.p_t, result.effect_size) == (0.0, math.inf)
    assert result.p_randomisation == pytest.approx(0.25)


def test_one_query_decides_nothing() -> None:
    result = paired_difference([1.0], [0.0])

    assert (result.p_t, result.p_randomisation, result.effect_size) == (1.0, 1.0, 0.0)
    assert all(math.isnan(end) for end in result.interval)


def test_no_query_has_no_difference_and_no_evidence() -> None:
    result = paired_difference([], [])

    assert math.isnan(result.mean)
    assert all(math.isnan(end) for end in result.interval)
    assert (result.count, result.p_t, result.p_randomisation) == (0, 1.0, 1.0)


def test_more_queries_of_the_same_kind_narrow_the_interval() -> None:
    values, baseline = two_systems(40)
    once = paired_difference(values, baseline).interval
    fourfold = paired_difference(np.tile(values, 4), np.tile(baseline, 4)).interval

    assert fourfold.high - fourfold.low < 0.6 * (once.high - once.low)


def test_the_same_seed_gives_the_same_result() -> None:
    values, baseline = two_systems(100)

    assert paired_difference(values, baseline, seed=3) == paired_difference(values, baseline, seed=3)
    assert paired_difference(values, baseline, seed=3) != paired_difference(values, baseline, seed=4)


def test_a_result_cannot_be_changed() -> None:
    result = paired_difference([1.0], [0.0])

    with pytest.raises(dataclasses.FrozenInstanceError):
        result.mean = 0.0  # type: ignore[misc]  # frozen, which is the point


@pytest.mark.parametrize(
    ("values", "baseline", "message"),
    [
        ([0.1, 0.2], [0.1], "same queries; got 2 values and 1 of the baseline"),
        ([0.1], [math.nan], r"baseline\[0\] is nan"),
        ([math.nan], [0.1], r"values\[0\] is nan"),
    ],
)
def test_systems_without_common_queries_are_refused(values: list[float], baseline: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        paired_difference(values, baseline)


@pytest.mark.parametrize("options", [{"level": 1.0}, {"span": 0.0}, {"resamples": 0}])
def test_options_without_meaning_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options))} must .*got"):
        paired_difference([0.1], [0.2], **options)  # type: ignore[arg-type]  # the options are wrong on purpose
