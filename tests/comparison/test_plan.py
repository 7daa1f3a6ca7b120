"""How many questions: against simulation, and what a plan is made from."""

from dataclasses import replace
from math import ceil

import numpy as np
import pytest
from scipy import stats

import retrieval_metrics as rm
from pilots import pilot
from retrieval_metrics.statistics import Units, min_units_for_margin, sign_flip_test, within_margins
from retrieval_metrics.statistics.power import min_units_for_power, variance_allowance


def test_the_number_has_the_power_that_is_asked_for() -> None:
    random = np.random.default_rng(0)
    n = rm.plan(0.08, "ndcg@10").n_questions
    decisions = [
        sign_flip_test(random.normal(0.08, 0.2, n), resamples=400, seed=seed).p_value <= 0.05 for seed in range(600)
    ]

    assert np.mean(decisions) == pytest.approx(0.8, abs=0.05)


def test_a_pilots_number_has_80_percent_power_on_average() -> None:
    random = np.random.default_rng(1)
    shape = pilot(30).difference("mrr")
    powers = []
    for _ in range(100):
        n = rm.plan(0.08, "mrr", pilot=replace(shape, values=random.normal(0, 0.2, 30))).n_questions
        effect = 0.08 / 0.2 * np.sqrt(n)
        powers.append(stats.nct(n - 1, effect).sf(stats.t(n - 1).ppf(0.975)))

    assert np.mean(powers) == pytest.approx(0.8, abs=0.05)


@pytest.mark.thorough
@pytest.mark.parametrize("count", [8, 15])
def test_small_pilots_are_given_room_for_their_error(count: int) -> None:
    random = np.random.default_rng(3)
    shape = pilot(count).difference("mrr")
    powers: list[float] = []
    without: list[float] = []
    for _ in range(150):
        planned = rm.plan(0.08, "mrr", pilot=replace(shape, values=random.normal(0, 0.2, count)))
        alone = min_units_for_power(0.08, planned.scenarios[1].sd ** 2, 0.0, 0.8, 0.05)
        for n, into in ((planned.n_questions, powers), (alone, without)):
            into.append(stats.nct(n - 1, 0.4 * np.sqrt(n)).sf(stats.t(n - 1).ppf(0.975)))

    assert np.mean(powers) == pytest.approx(0.8, abs=0.03)
    assert np.mean(without) < np.mean(powers) - 0.02
    percent_more = 100 * (variance_allowance(count - 1, 0.8, 0.05) - 1)
    reason = "because the SD is only estimated, so that average power is 80%"
    assert f"middle row: includes {percent_more:.0f}% more questions {reason}" in str(planned)


def test_a_margin_passes_equal_systems_as_often_as_asked() -> None:
    random = np.random.default_rng(2)
    n = rm.plan(margin=0.05, metric="ndcg@10").n_questions
    samples = [Units.from_values(random.normal(0, 0.2, n)) for _ in range(600)]
    passed = [within_margin.outcome == "noninferior" for within_margin in within_margins(samples, [1.0] * 600, 0.05)]

    assert np.mean(passed) == pytest.approx(0.8, abs=0.05)
    assert rm.plan(margin=0.02, metric="precision@5").n_questions >= 149


def test_more_of_everything_takes_more_questions() -> None:
    plain = rm.plan(0.03).n_questions

    assert rm.plan(0.02).n_questions > plain
    assert rm.plan(0.03, comparisons=10).n_questions > plain
    assert rm.plan(0.03, power=0.9).n_questions > plain
    assert rm.plan(0.03, level=0.99).n_questions > plain
    assert rm.plan(0.03, design_effect=2).n_questions == pytest.approx(2 * plain, abs=1)
    least, largest = rm.plan(0.03).range
    assert least < plain < largest


def test_one_level_stands_for_another() -> None:
    # A margin is tested on one side; each of two differences has half of the 5%.
    of_margin = rm.plan(margin=0.05)
    at_90 = rm.plan(0.05, level=0.9)
    assert [row.n_questions for row in of_margin.scenarios[1:]] == [row.n_questions for row in at_90.scenarios[1:]]
    assert of_margin.scenarios[0].n_questions == min_units_for_margin(0.05) > at_90.scenarios[0].n_questions
    assert {row.n_questions_sparse for row in of_margin.scenarios} == {None}
    assert rm.plan(margin=0.05, design_effect=2.5).range == (ceil(59 * 2.5), 340 * 2.5)
    assert rm.plan(0.05, comparisons=2).scenarios == rm.plan(0.05, level=0.975).scenarios


def test_if_few_carry_the_difference_its_own_variance_is_added() -> None:
    row = rm.plan(0.05).scenarios[1]
    assert (row.sd, row.n_questions) == (0.2, 128)
    # (2.8 / 0.05)^2 (0.2^2 + 0.05 * 0.95) = 274, and more, because the number of those that carry it varies by chance
    assert row.n_questions_sparse == min_units_for_power(0.05, 0.2**2, 1.0, 0.8, 0.05) == 306
    assert rm.plan(0.05, design_effect=1.5).scenarios[1][3:] == (192, 459)
    # If the difference is the largest there is, every question carries it.
    assert [row[3:] for row in rm.plan(1).scenarios] == [(6, 6)] * 3
    assert rm.plan(1, design_effect=1.5).scenarios[0][3:] == (9, 9)


def test_the_room_for_error_is_that_of_the_level_of_each_test() -> None:
    compared = pilot(8)
    for options, level in (({"margin": 0.2}, 0.1), ({"difference": 0.2, "comparisons": 5}, 0.01)):
        percent_more = 100 * (variance_allowance(7, 0.8, level) - 1)
        assert f"middle row: includes {percent_more:.0f}% more" in str(rm.plan(**options, metric="mrr", pilot=compared))  # type: ignore[arg-type]  # any option


def test_a_margin_for_many_comparisons_is_planned_at_the_level_it_prints() -> None:
    together = rm.plan(margin=0.05, comparisons=8)
    alone = rm.plan(margin=0.05, level=1 - 0.05 / 8)
    assert together.scenarios == alone.scenarios
    assert together.n_questions > rm.plan(margin=0.05).n_questions
    assert "Bonferroni-corrected for 8 comparisons (95% overall): pass level=0.99375 to" in str(together)
    assert "pass level=" not in str(rm.plan(0.05, comparisons=8))


@pytest.mark.thorough
def test_it_prints_a_table_and_draws_a_curve() -> None:
    planned = rm.plan(0.05, "mrr", pilot=pilot())
    assert (
        str(planned).splitlines()[0] == f"mrr: detecting a difference of 0.05 takes {planned.n_questions:,} questions"
    )
    (axes,) = planned.plot().axes
    assert axes.get_xlabel() == "questions"
    named = {" ".join(text.get_text().replace("-\n", "-").split()) for text in axes.texts}
    assert {f"{row.name} ({row.sd:.2f})" for row in planned.scenarios} <= named
    assert "showing that an equally good system is non-inferior (margin 0.05) takes" in str(rm.plan(margin=0.05))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "a difference to detect or a margin"),
        ({"difference": 0.1, "margin": 0.1}, "pass either a difference or margin=, not both; got 0.1 and margin=0.1"),
        ({"difference": -0.1}, "difference must be positive"),
        ({"difference": 1.5}, "difference must be at most 1, the range of ndcg@10, got 1.5"),
        ({"difference": 0.1, "power": 0.01}, "power must exceed 1 - level"),
        ({"difference": 0.1, "comparisons": 0}, "comparisons must be"),
        ({"difference": 0.1, "pilot": pilot()}, r"no difference in ndcg@10; .*in mrr: .* metric='mrr'"),
        ({"difference": 0.1, "metric": "mrr", "pilot": pilot(systems="abc")}, r"has 3 differences in mrr; pass one"),
        ({"difference": 0.1, "pilot": pilot().difference("mrr")}, "a difference in mrr, not in ndcg@10"),
        ({"difference": 0.1, "pilot": pilot().evaluations["a"]}, "the pilot has no ndcg@10; it has mrr"),
        ({"difference": 0.1, "clusters": {"q1": "a"}}, "clusters= groups the queries of a pilot"),
        ({"difference": 0.1, "metric": "mrr", "pilot": pilot(), "clusters": {"x": "a"}}, "has none of the judged"),
    ],
)
def test_what_cannot_be_planned_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.plan(**options)  # type: ignore[arg-type]  # wrong on purpose


def test_a_plan_is_shown_in_one_line_and_as_a_frame() -> None:
    detection = rm.plan(0.05, "mrr@10")
    assert repr(detection) == f"<Plan: {detection.n_questions:,} questions to detect a difference of 0.05 in mrr@10>"
    margin = rm.plan(margin=0.05, metric="mrr@10")
    n_questions = f"{margin.n_questions:,} questions"
    assert repr(margin) == f"<Plan: {n_questions} to show non-inferiority in mrr@10 (margin 0.05)>"
    frame = detection.to_pandas()
    assert list(frame["n_questions"]) == [scenario.n_questions for scenario in detection.scenarios]
    assert list(frame["sd"]) == [scenario.sd for scenario in detection.scenarios]
