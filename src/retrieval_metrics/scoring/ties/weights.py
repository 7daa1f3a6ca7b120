"""Mean weights of ranks, for metrics that sum a gain times a weight of the rank over documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.judging.judged_run import is_relevant

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics.checks import FloatArray, IntArray
    from retrieval_metrics.judging.judged_run import JudgedRun


def mean_weight(
    judged: JudgedRun, weight: Callable[[FloatArray], FloatArray], cut: int | IntArray | None
) -> FloatArray:
    """Return for each item the mean weight of the ranks of its block; ranks beyond the cut weigh 0.

    Args:
        judged: The judged run with all documents of a tie at its first rank.
        weight: Takes ranks and returns their weights.
        cut: The last rank that counts, one for all queries or one for each; None counts all ranks.
    """
    items = judged.items
    above, below = items.rank - 1, items.rank - 1 + items.tied
    if cut is not None:
        last = np.broadcast_to(cut, judged.n_queries)[items.query]
        above, below = np.minimum(above, last), np.minimum(below, last)
    so_far = np.concatenate([[0.0], np.cumsum(weight(np.arange(1.0, below.max(initial=0) + 1)))])
    mean: FloatArray = (so_far[below] - so_far[above]) / items.tied
    return mean


def mean_found(judged: JudgedRun, cut: int | IntArray | None, rel: float | None) -> FloatArray:
    """Return the mean number of relevant documents within the cut, shape (queries,)."""
    weight = mean_weight(judged, np.ones_like, cut) * is_relevant(judged.items.grade, rel)
    return judged.per_query(judged.items.query, weight)


def mean_discounted(judged: JudgedRun, gain: FloatArray, cut: int | None) -> FloatArray:
    """Return the mean sum of gain / log2(rank + 1) within the cut, shape (queries,)."""
    weight = mean_weight(judged, lambda rank: 1 / np.log2(rank + 1), cut)
    return judged.per_query(judged.items.query, gain * weight)
