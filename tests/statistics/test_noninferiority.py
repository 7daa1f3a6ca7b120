"""The test against a margin: as often right as promised, and never where too few queries could show a loss."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from retrieval_metrics.statistics import Units, min_units_for_margin, within_margins


def outcome(differences: object, margin: float = 0.02) -> str:
    return within_margins([Units.from_values(differences)], [1.0], margin)[0].outcome  # type: ignore[arg-type]


def test_losses_of_1_on_2_percent_of_the_queries_pass_the_margin_at_most_as_often_as_said() -> None:
    random = np.random.default_rng(0)
    for n in (50, 200):
        samples = [Units.from_values(-1.0 * (random.random(n) < 0.02)) for _ in range(500)]
        passed = [test.outcome == "noninferior" for test in within_margins(samples, [1.0] * 500, 0.02)]
        assert np.mean(passed) <= 0.05


def test_systems_that_do_not_differ_pass_once_there_are_enough_queries() -> None:
    random = np.random.default_rng(1)
    power = {}
    for n in (100, 150, 500):
        samples = [Units.from_values(random.normal(0, 0.1, n)) for _ in range(400)]
        power[n] = np.mean([test.outcome == "noninferior" for test in within_margins(samples, [1.0] * 400, 0.02)])

    assert power[100] == 0
    assert power[150] >= 0.72
    assert power[500] > 0.98


def test_few_queries_that_all_gain_pass_only_if_as_many_losses_can_hardly_be_missing() -> None:
    # If a query gains 1 with a probability of 0.4 and else loses 1, the mean is -0.2.
    # All n gain in 0.4^n of samples: 16% of 2, 6.4% of 3 and 2.6% of 4.
    assert [outcome(np.ones(n), 0.2) for n in (2, 3, 4)] == ["inconclusive", "inconclusive", "noninferior"]
    # 0.475^4 = 5.1%, 0.475^5 = 2.4%
    assert [outcome(np.ones(n), 0.05) for n in (4, 5)] == ["inconclusive", "noninferior"]


def test_its_bound_is_students_unless_few_queries_lose_much() -> None:
    random = np.random.default_rng(2)
    values = random.normal(0, 0.1, 200)
    values -= np.minimum(0, stats.skew(values)) * (values - values.mean()) ** 2  # not skewed to the left
    student = values.mean() - stats.t(199).ppf(0.95) * stats.sem(values)
    assert within_margins([Units.from_values(values)], [1.0], 0.02)[0].low == pytest.approx(student, abs=2e-4)
    skewed = np.where(np.arange(200) < 6, -0.8, 0.03)
    student = skewed.mean() - stats.t(199).ppf(0.95) * stats.sem(skewed)
    assert within_margins([Units.from_values(skewed)], [1.0], 0.02)[0].low < student - 0.003


def test_against_a_margin_too_clusters_of_equal_queries_are_as_telling_as_one_query_each() -> None:
    differences = np.random.default_rng(3).gamma(1, 0.1, 40) * -1
    fourfold = Units.from_values(np.repeat(differences, 4), np.repeat(np.arange(40), 4))
    alone, together = within_margins([Units.from_values(differences), fourfold], [1.0, 1.0], 0.02)

    assert (together.low, together.high) == pytest.approx((alone.low, alone.high))


@settings(max_examples=30, deadline=None)
@given(st.floats(0.005, 0.5), st.floats(0.01, 0.2))
def test_below_the_fewest_queries_even_equal_systems_do_not_pass(margin: float, alpha: float) -> None:
    fewest = min_units_for_margin(margin, alpha=alpha)

    assert 1 - alpha ** (1 / fewest) < margin
    assert fewest == 1 or 1 - alpha ** (1 / (fewest - 1)) >= margin
    assert min_units_for_margin(0.02) == pytest.approx(3 / 0.02, rel=0.01)


def test_few_queries_pass_only_systems_that_rare_losses_would_leave_above_the_margin() -> None:
    random = np.random.default_rng(4)
    assert outcome(random.normal(0.3, 0.1, 30), 0.05) == "noninferior"
    assert outcome(random.normal(0.03, 0.01, 30), 0.05) == "inconclusive"
    for n, gain in ((20, 0.1), (30, 0.05), (40, 0.05)):  # the hardest: a mean of -0.05, and the others gain
        share = (gain + 0.05) / (gain + 1)
        samples = [Units.from_values(np.where(random.random(n) < share, -1.0, gain)) for _ in range(500)]
        passed = [test.outcome == "noninferior" for test in within_margins(samples, [1.0] * 500, 0.05)]
        assert np.mean(passed) <= 0.075


def test_worse_by_more_is_said_and_bounds_mirror_each_other() -> None:
    lost = np.array([-0.3, -0.2] * 80)
    (loss,), (gain,) = (within_margins([Units.from_values(sign * lost)], [1.0], 0.02) for sign in (1, -1))

    assert (loss.outcome, gain.outcome) == ("inferior", "noninferior")
    assert loss.low == pytest.approx(-gain.high)


def test_no_query_allows_nothing_to_be_said() -> None:
    (test,) = within_margins([Units.from_values([])], [1.0], 0.02)

    assert test.outcome == "inconclusive"
    assert math.isnan(test.low)


def test_a_margin_is_positive() -> None:
    with pytest.raises(ValueError, match="margin must be positive"):
        outcome([0.0], margin=-0.1)
