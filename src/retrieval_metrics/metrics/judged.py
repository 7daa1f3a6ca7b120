"""Judged: how much of what was retrieved has been judged?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.matching.rank_rows import within
from retrieval_metrics.metrics.base.definition import Definition
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.ties.rank_weights import mean_rank_weights

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun


def judged(gains: Gains, *, k: int | None = None) -> float:
    """Return the share of the first `k` documents that are judged.

        judged@k = |{i <= k : document i is judged}| / min(k, n)

    where n is the number retrieved. A low value means that the other metrics rest on little evidence: they count
    unjudged documents as not relevant. Range [0, 1]. An empty list is undefined (NaN); a query without a relevant
    document is defined. A duplicate counts once.

    Args:
        gains: Grades in rank order; None is not judged.
        k: Cutoff in documents; None takes the whole list.

    Raises:
        TypeError: If `gains` is not a list of numbers, or `k` is not an integer.
        ValueError: If a gain is not finite, or `k` is not positive.

    Example:
        >>> judged([1, None, 0, None], k=4)  # 2 / 4
        0.5
    """
    return score_one(DEFINITION, gains, k=k)


def score(judged: JudgedRun, *, k: Cut) -> FloatArray:
    """Return the judged share of every query, shape (queries,); NaN if nothing was retrieved."""
    query = judged.ranks.query
    if k is not None:
        query = query[within(query, judged.ranks.rank, k)]
    n_judged = judged.sum_by_query(query)
    n_places = judged.n_within(k)
    return np.where(n_places > 0, n_judged / np.maximum(n_places, 1), np.nan)


def mean_over_orders(judged: JudgedRun, *, k: int | None) -> FloatArray:
    """Return the judged share over all orders of equal scores; it is best with all judged documents first."""
    n_judged = judged.sum_by_query(judged.items.query, mean_rank_weights(judged, np.ones_like, k))
    return n_judged / np.maximum(judged.n_within(k), 1)


DEFINITION = Definition(
    name="judged",
    score=score,
    summary="documents among the first k that are judged / documents among the first k",
    plain_summary="share of {first} that is judged",
    only_cuts_ranking=True,
    needs_relevant=False,
    undefined_if="nothing was retrieved for any query",
    keeps_unjudged_places=True,
    is_quality_metric=False,
    ignores_groups=True,
    mean_over_orders=mean_over_orders,
)
