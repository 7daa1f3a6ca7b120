"""The mean that people's values would have on all queries, from a model's on all and people's on some."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as hypothesis_arrays
from scipy import stats

from retrieval_metrics.statistics import corrected_mean, mean_interval

RANDOM = np.random.default_rng(5)
MODEL = RANDOM.random(80)
LABELLED = np.arange(5, 29)
PEOPLE = np.clip(0.7 * MODEL[LABELLED] + RANDOM.normal(0.1, 0.1, 24), 0, 1)


def by_hand(people: Any, model: Any, labelled: Any) -> tuple[float, float]:
    """The estimate and its variance, as the docstring has them."""
    n = len(people)
    total = len(model)
    labelled_model = model[labelled]
    about = labelled_model - labelled_model.mean()
    slope = (about * (people - people.mean())).sum() / (about**2).sum()
    ahead = model.mean() - labelled_model.mean()
    estimate = people.mean() + slope * ahead
    share = 1 / n + ahead * about / (about**2).sum()
    leverage = 1 / n + about**2 / (about**2).sum()
    residuals = people - people.mean() - slope * about
    robust = (share**2 * residuals**2 / (1 - leverage)).sum()
    least_squares = (residuals**2).sum() / (n - 2) * (share**2).sum()
    return estimate, max(robust, least_squares) + slope**2 * model.var(ddof=1) / total


def test_it_is_the_formula_of_its_docstring() -> None:
    corrected = corrected_mean(PEOPLE, MODEL, LABELLED)
    estimate, variance = by_hand(PEOPLE, MODEL, LABELLED)
    assert corrected.mean == pytest.approx(estimate, abs=1e-12)
    assert corrected.variance == pytest.approx(variance, abs=1e-12)
    assert (corrected.degrees, corrected.labelled, corrected.queries) == (22, 24, 80)
    half = stats.t.ppf(0.975, 22) * math.sqrt(variance)
    assert corrected.difference_interval() == pytest.approx((estimate - half, estimate + half))
    assert (corrected.human, corrected.model) == pytest.approx((PEOPLE.mean(), MODEL.mean()))


def test_a_judge_off_by_a_scale_and_a_shift_changes_nothing() -> None:
    plain = corrected_mean(PEOPLE, MODEL, LABELLED)
    off = corrected_mean(PEOPLE, 0.3 + 0.5 * MODEL, LABELLED)
    assert off.mean == pytest.approx(plain.mean, abs=1e-12)
    assert off.variance == pytest.approx(plain.variance, abs=1e-12)


def test_with_labels_for_all_queries_it_is_their_mean_and_students_variance() -> None:
    model = np.append(MODEL[:23], 0.5)
    estimate = corrected_mean(PEOPLE, model, np.arange(24))
    assert estimate.mean == pytest.approx(PEOPLE.mean(), abs=1e-12)
    assert estimate.variance == pytest.approx(PEOPLE.var(ddof=1) / 24, rel=0.1)


def test_a_model_that_says_the_same_of_all_leaves_people_alone() -> None:
    estimate = corrected_mean(PEOPLE, np.full(80, 0.4), LABELLED)
    assert estimate.mean == pytest.approx(PEOPLE.mean(), abs=1e-12)
    assert estimate.variance == pytest.approx(PEOPLE.var(ddof=1) / 24)
    assert (estimate.degrees, estimate.slope, estimate.helps) == (23, 0.0, False)
    assert estimate.interval() == pytest.approx(mean_interval(PEOPLE), abs=0.003)


def test_a_good_model_is_worth_many_labels_and_a_useless_one_none() -> None:
    good = corrected_mean(PEOPLE, MODEL, LABELLED)
    useless = corrected_mean(PEOPLE, np.random.default_rng(1).random(80), LABELLED)
    assert good.effective_n > 35
    assert good.helps
    assert useless.effective_n < 24
    assert not useless.helps


def test_strata_are_weighted_by_their_share_of_all_queries() -> None:
    strata = np.array([0] * 60 + [1] * 20)
    labelled = np.array([*range(10), *range(60, 70)])
    people = np.array([0.2] * 10 + [0.8] * 10) + np.tile([0.01, -0.01], 10)
    estimate = corrected_mean(people, np.full(80, 0.5), labelled, strata=strata)
    assert estimate.mean == pytest.approx((60 * 0.2 + 20 * 0.8) / 80)
    without = corrected_mean(people, np.full(80, 0.5), labelled)
    assert without.mean == pytest.approx(0.5)
    assert estimate.variance < without.variance


def test_probabilities_that_differ_are_made_up_for() -> None:
    """Queries with a high value were drawn three times as often."""
    random = np.random.default_rng(3)
    every = random.random(4000)
    model = np.clip(every + random.normal(0, 0.2, 4000), 0, 1)
    chance = np.where(every > 0.5, 0.03, 0.01)
    drawn = np.flatnonzero(random.random(4000) < chance)
    weighted = corrected_mean(every[drawn], model, drawn, weights=1 / chance[drawn])
    assert weighted.interval().low < every.mean() < weighted.interval().high
    assert abs(weighted.mean - every.mean()) < abs(every[drawn].mean() - every.mean()) / 3


def test_queries_without_a_value_of_peoples_are_left_out_of_the_mean() -> None:
    people = PEOPLE.copy()
    people[::4] = np.nan
    estimate = corrected_mean(people, np.full(80, 0.4), LABELLED)
    assert estimate.mean == pytest.approx(np.nanmean(people), abs=1e-12)
    assert estimate.labelled == 18
    assert estimate.variance == pytest.approx(np.nanvar(people, ddof=1) / 18, rel=0.03)
    # A query of which the model says nothing counts as the mean of the others.
    model = MODEL.copy()
    model[[40, 41]] = np.nan
    filled = np.where(np.isnan(model), np.nanmean(model), model)
    assert corrected_mean(PEOPLE, model, LABELLED).mean == pytest.approx(corrected_mean(PEOPLE, filled, LABELLED).mean)


def test_clusters_that_are_alike_widen_it() -> None:
    random = np.random.default_rng(2)
    clusters = np.repeat(np.arange(20), 5)
    effect = random.normal(0, 0.1, 20)[clusters]
    model = random.random(100)
    labelled = np.arange(50)
    people = (0.5 * model + 0.2 + effect)[labelled] + random.normal(0, 0.02, 50)
    alone = corrected_mean(people, model, labelled)
    together = corrected_mean(people, model, labelled, clusters=clusters)
    assert together.mean == alone.mean
    assert together.variance > 2 * alone.variance
    assert together.degrees == 8
    assert corrected_mean(people, model, labelled, clusters=np.arange(100)).variance >= alone.variance


def test_agreement_on_the_few_labelled_queries_is_no_proof_of_agreement_on_all() -> None:
    agreeing = corrected_mean(MODEL[LABELLED], MODEL, LABELLED)
    assert agreeing.variance == pytest.approx(MODEL.var(ddof=1) / 80 + 1 / (2 * 24**2))
    once = MODEL[LABELLED].copy()
    once[3] += 0.05
    assert corrected_mean(once, MODEL, LABELLED).variance < agreeing.variance


def test_how_many_further_labels_a_width_needs() -> None:
    estimate = corrected_mean(PEOPLE, MODEL, LABELLED)
    width = 2 * estimate.half_width()
    assert estimate.labels_needed(width * 1.01) == 0
    assert 1 <= estimate.labels_needed(width * 0.98) <= estimate.labels_needed(width * 0.95) <= 80 - 24
    assert estimate.labels_needed(0.01) == math.inf  # 80 queries do not show the mean of their population so well
    with pytest.raises(ValueError, match="width must be positive"):
        estimate.labels_needed(0)


def test_at_the_ceiling_the_interval_leaves_room_below() -> None:
    estimate = corrected_mean([1.0] * 20, [1.0] * 100, np.arange(20))
    low, high = estimate.interval()
    assert high == 1.0
    assert 0.8 < low < 0.95
    assert estimate.interval(bounds=(-math.inf, math.inf)).low < 1.0


@pytest.mark.parametrize("queries", [150, 500])
@pytest.mark.parametrize("labelled", [15, 25, 50])
def test_intervals_cover_as_promised(queries: int, labelled: int) -> None:
    """A small piece of tests/benchmarks/label_estimates.py, by a fixed seed."""
    random = np.random.default_rng(1)
    truth = random.beta(2, 1.2, 20_000)
    judge = np.clip(0.15 + 0.7 * truth + random.normal(0, 0.12, 20_000), 0, 1)
    covered = []
    for _ in range(400):
        rows = random.integers(0, 20_000, queries)
        low, high = corrected_mean(truth[rows[:labelled]], judge[rows], np.arange(labelled)).interval()
        covered.append(low <= truth.mean() <= high)
    assert 0.92 <= np.mean(covered) <= 0.99


@pytest.mark.parametrize("labelled", [15, 25])
def test_a_judge_that_likes_one_of_two_equal_systems_does_not_tell_them_apart(labelled: int) -> None:
    """Each system has junk on a twentieth of the queries; the judge sees only that of the first."""
    random = np.random.default_rng(labelled)
    apart = width = alone = 0.0
    for _ in range(300):
        which = random.random(200)
        people = random.normal(0, 0.02, 200) + 0.4 * (which < 0.05) - 0.4 * (which > 0.95)
        model = people + 0.8 * (which > 0.95) + random.normal(0, 0.02, 200)
        estimate = corrected_mean(people[:labelled], model, np.arange(labelled), span=2.0, of_difference=True)
        low, high = estimate.difference_interval()
        apart += low > 0 or high < 0
        width += high - low
        alone += float(np.ptp((estimate.human_only or estimate).difference_interval()))

    assert apart / 300 <= 0.07  # with a slope from two labels, 26%
    assert width <= 1.25 * alone


def test_people_who_see_no_difference_leave_room_for_what_was_not_drawn() -> None:
    """The judge errs on many labelled queries, so that its agreement with people says nothing of the others."""
    model = RANDOM.choice([-0.5, 0.0, 0.5], 200)
    estimate = corrected_mean(np.zeros(15), model, np.arange(15))
    low, high = estimate.difference_interval()
    assert (estimate.mean, estimate.all_equal) == (0.0, True)
    assert estimate.rare().share == pytest.approx(
        1 - 0.05 ** (1 / 15), rel=0.05
    )  # so many queries are missed by 5% of samples
    assert -low == high >= estimate.rare().mean_shift
    half = corrected_mean(np.zeros(15), model, np.arange(15), span=0.5).difference_interval(span=0.5)
    assert half.high == pytest.approx(high / 2, rel=0.2)
    assert 0 < estimate.labels_needed(high) <= 185
    n_more = 15 + int(estimate.labels_needed(high))
    again = corrected_mean(np.zeros(n_more), model, np.arange(n_more))
    assert again.half_width() <= high / 2


def test_values_that_differ_by_rounding_only_are_equal() -> None:
    people = np.full(15, 0.63) + RANDOM.choice([-1e-16, 0.0, 1e-16], 15)
    estimate = corrected_mean(people, np.ones(60) + RANDOM.choice([-1e-16, 0.0], 60), np.arange(15))
    assert (estimate.all_equal, estimate.spread, estimate.slope) == (True, 0.0, 0.0)
    low, high = estimate.interval()
    assert 0.5 < low < 0.63 < high < 0.72


def test_what_the_model_says_beyond_the_labelled_values_is_counted() -> None:
    model = np.append(MODEL[:60], [4.0, -3.0, 1.01])
    labelled = np.arange(24)
    estimate = corrected_mean(PEOPLE, model, labelled)
    assert estimate.n_outside == 2
    low = model[:24].min()
    high = model[:24].max()
    assert estimate.extrapolated == pytest.approx(estimate.slope * (4.0 - high - 3.0 - low) / 63)
    assert estimate.human_only is not None
    assert estimate.human_only.mean == pytest.approx(PEOPLE.mean())
    assert estimate.human_only.slope == 0
    assert corrected_mean(PEOPLE, np.append(MODEL, [1.6] * 6), LABELLED).extrapolates()
    assert not corrected_mean(PEOPLE, MODEL, LABELLED).extrapolates()


@pytest.mark.parametrize("share", [0.02, 0.04, 0.15])
def test_a_judge_that_favours_a_system_on_few_queries_is_found_out_where_systems_differ(share: float) -> None:
    """Half of 15 labels among the eighth of 200 queries with the largest differences by the judge; the truth is 0."""
    covered = []
    for seed in range(200):
        random = np.random.default_rng(seed)
        who = random.random(200)
        people = np.where(random.random(200) < 0.3, random.normal(0, 0.05, 200), 0.0)
        model = people + random.normal(0, 0.03, 200) + 0.4 * (who < share)
        people = people + 0.1 * ((who > 1 - share / 2) - 1.0 * (who < share / 2))
        apart = np.argsort(-np.abs(model))
        labelled = np.append(random.permutation(apart[:25])[:8], random.permutation(apart[25:])[:7])
        strata = np.isin(np.arange(200), apart[25:]).astype(int)
        weights = np.repeat([25 / 8, 175 / 7], [8, 7])
        estimates = corrected_mean(people[labelled], model, labelled, strata=strata, weights=weights)
        low, high = estimates.difference_interval()
        covered.append(low <= 0 <= high)
    assert np.mean(covered) >= 0.93


@given(
    people=hypothesis_arrays(float, st.integers(5, 12), elements=st.sampled_from([0.0, 1e-17, 0.3, 0.3 + 1e-16, 1.0])),
    model=hypothesis_arrays(float, 30, elements=st.sampled_from([0.0, 0.3, 0.3 - 1e-16, 0.5, 1.0, math.nan])),
)
def test_no_estimate_is_certain(people: Any, model: Any) -> None:
    estimate = corrected_mean(people, model, np.arange(len(people)))
    for low, high in (
        estimate.interval(),
        estimate.difference_interval(),
        estimate.interval(bounds=(0.0, math.inf)),
        (estimate.human_only or estimate).difference_interval(),
    ):
        assert low < high
        assert estimate.labels_needed(high - low) >= 0
    assert np.isfinite([estimate.mean, estimate.variance, estimate.effective_n]).all()
