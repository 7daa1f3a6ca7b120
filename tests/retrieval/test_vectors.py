"""Numbers are read as arrays in their precision, and the first that is none is named."""

from typing import Any

import numpy as np
import pytest

from retrieval_metrics.retrieval.vectors import read_matrix, read_numbers, read_vector, resolve_k


@pytest.mark.parametrize(("k", "n", "n_selected"), [(None, 3, 3), (2, 3, 2), (5, 3, 3), (1, 0, 0)])
def test_no_more_are_selected_than_there_are(k: int | None, n: int, n_selected: int) -> None:
    assert resolve_k(k, n) == n_selected


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.ones((2, 3), np.float32), np.float32),
        (np.ones((2, 3), np.float16), np.float32),
        (np.ones((2, 3), np.int8), np.float64),
        ([[1, 2], [3, 4.5]], np.float64),
        (([1, 2], np.array([3, 4], np.float32)), np.float64),
    ],
)
def test_float32_stays_and_everything_else_is_float64(values: Any, dtype: Any) -> None:
    assert read_matrix(values, "candidates").dtype == dtype


def test_no_vectors_are_a_matrix_without_rows() -> None:
    assert read_matrix([], "candidates").shape == (0, 1)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([[1, 2], [3]], ValueError, r"candidates\[1\] has shape \(1,\) but candidates\[0\] has shape \(2,\)"),
        ([[1, 2], None], TypeError, r"candidates\[1\] must be numbers, got None \(a missing embedding\?\)"),
        ([[1, 2], ["a", "b"]], TypeError, r"candidates\[1\] must be numbers, got \['a', 'b'\]"),
        ("text", TypeError, "candidates must be numbers, got 'text'"),
        ([1, 2], ValueError, r"candidates must be a list of vectors, shape \(n, d\), got shape \(2,\)"),
    ],
)
def test_what_is_no_list_of_vectors_is_refused(values: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_matrix(values, "candidates")


def test_numbers_must_be_finite_and_fit_together() -> None:
    with pytest.raises(ValueError, match=r"query\[1\] is nan, but every number must be finite"):
        read_vector([1, np.nan], "query")
    with pytest.raises(ValueError, match="query has 2 dimensions but its candidates have 3"):
        read_vector([1, 2], "query", 3)
    with pytest.raises(ValueError, match=r"relevance must have shape \(3,\) for 3 candidates, got shape \(2,\)"):
        read_numbers([1, 2], "relevance", (3,))
