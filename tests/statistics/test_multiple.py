"""Holm's correction and randomised Tukey HSD, against their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrieval_metrics.statistics import holm, sign_flip_test, tukey_hsd

P_VALUES = st.lists(st.floats(0, 1), max_size=20)


def holm_by_definition(p_values: list[float]) -> list[float]:
    m = len(p_values)
    ranked = sorted(p_values)
    return [
        max(min(1.0, (m - j) * ranked[j]) for j in range(m) if ranked[j] <= p)  # j counts from 0
        for p in p_values
    ]


def tukey_by_enumeration(rows: list[list[float]]) -> NDArray[np.float64]:
    """p values over all deals, each row dealt in every order."""
    means = np.array(rows).sum(axis=0)
    deals = itertools.product(*(list(itertools.permutations(row)) for row in rows))
    distances = np.array([np.ptp(np.array(deal).sum(axis=0)) for deal in deals])
    return np.array([[(distances >= abs(a - b) - 1e-9).mean() for b in means] for a in means])


@settings(max_examples=150, deadline=None)
@given(P_VALUES)
def test_holm_is_its_definition(p_values: list[float]) -> None:
    assert holm(p_values).tolist() == pytest.approx(holm_by_definition(p_values), abs=1e-15)


@settings(max_examples=100, deadline=None)
@given(P_VALUES)
def test_holm_keeps_the_order_raises_every_value_and_stays_within_bonferroni(p_values: list[float]) -> None:
    raw, corrected = np.array(p_values), holm(p_values)
    order = np.argsort(raw, kind="stable")

    assert (np.diff(corrected[order]) >= 0).all()
    assert (corrected >= raw).all()
    assert (corrected <= np.minimum(1, len(raw) * raw) + 1e-15).all()


def test_holm_of_the_literature() -> None:
    # m = 4: .005 x 4, .01 x 3, .03 x 2, .04 x 1 = .02, .03, .06, and .04 may not fall below .06.
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_of_one_is_itself_and_of_none_is_none() -> None:
    assert holm([0.3]).tolist() == [0.3]
    assert holm([]).tolist() == []


@pytest.mark.parametrize(
    ("p_values", "message"),
    [
        ([0.1, 1.2], r"p_values\[1\] is 1.2"),
        ([-0.1], r"p_values\[0\] is -0.1"),
        ([float("nan")], r"p_values\[0\] is nan"),
    ],
)
def test_what_is_no_p_value_is_refused(p_values: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        holm(p_values)


@pytest.mark.parametrize("systems", [2, 3, 4])
def test_tukey_is_near_the_enumeration_of_all_deals(systems: int) -> None:
    rows = np.random.default_rng(systems).random((4 if systems < 4 else 3, systems)).tolist()

    assert tukey_hsd(rows, resamples=20_000) == pytest.approx(tukey_by_enumeration(rows), abs=0.02)


def test_more_systems_than_are_listed_are_dealt_fairly() -> None:
    p_values = tukey_hsd([list(range(8))] * 2, resamples=4_000)

    # The totals of two queries are 14 apart only if both largest and both smallest values meet: 1 deal in 8 x 7.
    assert p_values[0, 7] == pytest.approx(1 / 56, abs=0.01)
    assert p_values[3, 4] == 1.0


def test_two_systems_are_the_sign_flip_test() -> None:
    values = np.random.default_rng(0).beta(2, 2, (30, 2)) + np.array([0.0, 0.08])
    expected, _ = sign_flip_test(values[:, 0] - values[:, 1], resamples=50_000)

    assert tukey_hsd(values, resamples=50_000)[0, 1] == pytest.approx(expected, abs=0.01)


def test_tukey_is_symmetric_with_ones_on_the_diagonal_and_in_the_order_of_differences() -> None:
    values = np.random.default_rng(0).random((25, 5))
    p_values = tukey_hsd(values, resamples=2_000)
    means = values.mean(axis=0)
    distances = np.abs(means[:, None] - means)

    assert (p_values == p_values.T).all()
    assert (np.diag(p_values) == 1).all()
    order = np.argsort(distances.ravel())
    assert (np.diff(p_values.ravel()[order]) <= 1e-12).all()


def test_reordering_systems_reorders_the_matrix_in_distribution() -> None:
    values = np.random.default_rng(0).random((25, 3)) + np.array([0.0, 0.1, 0.2])
    order = [2, 0, 1]

    assert tukey_hsd(values[:, order]) == pytest.approx(tukey_hsd(values)[np.ix_(order, order)], abs=0.02)


def test_a_third_system_makes_a_pair_harder_to_tell_apart() -> None:
    values = np.random.default_rng(2).random((40, 2)) + np.array([0.0, 0.12])
    third = np.random.default_rng(3).random((40, 1))

    assert tukey_hsd(np.hstack([values, third]))[0, 1] > tukey_hsd(values)[0, 1]


def test_equal_systems_and_queries_that_tell_nothing_have_p_one() -> None:
    column = np.random.default_rng(0).random((20, 1))

    assert (tukey_hsd(np.repeat(column, 3, axis=1)) == 1).all()
    assert (tukey_hsd(np.empty((0, 3))) == 1).all()
    assert (tukey_hsd(column) == 1).all()


def test_the_same_seed_gives_the_same_matrix() -> None:
    values = np.random.default_rng(0).random((30, 3))

    assert (tukey_hsd(values, seed=1) == tukey_hsd(values, seed=1)).all()
    assert (tukey_hsd(values, seed=1) != tukey_hsd(values, seed=2)).any()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.1, 0.2], r"one column per system; got an array of shape \(2,\)"),
        (np.empty((3, 0)), r"shape \(3, 0\)"),
        ([[0.1, 0.2], [0.3, float("nan")]], r"values\[\(1, 1\)\] is nan"),
    ],
)
def test_a_table_without_meaning_is_refused(values: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tukey_hsd(values)
