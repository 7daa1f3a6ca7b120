"""The interval of a mean: closed forms, laws, and the degenerate samples on which others return a point."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from retrieval_metrics.statistics import (
    ExactSums,
    Interval,
    interval_from_sums,
    mean_interval,
)

UNIT = st.floats(0, 1, allow_nan=False)
SAMPLES = st.lists(UNIT, min_size=1, max_size=60)
BINARY_SAMPLES = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=80)
LEVELS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])
RECIPROCAL_RANKS = [1.0] * 17 + [0.5] * 4 + [1 / 3, 0.25, 0.1, 0.0]


def posterior_draws(values: list[float], draws: int) -> NDArray[np.float64]:
    """Means of the values and both ends under random Dirichlet weights, one per value and a half per end."""
    weights = np.random.default_rng(7).dirichlet([1.0] * len(values) + [0.5, 0.5], size=draws)
    means: NDArray[np.float64] = weights @ np.array([*values, 0.0, 1.0])
    return means


@settings(max_examples=60, deadline=None)
@given(BINARY_SAMPLES, LEVELS)
def test_a_binary_metric_gets_the_interval_of_clopper_and_pearson(values: list[float], level: float) -> None:
    expected = stats.binomtest(int(sum(values)), len(values)).proportion_ci(level, method="exact")

    assert mean_interval(values, binary=True, level=level) == pytest.approx((expected.low, expected.high), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(BINARY_SAMPLES, LEVELS)
def test_values_that_happen_to_be_binary_get_the_interval_of_jeffreys(values: list[float], level: float) -> None:
    """From 20 queries on; fewer approach the interval of Clopper and Pearson, which 5 or fewer get."""
    ones = sum(values)
    zeros = len(values) - sum(values)
    whole = min(max((20 - len(values)) / (3 * len(values)), 0), 1)
    low = float(stats.beta.ppf((1 - level) / 2, ones + (1 - whole) / 2, zeros + (1 + whole) / 2))
    high = float(stats.beta.ppf((1 + level) / 2, ones + (1 + whole) / 2, zeros + (1 - whole) / 2))
    expected = (low if ones else 0.0, high if zeros else 1.0)

    assert mean_interval(values, level=level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("values", [RECIPROCAL_RANKS, np.linspace(0, 1, 30).tolist(), [0.0] * 20 + [0.1, 0.3, 0.9]])
def test_the_interval_agrees_with_the_posterior_it_approximates(values: list[float]) -> None:
    draws = posterior_draws(values, 200_000)
    low, high = np.quantile(draws, [0.025, 0.975])

    assert mean_interval(values) == pytest.approx((low, high), abs=0.006)


def test_mean_and_variance_of_the_posterior_are_matched_exactly() -> None:
    values = RECIPROCAL_RANKS
    n = len(values)
    first = sum(values)
    second = sum(x * x for x in values)
    mean = (first + 0.5) / (n + 1)
    variance = ((second + 0.5) / (n + 1) - mean**2) / (n + 2)
    draws = posterior_draws(values, 200_000)

    assert (mean, math.sqrt(variance)) == pytest.approx((draws.mean(), draws.std()), abs=3e-4)

    concentration = mean * (1 - mean) / variance - 1
    expected = stats.beta(mean * concentration, (1 - mean) * concentration).ppf([0.05, 0.95])

    assert mean_interval(values, level=0.9) == pytest.approx(tuple(expected), abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(SAMPLES, LEVELS)
def test_the_interval_contains_the_mean_lies_within_the_bounds_and_is_no_point(
    values: list[float], level: float
) -> None:
    low, high = mean_interval(values, level=level)
    mean = math.fsum(values) / len(values)

    assert 0 <= low <= mean <= high <= 1
    assert low < high


@settings(max_examples=60, deadline=None)
@given(SAMPLES, st.randoms(use_true_random=False))
def test_the_order_of_queries_does_not_matter_to_the_last_bit(values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types its Random as object

    assert mean_interval(shuffled) == mean_interval(values)


@settings(max_examples=60, deadline=None)
@given(SAMPLES)
def test_reflected_values_give_the_reflected_interval(values: list[float]) -> None:
    low, high = mean_interval(values)

    assert mean_interval([1 - x for x in values]) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(SAMPLES, st.floats(-5, 5), st.floats(0.1, 10))
def test_scaling_values_and_bounds_scales_the_interval(values: list[float], shift: float, scale: float) -> None:
    low, high = mean_interval(values)
    moved = mean_interval([shift + scale * x for x in values], bounds=(shift, shift + scale))

    assert moved == pytest.approx((shift + scale * low, shift + scale * high), abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(SAMPLES, LEVELS)
def test_more_queries_of_the_same_kind_narrow_the_interval(values: list[float], level: float) -> None:
    once = mean_interval(values, level=level)
    fourfold = mean_interval(values * 4, level=level)

    assert fourfold.high - fourfold.low < once.high - once.low


@settings(max_examples=60, deadline=None)
@given(SAMPLES)
def test_a_higher_level_gives_an_interval_around_the_lower_levels(values: list[float]) -> None:
    inner = mean_interval(values, level=0.8)
    outer = mean_interval(values, level=0.99)

    assert outer.low <= inner.low <= inner.high <= outer.high


def test_many_queries_give_the_interval_of_student() -> None:
    values = np.random.default_rng(3).beta(2, 2, 5_000)
    expected = stats.t.interval(0.95, 4_999, values.mean(), stats.sem(values))

    assert mean_interval(values) == pytest.approx(expected, abs=5e-5)


def test_a_bound_that_can_be_reached_gives_a_narrower_interval_than_one_out_of_reach() -> None:
    precision_at_5 = [0.2] * 40 + [0.0] * 10  # one relevant document per query
    wide = mean_interval(precision_at_5)
    narrow = mean_interval(precision_at_5, bounds=(0.0, 0.2))

    assert narrow.high - narrow.low < 0.8 * (wide.high - wide.low)


@pytest.mark.parametrize("value", [0.0, 0.2, 1.0])
def test_values_that_all_coincide_do_not_give_a_point(value: float) -> None:
    low, high = mean_interval([value] * 25)

    assert low <= value <= high
    assert high - low > 0.05


def test_a_sample_without_a_failure_admits_the_failure_rate_that_would_hide_one_time_in_twenty() -> None:
    # 0.9^25 = 7%: a system that fails on a tenth of all queries may well show 25 successes.
    assert mean_interval([1.0] * 25).low < 0.91
    assert mean_interval([1.0] * 25, binary=True).low == pytest.approx(0.025 ** (1 / 25))


def test_a_near_success_narrows_the_interval_no_more_than_a_success() -> None:
    assert mean_interval([1.0] * 24 + [0.99]).low == pytest.approx(mean_interval([1.0] * 25).low, abs=1e-3)


@pytest.mark.parametrize("n", [15, 25, 100])
def test_of_values_that_can_only_be_0_or_1_at_least_95_percent_of_samples_are_covered(n: int) -> None:
    ends = np.array([mean_interval([1.0] * k + [0.0] * (n - k), binary=1.0) for k in range(n + 1)])
    rates = np.arange(0.5, 0.996, 0.005)
    covers = (ends[:, :1] <= rates) & (rates <= ends[:, 1:])
    covered = (stats.binom.pmf(np.arange(n + 1)[:, None], n, rates) * covers).sum(axis=0)

    assert covered.min() >= 0.95  # with binary=0, 88 to 90%


def test_a_share_of_queries_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="binary must be a share of queries, from 0 to 1, got 2"):
        mean_interval([1.0], binary=2)


def test_no_values_have_no_interval() -> None:
    assert all(math.isnan(end) for end in mean_interval([]))
    assert all(math.isnan(end) for end in mean_interval([], binary=True))


def test_one_value_says_little() -> None:
    assert mean_interval([1.0]) == pytest.approx((0.025, 1.0))


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 19])
def test_the_interval_of_few_recalls_of_two_documents_covers(n: int) -> None:
    """By exact enumeration: half an observation at each end covers in 88.6 % for 4 and 6 queries."""
    counts = []
    intervals = []
    for halves in range(n + 1):
        for ones in range(n + 1 - halves):
            counts.append([n - halves - ones, halves, ones])
            intervals.append(mean_interval([0.0] * (n - halves - ones) + [0.5] * halves + [1.0] * ones))
    low, high = np.array(intervals).T
    for rate in np.arange(0.5, 0.996, 0.005).round(3):
        chance_of_recall = np.asarray(stats.binom.pmf(np.arange(3), 2, rate))
        chances = np.asarray(stats.multinomial.pmf(np.array(counts), n, chance_of_recall))
        assert chances[(low <= rate + 1e-9) & (rate - 1e-9 <= high)].sum() >= 0.93, rate


def test_an_unbounded_metric_gets_a_finite_interval_once_its_values_differ() -> None:
    unbounded = (-math.inf, math.inf)
    values = np.random.default_rng(5).normal(10, 2, 200)

    assert mean_interval([3.0, 3.0, 3.0], bounds=unbounded) == Interval(*unbounded)
    assert mean_interval([3.0, 3.0], bounds=(0.0, math.inf)) == Interval(0.0, math.inf)
    student = stats.t.interval(0.95, 199, values.mean(), stats.sem(values))
    low, high = mean_interval(values, bounds=unbounded)
    assert low < student[0] < student[1] < high
    assert high - low < 1.25 * (student[1] - student[0])


@settings(max_examples=60, deadline=None)
@given(st.lists(SAMPLES, min_size=1, max_size=5))
def test_merged_sums_of_parts_give_the_interval_of_the_whole_to_the_last_bit(parts: list[list[float]]) -> None:
    all_values = list(itertools.chain(*parts))
    merged = ExactSums.merge(ExactSums.from_values(np.array(part)) for part in parts)

    assert interval_from_sums(merged.rounded()) == mean_interval(all_values)


@pytest.mark.parametrize(
    ("lower", "upper", "same_as"),
    [(-math.inf, math.inf, (-3.0, 9.0)), (0.0, math.inf, (0.0, 9.0)), (-math.inf, 5.0, (-3.0, 5.0))],
)
def test_a_missing_bound_is_replaced_by_one_observed_range_beyond_the_values(
    lower: float, upper: float, same_as: tuple[float, float]
) -> None:
    values = [1.0, 2.0, 2.5, 5.0]  # they range over 4

    assert mean_interval(values, bounds=(lower, upper)) == mean_interval(values, bounds=same_as)


@pytest.mark.parametrize("bounds", [(-math.inf, math.inf), (0.0, math.inf), (0.0, 10_000.0)])
@pytest.mark.parametrize("gap", [1e-7, 1e-9, 1e-12])
def test_sums_of_values_almost_alike_do_not_break_by_cancellation(gap: float, bounds: tuple[float, float]) -> None:
    values = [1_000.0] * 999 + [1_000.0 + gap]
    low, high = mean_interval(values, bounds=bounds)

    assert bounds[0] <= low <= math.fsum(values) / 1_000 <= high <= bounds[1]


def test_the_values_handed_over_are_left_as_they_were() -> None:
    values = np.array([0.3, 0.1, 0.2])
    values.flags.writeable = False

    mean_interval(values)

    assert values.tolist() == [0.3, 0.1, 0.2]


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([0.1, math.nan], {}, r"values\[1\] is nan; leave out the queries"),
        ([0.1, math.inf], {}, r"values\[1\] is inf"),
        ([[0.1], [0.2]], {}, r"one dimension.*shape \(2, 1\)"),
        ([0.1, 1.5], {}, r"from 0.1 to 1.5, outside the metric's bounds \(0.0, 1.0\)"),
        ([0.1, 1.0], {"binary": True}, "0 or 1; these range from 0.1 to 1.0"),
        ([0.0, 0.5, 1.0], {"binary": True}, "sum 1.5 and sum of squares 1.25"),
        ([0.1], {"level": 95}, "level must be strictly between 0 and 1.*got 95"),
        ([0.1], {"bounds": (1.0, 0.0)}, r"lower < upper, got \(1.0, 0.0\)"),
        ([0.1], {"bounds": (math.nan, 1.0)}, r"lower < upper, got \(nan, 1.0\)"),
    ],
)
def test_input_without_meaning_is_refused(values: list[float], options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mean_interval(values, **options)  # type: ignore[arg-type]  # the options are wrong on purpose


def test_a_value_a_hair_above_its_bound_is_taken_as_the_bound() -> None:
    assert mean_interval([1.0 + 2e-16, 0.5]) == pytest.approx(mean_interval([1.0, 0.5]))
