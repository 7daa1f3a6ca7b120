"""Average precision: are all relevant documents near the top?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.matching.rank_rows import is_relevant
from retrieval_metrics.metrics.base.definition import REL, Definition, TieOrderValues, make_choice
from retrieval_metrics.metrics.base.group_ranking import PER, hits_per_group, mean_over_groups
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.base.two_valued import select_single_relevant_at_cutoff_1
from retrieval_metrics.metrics.ties.tie_blocks import average_by_block, blocks_of, hit_probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.plain_ranking import PlainRanking
    from retrieval_metrics.metrics.ties.tie_blocks import Block


def average_precision(gains: Gains, *, k: int | None = None, n_relevant: int | None = None) -> float:
    """Return the mean, over all relevant documents, of the precision at the rank of each.

        AP@k = 1/R * sum over i <= k with g_i > 0 of P(i),   P(i) = |{j <= i : g_j > 0}| / i

    where g_i is the grade at rank i and R the number of relevant documents, retrieved or not, even with a cutoff:
    documents that were not found add 0. (Some libraries divide by the relevant documents *found*; for a run,
    `map(norm=retrieved)` does the same.) Range [0, 1]. A list without a relevant document scores 0; R = 0 is undefined
    (NaN). The mean over queries is the mean average precision (MAP). Source: Buckley and Voorhees (2000); Harman
    (1993).

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        k: Cutoff in documents; None takes the whole list.
        n_relevant: R; None means that all relevant documents are in the list.

    Raises:
        TypeError: If `gains` is not a list of numbers, or `k` or `n_relevant` is not an integer.
        ValueError: If a gain is not finite, `k` is not positive, or the list holds more than `n_relevant`.

    Example:
        >>> average_precision([1, 0, 0, 1])  # (1/1 + 2/4) / 2
        0.75
        >>> average_precision([1, 0, 0, 1], n_relevant=3)  # (1/1 + 2/4) / 3
        0.5
    """
    return score_one(DEFINITION, gains, k=k, n_relevant=n_relevant)


def score(
    judged: JudgedRun, *, k: Cut, rel: float | None = None, norm: str = "relevant", per: str = "query"
) -> FloatArray:
    """Return the average precision of every query, shape (queries,)."""
    if per == "group":
        return _average_over_groups(judged, k, rel, norm)
    hits = judged.hits_within(k, rel)
    total = judged.sum_by_query(hits.query, hits.ordinal / hits.row)
    n_counted = judged.n_relevant(rel) if norm == "relevant" else judged.sum_by_query(hits.query)
    return total / np.maximum(n_counted, 1)


def score_plain(ranking: PlainRanking, k: int | None) -> float:
    """Return the average precision of one plain ranking."""
    total = 0.0
    for ordinal, rank in enumerate(ranking.ranks[: ranking.n_within(k)], start=1):
        total += ordinal / rank
    return total / len(ranking.ideal)


def _average_over_groups(judged: JudgedRun, k: Cut, rel: float | None, norm: str) -> FloatArray:
    hits = hits_per_group(judged, k, rel)
    qrels = judged.qrels
    n_groups = len(qrels.group_query)
    counted_group = hits.group
    if norm == "relevant":
        counted_group = qrels.member_group[is_relevant(qrels.member_grade, rel)]
    n_counted = np.maximum(np.bincount(counted_group, minlength=n_groups), 1)
    group_values = np.bincount(hits.group, hits.ordinal / hits.rank, minlength=n_groups) / n_counted
    return mean_over_groups(judged, np.arange(n_groups), group_values, rel)


def mean_over_orders(
    judged: JudgedRun,
    *,
    k: int | None,
    rel: float | None = None,
    norm: str = "relevant",
    per: str = "query",
) -> FloatArray | TieOrderValues | None:
    """Return the average precision over all orders of equal scores."""
    if per == "group":
        return None
    if norm == "retrieved" and k is not None:
        over_orders = TieOrderValues(*np.zeros((3, judged.n_queries)))
        for query, blocks in blocks_of(judged, rel):
            values = _divide_by_hits(blocks, k)
            over_orders.mean[query] = values.mean
            over_orders.lowest[query] = values.lowest
            over_orders.highest[query] = values.highest
        return over_orders

    def compute_mean(query: int, blocks: Sequence[Block]) -> float:
        total = 0.0
        n_hits = 0
        for block in blocks:
            total += _sum_expected_precisions(block.n_above, n_hits, block.size, block.n_relevant, block.within(k))
            n_hits += block.n_relevant
        n_counted = n_hits if norm == "retrieved" else judged.n_relevant(rel)[query]
        return total / float(max(n_counted, 1))

    return average_by_block(judged, rel, compute_mean)


def _sum_expected_precisions(n_above: int, n_hits_above: int, size: int, n_relevant: int, n_places: int) -> float:
    """Return the mean sum of the precisions at the relevant documents among the first places of a block.

    With b documents in the block, r of them relevant, a place is relevant with probability r / b. Given that, each
    earlier place of the block is relevant with probability (r - 1) / (b - 1).
    """
    place = np.arange(1.0, n_places + 1)
    hits_before = (place - 1) * ((n_relevant - 1) / (size - 1)) if size > 1 else 0.0
    return float(np.sum((n_hits_above + 1 + hits_before) / (n_above + place))) * n_relevant / size


class _OrderValues(NamedTuple):
    """Mean, smallest and largest value of one query over all orders of equal scores."""

    mean: float
    lowest: float
    highest: float


def _divide_by_hits(blocks: Sequence[Block], k: int) -> _OrderValues:
    """Return average precision at `k` divided by the hits among the first `k`.

    Only the block that the cut divides leaves the number of hits open. For each possible number, the places of that
    block before the cut act as a block of their own.
    """
    total = _OrderValues(0.0, 0.0, 0.0)
    n_hits = 0
    for block in blocks:
        n_places = block.within(k)
        if n_places < block.size:
            return _divide_by_hits_in_cut(block, total, n_hits, n_places)
        total = _OrderValues(
            total.mean + _sum_expected_precisions(block.n_above, n_hits, block.size, block.n_relevant, n_places),
            total.lowest
            + _sum_consecutive_precisions(block.n_above + block.size - block.n_relevant, n_hits, block.n_relevant),
            total.highest + _sum_consecutive_precisions(block.n_above, n_hits, block.n_relevant),
        )
        n_hits += block.n_relevant
    divisor = max(n_hits, 1)
    return _OrderValues(total.mean / divisor, total.lowest / divisor, total.highest / divisor)


def _divide_by_hits_in_cut(block: Block, total: _OrderValues, n_hits: int, n_places: int) -> _OrderValues:
    """Return the values if the cut divides a block, after `n_places` of it."""
    min_hits_in_block = max(n_places - block.size + block.n_relevant, 0)
    max_hits_in_block = min(n_places, block.n_relevant)
    mean = 0.0
    lowest = []
    highest = []
    for n_hits_in_block in range(min_hits_in_block, max_hits_in_block + 1):
        values = _divide_by_known_hits(block, total, n_hits, n_places, n_hits_in_block)
        mean += values.mean * hit_probability(block.size, block.n_relevant, n_places, n_hits_in_block)
        lowest.append(values.lowest)
        highest.append(values.highest)
    return _OrderValues(mean, min(lowest), max(highest))


def _divide_by_known_hits(
    block: Block, total: _OrderValues, n_hits: int, n_places: int, n_hits_in_block: int
) -> _OrderValues:
    """Return the values if the cut leaves so many hits in its block."""
    divisor = max(n_hits + n_hits_in_block, 1)
    if not n_hits_in_block:
        return _OrderValues(total.mean / divisor, total.lowest / divisor, total.highest / divisor)
    n_above_last_hits = block.n_above + n_places - n_hits_in_block
    mean = total.mean + _sum_expected_precisions(block.n_above, n_hits, n_places, n_hits_in_block, n_places)
    lowest = total.lowest + _sum_consecutive_precisions(n_above_last_hits, n_hits, n_hits_in_block)
    highest = total.highest + _sum_consecutive_precisions(block.n_above, n_hits, n_hits_in_block)
    return _OrderValues(mean / divisor, lowest / divisor, highest / divisor)


def _sum_consecutive_precisions(n_above: int, n_hits_above: int, n_relevant: int) -> float:
    """Return the sum of the precisions at relevant documents that follow each other in the ranking."""
    return sum((n_hits_above + step) / (n_above + step) for step in range(1, n_relevant + 1))


DEFINITION = Definition(
    name="map",
    score=score,
    score_plain=score_plain,
    summary="mean of the precision at the rank of each relevant document; its mean over queries is MAP",
    plain_summary="how near the top all relevant documents are",
    only_cuts_ranking=True,
    aliases=("ap", "average_precision", "mean_average_precision"),
    parameters={
        "rel": REL,
        "norm": make_choice(
            "relevant",
            "the denominator: all relevant documents, or those found (`retrieved`)",
            {
                "relevant": "the denominator is the number of all relevant documents",
                "retrieved": "the denominator is the number of relevant documents found",
            },
            acts_on="lengths",
        ),
        "per": PER,
    },
    two_valued=select_single_relevant_at_cutoff_1,
    mean_over_orders=mean_over_orders,
)
