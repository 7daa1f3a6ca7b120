"""How high a metric can get on these queries: what its confidence interval may take for possible."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.judging.budget import Budget
from retrieval_metrics.judging.judged_run import Items, JudgedRun, is_relevant, ordinals
from retrieval_metrics.metrics.scoring import score_metric

if TYPE_CHECKING:
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.rules import Rules
    from retrieval_metrics.metrics.metric import Metric
    from retrieval_metrics.types import FloatArray

BELOW_ONE = frozenset({"precision", "f1", "rbp", "err"})
"""Metrics of which even an ideal ranking may score less than 1: precision@5 is 0.2 where one document is relevant."""


def bounds(metric: Metric, values: FloatArray, judged: JudgedRun | None, rules: Rules) -> tuple[float, float]:
    """Return the least and the largest value that a metric can have on these queries.

    Args:
        metric: The metric.
        values: Its defined values, which always lie within.
        judged: The judged run; None if it is not known, and then a bounded metric reaches 1.
        rules: The rules it was computed under.
    """
    observed = float(values.max(initial=0.0))
    if not metric.definition.bounded or observed > 1 or values.min(initial=0.0) < 0:
        return (0.0 if values.min(initial=0.0) >= 0 else -inf), inf
    if metric.name not in BELOW_ONE or judged is None or not _has_known_ideal(metric, judged.qrels):
        return 0.0, 1.0
    best = score_metric(_ideal_run(judged.qrels, dict(metric.parameters).get("rel")), metric, rules)
    reachable = float(np.nanmax(best, initial=observed))
    return 0.0, min(reachable, 1.0) or 1.0


def _has_known_ideal(metric: Metric, qrels: Qrels) -> bool:
    """Return whether sorting the relevant documents by grade gives the metric's best value.

    It does not where one document may satisfy several groups, unless they are merely counted, and it is unknown where
    items of unknown length or number may satisfy a piece.
    """
    return (metric.name == "precision" or qrels.is_flat) and not (qrels.has_pieces or isinstance(metric.k, Budget))


def _ideal_run(qrels: Qrels, rel: object) -> JudgedRun:
    """Return the run that retrieves every relevant document, best first, and nothing else."""
    grade = qrels.document_grade
    relevant = np.flatnonzero(is_relevant(grade, rel if isinstance(rel, (int, float)) else None))
    document = relevant[np.lexsort((-grade[relevant], qrels.document_query[relevant]))]
    query = qrels.document_query[document]
    items = Items(document, query, ordinals(query), grade[document], np.ones(len(document), dtype=np.int64))
    n_retrieved = np.bincount(query, minlength=len(qrels)).astype(np.int64)
    return JudgedRun(qrels, items, n_retrieved, np.zeros(len(qrels), dtype=np.int64))
