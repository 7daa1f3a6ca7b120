"""Relevance that a retriever stated, brought onto the scale of cosines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics.types import FloatArray


def scaled(scores: FloatArray) -> FloatArray:
    """Return scores so that the lowest is 0 and the highest 1; equal scores are all 1.

    Scores of BM25 or of a cross-encoder are on scales of their own, which lambda could not weigh against cosines.

    Example:
        >>> scaled(np.array([10.0, 20.0, 12.5])).tolist()
        [0.0, 1.0, 0.25]
    """
    if not len(scores):
        return scores
    low, high = scores.min() / 2, scores.max() / 2  # halves, because the difference of two large scores may overflow
    result: FloatArray = (scores / 2 - low) / (high - low) if low < high else np.ones_like(scores)
    return result


def by_rank(n: int) -> FloatArray:
    """Return 1 for the first of `n` documents, 0 for the last, and for those between in equal steps.

    Example:
        >>> by_rank(3).tolist()
        [1.0, 0.5, 0.0]
    """
    return scaled(-np.arange(n, dtype=np.float64))
