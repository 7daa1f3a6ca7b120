"""Convert the scores or ranks of a retriever to relevance between 0 and 1, comparable with cosines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics.aliases import FloatArray


def scaled(scores: FloatArray) -> FloatArray:
    """Return the scores scaled so that the lowest is 0 and the highest 1; if all are equal, all are 1.

    Scores of BM25 or a cross-encoder have other scales, which lambda cannot weigh against cosines.

    Example:
        >>> scaled(np.array([10.0, 20.0, 12.5])).tolist()
        [0.0, 1.0, 0.25]
    """
    if not len(scores):
        return scores
    low, high = scores.min() / 2, scores.max() / 2  # halves: the difference of two large scores may overflow
    result: FloatArray = (scores / 2 - low) / (high - low) if low < high else np.ones_like(scores)
    return result


def by_rank(n: int) -> FloatArray:
    """Return a relevance that falls in equal steps from 1 for the first of `n` documents to 0 for the last.

    Example:
        >>> by_rank(3).tolist()
        [1.0, 0.5, 0.0]
    """
    return scaled(-np.arange(n, dtype=np.float64))
