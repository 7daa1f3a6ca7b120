"""The sign-flip test against brute force, against scipy, and its laws."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from retrieval_metrics.statistics import randomisation_tests, sign_flip_test

GRID = st.integers(-8, 8).map(lambda i: i / 8)  # sums are exact in binary, so that ties are ties
FEW_DIFFERENCES = st.lists(GRID, max_size=9)
DIFFERENCES = st.lists(st.floats(-1, 1, allow_nan=False, allow_subnormal=False), min_size=1, max_size=9)


def by_enumeration(differences: list[float]) -> float:
    reach = abs(sum(differences))
    is_reached = []
    for signs in itertools.product([-1, 1], repeat=len(differences)):
        total = sum(sign * difference for sign, difference in zip(signs, differences, strict=True))
        is_reached.append(abs(total) >= reach)
    return sum(is_reached) / len(is_reached)


@settings(max_examples=100, deadline=None)
@given(FEW_DIFFERENCES)
def test_the_exact_p_value_is_the_share_of_all_sign_choices(differences: list[float]) -> None:
    p_value, exact = sign_flip_test(differences)

    assert exact
    assert p_value == pytest.approx(by_enumeration(differences), abs=1e-12)


@pytest.mark.parametrize("count", [4, 8, 12])
def test_the_exact_p_value_is_that_of_scipy(count: int) -> None:
    differences = np.random.default_rng(count).normal(0.3, 1, count)
    expected = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=2**count)
    p_value, exact = sign_flip_test(differences)

    assert exact
    assert p_value == pytest.approx(expected.pvalue, abs=1e-12)


def test_the_random_p_value_is_near_that_of_scipy() -> None:
    differences = np.random.default_rng(1).normal(0.1, 1, 300)
    expected = stats.permutation_test(
        (differences,),
        lambda d, axis: np.mean(d, axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        random_state=2,
    )

    p_value, exact = sign_flip_test(differences, resamples=20_000)

    assert not exact
    assert p_value == pytest.approx(expected.pvalue, abs=0.02)


def test_the_random_p_value_is_near_the_exact_one() -> None:
    differences = np.repeat(np.array([0.5, 1 / 3, -0.25, 1.0, -0.1]), [7, 6, 9, 3, 4])
    exact_value, exact = sign_flip_test(differences)
    jitter = np.random.default_rng(1).normal(0, 1e-6, len(differences))  # too many different sizes to list
    p_value, jittered_exact = sign_flip_test(differences + jitter, resamples=100_000)

    assert exact
    assert not jittered_exact
    assert p_value == pytest.approx(exact_value, abs=0.01)


@pytest.mark.parametrize(("wins", "losses", "ties"), [(7, 2, 3), (60, 41, 900), (3_000, 2_900, 1_080)])
def test_a_binary_metric_is_exact_for_any_number_of_queries(wins: int, losses: int, ties: int) -> None:
    p_value, exact = sign_flip_test([1.0] * wins + [-1.0] * losses + [0.0] * ties)

    assert exact
    assert p_value == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(DIFFERENCES, st.randoms(use_true_random=False))
def test_neither_order_nor_direction_nor_unit_nor_ties_change_the_p_value(
    differences: list[float], random: object
) -> None:
    expected = sign_flip_test(differences).p_value
    shuffled = [*differences, 0.0, 0.0]
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types its Random as object

    assert sign_flip_test(shuffled).p_value == pytest.approx(expected, abs=1e-12)
    assert sign_flip_test([-d for d in differences]).p_value == pytest.approx(expected, abs=1e-12)
    assert sign_flip_test([1024 * d for d in differences]).p_value == pytest.approx(expected, abs=1e-12)


def test_sums_that_differ_by_rounding_count_as_equal() -> None:
    # On paper |0.1 + 0.2 - 0.3| = 0 and every choice of signs reaches as far.
    assert sign_flip_test([0.1, 0.2, -0.3]).p_value == 1.0
    assert sign_flip_test([0.3, 0.1 + 0.2, 0.3]).p_value == pytest.approx(0.25)


@pytest.mark.parametrize("differences", [[], [0.0] * 50, [0.4], [0.5, -0.5]])
def test_nothing_can_be_said_without_a_difference_or_with_one_query(differences: list[float]) -> None:
    assert sign_flip_test(differences).p_value == 1.0


def test_the_same_seed_gives_the_same_p_value_and_another_seed_another() -> None:
    differences = np.random.default_rng(1).normal(0.1, 1, 100)

    assert sign_flip_test(differences, seed=4) == sign_flip_test(differences, seed=4)
    assert sign_flip_test(differences, seed=4) != sign_flip_test(differences, seed=5)


def test_a_random_p_value_is_never_zero() -> None:
    assert sign_flip_test(np.linspace(0.5, 1, 100), resamples=99).p_value == 0.01


@pytest.mark.parametrize(
    ("differences", "resamples", "error", "message"),
    [
        ([0.1, float("nan")], 10, ValueError, r"differences\[1\] is nan"),
        ([0.1], 0, ValueError, "resamples must be a positive integer, got 0"),
        ([0.1], 1e4, TypeError, "integer, got 10000.0"),
        ([0.1], True, TypeError, "integer, got True"),
    ],
)
def test_input_without_meaning_is_refused(
    differences: list[float], resamples: int, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        sign_flip_test(differences, resamples=resamples)


@pytest.mark.parametrize("length", [2, 8, 9])
def test_rows_that_are_computed_column_by_column_are_those_of_numpy(length: int) -> None:
    random = np.random.default_rng(length)
    first, second = random.normal(size=50), random.normal(size=length)
    for operation in (np.add, np.multiply):
        combined = randomisation_tests._combine(operation, first, second)
        assert combined.tolist() == operation.outer(first, second).ravel().tolist()
