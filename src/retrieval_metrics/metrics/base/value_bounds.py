"""Find the values that a metric can have on given queries, which bound its confidence interval."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.matching.judged_columns import Items
from retrieval_metrics.matching.judged_run import JudgedRun
from retrieval_metrics.matching.rank_rows import is_relevant, ordinals
from retrieval_metrics.metrics.base.score import parameters_of, score

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import BoolArray, FloatArray
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules
    from retrieval_metrics.statistics.sums import Sums


def ideal_values(metric: Metric, judged: JudgedRun, rules: Rules) -> FloatArray | None:
    """Return the metric of each query's ideal ranking, shape (queries,); None if it is always 1, or unknown."""
    if metric.definition.reaches_one or not _has_known_ideal(metric, judged.qrels):
        return None
    return score(_ideal_run(judged.qrels, dict(metric.parameters).get("rel")), metric, rules).values


def bounds(metric: Metric, smallest: float, largest: float, ideal: float | None) -> tuple[float, float]:
    """Return the smallest and the largest value that a metric can have on given queries."""
    if metric.definition.is_given:
        return metric.definition.bounds
    if smallest < 0:
        return -inf, inf
    if not metric.definition.bounded or largest > 1:
        return 0.0, inf
    if ideal is None:
        return 0.0, 1.0
    return 0.0, min(max(ideal, largest), 1.0) or 1.0


def find_two_valued_queries(metric: Metric, judged: JudgedRun, rules: Rules) -> BoolArray | None:
    """Return which queries score 0 or 1 under every ranking, though the metric can be a fraction; None if none does."""
    find_two_valued = metric.definition.two_valued
    if find_two_valued is None:
        return None
    return find_two_valued(judged, k=judged.cutoff(metric.k), **parameters_of(metric, rules))


def share_binary(metric: Metric, sums: Sums, two_valued: Sums | None) -> float:
    """Return the share of queries that can only be 0 or 1; over orders of equal scores even hit rates are fractions."""
    if two_valued is not None and two_valued.count:
        share = two_valued.mean
    else:
        share = float(metric.definition.binary)
    has_only_zeros_and_ones = sums.total == sums.total_of_squares
    return share if share < 1 or has_only_zeros_and_ones else 0.0


def _has_known_ideal(metric: Metric, qrels: Qrels) -> bool:
    """Return whether sorting the relevant documents by grade gives the metric's best value."""
    if qrels.has_pieces or metric.has_budget:
        return False
    return metric.definition.ignores_groups or qrels.is_flat


def _ideal_run(qrels: Qrels, rel: object) -> JudgedRun:
    """Return the run that retrieves every relevant document, best first, and nothing else."""
    grade = qrels.document_grade
    relevant = np.flatnonzero(is_relevant(grade, rel if isinstance(rel, (int, float)) else None))
    document = relevant[np.lexsort((-grade[relevant], qrels.document_query[relevant]))]
    query = qrels.document_query[document]
    rank = ordinals(query)
    items = Items(document, query, rank, grade[document], np.ones_like(rank), rank)
    return JudgedRun(qrels, items, np.bincount(query, minlength=len(qrels)))
