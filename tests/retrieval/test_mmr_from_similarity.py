"""MMR from given relevance and similarity: worked examples, exact numbers, and what is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from mmr_reference import select

WORKED: dict[str, tuple[list[float], list[list[float]], list[int], list[float]]] = {
    # relevance, similarity, order, scores at lambda 0.5
    "first": ([0.7, 0.6, 0.9], [[1, 0.2, 0.5], [0.2, 1, 0.3], [0.5, 0.3, 1]], [2, 1, 0], [0.45, 0.15, 0.1]),
    "second": ([0.9, 0.3, 0.6], [[1, 0.4, 0.3], [0.4, 1, 0.6], [0.3, 0.6, 1]], [0, 2, 1], [0.45, 0.15, -0.15]),
    # More relevant and less similar than its rival, the second pick is the second pick at every lambda.
    "third": ([0.8, 0.5, 0.4], [[1, 0.3, 0.4], [0.3, 1, 0.5], [0.4, 0.5, 1]], [0, 1, 2], [0.4, 0.1, -0.05]),
    # Here a penalty for similarity to all others, and not only to those selected, would put 1 second.
    "selected only": ([0.9, 0.5, 0.5], [[1, 0.4, 0.3], [0.4, 1, 0.1], [0.3, 0.6, 1]], [0, 2, 1], [0.45, 0.1, 0.05]),
}

lambdas = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1)


@pytest.mark.parametrize("name", WORKED)
def test_worked_examples(name: str) -> None:
    relevance, similarity, order, scores = WORKED[name]
    selection = rm.mmr_from_similarity(relevance, similarity)
    assert list(selection) == order
    assert selection.scores == pytest.approx(scores)


@pytest.mark.parametrize("lambda_mult", np.linspace(0, 1, 12))
def test_who_is_better_in_both_respects_is_earlier_at_every_lambda(lambda_mult: float) -> None:
    relevance, similarity, order, _ = WORKED["third"]
    assert list(rm.mmr_from_similarity(relevance, similarity, lambda_mult=lambda_mult)) == order


def test_similarity_is_read_in_the_row_of_the_candidate_and_its_diagonal_is_not() -> None:
    similarity = np.array([[np.pi, 0, 0], [0.9, np.pi, 0], [0.1, 0, np.pi]])
    assert list(rm.mmr_from_similarity([1, 0.5, 0.5], similarity)) == [0, 2, 1]


@given(data=st.data(), n=st.integers(1, 8), lambda_mult=lambdas)
@settings(max_examples=60, deadline=None)
def test_ready_numbers_are_taken_to_the_last_digit(data: st.DataObject, n: int, lambda_mult: float) -> None:
    tenths = st.integers(-10, 10).map(lambda number: number / 10)
    relevance = data.draw(st.lists(tenths, min_size=n, max_size=n))
    similarity = data.draw(st.lists(st.lists(tenths, min_size=n, max_size=n), min_size=n, max_size=n))
    picks, scores = select(relevance, similarity, n, lambda_mult)
    selection = rm.mmr_from_similarity(relevance, similarity, lambda_mult=lambda_mult)
    assert list(selection) == picks
    assert selection.scores.tolist() == scores


@pytest.mark.parametrize(
    ("relevance", "similarity", "message"),
    [
        ([0.1, 0.2], [[1, 0]], r"similarity must have shape \(2, 2\) for 2 candidates, got shape \(1, 2\)"),
        ([0.1, 0.2], [[1, 0], [np.inf, 1]], r"similarity\[1, 0\] is inf"),
        ([0.1, np.nan], [[1, 0], [0, 1]], r"relevance\[1\] is nan"),
        ([[0.1, 0.2]], [[1, 0], [0, 1]], r"relevance must be a list of numbers, shape \(n,\), got shape \(1, 2\)"),
    ],
)
def test_ready_numbers_that_do_not_fit_are_refused(relevance: Any, similarity: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.mmr_from_similarity(relevance, similarity)
