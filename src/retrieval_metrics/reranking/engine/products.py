"""Dot products of many vectors at once, and bounds on their rounding error."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics.reranking.vectors import Vectors

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
EPS = {dtype: float(np.finfo(dtype).eps) for dtype in (SINGLE, DOUBLE)}
ALL = slice(None)
BLOCK = 384  # dimensions; in float32 narrower blocks have a smaller error and take longer


def dot_products(left: Vectors, right: Vectors, precision: np.dtype[Any], block: int = BLOCK) -> Vectors:
    """Return the dot products of all vectors on the left with one vector, shape (d,), or several, shape (m, d).

    Blocks of dimensions are summed first, then the blocks, because the error of a sum grows with its number of terms.
    Vectors of another precision are converted block by block, which fits in a cache.
    """
    total: Any = 0
    for start in range(0, left.shape[1], block):
        some = left[:, start : start + block].astype(precision, copy=False)
        others = right[..., start : start + block].astype(precision, copy=False) if right is not left else some
        total = total + some @ others.T if start else some @ others.T
    products: Vectors = total
    return products


def squared_lengths(vectors: Vectors, precision: np.dtype[Any]) -> Vectors:
    """Return the dot product of each vector with itself, shape (n,), also in blocks, which are summed in float64."""
    if vectors.dtype == DOUBLE:
        return _row_by_row(vectors)
    n, d = vectors.shape
    if precision == DOUBLE:
        starts = range(0, d, BLOCK)
        return sum((_row_by_row(vectors[:, at : at + BLOCK].astype(DOUBLE)) for at in starts), np.zeros(n))
    whole = d - d % BLOCK
    blocks = vectors[:, :whole].reshape(n, whole // BLOCK, BLOCK)
    squares: Vectors = np.add.reduce(_row_by_row(blocks), axis=1, dtype=DOUBLE)
    return squares + _row_by_row(vectors[:, whole:]) if whole < d else squares


def _row_by_row(vectors: Vectors) -> Vectors:
    products: Vectors = np.matmul(vectors[..., np.newaxis, :], vectors[..., np.newaxis])[..., 0, 0]
    return products


@lru_cache
def rounding_error(dtype: np.dtype[Any], d: int, block: int = BLOCK) -> float:
    """Return a bound on the error of a cosine of two vectors of `d` numbers, computed from these products in `dtype`.

    A dot product sums as many rounded products as a block has dimensions, and then the blocks; so does each of the two
    lengths, under a square root. Each rounding is by at most eps / 2, in any order of summation, and a few operations
    are added for safety. Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), section 3.1.
    """
    terms = sum(min(d, width) + math.ceil(d / width) for width in (block, d if dtype == DOUBLE else BLOCK))
    relative = (terms + 8) * EPS[dtype] / 2
    return relative / (1 - relative) if relative < 1 else math.inf


def resolution(dtype: np.dtype[Any], d: int, largest: float, block: int = BLOCK) -> float:
    """Return how far apart two scores from such cosines must be to prove which is larger, also in plain float64.

    Args:
        dtype: The precision of the dot products.
        d: The number of dimensions.
        largest: The largest absolute relevance.
        block: How many dimensions of a dot product were summed at once.
    """
    arithmetic = 4 * EPS[dtype] * (1 + largest)
    return 2 * (rounding_error(dtype, d, block) + rounding_error(DOUBLE, d, d) + arithmetic)
