"""Per-query values as arrays: what is accepted, and how what is refused is named."""

import numpy as np
import pytest

from retrieval_metrics.statistics.value_arrays import finite, settings_table, vector


def test_numbers_become_an_array_of_float64() -> None:
    assert vector([1, 0]).dtype == np.float64
    assert settings_table([[1, 0], [0, 1]]).shape == (2, 2)


def test_values_with_two_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match=r"scores must have one dimension.* got an array of shape \(1, 2\)"):
        vector([[0.5, 1.0]], "scores")


@pytest.mark.parametrize(
    ("array", "position"), [([0.5, np.nan], r"scores\[1\] is nan"), ([[0.5], [np.inf]], r"scores\[\(1, 0\)\] is inf")]
)
def test_the_first_number_that_is_not_finite_is_named(array: object, position: str) -> None:
    with pytest.raises(ValueError, match=position):
        finite(np.array(array), "scores")


@pytest.mark.parametrize("values", [[], [0.5], [[np.nan]]])
def test_a_table_needs_finite_rows_and_columns(values: object) -> None:
    with pytest.raises(ValueError, match="values must"):
        settings_table(values)  # type: ignore[arg-type]  # wrong on purpose
