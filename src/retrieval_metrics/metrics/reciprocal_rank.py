"""Reciprocal rank: how far down is the first relevant document?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.metrics.base.definition import REL, Definition
from retrieval_metrics.metrics.base.group_ranking import PER, hits_per_group, mean_over_groups
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.base.two_valued import select_all_at_cutoff_1
from retrieval_metrics.metrics.ties.tie_blocks import average_by_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.plain_ranking import PlainRanking
    from retrieval_metrics.metrics.ties.tie_blocks import Block


def reciprocal_rank(gains: Gains, *, k: int | None = None) -> float:
    """Return 1 / the rank of the first relevant document, or 0 if none is among the first `k`.

        RR@k = 1 / min{i <= k : g_i > 0}

    where g_i is the grade at rank i. Range [0, 1]. An empty list scores 0. The mean over queries is the mean reciprocal
    rank (MRR). Source: Voorhees, The TREC-8 Question Answering Track Report (1999).

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        k: Cutoff in documents; None takes the whole list.

    Raises:
        TypeError: If `gains` is not a list of numbers, or `k` is not an integer.
        ValueError: If a gain is not finite, or `k` is not positive.

    Example:
        >>> round(reciprocal_rank([0, 0, 1]), 4)  # 1 / 3
        0.3333
        >>> reciprocal_rank([0, 0, 1], k=2)
        0.0
    """
    return score_one(DEFINITION, gains, k=k)


def score(judged: JudgedRun, *, k: Cut, rel: float | None = None, per: str = "query") -> FloatArray:
    """Return the reciprocal rank of every query, shape (queries,)."""
    if per == "group":
        hits = hits_per_group(judged, k, rel)
        is_first = hits.ordinal == 1
        return mean_over_groups(judged, hits.group[is_first], 1 / hits.rank[is_first], rel)
    hits_of_query = judged.hits_within(k, rel)
    is_first = hits_of_query.ordinal == 1
    return judged.sum_by_query(hits_of_query.query[is_first], 1 / hits_of_query.row[is_first])


def score_plain(ranking: PlainRanking, k: int | None) -> float:
    """Return the reciprocal rank of one plain ranking."""
    return 1 / ranking.ranks[0] if ranking.n_within(k) else 0.0


def mean_over_orders(
    judged: JudgedRun, *, k: int | None, rel: float | None = None, per: str = "query"
) -> FloatArray | None:
    """Return the reciprocal rank over all orders of equal scores; the first block with a relevant document decides."""
    if per == "group":
        return None

    def compute_mean(_: int, blocks: Sequence[Block]) -> float:
        blocks_with_relevant = [block for block in blocks if block.n_relevant]
        if not blocks_with_relevant:
            return 0.0
        block = blocks_with_relevant[0]
        total = 0.0
        no_hit_chance = 1.0
        for place in range(1, min(block.within(k), block.size - block.n_relevant + 1) + 1):
            hit_chance = block.n_relevant / (block.size - place + 1)
            total += no_hit_chance * hit_chance / (block.n_above + place)
            no_hit_chance *= 1 - hit_chance
        return total

    return average_by_block(judged, rel, compute_mean)


def depends_on_one_document(*, per: str = "query", **_: object) -> bool:
    """Return whether it depends on one relevant document only; if groups are ranked separately, each needs one."""
    return per == "query"


DEFINITION = Definition(
    name="mrr",
    score=score,
    score_plain=score_plain,
    summary="1 / rank of the first relevant document; its mean over queries is MRR",
    plain_summary="mean of 1 / rank of the first relevant document: rank 2 gives 0.5",
    only_cuts_ranking=True,
    aliases=("rr", "reciprocal_rank", "recip_rank", "mean_reciprocal_rank"),
    parameters={"rel": REL, "per": PER},
    one_suffices=depends_on_one_document,
    two_valued=select_all_at_cutoff_1,
    mean_over_orders=mean_over_orders,
)
