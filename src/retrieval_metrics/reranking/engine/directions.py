"""Vectors prepared for computing cosines, and a bound on the rounding error of these."""

from __future__ import annotations

import math
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.reranking.vectors import require_finite

if TYPE_CHECKING:
    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.reranking.vectors import Indices, Vectors

ALL = slice(None)
BLOCK = 384  # dimensions; in float32 narrower blocks have a smaller error and take longer
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
# Cosines from squared lengths in this range neither overflow nor lose digits.
RANGE = {dtype: (float(np.finfo(dtype).tiny) ** 0.6, float(np.finfo(dtype).max) ** 0.9) for dtype in (SINGLE, DOUBLE)}


class Directions:
    """Vectors and their inverse lengths; a zero vector has cosine 0 with every vector.

    Attributes:
        vectors: The vectors, float32 or float64, shape (n, d), scaled where a squared length would be out of range.
        block: How many dimensions of a dot product are summed at once.
        inverse_lengths: 1 / length of each vector, 0 for a zero vector, shape (n,), in the precision of the vectors.
    """

    def __init__(self, vectors: Vectors, what: str, block: int = BLOCK) -> None:
        """Compute the lengths of the vectors, which a ValueError calls `what` if a number is NaN or infinite."""
        self.vectors, squares = _in_range(vectors, what)
        self.block = block if vectors.dtype == SINGLE else vectors.shape[1]
        self.inverse_lengths: Vectors = (1 / np.sqrt(squares)).astype(vectors.dtype, copy=False)

    def resolution(self, largest: float) -> float:
        """Return how far apart two scores must be to prove which is larger, if no absolute relevance is larger."""
        return resolution(self.vectors.dtype, self.vectors.shape[1], largest, self.block)

    def units(self, rows: Indices | slice = ALL) -> FloatArray:
        """Return float64 unit vectors, shape (rows, d); of a zero vector, the vector itself."""
        vectors, squares = _in_range(self.vectors[rows].astype(DOUBLE), "vectors")
        units: FloatArray = vectors * (1 / np.sqrt(squares))[:, np.newaxis]
        return units

    def products(self, others: Vectors, rows: Indices | slice = ALL) -> Vectors:
        """Return the dot products of some vectors with one other vector, or each of several, in their precision."""
        return dot_products(self.vectors[rows], others.astype(self.vectors.dtype, copy=False), self.block)

    def cosines(self, rows: Indices | slice, others: Indices | slice) -> Vectors:
        """Return the cosine of each of some vectors with each of some others, in their precision."""
        left = self.vectors[rows]
        # The product of a matrix with its own transpose takes half the time.
        right = left if others is rows else self.vectors[others]
        lengths = self.inverse_lengths
        return dot_products(left, right, self.block) * lengths[others] * lengths[rows, np.newaxis]


def dot_products(left: Vectors, right: Vectors, block: int = BLOCK) -> Vectors:
    """Return the dot products of all vectors on the left with one vector, shape (d,), or several, shape (m, d).

    Blocks of dimensions are summed first, then the blocks, because the error of a sum grows with its number of terms.
    """
    d = left.shape[1]
    if d <= block:
        products: Vectors = left @ right.T
        return products
    parts = (left[:, at : at + block] @ right[..., at : at + block].T for at in range(0, d, block))
    return reduce(np.add, parts)


def rounding_error(dtype: np.dtype[Any], d: int, block: int = BLOCK) -> float:
    """Return a bound on the error of a cosine of two vectors of `d` numbers, computed from these products in `dtype`.

    A dot product sums as many rounded products as a block has dimensions, and then the blocks; so does each of the two
    lengths, under a square root. Each rounding is by at most eps / 2, in any order of summation, and a few operations
    are added for safety. Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), section 3.1.
    """
    terms = sum(min(d, width) + math.ceil(d / width) for width in (block, d if dtype == DOUBLE else BLOCK))
    relative = (terms + 8) * float(np.finfo(dtype).eps) / 2
    return relative / (1 - relative)


@lru_cache
def resolution(dtype: np.dtype[Any], d: int, largest: float, block: int) -> float:
    """Return how far apart two scores from such cosines must be to prove which is larger, also in plain float64."""
    arithmetic = 4 * float(np.finfo(dtype).eps) * (1 + largest)
    return 2 * (rounding_error(dtype, d, block) + rounding_error(DOUBLE, d, d) + arithmetic)


def squared_lengths(vectors: Vectors) -> FloatArray:
    """Return the dot product of each vector with itself, shape (n,), also in blocks, which are summed in float64."""
    n, d = vectors.shape
    whole = d - d % BLOCK
    blocks = vectors[:, :whole].reshape(n, whole // BLOCK, BLOCK)
    squares: FloatArray = np.add.reduce(_row_by_row(blocks), axis=1, dtype=DOUBLE)
    return squares + _row_by_row(vectors[:, whole:]) if whole < d else squares


def _row_by_row(vectors: Vectors) -> Vectors:
    products: Vectors = np.matmul(vectors[..., np.newaxis, :], vectors[..., np.newaxis])[..., 0, 0]
    return products


def _in_range(vectors: Vectors, what: str) -> tuple[Vectors, FloatArray]:
    """Return vectors and their squared lengths, with infinity in place of 0.

    Vectors whose squared length is out of range are scaled, in a copy, by a power of two, which does not change any
    digit of a cosine.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # such vectors are found by their squares below
        squares = squared_lengths(vectors)
    low, high = RANGE[vectors.dtype]
    if squares[squares.argmin()] >= low and squares[squares.argmax()] <= high:  # both are NaN if one is
        return vectors, squares
    rows = np.flatnonzero(~((squares >= low) & (squares <= high)))
    require_finite(vectors[rows], what, rows)
    vectors = vectors.copy()
    exponents = np.frexp(np.abs(vectors[rows]).max(axis=1))[1]
    vectors[rows] = np.ldexp(vectors[rows], -exponents[:, np.newaxis])
    squares[rows] = squared_lengths(vectors[rows])
    squares[squares == 0] = np.inf
    return vectors, squares
