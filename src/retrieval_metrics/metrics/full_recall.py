"""Full recall: was everything that the answer needs retrieved?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.metrics.base.definition import REL, Definition
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.recall import count_found_groups
from retrieval_metrics.metrics.ties.tie_blocks import average_by_block, hit_probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.plain_ranking import PlainRanking
    from retrieval_metrics.metrics.ties.tie_blocks import Block


def full_recall(gains: Gains, *, n_relevant: int, k: int | None = None) -> float:
    """Return 1 if every relevant document is among the first `k`, else 0.

        full_recall@k = 1 if recall@k = 1, else 0

    With groups of alternatives, every group must be satisfied. Range {0, 1}. An empty list scores 0; without any
    relevant document the value is undefined (NaN).

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        n_relevant: How many documents are relevant, retrieved or not.
        k: Cutoff in documents; None takes the whole list.

    Raises:
        TypeError: If `gains` is not a list of numbers, or `k` or `n_relevant` is not an integer.
        ValueError: If a gain is not finite, `k` is not positive, or the list holds more than `n_relevant`.

    Example:
        >>> full_recall([1, 0, 1], n_relevant=2, k=3)  # both are there
        1.0
        >>> full_recall([1, 0, 1], n_relevant=2, k=2)  # one is missing
        0.0
    """
    return score_one(DEFINITION, gains, k=k, n_relevant=n_relevant)


def score(judged: JudgedRun, *, k: Cut, rel: float | None = None) -> FloatArray:
    """Return the full recall of every query, shape (queries,)."""
    return np.equal(count_found_groups(judged, k, rel), judged.n_relevant(rel)).astype(np.float64)


def score_plain(ranking: PlainRanking, k: int | None) -> float:
    """Return the full recall of one plain ranking."""
    return 1.0 if ranking.n_within(k) == len(ranking.ideal) else 0.0


def mean_over_orders(judged: JudgedRun, *, k: int | None, rel: float | None = None) -> FloatArray:
    """Return full recall over all orders of equal scores: the probability that no block leaves out a needed one."""

    def compute_mean(query: int, blocks: Sequence[Block]) -> float:
        if sum(block.n_relevant for block in blocks) < judged.n_relevant(rel)[query]:
            return 0.0
        complete_chance = 1.0
        for block in blocks:
            complete_chance *= hit_probability(block.size, block.n_relevant, block.within(k), block.n_relevant)
        return complete_chance

    return average_by_block(judged, rel, compute_mean)


DEFINITION = Definition(
    name="full_recall",
    score=score,
    score_plain=score_plain,
    summary="1 if everything needed (every group) is among the first k, else 0",
    plain_summary="share of queries with everything relevant in {first}",
    only_cuts_ranking=True,
    aliases=("recall_all",),
    parameters={"rel": REL},
    binary=True,
    mean_over_orders=mean_over_orders,
)
