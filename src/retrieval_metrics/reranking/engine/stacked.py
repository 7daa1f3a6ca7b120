"""The Gram method for many queries at once: the same steps with one more axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reranking.engine.directions import ordinary
from retrieval_metrics.reranking.engine.products import DOUBLE, resolution
from retrieval_metrics.reranking.selection import Selection

if TYPE_CHECKING:
    from retrieval_metrics.aliases import FloatArray


def select_stacked(
    vectors: FloatArray, relevance: FloatArray | None, k: int, lambda_mult: float
) -> list[Selection | None]:
    """Return the selection of each query, or None if scores are too close or vectors out of range.

    Args:
        vectors: The candidates of every query, shape (q, n, d); without `relevance`, followed by the query:
            shape (q, n + 1, d).
        relevance: The relevance of the candidates, shape (q, n), or None.
        k: How many to select, from 1 to n.
        lambda_mult: The weight of relevance.
    """
    with np.errstate(all="ignore"):  # results of vectors out of range are not used
        products = vectors @ vectors.transpose(0, 2, 1)
        squares = np.einsum("qii->qi", products)
        lengths = np.sqrt(squares)
        cosines = products / (lengths[:, :, np.newaxis] * lengths[:, np.newaxis, :])
    sure = np.asarray(ordinary(squares, DOUBLE).all(axis=1))
    largest = 1.0
    if relevance is None:
        cosines, relevance = cosines[:, :-1, :-1], cosines[:, -1, :-1]
    else:
        largest = float(np.abs(relevance).max())
    tolerance = resolution(DOUBLE, vectors.shape[2], largest, block=vectors.shape[2])

    table = lambda_mult * relevance[:, np.newaxis, :] - (1 - lambda_mult) * cosines
    each = np.arange(len(vectors))
    picks, reached = np.empty((len(vectors), k), dtype=np.int64), np.empty((len(vectors), k))
    scores, bounds = relevance.copy(), np.full_like(relevance, np.inf)
    for step in range(k):
        pick = scores.argmax(axis=1)
        picks[:, step], reached[:, step] = pick, scores[each, pick]
        scores[each, pick] = bounds[each, pick] = -np.inf
        sure &= scores.max(axis=1) < reached[:, step] - tolerance
        scores = bounds = np.minimum(bounds, table[each, pick])
    reached[:, 0] *= lambda_mult
    return [Selection(picks[i], reached[i]) if sure[i] else None for i in each]
