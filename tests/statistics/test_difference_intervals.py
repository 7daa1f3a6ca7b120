"""The interval of a mean difference: against Student's, and in agreement with the test."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from retrieval_metrics.statistics import (
    Interval,
    Units,
    critical_value_to_p,
    difference_interval,
    min_significant_units,
    paired_differences,
    rare_change,
    student_critical_value,
)

DIFFERENCES = st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=6, max_size=40)


def interval(differences: object, level: float = 0.95, clusters: object = None, span: float = 1.0) -> Interval:
    """With Student's critical value."""
    units = Units.from_values(differences, clusters)  # type: ignore[arg-type]  # anything array-like
    return difference_interval(units, student_critical_value(len(units.sizes), level), level=level, span=span)


@settings(max_examples=60, deadline=None)
@given(DIFFERENCES.filter(lambda d: np.std(d) > 1e-3))
def test_with_students_critical_value_it_is_students(differences: list[float]) -> None:
    values = np.array(differences)
    n = len(values)
    mean = values.mean()
    half = stats.t(n - 1).ppf(0.975) * values.std(ddof=1) / math.sqrt(n)

    assert interval(values) == pytest.approx((max(mean - half, -1), min(mean + half, 1)), abs=1e-9)
    assert interval(-values) == pytest.approx([-end for end in interval(values)[::-1]], abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(-4, 4), min_size=2, max_size=2), min_size=6, max_size=30), st.sampled_from([1, 2]))
def test_it_excludes_0_exactly_where_the_corrected_p_value_is_a_finding(
    rows: list[list[int]], n_differences: int
) -> None:
    labels = np.arange(len(rows)) // n_differences
    tested = paired_differences(np.array(rows) / 4, spans=[1.0, 1.0], clusters=labels)
    for difference, corrected in zip(tested.differences, tested.corrected, strict=True):
        if math.isnan(difference.interval.low):
            assert corrected > 0.05
            continue
        excludes = not difference.interval.low <= 0 <= difference.interval.high
        assert excludes == (corrected <= 0.05 + 1e-12)
        assert difference.interval.low <= difference.mean <= difference.interval.high


@pytest.mark.parametrize("sizes", [[1, 1, 2, 3, 5, 8, 1, 1, 2, 3], [4] * 10])
def test_with_clusters_its_ends_are_the_means_that_the_test_just_rejects(sizes: list[int]) -> None:
    random = np.random.default_rng(1)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    values = random.normal(0.1, 0.1, len(labels)) + random.normal(0, 0.1, len(sizes))[labels]
    units = Units.from_values(values, labels)

    def standardised(theta: float) -> float:
        shifted = units.totals - theta * units.sizes
        return abs(float(shifted.sum())) / math.sqrt(float(shifted @ shifted))

    for end in difference_interval(units, 2.05):
        assert standardised(end) == pytest.approx(2.05)


def test_it_is_never_narrower_than_students_but_next_to_0() -> None:
    changed = np.array([1.0] * 3 + [0.0] * 47)
    (difference,) = paired_differences(changed[:, None], spans=[1.0]).differences
    assert difference.critical_value < student_critical_value(50)
    assert difference.interval == pytest.approx(interval(changed))
    assert difference.interval.low < 0
    many = np.array([0.3] * 5 + [0.2] * 3 + [0.0] * 92)
    (difference,) = paired_differences(many[:, None], spans=[1.0]).differences
    student = interval(many)
    assert difference.p_randomisation <= 0.05
    assert difference.interval.low > 0
    assert difference.interval.high >= student.high


def test_it_is_simultaneous() -> None:
    random = np.random.default_rng(2)
    truth = np.array([0.0, 0.0, 0.05, 0.1, 0.3])
    covered = 0
    for seed in range(300):
        rows = truth + random.normal(0, 0.1, (30, 1)) + random.normal(0, 0.15, (30, 5))
        tested = paired_differences(rows, spans=[1.0] * 5, resamples=500, seed=seed).differences
        covered += all(
            difference.interval.low <= true <= difference.interval.high
            for difference, true in zip(tested, truth, strict=True)
        )

    assert covered / 300 >= 0.93


def test_a_sample_without_spread_has_a_point_and_the_line_says_what_it_cannot_show() -> None:
    assert interval([0.0] * 50) == (0, 0)
    assert interval([0.5] * 50) == pytest.approx((0.5, 0.5))
    share, shift = rare_change(Units.from_values([0.0] * 50), span=0.5)
    assert (1 - share) ** 50 == pytest.approx(0.05)
    assert shift == pytest.approx(share / 2)


def test_clusters_of_equal_queries_are_as_telling_as_one_query_each() -> None:
    differences = np.random.default_rng(2).normal(0, 0.3, 40)
    labels = np.repeat(np.arange(40), 4)
    fourfold = np.repeat(differences, 4)

    assert interval(fourfold, clusters=labels) == pytest.approx(interval(differences), rel=1e-6)
    assert rare_change(Units.from_values(fourfold, labels)) == pytest.approx(
        rare_change(Units.from_values(differences))
    )


def test_interval_and_line_together_cover_rare_losses() -> None:
    random = np.random.default_rng(1)
    covered = 0
    for _ in range(300):
        values = -1.0 * (random.random(50) < 0.05) + random.normal(0, 0.02, 50)
        low, high = interval(values)
        shift = rare_change(Units.from_values(values)).mean_shift
        covered += low - shift <= -0.05 <= high + shift

    assert covered / 300 >= 0.93


@pytest.mark.parametrize(("level", "fewest"), [(0.9, 5), (0.95, 6), (0.99, 8), (0.5, 2)])
def test_with_fewer_queries_than_a_finding_takes_there_is_no_interval(level: float, fewest: int) -> None:
    assert min_significant_units(level) == fewest
    assert 2 / 2**fewest <= 1 - level + 1e-12
    assert math.isnan(interval([0.1, *[0.2] * (fewest - 2)], level).low)
    assert not math.isnan(interval([0.1, *[0.2] * (fewest - 1)], level).low)


def test_a_critical_value_that_cannot_be_reached_excludes_nothing() -> None:
    units = Units.from_values([0.1, 0.2] * 4)

    assert difference_interval(units, 3.0, span=0.5) == (-0.5, 0.5)
    assert critical_value_to_p(3.0, 8) == 0


def test_a_higher_level_is_wider() -> None:
    differences = np.random.default_rng(3).normal(0, 0.3, 40)
    (low, high) = interval(differences)
    (lower, higher) = interval(differences, 0.99)

    assert lower < low < high < higher


def test_very_unequal_clusters_may_have_one_end_only_and_still_agree_with_the_test() -> None:
    values = np.array([0.5] * 12 + [0.2, 0.3, 0.1, 0.4, 0.2, 0.3, 0.2])
    labels = [0] * 12 + list(range(1, 8))
    (difference,) = paired_differences(values[:, None], spans=[1.0], clusters=labels).differences
    assert difference.p_randomisation <= 0.05
    assert 0 < difference.interval.low <= difference.mean <= difference.interval.high
