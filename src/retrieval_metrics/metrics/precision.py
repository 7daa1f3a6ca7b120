"""Precision: how much of what was retrieved is relevant?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.metrics.base.definition import REL, Definition, make_choice
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.base.two_valued import select_all_at_cutoff_1
from retrieval_metrics.metrics.ties.rank_weights import mean_n_relevant

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.plain_ranking import PlainRanking


def precision(gains: Gains, *, k: int | None = None) -> float:
    """Return the share of the first `k` results that are relevant.

        precision@k = |{i <= k : g_i > 0}| / k

    where g_i is the grade at rank i. The denominator is k even if fewer documents were retrieved: empty ranks are not
    relevant. Without k it is the length of the list; with a budget, the number of items that fit. Range [0, 1]. An
    empty list scores 0. With groups of alternatives, each distinct member counts. A duplicate keeps its rank, without
    credit.

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        k: Cutoff in documents; None takes the whole list.

    Raises:
        TypeError: If `gains` is not a list of numbers, or `k` is not an integer.
        ValueError: If a gain is not finite, or `k` is not positive.

    Example:
        >>> precision([1, 0, 1], k=5)  # 2 / 5
        0.4
        >>> round(precision([1, 0, 1]), 4)  # 2 / 3
        0.6667
    """
    return score_one(DEFINITION, gains, k=k)


def score(judged: JudgedRun, *, k: Cut, rel: float | None = None, norm: str = "k") -> FloatArray:
    """Return the precision of every query, shape (queries,)."""
    return judged.sum_by_query(judged.relevant_item_queries(k, rel)) / n_places(judged, k, norm)


def score_plain(ranking: PlainRanking, k: int | None) -> float:
    """Return the precision of one plain ranking."""
    return ranking.n_within(k) / (k or max(ranking.n_retrieved, 1))


def n_places(judged: JudgedRun, k: Cut, norm: str) -> FloatArray:
    """Return the denominator of precision, shape (queries,)."""
    if k is not None and norm == "k":
        # A budget may be too small for a single item.
        return np.broadcast_to(np.maximum(k, 1), judged.n_queries).astype(np.float64)
    places = judged.n_distinct(k) if norm == "distinct" else judged.n_within(k)
    return np.maximum(places, 1).astype(np.float64)


def mean_over_orders(
    judged: JudgedRun,
    *,
    k: int | None,
    rel: float | None = None,
    norm: str = "k",
) -> FloatArray:
    """Return precision over all orders of equal scores: every place of a block is equally likely to be relevant."""
    return mean_n_relevant(judged, k, rel) / n_places(judged, k, norm)


NORM = make_choice(
    "k",
    "the denominator: k; the number retrieved if that is smaller (`retrieved`); the distinct documents among them "
    "(`distinct`)",
    {
        "k": "the denominator is k",
        "retrieved": "the denominator is the number of documents retrieved",
        "distinct": "the denominator is the number of distinct documents retrieved",
    },
    acts_on="lengths",
)

DEFINITION = Definition(
    name="precision",
    score=score,
    score_plain=score_plain,
    summary="relevant documents among the first k / k",
    plain_summary="share of {first} that is relevant; cannot reach 1 if too few documents are relevant",
    aliases=("p", "set_p"),
    parameters={"rel": REL, "norm": NORM},
    reaches_one=False,
    ignores_groups=True,
    two_valued=select_all_at_cutoff_1,
    mean_over_orders=mean_over_orders,
)
