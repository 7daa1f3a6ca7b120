"""Metrics that are sums over documents of a gain times a weight of the rank: each has the mean weight of its block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from retrieval_metrics.definition.gain import gain_of
from retrieval_metrics.definition.largest_grade import largest_grade
from retrieval_metrics.judging.judged_run import is_relevant
from retrieval_metrics.metrics import ndcg as ndcg_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.types import FloatArray, IntArray

    Linear: TypeAlias = Callable[[JudgedRun, int | None, Mapping[str, Any]], FloatArray]


def mean_weight(
    judged: JudgedRun, weight: Callable[[FloatArray], FloatArray], cut: int | IntArray | None
) -> FloatArray:
    """Return for each item the mean of a weight of the rank over the places of its block; beyond the cut it is 0.

    Args:
        judged: The judged run in which tied documents all stand at the first rank of their block.
        weight: From ranks to weights.
        cut: The last rank that counts, one for all or one per query; None counts all.
    """
    items = judged.items
    above, below = items.rank - 1, items.rank - 1 + items.tied
    if cut is not None:
        last = np.broadcast_to(cut, judged.n_queries)[items.query]
        above, below = np.minimum(above, last), np.minimum(below, last)
    so_far = np.concatenate([[0.0], np.cumsum(weight(np.arange(1.0, below.max(initial=0) + 1)))])
    mean: FloatArray = (so_far[below] - so_far[above]) / items.tied
    return mean


def _found(judged: JudgedRun, cut: int | IntArray | None, rel: float | None) -> FloatArray:
    """Return the mean number of relevant documents within the cut."""
    weight = mean_weight(judged, np.ones_like, cut) * is_relevant(judged.items.grade, rel)
    return judged.per_query(judged.items.query, weight)


def _places(judged: JudgedRun, k: int | None, norm: str) -> FloatArray:
    """Return what precision divides by."""
    if k is not None and norm == "k":
        return np.full(judged.n_queries, float(k))
    places = judged.n_retrieved if k is None else np.minimum(judged.n_retrieved, k)
    return np.maximum(places, 1).astype(np.float64)


def _precision(judged: JudgedRun, k: int | None, parameters: Mapping[str, Any]) -> FloatArray:
    return _found(judged, k, parameters.get("rel")) / _places(judged, k, parameters.get("norm", "k"))


def _recall(judged: JudgedRun, k: int | None, parameters: Mapping[str, Any]) -> FloatArray:
    rel = parameters.get("rel")
    return _found(judged, k, rel) / np.maximum(judged.n_relevant(rel), 1)


def _f1(judged: JudgedRun, k: int | None, parameters: Mapping[str, Any]) -> FloatArray:
    # 2 P R / (P + R) with P = h / m and R = h / n is 2 h / (m + n): linear in the hits h.
    rel = parameters.get("rel")
    return 2 * _found(judged, k, rel) / (_places(judged, k, parameters.get("norm", "k")) + judged.n_relevant(rel))


def _r_precision(judged: JudgedRun, k: int | None, parameters: Mapping[str, Any]) -> FloatArray:  # noqa: ARG001  (R is its cut-off)
    rel = parameters.get("rel")
    wanted = judged.n_relevant(rel)
    return _found(judged, wanted.astype(np.int64), rel) / np.maximum(wanted, 1)


def _judged(judged: JudgedRun, k: int | None, parameters: Mapping[str, Any]) -> FloatArray:  # noqa: ARG001  (it has none)
    return judged.per_query(judged.items.query, mean_weight(judged, np.ones_like, k)) / _places(judged, k, "retrieved")


def _dcg(judged: JudgedRun, k: int | None, parameters: Mapping[str, Any]) -> FloatArray:
    items = judged.items
    gain = np.zeros(len(items.grade))
    positive = items.grade > 0
    gain[positive] = gain_of(items.grade[positive], parameters.get("gain", "linear"), parameters.get("gains"))
    return judged.per_query(items.query, gain * mean_weight(judged, lambda rank: 1 / np.log2(rank + 1), k))


def _ndcg(judged: JudgedRun, k: int | None, parameters: Mapping[str, Any]) -> FloatArray:
    best = ndcg_metric.ideal_dcg(judged, k, **parameters)
    return _dcg(judged, k, parameters) / np.where(best > 0, best, np.nan)


def _rbp(judged: JudgedRun, k: int | None, parameters: Mapping[str, Any]) -> FloatArray:
    p = parameters.get("p", 0.8)
    share = np.maximum(judged.items.grade, 0) / largest_grade(judged, parameters.get("max_grade"))
    weight = mean_weight(judged, lambda rank: (1 - p) * np.power(p, rank - 1), k)
    return judged.per_query(judged.items.query, share * weight)


LINEAR: Mapping[str, Linear] = {
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
    "r_precision": _r_precision,
    "judged": _judged,
    "dcg": _dcg,
    "ndcg": _ndcg,
    "rbp": _rbp,
}

LINEAR_IN_GROUPS = frozenset({"precision", "judged"})
"""These look at documents one by one, also where these are alternatives."""
