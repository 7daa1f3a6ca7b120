"""The interval of a difference: continuous, honest about what a sample cannot show, robust to clusters."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from retrieval_metrics.statistics import Interval, Units, difference_intervals, fewest_units

DIFFERENCES = st.lists(st.floats(-1, 1), min_size=6, max_size=40)


def interval(differences: object, level: float = 0.95, clusters: object = None) -> Interval:
    units = Units.of(differences, clusters)  # type: ignore[arg-type]  # anything array-like
    return difference_intervals([units], [1.0], level=level)[0]


@settings(max_examples=60, deadline=None)
@given(DIFFERENCES, st.integers(0, 5))
def test_a_small_change_of_the_data_is_a_small_change_of_the_interval(differences: list[float], at: int) -> None:
    moved = list(differences)
    moved[at] += 1e-6 if moved[at] < 0 else -1e-6

    assert interval(moved) == pytest.approx(interval(differences), abs=1e-5)


def test_one_query_that_moved_by_a_hair_says_no_more_than_none() -> None:
    assert interval([1e-6] + [0.0] * 49) == pytest.approx(interval([0.0] * 50), abs=1e-6)
    assert interval([0.0] * 50) == pytest.approx((-0.05, 0.05))


@settings(max_examples=60, deadline=None)
@given(DIFFERENCES)
def test_it_holds_the_intervals_it_is_the_union_of_and_neither_order_nor_sign_matters(differences: list[float]) -> None:
    values = np.array(differences)
    n, mean = len(values), values.mean()
    low, high = interval(values)
    half = max(stats.t(n - 1).ppf(0.975) * values.std(ddof=1) / math.sqrt(n), 2.5 / n)

    assert low <= max(mean - half, -1) + 1e-9
    assert high >= min(mean + half, 1) - 1e-9
    assert -1 <= low <= mean <= high <= 1
    assert interval(values[::-1]) == pytest.approx((low, high), abs=1e-9)
    assert interval(-values) == pytest.approx((-high, -low), abs=1e-9)


def test_many_samples_at_once_are_each_by_itself() -> None:
    random = np.random.default_rng(0)
    samples = [Units.of(random.normal(0, 0.2, n)) for n in (10, 50, 30)]
    together = difference_intervals(samples, [1.0, 0.5, 1.0])

    assert together == [difference_intervals([one], [span])[0] for one, span in zip(samples, (1, 0.5, 1), strict=True)]


def test_rare_losses_that_a_sample_hardly_shows_are_covered() -> None:
    random = np.random.default_rng(1)
    covered = 0
    for _ in range(300):
        values = -1.0 * (random.random(50) < 0.05) + random.normal(0, 0.02, 50)
        low, high = interval(values)
        covered += low <= -0.05 <= high

    assert covered / 300 >= 0.92


@pytest.mark.parametrize(("level", "fewest"), [(0.9, 5), (0.95, 6), (0.99, 8), (0.5, 2)])
def test_with_fewer_queries_than_a_finding_takes_there_is_no_interval(level: float, fewest: int) -> None:
    assert fewest_units(level) == fewest
    assert 2 / 2**fewest <= 1 - level + 1e-12
    assert math.isnan(interval([0.1] * (fewest - 1), level).low)
    assert not math.isnan(interval([0.1] * fewest, level).low)


def test_clusters_of_equal_queries_are_as_telling_as_one_query_each() -> None:
    differences = np.random.default_rng(2).normal(0, 0.3, 40)
    fourfold = interval(np.repeat(differences, 4), clusters=np.repeat(np.arange(40), 4))

    assert fourfold == pytest.approx(interval(differences), rel=1e-6)


def test_a_higher_level_is_wider() -> None:
    differences = np.random.default_rng(3).normal(0, 0.3, 40)
    (low, high), (lower, higher) = interval(differences), interval(differences, 0.99)

    assert lower < low < high < higher
