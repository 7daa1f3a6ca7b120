"""Vectors as the cosine sees them: directions."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.reranking.vectors import require_finite

if TYPE_CHECKING:
    import numpy.typing as npt

    from retrieval_metrics.reranking.vectors import FloatArray, Vectors

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
# Squared lengths in between neither overflow nor lose digits on their way into a cosine.
_RANGE = {dtype: (float(np.finfo(dtype).tiny) ** 0.6, float(np.finfo(dtype).max) ** 0.9) for dtype in (SINGLE, DOUBLE)}
_COPY_BLOCK = 12_800  # numbers: 100 kB of float64 stay in the cache, and malloc has them without asking the system


class Directions:
    """Vectors with what their cosines need; a zero vector has the cosine 0 with every vector.

    Attributes:
        vectors: The vectors, float32 or float64, shape (n, d), none so long or short that its square is out of range.
        inverse_lengths: 1 / length of each, 0 for a zero vector, shape (n,), in the precision of the cosines.
    """

    def __init__(self, vectors: Vectors, what: str) -> None:
        """Take the vectors and their name for the error that a NaN or an infinite number raises."""
        self._what = what
        self.vectors, squares = _in_range(vectors, what)
        self.inverse_lengths = _inverse_lengths(squares)

    @cached_property
    def double(self) -> Directions:
        """The same directions in float64."""
        return Directions(self.vectors.astype(DOUBLE), self._what) if self.vectors.dtype == SINGLE else self

    def unit(self, row: int) -> Vectors:
        """Return the unit vector of one row, shape (d,)."""
        unit: Vectors = self.vectors[row] * self.inverse_lengths[row]
        return unit

    def cosines(self, unit: Vectors) -> Vectors:
        """Return the cosine of every vector with one unit vector, shape (n,)."""
        products: Vectors = self.vectors.dot(unit.astype(self.vectors.dtype, copy=False))
        return products * self.inverse_lengths

    def products(self) -> Vectors:
        """Return the dot products of all pairs of vectors, their Gram matrix, shape (n, n)."""
        return self.vectors @ self.vectors.T


class GramDirections(Directions):
    """Directions whose dot products, all computed beforehand, are float64 even where the vectors are float32."""

    def __init__(self, vectors: Vectors, what: str) -> None:
        """Take the vectors and their name for the error that a NaN or an infinite number raises."""
        n, d = vectors.shape
        width = max(1, _COPY_BLOCK // n)
        self._blocks = [slice(start, start + width) for start in range(0, d, width)]
        self.vectors = vectors
        self._products = self._multiply()
        squares = self._products.diagonal().copy()
        if not ordinary(squares, vectors.dtype).all():
            self.vectors, _ = _in_range(vectors, what)
            self._products = self._multiply()
            squares = self._products.diagonal().copy()
        self.inverse_lengths = _inverse_lengths(squares)

    def _multiply(self) -> FloatArray:
        products = np.zeros((len(self.vectors), len(self.vectors)))
        with np.errstate(over="ignore", invalid="ignore"):  # what is not ordinary is found in the squares
            for block in self._blocks:
                part = self.vectors[:, block].astype(DOUBLE)
                products += part @ part.T
        return products

    @cached_property
    def double(self) -> Directions:
        """These directions."""
        return self

    def cosines(self, unit: Vectors) -> Vectors:
        """Return the cosine of every vector with one unit vector, shape (n,)."""
        products = np.zeros(len(self.vectors))
        for block in self._blocks:
            products += self.vectors[:, block].astype(DOUBLE).dot(unit[block])
        return products * self.inverse_lengths

    def products(self) -> Vectors:
        """Return the dot products of all pairs of vectors, their Gram matrix, shape (n, n)."""
        return self._products


def ordinary(squares: Vectors, dtype: np.dtype[Any]) -> npt.NDArray[np.bool_]:
    """Return which squared lengths are neither zero, nor too small or large for cosines in `dtype`, nor NaN."""
    low, high = _RANGE[dtype]
    inside: npt.NDArray[np.bool_] = (squares >= low) & (squares <= high)
    return inside


def _in_range(vectors: Vectors, what: str) -> tuple[Vectors, Vectors]:
    """Return finite vectors and their squared lengths, each vector brought into range where it is not.

    That is done in a copy, by multiplying with a power of two, which changes no cosine, not even its last digit.
    """
    squares = np.einsum("ij,ij->i", vectors, vectors)
    rows = np.flatnonzero(~ordinary(squares, vectors.dtype))
    if rows.size:
        require_finite(vectors[rows], what, rows)
        largest = np.abs(vectors[rows]).max(axis=1)
        rows, largest = rows[largest > 0], largest[largest > 0]
    if rows.size:
        vectors = vectors.copy()
        vectors[rows] = np.ldexp(vectors[rows], -np.frexp(largest)[1][:, np.newaxis])
        squares[rows] = np.einsum("ij,ij->i", vectors[rows], vectors[rows])
    return vectors, squares


def _inverse_lengths(squares: Vectors) -> Vectors:
    squares[squares == 0] = np.inf
    return 1 / np.sqrt(squares)
