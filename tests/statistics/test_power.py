"""What an evaluation set can detect, against simulation and against the normal approximation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from retrieval_metrics.statistics import detectable_difference, queries_needed
from retrieval_metrics.statistics.power import paired_t_power

DIFFERENCES = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=2, max_size=50).filter(
    lambda d: np.std(d) > 1e-3
)


def unit_spread(count: int) -> NDArray[np.float64]:
    """Differences with mean 0 and standard deviation 1, whatever their number."""
    values = np.linspace(-1, 1, count)
    spread: NDArray[np.float64] = values / values.std(ddof=1)
    return spread


@pytest.mark.parametrize("count", [5, 25, 200])
def test_a_t_test_finds_the_promised_difference_as_often_as_promised(count: int) -> None:
    difference = detectable_difference(unit_spread(count))
    samples = np.random.default_rng(count).normal(difference, 1, (20_000, count))
    found = np.less(stats.ttest_1samp(samples, 0, axis=1).pvalue, 0.05)

    assert float(np.mean(found)) == pytest.approx(0.8, abs=0.012)  # four standard errors of the simulation


@pytest.mark.parametrize("count", [2, 3, 10, 100, 10_000])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.99])
def test_the_power_at_the_detectable_difference_is_the_power_asked_for(count: int, power: float) -> None:
    difference = detectable_difference(unit_spread(count), power=power)

    assert paired_t_power(difference, count, 0.05) == pytest.approx(power, abs=1e-9)


def test_many_queries_follow_the_normal_approximation() -> None:
    expected = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) / math.sqrt(10_000)

    assert detectable_difference(unit_spread(10_000)) == pytest.approx(expected, rel=1e-3)


@settings(max_examples=40, deadline=None)
@given(DIFFERENCES, st.floats(0.5, 0.95), st.floats(0.01, 0.2))
def test_the_queries_needed_are_the_fewest_that_suffice(differences: list[float], power: float, level: float) -> None:
    wanted = 0.2
    count = queries_needed(differences, wanted, power=power, level=level)
    effect = wanted / float(np.std(differences, ddof=1))

    assert paired_t_power(effect, count, level) >= power
    assert count == 2 or paired_t_power(effect, count - 1, level) < power


@settings(max_examples=40, deadline=None)
@given(DIFFERENCES)
def test_the_detectable_difference_needs_the_queries_at_hand(differences: list[float]) -> None:
    difference = detectable_difference(differences)

    assert queries_needed(differences, difference * (1 + 1e-9)) == len(differences)


@settings(max_examples=40, deadline=None)
@given(DIFFERENCES)
def test_direction_and_common_shift_do_not_matter_and_spread_scales(differences: list[float]) -> None:
    expected = detectable_difference(differences)

    assert detectable_difference([-d for d in differences]) == pytest.approx(expected)
    assert detectable_difference([d + 3 for d in differences]) == pytest.approx(expected)
    assert detectable_difference([3 * d for d in differences]) == pytest.approx(3 * expected)
    assert queries_needed(differences, 0.1) == queries_needed(differences, -0.1)


def test_equal_systems_are_as_telling_as_one_query_in_n_that_differs_fully() -> None:
    equal, almost = [0.0] * 50, [0.0] * 49 + [1.0]

    assert detectable_difference(equal) == pytest.approx(detectable_difference(almost), rel=0.02)
    assert detectable_difference(equal, span=2.0) == pytest.approx(2 * detectable_difference(equal))
    assert queries_needed(equal, 0.05) > 50


def test_fewer_than_two_queries_detect_nothing() -> None:
    assert detectable_difference([0.3]) == math.inf
    assert detectable_difference([]) == math.inf


def test_a_difference_far_beyond_the_spread_needs_few_queries_and_a_tiny_one_many() -> None:
    assert queries_needed([0.01, -0.01, 0.0], 0.9) <= 3
    assert queries_needed([0.5, -0.5] * 10, 1e-4) > 10**8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"difference": 0.0}, "finite number other than 0, got 0.0"),
        ({"difference": math.nan}, "finite number other than 0, got nan"),
        ({"difference": 1e-12}, "too small to be found"),
        ({"difference": 0.1, "power": 1.0}, "power must be strictly between 0 and 1"),
        ({"difference": 0.1, "level": 0.0}, "level must be strictly between 0 and 1"),
        ({"difference": 0.1, "power": 0.05}, "power must exceed level"),
        ({"difference": 0.1, "span": -1.0}, "span must be positive.*got -1.0"),
    ],
)
def test_questions_without_an_answer_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        queries_needed([0.1, -0.1, 0.3], **options)


def test_one_query_does_not_show_a_spread() -> None:
    with pytest.raises(ValueError, match="at least two queries to show their spread; got 1"):
        queries_needed([0.1], 0.1)
