"""The largest value that a metric can have on given queries, which bounds its confidence interval."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.judging.budget import Budget
from retrieval_metrics.judging.judged_run import Items, JudgedRun, is_relevant, ordinals
from retrieval_metrics.scoring.score import score

if TYPE_CHECKING:
    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.scoring.rules import Rules
    from retrieval_metrics.statistics.means import Sums


def ideal_values(metric: Metric, judged: JudgedRun, rules: Rules) -> FloatArray | None:
    """Return the metric of each query's ideal ranking, shape (queries,); None if it is always 1, or unknown."""
    if metric.definition.reaches_one or not _has_known_ideal(metric, judged.qrels):
        return None
    return score(_ideal_run(judged.qrels, dict(metric.parameters).get("rel")), metric, rules).values


def bounds(metric: Metric, smallest: float, largest: float, ideal: float | None) -> tuple[float, float]:
    """Return the smallest and the largest value that a metric can have on given queries.

    Args:
        metric: The metric.
        smallest: The smallest of its values, all of which are within the bounds; NaN if there are none.
        largest: The largest of its values.
        ideal: The largest of the `ideal_values` of these queries. If it is None, a bounded metric reaches 1.
    """
    if metric.definition.given:
        return metric.definition.bounds
    if not metric.definition.bounded or largest > 1 or smallest < 0:
        return (-inf if smallest < 0 else 0.0), inf
    if ideal is None:
        return 0.0, 1.0
    return 0.0, min(max(ideal, largest), 1.0) or 1.0


def is_binary(metric: Metric, sums: Sums) -> bool:
    """Return whether all values are 0 or 1; means of a binary metric over orders of equal scores can be fractions."""
    return metric.definition.binary and sums.total == sums.total_of_squares


def _has_known_ideal(metric: Metric, qrels: Qrels) -> bool:
    """Return whether sorting the relevant documents by grade gives the metric's best value.

    It does not if one document may satisfy several groups, unless the metric counts documents rather than groups. The
    best value is unknown if items of unknown length or number may satisfy a piece.
    """
    return (metric.definition.by_document or qrels.is_flat) and not (qrels.has_pieces or isinstance(metric.k, Budget))


def _ideal_run(qrels: Qrels, rel: object) -> JudgedRun:
    """Return the run that retrieves every relevant document, best first, and nothing else."""
    grade = qrels.document_grade
    relevant = np.flatnonzero(is_relevant(grade, rel if isinstance(rel, (int, float)) else None))
    document = relevant[np.lexsort((-grade[relevant], qrels.document_query[relevant]))]
    query = qrels.document_query[document]
    rank = ordinals(query)
    items = Items(document, query, rank, grade[document], np.ones_like(rank), rank)
    return JudgedRun(qrels, items, np.bincount(query, minlength=len(qrels)))
