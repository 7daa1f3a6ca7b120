"""Overlap and rank-biased overlap against brute force: every way to break ties."""

import random
from typing import Any

import pytest

from distinct_rankings import as_distinct, draw_ranking, list_orders
from retrieval_metrics.comparison.ranking_overlap import overlap


@pytest.mark.parametrize("seed", range(5))
def test_overlap_is_the_best_over_all_ways_to_break_ties(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        one, other = (draw_ranking(chance, 8, 6, is_tied=True) for _ in range(2))
        k = chance.randint(1, 4)
        longest = max(min(k, len(one)), min(k, len(other)))
        best = max(len({*first[:k]} & {*second[:k]}) for first in list_orders(one) for second in list_orders(other))
        assert overlap(as_distinct(one), as_distinct(other), k) == (best / longest if longest else 1.0)


def test_overlap_by_hand() -> None:
    def of(first: Any, other: Any, k: int, tolerance: float = 0.0) -> float:
        return overlap(as_distinct(first), as_distinct(other), k, tolerance)

    assert of(["a", "b", "c"], ["a", "b", "x"], 3) == 2 / 3
    assert of(["a", "b", "c", "d"], ["a", "b", "c", "d"], 10) == 1.0  # four neighbours, all found
    assert of(["a", "b", "c", "d"], ["a", "b", "c", "d", "x", "y"], 6) == 4 / 6  # two more that a filter excludes
    assert of([], [], 5) == 1.0
    assert of([], ["a"], 5) == 0.0
    assert of(["a", "a", "b"], ["a", "b"], 2) == 1.0  # a repeat counts once
    assert of({"a": 1.0, "b": 0.5, "c": 0.5 - 1e-4}, {"a": 1.0, "c": 0.5}, 2) == 1 / 2
    assert of({"a": 1.0, "b": 0.5, "c": 0.5 - 1e-4}, {"a": 1.0, "c": 0.5}, 2, tolerance=1e-3) == 1.0
