"""The diversity of a list of items, by their vectors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.retrieval.unit_vectors import UnitVectors
from retrieval_metrics.retrieval.vectors import read_matrix, resolve_k

if TYPE_CHECKING:
    from numpy import typing as npt


def intra_list_diversity(vectors: npt.ArrayLike, *, k: int | None = None) -> float:
    """Return the mean cosine distance between two of the first `k` items.

        ILD@k = 2 / (m (m - 1)) * sum over i < j <= m of (1 - cos(x_i, x_j)),    m = min(k, n)

    Range [0, m / (m - 1)]: 0 if all items point in the same direction, 1 if they are orthogonal, and more if they point
    in opposite directions. A zero vector has distance 1 to every vector. The order of the items does not matter. A
    repeat counts as an item, at distance 0 from the first. With fewer than two items there are no pairs and the
    diversity is NaN.

    Source: Smyth and McClave, Similarity vs. Diversity (2001), where it is a mean over pairs; Ziegler et al.,
    Improving Recommendation Lists Through Topic Diversification (2005), whose intra-list similarity is its counterpart.

    Args:
        vectors: The vectors of the items in rank order, shape (n, d).
        k: Cutoff in items; None uses all.

    Raises:
        TypeError: If a vector holds something other than real numbers, or `k` is not an integer.
        ValueError: If a number is NaN or infinite (the message names its row), `vectors` is not a list of vectors, or
            `k` is not positive.

    Example:
        >>> intra_list_diversity([[1, 0], [0, 1], [0, -1]])  # (1 + 1 + 2) / 3
        1.3333333333333333
        >>> intra_list_diversity([[1, 0], [0, 1], [0, -1]], k=2)
        1.0
    """
    items = read_matrix(vectors, "vectors")
    n_items = resolve_k(k, len(items))
    if n_items <= 1:
        return math.nan
    units = UnitVectors(items[:n_items].astype(np.float64), "vectors").units()
    total = units.sum(axis=0)
    # The square of the sum contains each pair twice, and each vector's product with itself.
    twice_cosines = float(total @ total - np.einsum("ij,ij->", units, units))
    # Rounding can leave -1e-16 for equal vectors.
    return max(0.0, 1 - twice_cosines / (n_items * (n_items - 1)))
