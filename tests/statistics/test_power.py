"""What an evaluation set can detect, against simulation and against the normal approximation."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize, stats

from retrieval_metrics.statistics import detectable_difference, queries_needed, sign_flip_test
from retrieval_metrics.statistics.difference_intervals import min_significant_units
from retrieval_metrics.statistics.power import min_units_for_power, paired_t_power

DIFFERENCES = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=2, max_size=50).filter(
    lambda d: np.std(d) > 1e-3
)


def effect(count: int, power: float = 0.8) -> float:
    """The effect that the t test finds with that power, from scipy's distribution."""
    return float(optimize.brentq(lambda e: paired_t_power(e, count, 0.05) - power, 0, 100, xtol=1e-12))


@pytest.mark.parametrize("count", [5, 25, 200])
def test_the_power_of_the_t_test_is_that_of_simulation(count: int) -> None:
    samples = np.random.default_rng(count).normal(effect(count), 1, (20_000, count))
    is_significant = np.less(stats.ttest_1samp(samples, 0, axis=1).pvalue, 0.05)

    assert float(np.mean(is_significant)) == pytest.approx(0.8, abs=0.012)  # four standard errors of the simulation


@pytest.mark.parametrize("count", [10, 40, 300])
@pytest.mark.parametrize("scale", [0.01, 0.2])
def test_the_detectable_difference_is_the_root_of_its_equation(count: int, scale: float) -> None:
    differences = np.random.default_rng(count).normal(0, scale, count)
    fewest = 6  # at 5%
    claim = detectable_difference(differences).sparse - 1 / count
    u = (count - 1) / stats.chi2(count - 1).ppf(0.2)
    movers = stats.binom(count, min(claim, 1)).sf(fewest - 1)

    # The larger of the two: the root of the equation, or what brings six movers about.
    residual = claim**2 - effect(count) ** 2 * (u * differences.var(ddof=1) + claim * (1 - claim))
    assert residual >= -1e-9
    assert movers >= 0.8 - 1e-9
    assert residual == pytest.approx(0, abs=1e-9) or movers == pytest.approx(0.8)


@pytest.mark.parametrize("count", [10, 25, 50])
def test_what_is_promised_is_found_where_one_query_moved(count: int) -> None:
    claim = detectable_difference([1.0] + [0.0] * (count - 1)).sparse
    movers = np.arange(count + 1)
    p_values = np.array([sign_flip_test([1.0] * moved + [0.0] * (count - moved)).p_value for moved in movers])
    power = stats.binom(count, claim).pmf(movers)[p_values <= 0.05].sum()

    assert 0.8 <= power < 0.95


def test_a_sample_that_moved_a_little_promises_what_one_that_moved_a_hair_does() -> None:
    small = [0.005] + [0.0] * 49
    tiny = [1e-6] + [0.0] * 49

    assert detectable_difference(small).sparse == pytest.approx(detectable_difference(tiny).sparse, rel=1e-3)


SPREADS: dict[str, Callable[[np.random.Generator, int], NDArray[np.float64]]] = {
    "normal": lambda random, n: random.normal(0, 0.25, n),
    "40% equal": lambda random, n: np.where(random.random(n) < 0.4, 0, random.normal(0, 0.19, n)),
}


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("count", [pytest.param(30, marks=pytest.mark.thorough), 50, 200])
def test_the_lower_end_is_what_is_found_in_four_of_five_cases(spread: str, count: int) -> None:
    random = np.random.default_rng(count)
    draw = SPREADS[spread]
    claim = float(np.median([detectable_difference(draw(random, count)).spread for _ in range(20)]))
    power = {}
    for share in (0.85, 1.15):
        samples = draw(random, 400 * count).reshape(400, count) + share * claim
        power[share] = np.mean([sign_flip_test(sample, resamples=400).p_value <= 0.05 for sample in samples])

    assert power[0.85] < 0.8 < power[1.15]


def test_equal_systems_promise_nothing() -> None:
    assert detectable_difference([0.0] * 50) == (math.inf, math.inf)


def test_too_few_queries_detect_nothing() -> None:
    assert detectable_difference([0.3]).spread == math.inf
    assert detectable_difference([]).spread == math.inf
    assert detectable_difference([0.1, -0.1, 0.2, 0.3, 0.4]).spread == math.inf
    assert detectable_difference([0.1, -0.1] * 3, alpha=0.01).spread == math.inf


@settings(max_examples=40, deadline=None)
@given(DIFFERENCES)
def test_direction_does_not_matter_and_everything_scales(differences: list[float]) -> None:
    expected = detectable_difference(differences)

    assert detectable_difference([-d for d in differences]) == pytest.approx(expected)
    assert detectable_difference([3 * d for d in differences], span=3.0) == pytest.approx([3 * end for end in expected])
    assert queries_needed(differences, 0.1) == queries_needed(differences, -0.1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=20, max_size=60).filter(lambda d: np.std(d) > 1e-3))
def test_the_queries_needed_are_those_of_the_detectable_difference(differences: list[float]) -> None:
    claim = detectable_difference(differences).sparse
    if claim < 1:
        needed = queries_needed(differences, claim * (1 + 1e-9))
        assert needed.low <= needed.high <= len(differences)
        # What fewer queries suffice for is what they promise.
        assert queries_needed(differences, claim / 2).high > len(differences)


def test_clusters_count_as_single_queries() -> None:
    differences = np.random.default_rng(0).normal(0, 0.1, 40)
    fourfold = np.repeat(differences, 4)
    labels = np.repeat(np.arange(40), 4)

    assert detectable_difference(fourfold, clusters=labels) == pytest.approx(detectable_difference(differences))
    unclustered = queries_needed(differences, 0.1)
    clustered = queries_needed(fourfold, 0.1, clusters=labels)
    assert clustered == (4 * unclustered.low, 4 * unclustered.high)


def test_a_difference_far_beyond_the_spread_needs_few_queries_and_a_tiny_one_many() -> None:
    assert queries_needed([0.01, -0.01, 0.0], 0.9).low == 6
    assert queries_needed([0.5, -0.5] * 10, 1e-4).low > 10**7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"difference": 0.0}, "finite number other than 0, got 0.0"),
        ({"difference": math.nan}, "finite number other than 0, got nan"),
        ({"difference": 1e-13}, "too small to be detected"),
        ({"difference": 1.5}, "got 1.5; the largest possible is 1"),
        ({"difference": 0.1, "power": 1.0}, "power must be strictly between 0 and 1"),
        ({"difference": 0.1, "alpha": 0.0}, "alpha must be strictly between 0 and 1"),
        ({"difference": 0.1, "power": 0.05}, "power must exceed alpha"),
        ({"difference": 0.1, "span": -1.0}, "span must be positive.*got -1.0"),
    ],
)
def test_questions_without_an_answer_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        queries_needed([0.1, -0.1, 0.3], **options)


def test_one_query_does_not_show_a_spread() -> None:
    with pytest.raises(ValueError, match="at least two queries to show their spread; got 1"):
        queries_needed([0.1], 0.1)


@pytest.mark.parametrize("difference", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("variance", [1e-12, 0.01, 0.2])
@pytest.mark.parametrize("step", [0.0, 1.0])
def test_the_units_needed_are_the_fewest_that_suffice_whichever_condition_binds(
    difference: float, variance: float, step: float
) -> None:
    fewest = min_significant_units(0.95)

    def suffices(n: int) -> bool:
        left = difference - step / n
        if left <= 0 or (step and stats.binom.sf(fewest - 1, n, left / step) < 0.8):
            return False  # too few units move for a sign-flip test to find anything
        deviation = math.sqrt(variance + max(left * (step - left), 0.0))
        return paired_t_power(min(left / deviation, 1e5), n, 0.05) >= 0.8

    expected = next(n for n in itertools.count(fewest) if suffices(n))
    assert min_units_for_power(difference, variance, step, 0.8, 0.05) == expected
