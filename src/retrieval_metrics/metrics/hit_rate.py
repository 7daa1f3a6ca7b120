"""Hit rate: was anything relevant retrieved?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.metrics.base.definition import REL, Definition
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.ties.tie_blocks import average_by_block, hit_probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.plain_ranking import PlainRanking
    from retrieval_metrics.metrics.ties.tie_blocks import Block


def hit_rate(gains: Gains, *, k: int | None = None) -> float:
    """Return 1 if a relevant document is among the first `k`, else 0.

        hit_rate@k = 1 if some i <= k has g_i > 0, else 0

    where g_i is the grade at rank i. Range {0, 1}. An empty list scores 0. Its mean over queries is the hit rate, which
    trec_eval calls success.

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        k: Cutoff in documents; None takes the whole list.

    Raises:
        TypeError: If `gains` is not a list of numbers, or `k` is not an integer.
        ValueError: If a gain is not finite, or `k` is not positive.

    Example:
        >>> hit_rate([0, 0, 1], k=3)  # relevant at rank 3
        1.0
        >>> hit_rate([0, 0, 1], k=2)
        0.0
    """
    return score_one(DEFINITION, gains, k=k)


def score(judged: JudgedRun, *, k: Cut, rel: float | None = None) -> FloatArray:
    """Return the hit rate of every query, shape (queries,)."""
    hits = judged.hits_within(k, rel)
    return judged.sum_by_query(hits.query[hits.ordinal == 1])


def score_plain(ranking: PlainRanking, k: int | None) -> float:
    """Return the hit rate of one plain ranking."""
    return 1.0 if ranking.n_within(k) else 0.0


def mean_over_orders(judged: JudgedRun, *, k: int | None, rel: float | None = None) -> FloatArray:
    """Return the hit rate over all orders of equal scores: 1 minus the probability that every block misses."""

    def compute_mean(_: int, blocks: Sequence[Block]) -> float:
        miss_chance = 1.0
        for block in blocks:
            miss_chance *= hit_probability(block.size, block.n_relevant, block.within(k), 0)
        return 1 - miss_chance

    return average_by_block(judged, rel, compute_mean)


def depends_on_one_document(**_: object) -> bool:
    """Return True: it depends on one relevant document only."""
    return True


DEFINITION = Definition(
    name="hit_rate",
    score=score,
    score_plain=score_plain,
    summary="1 if anything relevant is among the first k, else 0",
    plain_summary="share of queries with a relevant document in {first}",
    only_cuts_ranking=True,
    aliases=("hit", "success", "hitrate"),
    parameters={"rel": REL},
    binary=True,
    one_suffices=depends_on_one_document,
    mean_over_orders=mean_over_orders,
)
