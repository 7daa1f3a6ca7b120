"""Overlap, rank-biased overlap and the bounds of metrics against brute force: every tie-break, every judgment."""

import random
from itertools import permutations, product
from math import sqrt
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.ranking_overlap import (
    DistinctRanking,
    as_similarity,
    distinct_ranking,
    document_weights,
    is_change_bound,
    most_moved,
    overlap,
    rank_biased_overlap,
)
from retrieval_metrics.matching.ranking_order import TIES_BY_ID, OrderedRankings


def as_placed(ranking: Any) -> DistinctRanking:
    return distinct_ranking(OrderedRankings({}, "id", TIES_BY_ID), ranking, "q")


def drawn(chance: random.Random, documents: int, most: int, *, tied: bool) -> Any:
    chosen = chance.sample([f"d{at}" for at in range(documents)], chance.randint(0, most))
    return {one: float(chance.choice([1, 2, 3])) for one in chosen} if tied else chosen


def orders(ranking: dict[str, float]) -> list[list[str]]:
    """Return every order of a ranking with ties."""
    levels = [[one for one in ranking if ranking[one] == score] for score in sorted({*ranking.values()}, reverse=True)]
    return [
        [one for level in chosen for one in level] for chosen in product(*(permutations(level) for level in levels))
    ]


@pytest.mark.parametrize("seed", range(5))
def test_overlap_is_the_best_over_all_ways_to_break_ties(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        one, other = (drawn(chance, 8, 6, tied=True) for _ in range(2))
        k = chance.randint(1, 4)
        longest = max(min(k, len(one)), min(k, len(other)))
        best = max(len({*first[:k]} & {*second[:k]}) for first in orders(one) for second in orders(other))
        assert overlap(as_placed(one), as_placed(other), k) == (best / longest if longest else 1.0)


def test_overlap_by_hand() -> None:
    def of(one: Any, other: Any, k: int, tolerance: float = 0.0) -> float:
        return overlap(as_placed(one), as_placed(other), k, tolerance)

    assert of(["a", "b", "c"], ["a", "b", "x"], 3) == 2 / 3
    assert of(["a", "b", "c", "d"], ["a", "b", "c", "d"], 10) == 1.0  # four neighbours, all found
    assert of(["a", "b", "c", "d"], ["a", "b", "c", "d", "x", "y"], 6) == 4 / 6  # two more that a filter excludes
    assert of([], [], 5) == 1.0
    assert of([], ["a"], 5) == 0.0
    assert of(["a", "a", "b"], ["a", "b"], 2) == 1.0  # a repeat counts once
    assert of({"a": 1.0, "b": 0.5, "c": 0.5 - 1e-4}, {"a": 1.0, "c": 0.5}, 2) == 1 / 2
    assert of({"a": 1.0, "b": 0.5, "c": 0.5 - 1e-4}, {"a": 1.0, "c": 0.5}, 2, tolerance=1e-3) == 1.0


def webber(one: list[str], other: list[str], p: float) -> float:
    """Equation 32 of Webber, Moffat and Zobel (2010), for rankings without ties, as it is printed."""
    short, long = sorted((one, other), key=len)
    s, length = len(short), len(long)

    def common(depth: int) -> int:
        return len({*short[:depth]} & {*long[:depth]})

    first = sum(common(d) / d * p**d for d in range(1, length + 1))
    second = sum(common(s) * (d - s) / (s * d) * p**d for d in range(s + 1, length + 1))
    rest = (common(length) - common(s)) / length + common(s) / s
    return (1 - p) / p * (first + second) + rest * p**length


@pytest.mark.parametrize("p", [0.5, 0.8, 0.9, 0.98])
def test_rank_biased_overlap_is_equation_32(p: float) -> None:
    chance = random.Random(int(p * 100))
    for _ in range(200):
        one, other = (chance.sample([f"d{at}" for at in range(15)], chance.randint(1, 12)) for _ in range(2))
        assert rank_biased_overlap(as_placed(one), as_placed(other), p) == pytest.approx(
            webber(one, other, p), abs=1e-14
        )


def test_with_ties_a_ranking_agrees_with_itself_and_shares_are_means_over_orders() -> None:
    chance = random.Random(4)
    for _ in range(60):
        one = {f"d{at}": float(chance.choice([1, 2, 3])) for at in range(chance.randint(1, 5))}
        assert rank_biased_overlap(as_placed(one), as_placed(one)) == pytest.approx(1.0, abs=1e-14)
    # a and b tie above c. At depth 1 both are there by half, so with [a, b, c] it is (1/2) / sqrt(1/2 * 1); then 1.
    tied, list_ = {"a": 2.0, "b": 2.0, "c": 1.0}, ["a", "b", "c"]
    expected = 0.1 * sqrt(0.5) + 0.9  # (1 - p) / p * p^1 = 1 - p for the first depth, the rest is agreement
    assert rank_biased_overlap(as_placed(tied), as_placed(list_)) == pytest.approx(expected, abs=1e-14)


METRICS = ["ndcg@3", "precision@3", "mrr@3", "recall@3", "hit_rate@3"]


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_the_extremes_over_every_judgment_and_attained(seed: int) -> None:
    chance = random.Random(seed)
    documents = [f"d{at}" for at in range(chance.choice([4, 5]))]
    before, after = (chance.sample(documents, chance.randint(1, 4)) for _ in range(2))
    everything = [*documents, "unseen"]
    judgments = [dict(zip(everything, chosen, strict=True)) for chosen in product((0, 1, 3), repeat=len(everything))]
    qrels = {at: grades for at, grades in enumerate(judgments) if any(grades.values())}
    values = [
        rm.evaluate(qrels, dict.fromkeys(qrels, ranking), METRICS, clusters=None).per_query
        for ranking in (before, after)
    ]
    for name in METRICS:
        moved = np.array([values[1][name][query] - values[0][name][query] for query in qrels])
        loss, gain = most_moved(as_placed(before), as_placed(after), name.partition("@")[0], 3)
        assert (loss, gain) == pytest.approx((max(0, -moved.min()), max(0, moved.max())), abs=1e-12)


def test_what_has_no_bound_is_refused_by_name() -> None:
    for name in ("map", "ndcg(gain=exponential)@10", "recall(rel=2)@5", "precision", "recall@200chars", "f1@5"):
        with pytest.raises(ValueError, match="can have moved without judgments"):
            as_similarity(name)
    with pytest.raises(ValueError, match="p of rbo"):
        as_similarity("rbo(p=.0)")
    assert as_similarity("rbo(p=0.8)").columns == ("rbo(p=0.8)",)
    assert as_similarity("ndcg_at_10").columns == ("max_loss(ndcg@10)", "max_gain(ndcg@10)")


def test_what_a_place_is_worth() -> None:
    assert document_weights(["a", "b", "c"], "mrr", 2) == {"a": 1.0, "b": 0.5}
    assert document_weights(["a", "b"], "precision", 4) == {"a": 0.25, "b": 0.25}
    assert document_weights(["a"], "recall", 4) == {"a": 1.0}
    assert document_weights(["a", "b", "c"], "ndcg", None)["c"] == 0.5  # 1 / log2(4)


def test_the_bounds_of_a_change_have_names_that_mean_one_of_them() -> None:
    one, other = DistinctRanking(["a", "b"], np.array([2.0, 1.0])), DistinctRanking(["b"], np.array([1.0]))
    both = as_similarity("mrr@2")
    assert both.columns == ("max_loss(mrr@2)", "max_gain(mrr@2)")
    for column, value in zip(both.columns, both.of(one, other), strict=True):
        alone = as_similarity(column.replace("mrr", "MRR"))
        assert (alone.columns, alone.of(one, other), alone.k) == ((column,), (value,), 2)
        assert is_change_bound(column)
    assert not is_change_bound("overlap@2")
    with pytest.raises(ValueError, match="nothing is known of how far map can have moved"):
        as_similarity("max_loss(map)")
