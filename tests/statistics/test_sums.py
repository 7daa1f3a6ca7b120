"""Sums of values, of which those of zeros and ones are counted."""

import math

import numpy as np
import pytest

from retrieval_metrics.statistics import Sums


@pytest.mark.parametrize("values", [[0.0, 1.0, 1.0], [0.25, 0.5], [2.0, 3.0], [-1.0, 1.0]])
def test_zeros_and_ones_are_counted_as_other_values_are_summed(values: list[float]) -> None:
    squares = [value * value for value in values]
    expected = Sums(len(values), math.fsum(values), math.fsum(squares), min(values), max(values))
    assert Sums.from_values(np.array(values)) == expected
    assert Sums.from_defined_values(np.array([math.nan, *values])) == expected


def test_of_nothing_there_is_no_mean() -> None:
    assert Sums.empty().count == 0
    assert math.isnan(Sums.empty().mean)
