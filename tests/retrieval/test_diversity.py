"""The mean cosine distance of the items of a list."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import retrieval_metrics as rm
from mmr_reference import mean_distance

vectors = st.tuples(st.integers(2, 7), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(-3, 3).map(float))
)


@given(items=vectors)
@settings(max_examples=60, deadline=None)
def test_it_is_the_mean_over_all_pairs(items: Any) -> None:
    n = len(items)
    diversity = rm.intra_list_diversity(items)
    assert diversity == pytest.approx(mean_distance(items), abs=1e-14)
    assert 0 <= diversity <= n / (n - 1) + 1e-14
    assert rm.intra_list_diversity(items[::-1]) == pytest.approx(diversity, abs=1e-14)
    assert rm.intra_list_diversity(items * 2.0**40) == pytest.approx(diversity, abs=1e-14)
    assert rm.intra_list_diversity(items, k=2) == pytest.approx(mean_distance(items[:2]), abs=1e-14)


def test_worked_examples_of_diversity() -> None:
    assert rm.intra_list_diversity([[1, 0], [-2, 0]]) == 2
    assert rm.intra_list_diversity([[1, 0], [0, 3], [5, 0]]) == pytest.approx((1 + 0 + 1) / 3)
    assert rm.intra_list_diversity(np.full((50, 7), 0.1, dtype=np.float32)) == pytest.approx(0, abs=1e-14)
    assert rm.intra_list_diversity([[1, 0], [0, 0], [0, 0]]) == 1


@pytest.mark.parametrize("too_few", [[], [[1, 2]], np.empty((0, 4))])
def test_fewer_than_two_items_have_no_diversity(too_few: Any) -> None:
    assert math.isnan(rm.intra_list_diversity(too_few))
    assert math.isnan(rm.intra_list_diversity([[1, 0], [0, 1]], k=1))


def test_it_is_what_a_smaller_lambda_buys() -> None:
    rng = np.random.default_rng(0)
    candidates = rng.normal(size=(5, 20))[rng.integers(5, size=60)] + 0.2 * rng.normal(size=(60, 20))
    diversity = [
        rm.intra_list_diversity(candidates[list(rm.mmr(candidates[0], candidates, k=10, lambda_mult=lambda_mult))])
        for lambda_mult in (1, 0.5, 0)
    ]
    assert diversity[0] < diversity[1] < diversity[2]


@pytest.mark.parametrize(
    ("items", "options", "error", "message"),
    [
        ([[1, 0], [0, np.nan]], {}, ValueError, r"vectors\[1, 1\] is nan"),
        ([1, 0], {}, ValueError, r"vectors must be a list of vectors.*\(2,\)"),
        ([[1, 0], None], {}, TypeError, r"vectors\[1\] must be numbers, got None"),
        ([[1, 0]], {"k": 0}, ValueError, "got 0"),
        ([[1, 0]], {"k": "2"}, TypeError, "got '2'"),
    ],
)
def test_what_cannot_be_meant_is_refused(items: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        rm.intra_list_diversity(items, **options)
