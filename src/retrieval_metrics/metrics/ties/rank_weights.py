"""Average the weights of tied ranks, for metrics that sum gain times weight over the documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.matching.rank_rows import is_relevant

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray
    from retrieval_metrics.matching.judged_run import JudgedRun


def mean_rank_weights(
    judged: JudgedRun, weight: Callable[[FloatArray], FloatArray], cut: int | IntArray | None
) -> FloatArray:
    """Return for each item the mean weight of the ranks of its block; ranks beyond the cut weigh 0."""
    items = judged.items
    n_above = items.rank - 1
    last_rank = n_above + items.tied
    if cut is not None:
        last_kept_rank = np.broadcast_to(cut, judged.n_queries)[items.query]
        n_above = np.minimum(n_above, last_kept_rank)
        last_rank = np.minimum(last_rank, last_kept_rank)
    weights = weight(np.arange(1.0, last_rank.max(initial=0) + 1))
    weight_down_to_rank = np.concatenate([[0.0], np.cumsum(weights)])
    mean: FloatArray = (weight_down_to_rank[last_rank] - weight_down_to_rank[n_above]) / items.tied
    return mean


def mean_n_relevant(judged: JudgedRun, cut: int | IntArray | None, rel: float | None) -> FloatArray:
    """Return the mean number of relevant documents within the cut, shape (queries,)."""
    weight = mean_rank_weights(judged, np.ones_like, cut) * is_relevant(judged.items.grade, rel)
    return judged.sum_by_query(judged.items.query, weight)


def mean_discounted_gain(judged: JudgedRun, gain: FloatArray, cut: int | None) -> FloatArray:
    """Return the mean sum of gain / log2(rank + 1) within the cut, shape (queries,)."""
    weight = mean_rank_weights(judged, lambda rank: 1 / np.log2(rank + 1), cut)
    return judged.sum_by_query(judged.items.query, gain * weight)
