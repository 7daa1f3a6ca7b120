"""Rank-biased overlap by its equation, also with ties."""

import random
from math import sqrt

import pytest

from distinct_rankings import as_distinct
from retrieval_metrics.comparison.rank_biased_overlap import rank_biased_overlap


def webber(one: list[str], other: list[str], p: float) -> float:
    """Equation 32 of Webber, Moffat and Zobel (2010), for rankings without ties, as it is printed."""
    short, long = sorted((one, other), key=len)
    s = len(short)
    length = len(long)

    def common(depth: int) -> int:
        return len({*short[:depth]} & {*long[:depth]})

    first = sum(common(d) / d * p**d for d in range(1, length + 1))
    second = sum(common(s) * (d - s) / (s * d) * p**d for d in range(s + 1, length + 1))
    remainder = (common(length) - common(s)) / length + common(s) / s
    return (1 - p) / p * (first + second) + remainder * p**length


@pytest.mark.parametrize("p", [0.5, 0.8, 0.9, 0.98])
def test_rank_biased_overlap_is_equation_32(p: float) -> None:
    chance = random.Random(int(p * 100))
    for _ in range(200):
        first, other = (chance.sample([f"d{number}" for number in range(15)], chance.randint(1, 12)) for _ in range(2))
        assert rank_biased_overlap(as_distinct(first), as_distinct(other), p) == pytest.approx(
            webber(first, other, p), abs=1e-14
        )


def test_with_ties_a_ranking_agrees_with_itself_and_shares_are_means_over_orders() -> None:
    chance = random.Random(4)
    for _ in range(60):
        scores = {f"d{number}": float(chance.choice([1, 2, 3])) for number in range(chance.randint(1, 5))}
        assert rank_biased_overlap(as_distinct(scores), as_distinct(scores)) == pytest.approx(1.0, abs=1e-14)
    # a and b tie above c. At depth 1 both are there by half, so with [a, b, c] it is (1/2) / sqrt(1/2 * 1); then 1.
    tied = {"a": 2.0, "b": 2.0, "c": 1.0}
    list_ = ["a", "b", "c"]
    expected = 0.1 * sqrt(0.5) + 0.9  # (1 - p) / p * p^1 = 1 - p for the first depth, the rest is agreement
    assert rank_biased_overlap(as_distinct(tied), as_distinct(list_)) == pytest.approx(expected, abs=1e-14)


def test_no_tie_lets_an_extrapolated_overlap_exceed_1() -> None:
    chance = random.Random(9)
    single = as_distinct({"a": 1.0})
    # Extrapolated, the second ranking would agree with more than all of the tie: 1.05 in place of 1.
    assert rank_biased_overlap(single, as_distinct({"a": 2.0, **dict.fromkeys("bcde", 1.0)})) == 1.0
    for _ in range(300):
        short = as_distinct({document: float(chance.randint(1, 2)) for document in "abc"[: chance.randint(1, 3)]})
        long = as_distinct({document: float(chance.randint(1, 2)) for document in "abcdefghi"[: chance.randint(4, 9)]})
        assert 0 <= rank_biased_overlap(short, long, 0.5) <= 1
