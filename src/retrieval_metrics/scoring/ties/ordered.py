"""The best and the worst order of documents with equal scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.judging.judged_run import Items, JudgedRun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.types import BoolArray, FloatArray


def best_and_worst(judged: JudgedRun, metric: Metric, parameters: Mapping[str, Any]) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest value of every query, for metrics that gain by every better order.

    The best order of a block has its relevant documents first, the best of them on top, and those judged not relevant
    last; the worst is its reverse. For the judged share all judged documents stand first, or last.
    """
    items = judged.items
    good = np.ones(len(items.grade), dtype=np.bool_) if metric.name == "judged" else items.grade > 0
    score = metric.definition.score
    worst = score(_ordered(judged, ~good, -items.grade), k=judged.first(metric.k), **parameters)
    best = score(_ordered(judged, good, items.grade), k=judged.first(metric.k), **parameters)
    return worst, best


def _ordered(judged: JudgedRun, first: BoolArray, worth: FloatArray) -> JudgedRun:
    """Return the judged run in which some documents stand first in their block, and the other judged ones last.

    Args:
        judged: The judged run in which tied documents all stand at the first rank of their block.
        first: Which stand first.
        worth: What is worth more stands higher among them.
    """
    items = judged.items
    order = np.lexsort((-worth, ~first, items.rank, items.query))
    query, above, size, first = items.query[order], items.rank[order] - 1, items.tied[order], first[order]
    new = np.diff(query, prepend=-1).astype(bool) | np.diff(above, prepend=-1).astype(bool)
    start = np.flatnonzero(new)
    block = np.cumsum(new) - 1
    place = np.arange(len(order)) - start[block]
    length = np.diff(np.append(start, len(order)))[block]
    rank = above + 1 + np.where(first, place, size - length + place)
    document = items.document[order]
    return JudgedRun(
        judged.qrels, Items(document, query, rank, items.grade[order], size), judged.n_retrieved, judged.n_repeated
    )
