"""Leak: did something come back that must not?"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.matching.rank_rows import is_forbidden, within
from retrieval_metrics.metrics.base.definition import Definition, Parameter, TieOrderValues, make_number_reader
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.hit_rate import mean_over_orders as mean_hit_rate
from retrieval_metrics.metrics.ties.tie_orders import best_and_worst_orders

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun


def leak(gains: Gains, *, k: int | None = None) -> float:
    """Return 1 if a forbidden document is among the first `k`, else 0.

        leak@k = 1 if some i <= k has g_i < 0, else 0

    where g_i is the grade at rank i. Lower is better. Range {0, 1}. An empty list scores 0. In an evaluation,
    the value is undefined (NaN) if no document is judged forbidden, if the retriever failed, or if the run lacks the
    query. A passage that is both relevant and forbidden leaks.

    Args:
        gains: Grades in rank order; below 0 is forbidden, None not judged.
        k: Cutoff in documents; None takes the whole list.

    Raises:
        TypeError: If `gains` is not a list of numbers, or `k` is not an integer.
        ValueError: If a gain is not finite, or `k` is not positive.

    Example:
        >>> leak([1, 0, -1], k=3)  # forbidden at rank 3
        1.0
        >>> leak([1, 0, -1], k=2)
        0.0
    """
    return score_one(DEFINITION, gains, k=k, others=[-1.0])


def score(judged: JudgedRun, *, k: Cut, grade: float | None = None) -> FloatArray:
    """Return the leak of every query, shape (queries,); NaN where nothing is forbidden or no answer came."""
    query, rank = judged.forbidden_ranks(grade)
    if k is not None:
        query = query[within(query, rank, k)]
    has_leaked = judged.sum_by_query(query) > 0
    return judged.where_answered(judged.has_forbidden(grade), has_leaked)


def mean_over_orders(judged: JudgedRun, *, k: int | None, grade: float | None = None) -> TieOrderValues:
    """Return the leak over all orders of equal scores: the hit rate of what is forbidden."""
    is_forbidden_item = is_forbidden(judged.qrels.smallest_grade[judged.items.document], grade)
    judged_by_forbidden = judged.with_items(judged.items._replace(grade=is_forbidden_item.astype(np.float64)))
    forbidden_first, forbidden_last = best_and_worst_orders(judged, is_forbidden_item)
    highest = score(forbidden_first, k=k, grade=grade)
    lowest = score(forbidden_last, k=k, grade=grade)
    return TieOrderValues(mean_hit_rate(judged_by_forbidden, k=k), lowest, highest)


GRADE = Parameter(
    make_number_reader(-inf, 0), None, "forbidden if the grade is at most this; without it, if below 0", examples=(-2,)
)

DEFINITION = Definition(
    name="leak",
    score=score,
    summary="1 if anything forbidden is among the first k, else 0",
    plain_summary="share of queries with a forbidden document in {first}",
    only_cuts_ranking=True,
    parameters={"grade": GRADE},
    binary=True,
    higher_is_better=False,
    needs_relevant=False,
    undefined_if="no document is judged forbidden",
    keeps_unjudged_places=True,
    ignores_groups=True,
    mean_over_orders=mean_over_orders,
)
