"""Maximal marginal relevance from relevance and similarity of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.retrieval.selection import Selection
from retrieval_metrics.retrieval.vectors import read_numbers, require_lambda, resolve_k

if TYPE_CHECKING:
    from numpy import typing as npt


def mmr_from_similarity(
    relevance: npt.ArrayLike, similarity: npt.ArrayLike, *, k: int | None = None, lambda_mult: float = 0.5
) -> Selection:
    """Select by maximal marginal relevance from given relevance and similarity, of any kind.

    The formula and its rules are those of `mmr`, with rel(d) and sim(d, s) as given.

    Args:
        relevance: How relevant each candidate is, shape (n,).
        similarity: sim(d, s) in row d, column s, shape (n, n). The diagonal is ignored, and the matrix may be
            asymmetric.
        k: How many to select; None, or more than n, selects all.
        lambda_mult: The weight of relevance, from 0 (only diversity) to 1 (only relevance).

    Raises:
        TypeError: If an array holds something other than real numbers, or `k` is not an integer.
        ValueError: If a number is NaN or infinite (the message names its position), shapes do not fit together, `k` is
            not positive, or `lambda_mult` is outside [0, 1].

    Example:
        >>> similarity = [[1, 0.3, 0.4], [0.3, 1, 0.5], [0.4, 0.5, 1]]
        >>> mmr_from_similarity([0.8, 0.5, 0.4], similarity)  # 0.4; 0.25 - 0.15 against 0.2 - 0.2; 0.2 - 0.25
        Selection(indices=[0, 1, 2], scores=[0.4, 0.1, -0.05])
    """
    checked_lambda = require_lambda(lambda_mult)
    relevance_array = read_numbers(relevance, "relevance").astype(np.float64)
    n = len(relevance_array)
    n_selected = resolve_k(k, n)
    if not n:
        return Selection.of([], [])
    similarity_array = read_numbers(similarity, "similarity", (n, n))
    gains = checked_lambda * relevance_array
    first = int(relevance_array.argmax())
    rows = [first]
    selected_scores = [gains[first]]
    scores = np.full(n, np.inf)
    while len(rows) < n_selected:
        similarity_to_last = similarity_array[:, rows[-1]].astype(np.float64, copy=False)
        scores = np.minimum(scores, gains - (1 - checked_lambda) * similarity_to_last)
        scores[rows] = -np.inf
        best = int(scores.argmax())
        rows.append(best)
        selected_scores.append(scores[best])
    return Selection.of(rows, selected_scores)
