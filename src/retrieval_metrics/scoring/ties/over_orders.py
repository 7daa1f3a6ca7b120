"""Mean, smallest and largest value of a metric over all orders of documents with equal scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from retrieval_metrics.scoring.ties.blocks import blocks_of
from retrieval_metrics.scoring.ties.enumerated import enumerated
from retrieval_metrics.scoring.ties.linear import LINEAR, LINEAR_IN_GROUPS
from retrieval_metrics.scoring.ties.ordered import best_and_worst
from retrieval_metrics.scoring.ties.stepwise import STEPWISE, average_precision_of_found

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.types import FloatArray, IntArray


def over_orders(
    judged: JudgedRun, queries: IntArray, metric: Metric, parameters: Mapping[str, Any]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, smallest and largest value over all orders of equal scores, each of shape (queries,).

    Closed forms after McSherry and Najork, Computing information retrieval performance measures efficiently in the
    presence of tied scores (2008), extended to graded gains, ERR and bpref.

    Args:
        judged: The judged run in which tied documents all stand at the first rank of their block.
        queries: The queries with ties; the values of all others are meaningless.
        metric: The metric.
        parameters: Its parameters.

    Raises:
        ValueError: If there is no closed form, and too many orders to try them all.
    """
    # Only scores tie, and who has scores has ids without lengths, so that the cut is the same for every query.
    k = cast("int | None", judged.first(metric.k))
    grouped = not judged.qrels.is_flat
    if (grouped and metric.name not in LINEAR_IN_GROUPS) or parameters.get("per") == "group":
        return enumerated(judged, queries, metric, parameters)
    if metric.name == "map" and parameters.get("norm") == "retrieved" and k is not None:
        return _by_query(judged, queries, k, parameters)
    if metric.name in LINEAR:
        mean = LINEAR[metric.name](judged, k, parameters)
    else:
        mean = np.zeros(judged.n_queries)
        step = STEPWISE[metric.name]
        for query, blocks in blocks_of(judged, queries, parameters.get("rel")):
            mean[query] = step(judged, query, blocks, k, parameters)
    worst, best = best_and_worst(judged, metric, parameters)
    return mean, worst, best


def _by_query(
    judged: JudgedRun, queries: IntArray, k: int, parameters: Mapping[str, Any]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    mean, low, high = np.zeros((3, judged.n_queries))
    for query, blocks in blocks_of(judged, queries, parameters.get("rel")):
        mean[query], low[query], high[query] = average_precision_of_found(blocks, k)
    return mean, low, high
