"""Exact sums: against fractions, merged in any order, and of nothing."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_metrics.statistics import (
    ExactSums,
    Sums,
)

FINITE = st.floats(-1e100, 1e100) | st.floats(0, 1) | st.sampled_from([5e-324, -5e-324, 2.0**-1022, 0.0, -0.0])


def exact(values: list[float]) -> ExactSums:
    return ExactSums.from_values(np.array(values, dtype=np.float64))


@given(st.lists(FINITE, min_size=1, max_size=60))
def test_the_sums_are_those_of_fractions_and_rounded_once(values: list[float]) -> None:
    sums = exact(values)
    assert Fraction(sums.total, 2**1126) == sum(map(Fraction, values))
    assert Fraction(sums.total_of_squares, 2**1126) == sum(Fraction(value * value) for value in values)
    assert sums.rounded() == Sums.from_values(np.array(values))


@given(st.lists(st.lists(FINITE, max_size=20), min_size=1, max_size=6), st.randoms())
def test_parts_in_any_order_give_the_sums_of_the_whole(parts: list[list[float]], rng: random.Random) -> None:
    sums = exact(list(itertools.chain(*parts)))
    rng.shuffle(parts)
    assert ExactSums.merge(map(exact, parts)) == sums


def test_what_is_not_a_number_is_left_out_and_what_is_infinite_refused() -> None:
    assert exact([math.nan, 0.5, math.nan]) == exact([0.5])
    assert exact([math.nan]) == ExactSums()
    with pytest.raises(ValueError, match="one is infinite"):
        exact([0.5, math.inf])


def test_of_nothing_there_is_no_mean() -> None:
    sums = ExactSums().rounded()
    assert sums.count == 0
    assert math.isnan(sums.mean)


def test_a_million_values_of_all_sizes_are_summed_to_the_last_bit() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=1_000_000) * 2.0 ** rng.integers(-300, 300, size=1_000_000)
    assert ExactSums.from_values(values).rounded().total == math.fsum(values.tolist())
