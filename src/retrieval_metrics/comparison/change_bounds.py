"""Bound how much a metric can have changed between two rankings, whatever the judgments are."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, FloatArray
    from retrieval_metrics.comparison.distinct_ranking import DistinctRanking
    from retrieval_metrics.metrics.base.metric import Metric


# Metrics that a single document can change by 1.
SINGLE_DOCUMENT_METRICS = ("mrr", "recall", "hit_rate")


class ChangeBounds(NamedTuple):
    """The most that a metric of one query can have lost and gained."""

    loss: float
    gain: float


def require_known_bounds(metric: Metric) -> None:
    """Refuse a metric whose largest possible change has no closed form here."""
    is_known = metric.name in {"ndcg", "precision", *SINGLE_DOCUMENT_METRICS}
    has_plain_cutoff = metric.k is None or isinstance(metric.k, int)
    is_precision_of_all = metric.name == "precision" and metric.k is None
    if not is_known or not has_plain_cutoff or metric.parameters or is_precision_of_all:
        raise ValueError(
            f"the change in {metric} cannot be bounded without judgments. Use overlap@k, rbo, ndcg@k, precision@k, "
            "mrr, recall@k or hit_rate@k; or grade the changed documents and compare"
        )


def bound_change(before: DistinctRanking, after: DistinctRanking, name: str, k: int | None) -> ChangeBounds:
    """Return the most that a metric of one query can have lost and gained, over every judgment of every document.

    For NDCG, let d be the discount of a document after minus its discount before. With r relevant documents, the gain
    is at most the sum of the r largest d, divided by the ideal of r documents; the bound is the largest of these over
    all r. Graded judgments allow no more: their gains are mixtures of binary ones, and a ratio of sums is at most its
    largest term. Each bound is attained by some judgment.

    Example:
        >>> from retrieval_metrics.comparison.distinct_ranking import DistinctRanking
        >>> first, second = DistinctRanking("ab", np.array([2.0, 1.0])), DistinctRanking("ac", np.array([2.0, 1.0]))
        >>> loss, gain = bound_change(first, second, "ndcg", 2)
        >>> round(loss, 4), round(gain, 4)  # if b, or c, alone is relevant: 1 / log2(3)
        (0.6309, 0.6309)
    """
    if name == "mrr":
        changes = _weight_changes(before, after, name, k)
        # The maximum with 0.0 turns -0.0 into 0.0.
        max_loss = max(0.0, float((-changes).max(initial=0.0)))
        max_gain = max(0.0, float(changes.max(initial=0.0)))
        return ChangeBounds(max_loss, max_gain)
    if name == "ndcg":
        changes = _weight_changes(before, after, name, k)
        return ChangeBounds(_max_ndcg_gain(-changes, k), _max_ndcg_gain(changes, k))
    documents_before = set(before.documents[:k])
    documents_after = set(after.documents[:k])
    n_left = len(documents_before - documents_after)
    n_entered = len(documents_after - documents_before)
    if name == "precision" and k is not None:
        return ChangeBounds(n_left / k, n_entered / k)
    return ChangeBounds(float(n_left > 0), float(n_entered > 0))


def _weight_changes(before: DistinctRanking, after: DistinctRanking, name: str, k: int | None) -> FloatArray:
    """Return the weight of each document after minus its weight before; see `document_weights`."""
    weights_before = document_weights(before.documents, name, k)
    weights_after = document_weights(after.documents, name, k)
    documents: dict[DocumentId, None] = dict.fromkeys([*weights_before, *weights_after])
    changes = [weights_after.get(document, 0.0) - weights_before.get(document, 0.0) for document in documents]
    return np.array(changes, dtype=np.float64)


def document_weights(documents: Sequence[Any], name: str, k: int | None) -> dict[Any, float]:
    """Return what each of the first k documents adds to a metric if it is relevant, by its rank."""
    if name == "ndcg":
        return {document: 1 / log2(rank + 1) for rank, document in enumerate(documents[:k], start=1)}
    if name == "mrr":
        return {document: 1 / rank for rank, document in enumerate(documents[:k], start=1)}
    if name == "precision" and k:
        return dict.fromkeys(documents[:k], 1 / k)
    return dict.fromkeys(documents[:k], 1.0)


def _max_ndcg_gain(changes: FloatArray, k: int | None) -> float:
    """Return the largest gain of NDCG, given by how much the discount of each document changes."""
    gains = np.sort(changes[changes > 0])[::-1]
    if not gains.size:
        return 0.0
    n_relevant = np.arange(1, len(gains) + 1)
    ideals = np.cumsum(1 / np.log2(n_relevant + 1))
    n_in_ideal = n_relevant if k is None else np.minimum(n_relevant, k)
    return float((gains.cumsum() / ideals[n_in_ideal - 1]).max())
