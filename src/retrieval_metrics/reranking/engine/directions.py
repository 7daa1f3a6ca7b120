"""Vectors prepared for computing cosines, and a bound on the rounding error of these."""

from __future__ import annotations

import math
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.reranking.vectors import require_finite

if TYPE_CHECKING:
    from retrieval_metrics.aliases import FloatArray
    from retrieval_metrics.reranking.vectors import Indices, Vectors

ALL = slice(None)
BLOCK = 384  # dimensions; in float32 narrower blocks have a smaller error and take longer
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
EPS = {dtype: float(np.finfo(dtype).eps) for dtype in (SINGLE, DOUBLE)}
# Cosines from squared lengths in this range neither overflow nor lose digits.
_RANGE = {dtype: (float(np.finfo(dtype).tiny) ** 0.6, float(np.finfo(dtype).max) ** 0.9) for dtype in (SINGLE, DOUBLE)}


class Directions:
    """Vectors and their inverse lengths; a zero vector has cosine 0 with every vector.

    Attributes:
        vectors: The vectors, float32 or float64, shape (n, d), scaled where a squared length would be out of range.
        inverse_lengths: 1 / length of each vector, 0 for a zero vector, shape (n,), in the precision of the vectors.
    """

    def __init__(self, vectors: Vectors, what: str, block: int = BLOCK) -> None:
        """Compute the lengths of the vectors; a NaN or infinite number raises a ValueError.

        Args:
            vectors: The vectors.
            what: Their name, for the message.
            block: How many dimensions of a dot product are summed at once.
        """
        self.block = block
        self.vectors, squares = _in_range(vectors, block, what)
        self.inverse_lengths: Vectors = 1 / np.sqrt(squares)

    def resolution(self, largest: float) -> float:
        """Return how far apart two scores from `cosines` must be to prove which is larger.

        Args:
            largest: The largest absolute relevance.
        """
        return resolution(self.vectors.dtype, self.vectors.shape[1], largest, self.block)

    def units(self, rows: Indices | slice = ALL) -> FloatArray:
        """Return float64 unit vectors, shape (rows, d); of a zero vector, the vector itself."""
        units = self.vectors[rows].astype(DOUBLE)
        squares = squared_lengths(units, units.shape[1])
        squares[squares == 0] = np.inf
        units *= (1 / np.sqrt(squares))[:, np.newaxis]
        return units

    def products(self, units: Vectors, rows: Indices | slice = ALL) -> Vectors:
        """Return the dot products of some vectors with one unit vector, or each of several, in their precision."""
        return dot_products(self.vectors[rows], units.astype(self.vectors.dtype, copy=False), self.block)

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
    lengths, where the square root halves it. Each rounding is by at most eps / 2, in any order of summation, and a few
    operations are added for safety. Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), section 3.1.
    """
    terms = 2 * (min(d, block) + math.ceil(d / block)) + 8
    relative = terms * EPS[dtype] / 2
    return relative / (1 - relative)


@lru_cache
def resolution(dtype: np.dtype[Any], d: int, largest: float, block: int) -> float:
    """Return how far apart two scores from such cosines must be to prove which is larger, also in plain float64.

    Args:
        dtype: The precision of the dot products.
        d: The number of dimensions.
        largest: The largest absolute relevance.
        block: How many dimensions of a dot product were summed at once.
    """
    arithmetic = 4 * EPS[dtype] * (1 + largest)
    return 2 * (rounding_error(dtype, d, block) + rounding_error(DOUBLE, d, d) + arithmetic)


def ordinary(squares: Any, dtype: np.dtype[Any]) -> Any:
    """Return which squared lengths can be used for cosines in `dtype`: not zero, too small, too large or NaN."""
    low, high = _RANGE[dtype]
    return (squares >= low) & (squares <= high)


def squared_lengths(vectors: Vectors, block: int) -> Vectors:
    """Return the dot product of each vector with itself, shape (n,), also in blocks."""
    blocks = (vectors[:, at : at + block] for at in range(0, vectors.shape[1], block))
    return reduce(np.add, (np.matmul(some[:, np.newaxis, :], some[:, :, np.newaxis])[:, 0, 0] for some in blocks))


def _in_range(vectors: Vectors, block: int, what: str) -> tuple[Vectors, Vectors]:
    """Return vectors and their squared lengths, with infinity in place of 0.

    Vectors whose squared length is out of range are scaled, in a copy, by a power of two, which does not change any
    digit of a cosine.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # such vectors are found by their squares below
        squares = squared_lengths(vectors, block)
    rows = np.flatnonzero(~ordinary(squares, vectors.dtype))
    if rows.size:
        require_finite(vectors[rows], what, rows)
        vectors = vectors.copy()
        exponents = np.frexp(np.abs(vectors[rows]).max(axis=1))[1]
        vectors[rows] = np.ldexp(vectors[rows], -exponents[:, np.newaxis])
        squares[rows] = squared_lengths(vectors[rows], block)
        squares[squares == 0] = np.inf
    return vectors, squares
