"""Vectors prepared for computing cosines, and a bound on the rounding error of these."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.retrieval.vectors import require_finite

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.retrieval.vectors import Indices, Vectors

ALL = slice(None)
# Dimensions summed at once; in float32 narrower blocks have a smaller error and take longer.
BLOCK = 384
SINGLE = np.dtype(np.float32)
DOUBLE = np.dtype(np.float64)
# A cosine is rounded less often than this besides the additions: by products, roots and divisions.
N_FURTHER_ROUNDINGS = 8
# The buffer of einsum holds this many numbers; it splits a sum where it ends.
EINSUM_BUFFER = 8192


class SafeRange(NamedTuple):
    """A range of squared lengths."""

    low: float
    high: float

    @classmethod
    def for_dtype(cls, dtype: np.dtype[Any]) -> SafeRange:
        """Return the range in which cosines from squared lengths of a type neither overflow nor lose digits."""
        limits = np.finfo(dtype)
        return cls(float(limits.tiny) ** 0.6, float(limits.max) ** 0.9)


SAFE_RANGES = {SINGLE: SafeRange.for_dtype(SINGLE), DOUBLE: SafeRange.for_dtype(DOUBLE)}


class UnitVectors:
    """Vectors and their inverse lengths; a zero vector has cosine 0 with every vector.

    Attributes:
        vectors: The vectors, float32 or float64, shape (n, d), scaled where a squared length would be out of range.
        block: How many dimensions of a dot product are summed at once.
        inverse_lengths: 1 / length of each vector, 0 for a zero vector, shape (n,), in the precision of the vectors.
    """

    def __init__(self, vectors: Vectors, name: str, block: int = BLOCK) -> None:
        """Compute the lengths of the vectors, which a ValueError calls `name` if a number is NaN or infinite."""
        scaled = _scale_into_range(vectors, name)
        self.vectors = scaled.vectors
        self.block = block if vectors.dtype == SINGLE else vectors.shape[1]
        self.inverse_lengths: Vectors = (1 / np.sqrt(scaled.squares)).astype(vectors.dtype, copy=False)

    def resolution(self, largest: float) -> float:
        """Return how far apart two scores must be to prove which is larger, if no absolute relevance is larger."""
        return resolution(self.vectors.dtype, self.vectors.shape[1], largest, self.block)

    def units(self, rows: Indices | slice = ALL) -> FloatArray:
        """Return float64 unit vectors, shape (rows, d); of a zero vector, the vector itself."""
        scaled = _scale_into_range(self.vectors[rows].astype(DOUBLE), "vectors")
        units: FloatArray = scaled.vectors * (1 / np.sqrt(scaled.squares))[:, np.newaxis]
        return units

    def products(self, right: Vectors, rows: Indices | slice = ALL) -> Vectors:
        """Return the dot products of some vectors with one other vector, or each of several, in their precision."""
        return dot_products(self.vectors[rows], right.astype(self.vectors.dtype, copy=False), self.block)

    def cosines(self, rows: Indices | slice, right_rows: Indices | slice) -> Vectors:
        """Return the cosine of each of some vectors with each of some others, in their precision."""
        left = self.vectors[rows]
        # The product of a matrix with its own transpose takes half the time.
        right = left if right_rows is rows else self.vectors[right_rows]
        products = dot_products(left, right, self.block)
        return products * self.inverse_lengths[right_rows] * self.inverse_lengths[rows, np.newaxis]


def dot_products(left: Vectors, right: Vectors, block: int = BLOCK) -> Vectors:
    """Return the dot products of all vectors on the left with one vector, shape (d,), or several, shape (m, d)."""
    d = left.shape[1]
    # Linear algebra libraries compute whole registers, also where a vector of few numbers fills only a part. What the
    # rest of a register happens to hold changes no product, but may raise the flag of an invalid operation.
    with np.errstate(invalid="ignore"):
        products: Vectors = left[:, :block] @ right[..., :block].T
        for start in range(block, d, block):
            end = start + block
            products = products + left[:, start:end] @ right[..., start:end].T
    return products


def rounding_error(dtype: np.dtype[Any], d: int, block: int = BLOCK) -> float:
    """Return a bound on the error of a cosine of two vectors of `d` numbers, from these products in `dtype`."""
    # One product of two vectors, and the squared length of each.
    length_block = d if dtype == DOUBLE else BLOCK
    n_terms = _count_terms(d, block) + _count_terms(d, length_block)
    relative = (n_terms + N_FURTHER_ROUNDINGS) * float(np.finfo(dtype).eps) / 2
    return relative / (1 - relative)


def _count_terms(d: int, block: int) -> int:
    return min(d, block) + math.ceil(d / block)


@lru_cache
def resolution(dtype: np.dtype[Any], d: int, largest: float, block: int) -> float:
    """Return how far apart two scores from such cosines must be to prove which is larger, also in plain float64."""
    arithmetic = 4 * float(np.finfo(dtype).eps) * (1 + largest)
    return 2 * (rounding_error(dtype, d, block) + rounding_error(DOUBLE, d, d) + arithmetic)


def squared_lengths(vectors: Vectors) -> FloatArray:
    """Return the dot product of each vector with itself, shape (n,), also in blocks, which are summed in float64."""
    n, d = vectors.shape
    n_in_blocks = d - d % BLOCK
    blocks = vectors[:, :n_in_blocks].reshape(n, n_in_blocks // BLOCK, BLOCK)
    squares: FloatArray = np.add.reduce(_square_rows(blocks), axis=1, dtype=DOUBLE)
    if n_in_blocks < d:
        squares = squares + _square_rows(vectors[:, n_in_blocks:])
    return squares


def _square_rows(vectors: Vectors) -> Vectors:
    products: Vectors = np.matmul(vectors[..., np.newaxis, :], vectors[..., np.newaxis])[..., 0, 0]
    return products


class _ScaledVectors(NamedTuple):
    """Vectors with their squared lengths, with infinity in place of 0."""

    vectors: Vectors
    squares: FloatArray


def _scale_into_range(vectors: Vectors, name: str) -> _ScaledVectors:
    """Return vectors scaled by powers of two where a squared length would be out of range."""
    with np.errstate(over="ignore", invalid="ignore"):  # such vectors are found by their squares below
        squares = squared_lengths(vectors)
    safe = SAFE_RANGES[vectors.dtype]
    smallest = squares[squares.argmin()]
    largest = squares[squares.argmax()]
    if smallest >= safe.low and largest <= safe.high:  # both are NaN if one is
        return _ScaledVectors(vectors, squares)
    is_safe = (squares >= safe.low) & (squares <= safe.high)
    rows = np.flatnonzero(~is_safe)
    require_finite(vectors[rows], name, rows)
    vectors = vectors.copy()
    exponents = np.frexp(np.abs(vectors[rows]).max(axis=1))[1]
    vectors[rows] = np.ldexp(vectors[rows], -exponents[:, np.newaxis])
    squares[rows] = squared_lengths(vectors[rows])
    squares[squares == 0] = np.inf
    return _ScaledVectors(vectors, squares)


def exact_cosines(left: Vectors, rows: Indices, right: Vectors, right_rows: Indices) -> FloatArray:
    """Return the float64 cosines a.b / (|a| |b|) of pairs of vectors, 0 for a zero vector, shape (pairs,)."""
    cosines = np.zeros(len(rows))
    n_at_once = max(1, EINSUM_BUFFER // left.shape[1])
    for start in range(0, len(rows), n_at_once):
        pairs = slice(start, start + n_at_once)
        a = left[rows[pairs]].astype(np.float64)
        b = right[right_rows[pairs]].astype(np.float64)
        products = np.einsum("ij,ij->i", a, b)
        lengths = np.sqrt(np.einsum("ij,ij->i", a, a)) * np.sqrt(np.einsum("ij,ij->i", b, b))
        np.divide(products, lengths, out=cosines[pairs], where=lengths > 0)
    return cosines
