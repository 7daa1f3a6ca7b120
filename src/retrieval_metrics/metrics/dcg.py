"""Discounted cumulative gain: the sum that NDCG normalises."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.matching.plain_ranking import MAX_PLAIN_LENGTH
from retrieval_metrics.metrics.base.definition import Definition
from retrieval_metrics.metrics.base.gains import GAIN, GAINS, compute_gain
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.ties.rank_weights import mean_discounted_gain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains, IntArray
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.plain_ranking import PlainRanking


def dcg(gains: Gains, *, k: int | None = None, gain: str = "linear") -> float:
    """Return the discounted cumulative gain of the first `k` documents.

        DCG@k = sum over i <= k of gain(g_i) / log2(i + 1)

    where g_i is the grade at rank i and gain(g) is g (`linear`), 2^g - 1 (`exponential`) or 1 (`binary`) for g > 0, and
    0 otherwise. Range [0, infinity). An empty list scores 0. Sources: Jarvelin and Kekalainen (2002); exponential gain:
    Burges et al. (2005).

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        k: Cutoff in documents; None takes the whole list.
        gain: `linear`, `exponential` or `binary`.

    Raises:
        TypeError: If `gains` is not a list of numbers, or `k` is not an integer.
        ValueError: If a gain is not finite, `k` is not positive, or `gain` is unknown.

    Example:
        >>> dcg([3, 0, 1])  # 3 / log2(2) + 1 / log2(4)
        3.5
        >>> dcg([3, 0, 1], gain="exponential")  # 7 / log2(2) + 1 / log2(4)
        7.5
    """
    return score_one(DEFINITION, gains, k=k, gain=gain)


def discounted_gains(judged: JudgedRun, query: IntArray, position: IntArray, gain: FloatArray) -> FloatArray:
    """Return the sum over each query of gain / log2(position + 1), shape (queries,)."""
    return judged.sum_by_query(query, gain / np.log2(position + 1))


def sum_discounted(grades: Sequence[float], ranks: Sequence[int]) -> float:
    """Return the sum of grade / log2(rank + 1), in the order and with the rounding of `discounted_gains`."""
    discounts = _discounts()
    total = 0.0
    for grade, rank in zip(grades, ranks, strict=False):
        total += grade / discounts[rank]
    return total


@cache
def _discounts() -> list[float]:
    """Return log2(rank + 1) by rank, as numpy computes it, for all ranks that plain rankings and ideals have."""
    logarithms: list[float] = np.log2(np.arange(MAX_PLAIN_LENGTH + 1) + 1).tolist()
    return logarithms


def score(judged: JudgedRun, *, k: Cut, gain: str = "linear", gains: str | None = None) -> FloatArray:
    """Return the DCG of every query, shape (queries,)."""
    hits = judged.hits_within(k)
    return discounted_gains(judged, hits.query, hits.row, compute_gain(hits.grade, gain, gains))


def score_plain(ranking: PlainRanking, k: int | None) -> float:
    """Return the DCG of one plain ranking."""
    return sum_discounted(ranking.grades[: ranking.n_within(k)], ranking.ranks)


def mean_over_orders(
    judged: JudgedRun,
    *,
    k: int | None,
    gain: str = "linear",
    gains: str | None = None,
) -> FloatArray:
    """Return DCG over all orders of equal scores: each document has the mean discount of its block."""
    return mean_dcg(judged, k, gain, gains)


def mean_dcg(judged: JudgedRun, k: int | None, gain: str, gains: str | None) -> FloatArray:
    """Return the mean DCG over all orders of equal scores, shape (queries,)."""
    worth = np.zeros(len(judged.items.grade))
    positive = judged.items.grade > 0
    worth[positive] = compute_gain(judged.items.grade[positive], gain, gains)
    return mean_discounted_gain(judged, worth, k)


DEFINITION = Definition(
    name="dcg",
    score=score,
    score_plain=score_plain,
    summary="sum of gain / log2(rank + 1) over the first k",
    plain_summary="sum of the grades of the results, discounted by rank",
    only_cuts_ranking=True,
    parameters={"gain": GAIN, "gains": GAINS},
    bounded=False,
    mean_over_orders=mean_over_orders,
)
