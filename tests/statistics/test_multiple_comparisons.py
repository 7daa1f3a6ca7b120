"""The sign-flip test of several hypotheses together against its definition, and its laws."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrieval_metrics.statistics import (
    Contrasts,
    critical_value_to_p,
    joint_sign_flips,
    multiple_comparisons,
    sign_flip_test,
)

ROWS = st.integers(1, 3).flatmap(
    lambda m: st.lists(st.lists(st.integers(-3, 3), min_size=m, max_size=m), min_size=1, max_size=7)
)


def by_definition(rows: NDArray[np.float64]) -> list[float]:
    """Corrected p values from all 2^n choices of signs, written as the formula reads."""
    scale = np.sqrt((rows**2).sum(axis=0))
    scale[scale == 0] = np.inf
    z = np.array([np.abs(np.array(signs) @ rows) / scale for signs in itertools.product((1, -1), repeat=len(rows))])
    order = np.argsort(-z[0], kind="stable")  # the first choice is the observed one
    corrected = np.empty(len(order))
    largest = 0.0
    for place, step in enumerate(order):
        left = order[place:]
        largest = max(largest, float((z[:, left].max(axis=1) >= z[0, step] - 1e-9).mean()))
        alone = float((z[:, step] >= z[0, step] - 1e-9).mean())
        corrected[step] = max(largest, alone)
    return corrected.tolist()


def standardised(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    scale = np.sqrt((rows**2).sum(axis=0))
    test: NDArray[np.float64] = np.abs(rows.sum(axis=0)) / np.where(scale, scale, 1.0)
    return test


@settings(max_examples=150, deadline=None)
@given(ROWS)
def test_it_is_its_definition(rows: list[list[int]]) -> None:
    array = np.array(rows, dtype=np.float64)

    assert joint_sign_flips(array).corrected.tolist() == pytest.approx(by_definition(array))


@settings(max_examples=100, deadline=None)
@given(ROWS)
def test_each_p_value_is_that_of_its_own_test_and_none_is_larger_than_the_corrected(rows: list[list[int]]) -> None:
    array = np.array(rows, dtype=np.float64)
    joint = joint_sign_flips(array)

    assert joint.p_values.tolist() == pytest.approx([sign_flip_test(column).p_value for column in array.T])
    assert joint.exact.all()
    assert (joint.corrected >= joint.p_values - 1e-12).all()


@pytest.mark.parametrize("kind", ["exact", "few move", "real"])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_a_hypothesis_is_rejected_exactly_where_its_sum_exceeds_the_critical_value(kind: str, alpha: float) -> None:
    random = np.random.default_rng(0)
    later = 0
    for seed in range(60):
        n = random.integers(4, 40)
        m = random.integers(1, 10)
        rows = random.normal(random.choice([0, 0.4, 0.9], m), 1, (n, m)) + random.normal(0, 1, (n, 1))
        rows = rows.round() if kind == "exact" else rows * (random.random((n, m)) < (0.4 if kind == "few move" else 1))
        joint = joint_sign_flips(rows, alpha=alpha, resamples=300, seed=seed)
        rejected = joint.corrected <= alpha + 1e-12
        assert (rejected == (standardised(rows) > joint.critical)).all()
        later += bool(rejected.any() and len(set(joint.critical.round(6).tolist())) > 1)

    assert later > 0


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.2, 0.3, 0.9])
@pytest.mark.parametrize("seed", range(8))
def test_the_critical_value_among_the_furthest_choices_is_that_among_all(
    seed: int, alpha: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(seed)
    distances = np.abs(random.normal(size=1_000))
    if seed % 2:
        distances = distances.round(1) + random.integers(0, 3, 1_000) * 1e-12  # many ties, some but for rounding
    weights = random.dirichlet(np.full(1_000, 0.1 + seed))
    if seed % 4 > 1:
        weights = np.sort(weights)[np.argsort(np.argsort(-distances))]  # the furthest choices have the least weight
    value = multiple_comparisons._find_critical_value(distances, weights, alpha, 1e-9)
    monkeypatch.setattr(multiple_comparisons, "SORTED_SHARE", 0.0)
    assert multiple_comparisons._find_critical_value(distances, weights, alpha, 1e-9) == value


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9).filter(any), st.sampled_from([0.05, 0.2, 0.6]))
def test_the_exact_critical_value_is_that_of_all_choices_of_signs(row: list[int], alpha: float) -> None:
    column = np.array(row, dtype=np.float64)
    distances = np.abs([float(np.array(signs) @ column) for signs in itertools.product((1, -1), repeat=len(row))])
    equal_weights = np.full(len(distances), 1 / len(distances))
    critical = multiple_comparisons._find_critical_value(distances, equal_weights, alpha, 1e-9)

    scale = np.sqrt(column @ column)
    assert joint_sign_flips(column[:, None], alpha=alpha).critical[0] == pytest.approx(critical / scale, abs=1e-7)


@pytest.mark.parametrize("n_only_in_first", [8, 12], ids=["listed", "drawn"])
def test_critical_values_are_the_same_if_the_choices_are_made_again(
    n_only_in_first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_listed = n_only_in_first == 8
    # Only a later step rejects the second hypothesis.
    rows = np.repeat([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1]], [n_only_in_first, 6, 7, 7], axis=0)
    if not is_listed:
        rows *= np.random.default_rng(2).uniform(0.5, 1, rows.shape)
    kept_steps = joint_sign_flips(rows, resamples=500)
    is_listed_by_call = []
    make_blocks = multiple_comparisons._SignChoices.blocks

    def count_and_make_blocks(choices: multiple_comparisons._SignChoices) -> object:
        is_listed_by_call.append(choices.counts is not None)
        return make_blocks(choices)

    monkeypatch.setattr(multiple_comparisons._SignChoices, "blocks", count_and_make_blocks)
    monkeypatch.setattr(multiple_comparisons, "MAX_KEPT_SUMS", 0)
    steps_again = joint_sign_flips(rows, resamples=500)

    assert kept_steps.critical[1] < kept_steps.critical[0]
    assert steps_again.critical.tolist() == kept_steps.critical.tolist()
    assert is_listed_by_call == [is_listed, is_listed]


def test_a_second_metric_that_says_the_same_costs_nothing_and_an_independent_one_what_holm_asks() -> None:
    random = np.random.default_rng(0)
    single, other = random.normal(0.03, 0.1, (2, 80))
    alone = joint_sign_flips(single[:, None])
    twice = joint_sign_flips(np.column_stack([single, 2 * single, single]))
    joint = joint_sign_flips(np.column_stack([single, other]), resamples=50_000)

    assert twice.corrected.tolist() == pytest.approx([float(alone.p_values[0])] * 3)
    assert critical_value_to_p(float(twice.critical[0]), 80) == pytest.approx(0.05, abs=4e-3)
    assert critical_value_to_p(float(joint.critical.max()), 80) == pytest.approx(1 - np.sqrt(0.95), abs=2e-3)


def test_a_metric_that_few_queries_move_is_not_drowned_by_one_that_all_do() -> None:
    random = np.random.default_rng(1)
    rare = np.zeros(60)
    rare[:8] = 1
    joint = joint_sign_flips(np.column_stack([random.normal(0, 0.1, 60), *[rare] * 5]))

    assert joint.p_values[1] == pytest.approx(2 / 2**8)
    assert joint.corrected[1] < 2 * joint.p_values[1]  # two things are tested, not six


def test_contrasts_of_columns_are_their_differences() -> None:
    random = np.random.default_rng(5)
    systems = random.normal(0.5, 0.2, (60, 5))
    plus, minus = np.array(list(itertools.combinations(range(5), 2))).T
    pairs = systems[:, plus] - systems[:, minus]
    direct = joint_sign_flips(pairs)
    fast = joint_sign_flips(pairs, contrasts=Contrasts(systems, plus, minus))

    assert fast.corrected.tolist() == direct.corrected.tolist()
    assert fast.critical.tolist() == pytest.approx(direct.critical.tolist(), rel=1e-9)


def test_drawn_choices_agree_with_all_choices() -> None:
    random = np.random.default_rng(2)
    rows = random.normal(0.4, 1, (14, 3))
    drawn = joint_sign_flips(np.vstack([rows, random.normal(0, 1e-9, (20, 3))]), resamples=200_000)

    assert drawn.corrected.tolist() == pytest.approx(by_definition(rows), abs=0.005)


def test_as_many_choices_are_drawn_as_asked_however_many_hypotheses_there_are() -> None:
    random = np.random.default_rng(3)
    rows = random.normal(0, 0.1, (100, 200))
    rows[:, 0] += 0.2
    joint = joint_sign_flips(rows, resamples=99)

    assert joint.corrected[0] == pytest.approx(1 / 100)
    assert (joint.corrected[1:] > 0.05).mean() > 0.95


def test_memory_is_linear_in_the_hypotheses() -> None:
    systems = np.random.default_rng(4).normal(0, 1, (50, 40))
    plus, minus = np.array(list(itertools.combinations(range(40), 2))).T
    pairs = systems[:, plus] - systems[:, minus]
    tracemalloc.start()
    joint_sign_flips(pairs, contrasts=Contrasts(systems, plus, minus))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 100e6  # 10,000 draws of 780 hypotheses at once would be 62 MB for each of several arrays


@pytest.mark.parametrize("systems", [2, 4])
def test_clones_are_called_different_no_more_often_than_alpha(systems: int) -> None:
    random = np.random.default_rng(systems)
    rejected = 0
    for seed in range(300):
        values = random.normal(0, 1, (40, 1)) + random.normal(0, 0.05, (40, systems))
        pairs = [values[:, a] - values[:, b] for a, b in itertools.combinations(range(systems), 2)]
        rejected += joint_sign_flips(np.column_stack(pairs), resamples=500, seed=seed).corrected.min() <= 0.05

    assert rejected / 300 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_nothing_that_moves_and_no_query_are_no_finding() -> None:
    for rows in (np.zeros((5, 2)), np.zeros((0, 2))):
        joint = joint_sign_flips(rows)
        assert (joint.p_values.tolist(), joint.corrected.tolist()) == ([1, 1], [1, 1])


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([1.0, 2.0], {}, r"a column per hypothesis; got an array of shape \(2,\)"),
        ([[np.nan]], {}, r"differences\[\(0, 0\)\] is nan"),
        ([[1.0]], {"alpha": 1.5}, "alpha must be strictly between 0 and 1"),
        ([[1.0]], {"resamples": 0}, "resamples must"),
    ],
)
def test_what_cannot_be_tested_is_refused(rows: object, options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        joint_sign_flips(rows, **options)  # type: ignore[arg-type]  # wrong on purpose


def test_progress_begins_at_nothing_and_ends_with_every_choice_that_was_drawn() -> None:
    done: list[int] = []
    rows = np.random.default_rng(3).normal(size=(40, 3))
    joint_sign_flips(rows, resamples=5_000, advance=done.append)
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, 5_000)
