"""Recall: how much of what is relevant was found?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.matching.rank_rows import within
from retrieval_metrics.metrics.base.definition import REL, Definition
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.base.two_valued import select_single_relevant
from retrieval_metrics.metrics.ties.rank_weights import mean_n_relevant

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.plain_ranking import PlainRanking


def recall(gains: Gains, *, n_relevant: int, k: int | None = None) -> float:
    """Return the share of the relevant documents that are among the first `k`.

        recall@k = |{i <= k : g_i > 0}| / R

    where g_i is the grade at rank i and R the number of relevant documents, retrieved or not. With groups of
    alternatives, it is the share of the groups that are satisfied. Range [0, 1]. An empty list scores 0; R = 0 is
    undefined (NaN). A duplicate counts once.

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        n_relevant: R. It is required, because the list alone does not contain it.
        k: Cutoff in documents; None takes the whole list.

    Raises:
        TypeError: If `gains` is not a list of numbers, or `k` or `n_relevant` is not an integer.
        ValueError: If a gain is not finite, `k` is not positive, or the list holds more than `n_relevant`.

    Example:
        >>> recall([1, 0, 1], n_relevant=4)  # 2 / 4
        0.5
        >>> recall([1, 0, 1], n_relevant=4, k=1)  # 1 / 4
        0.25
    """
    return score_one(DEFINITION, gains, k=k, n_relevant=n_relevant)


def count_found_groups(judged: JudgedRun, k: Cut, rel: float | None) -> FloatArray:
    """Return how many groups the first k items satisfy; the cutoff counts items, so one item may complete them all."""
    hits = judged.hits(rel)
    if k is None or (isinstance(k, int) and k >= judged.longest_ranking):
        return judged.sum_by_query(hits.query)
    return judged.sum_by_query(hits.query[within(hits.query, hits.rank, k)])


def score(judged: JudgedRun, *, k: Cut, rel: float | None = None) -> FloatArray:
    """Return the recall of every query, shape (queries,)."""
    return count_found_groups(judged, k, rel) / np.maximum(judged.n_relevant(rel), 1)


def score_plain(ranking: PlainRanking, k: int | None) -> float:
    """Return the recall of one plain ranking."""
    return ranking.n_within(k) / len(ranking.ideal)


def mean_over_orders(
    judged: JudgedRun,
    *,
    k: int | None,
    rel: float | None = None,
) -> FloatArray:
    """Return recall over all orders of equal scores: every place of a block is equally likely to be relevant."""
    return mean_n_relevant(judged, k, rel) / np.maximum(judged.n_relevant(rel), 1)


DEFINITION = Definition(
    name="recall",
    score=score,
    score_plain=score_plain,
    summary="relevant documents (or groups) found among the first k / all of them",
    plain_summary="share of the relevant documents that are in {first}",
    only_cuts_ranking=True,
    aliases=("r", "set_recall"),
    parameters={"rel": REL},
    two_valued=select_single_relevant,
    mean_over_orders=mean_over_orders,
)
