"""Rank-biased precision: the gain of a user who continues to the next document with probability p."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.matching.rank_rows import cut_rows
from retrieval_metrics.metrics.base.definition import Definition, Parameter, make_number_reader
from retrieval_metrics.metrics.base.grade_scale import MAX_GRADE, largest_grade
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.ties.rank_weights import mean_rank_weights

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains, IntArray
    from retrieval_metrics.matching.judged_run import JudgedRun


def rbp(gains: Gains, *, k: int | None = None, p: float = 0.8, max_grade: float | None = None) -> float:
    """Return the rate of gain of a user who continues to the next document with probability `p`.

        RBP@k = (1 - p) * sum over i <= k of p^(i - 1) * g_i / G

    where g_i is the grade at rank i and G the largest grade. Range [0, 1); 1 is only a limit, because the ideal ranking
    of n documents reaches 1 - p^n. The residual, printed with the result of an evaluation, is what unjudged and unseen
    documents could still add. An empty list scores 0. Source: Moffat and Zobel (2008).

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        k: Cutoff in documents; None takes the whole list.
        p: Persistence, above 0 and below 1.
        max_grade: G; None takes the largest grade of the list (of all judgments, in an evaluation).

    Raises:
        TypeError: If `gains` is not a list of numbers, or `k` is not an integer.
        ValueError: If a gain is not finite or above `max_grade`, `k` is not positive, or `p` is outside (0, 1).

    Example:
        >>> round(rbp([1, 0, 1], p=0.5), 4)  # .5 * (1 + .25)
        0.625
    """
    return score_one(DEFINITION, gains, k=k, p=p, max_grade=max_grade)


def score(judged: JudgedRun, *, k: Cut, p: float = 0.8, max_grade: float | None = None) -> FloatArray:
    """Return RBP of every query, shape (queries,)."""
    hits = judged.hits_within(k)
    share = hits.grade / largest_grade(judged, max_grade)
    # A long sum of powers may exceed 1 by the last bit.
    return np.minimum(judged.sum_by_query(hits.query, _weight(hits.row, p) * share), 1.0)


def residual(judged: JudgedRun, *, k: Cut, p: float = 0.8, max_grade: float | None = None) -> FloatArray:
    """Return how much RBP would gain if all unjudged and unseen documents had the largest grade, shape (queries,).

    A place that repeats a document gains nothing, whatever the document's grade.
    """
    query, rank, row = judged.settled_rows()
    if k is not None:
        in_cut = cut_rows(query, rank, row, k)
        query = query[in_cut]
        row = row[in_cut]
    return np.maximum(1.0 - judged.sum_by_query(query, _weight(row, p)), 0.0)


def _weight(row: IntArray | FloatArray, p: float) -> FloatArray:
    weight: FloatArray = (1 - p) * np.power(p, row - 1.0)
    return weight


def mean_over_orders(
    judged: JudgedRun,
    *,
    k: int | None,
    p: float = 0.8,
    max_grade: float | None = None,
) -> FloatArray:
    """Return RBP over all orders of equal scores: each document has the mean weight of its block."""
    share = np.maximum(judged.items.grade, 0) / largest_grade(judged, max_grade)
    weight = mean_rank_weights(judged, partial(_weight, p=p), k)
    return judged.sum_by_query(judged.items.query, share * weight)


DEFINITION = Definition(
    name="rbp",
    score=score,
    summary="rank-biased precision: (1 - p) * sum of p^(rank - 1) * grade / largest grade",
    plain_summary="expected gain per result of a reader who continues to the next one with a fixed probability",
    only_cuts_ranking=True,
    parameters={
        "p": Parameter(make_number_reader(0, 1), 0.8, "probability of looking at the next document", examples=(0.5,)),
        "max_grade": MAX_GRADE,
    },
    residual=residual,
    reaches_one=False,
    mean_over_orders=mean_over_orders,
)
