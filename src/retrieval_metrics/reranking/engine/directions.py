"""Vectors prepared for computing cosines."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.reranking.engine.products import (
    ALL,
    BLOCK,
    DOUBLE,
    SINGLE,
    dot_products,
    resolution,
    squared_lengths,
)
from retrieval_metrics.reranking.vectors import require_finite

if TYPE_CHECKING:
    import numpy.typing as npt

    from retrieval_metrics.reranking.vectors import Indices, Vectors

# Cosines from squared lengths in this range neither overflow nor lose digits.
_RANGE = {dtype: (float(np.finfo(dtype).tiny) ** 0.6, float(np.finfo(dtype).max) ** 0.9) for dtype in (SINGLE, DOUBLE)}
_CONVERTED = 32_768  # numbers at once: 256 kB of float64 fit in a cache, and in memory that is already allocated


class Directions:
    """Vectors and their inverse lengths; a zero vector has cosine 0 with every vector.

    Attributes:
        vectors: The vectors, float32 or float64, shape (n, d), scaled where a squared length would be out of range.
        precision: The precision of dot products.
        block: How many dimensions of a dot product are summed at once.
        inverse_lengths: 1 / length of each vector, 0 for a zero vector, shape (n,), in that precision.
    """

    def __init__(
        self, vectors: Vectors, what: str, *, precision: np.dtype[Any] | None = None, block: int = BLOCK
    ) -> None:
        """Compute the lengths of the vectors; a NaN or infinite number raises a ValueError.

        Args:
            vectors: The vectors.
            what: Their name, for the message.
            precision: The precision of dot products; None uses that of the vectors.
            block: How many dimensions of a float32 dot product are summed at once.
        """
        n, d = vectors.shape
        self._what = what
        self.precision = vectors.dtype if precision is None else precision
        self.block = block if self.precision == SINGLE else d
        if self.precision != vectors.dtype:
            self.block = max(1, _CONVERTED // n)
            if self.block >= d:
                vectors = vectors.astype(self.precision)
        self.vectors, squares = _in_range(vectors, self.precision, what)
        self.inverse_lengths: Vectors = (1 / np.sqrt(squares)).astype(self.precision, copy=False)

    @cached_property
    def double(self) -> Directions:
        """The same directions in float64."""
        return self if self.precision == DOUBLE else Directions(self.vectors.astype(DOUBLE), self._what)

    def resolution(self, largest: float) -> float:
        """Return how far apart two scores must be to prove which is larger.

        Args:
            largest: The largest absolute relevance.
        """
        return resolution(self.precision, self.vectors.shape[1], largest, self.block)

    def unit(self, row: int) -> Vectors:
        """Return the unit vector of one row, shape (d,)."""
        # Before numpy 2, a float64 scalar times a float32 array was float32.
        unit: Vectors = np.multiply(self.vectors[row], self.inverse_lengths[row], dtype=self.precision)
        return unit

    def products(self, units: Vectors, rows: Indices | slice = ALL) -> Vectors:
        """Return the dot products of some vectors with one unit vector, or with each of several."""
        if units.ndim == 1 and self.block >= len(units):
            products: Vectors = self.vectors[rows].dot(units)  # the same as `dot_products`, with less overhead
            return products
        return dot_products(self.vectors[rows], units, self.precision, self.block)

    def cosines(self, unit: Vectors) -> Vectors:
        """Return the cosine of every vector with one unit vector, shape (n,)."""
        return self.products(unit.astype(self.precision, copy=False)) * self.inverse_lengths

    def cosines_between(self, rows: Indices | slice, others: Indices | slice) -> Vectors:
        """Return the cosine of each of some vectors with each of some others, shape (rows, others)."""
        left = self.vectors[rows]
        # The product of a matrix with its own transpose takes half the time.
        right = left if others is rows else self.vectors[others]
        cosines = dot_products(left, right, self.precision, self.block)
        cosines *= self.inverse_lengths[others]
        cosines *= self.inverse_lengths[rows, np.newaxis]
        return cosines

    @cached_property
    def all_cosines(self) -> Vectors:
        """The cosine of every vector with every vector, shape (n, n)."""
        return self.cosines_between(ALL, ALL)


def ordinary(squares: Vectors, dtype: np.dtype[Any]) -> npt.NDArray[np.bool_]:
    """Return which squared lengths can be used for cosines in `dtype`: not zero, too small, too large or NaN."""
    low, high = _RANGE[dtype]
    inside: npt.NDArray[np.bool_] = (squares >= low) & (squares <= high)
    return inside


def _in_range(vectors: Vectors, precision: np.dtype[Any], what: str) -> tuple[Vectors, Vectors]:
    """Return vectors and their squared lengths, with infinity in place of 0.

    Vectors whose squared length is out of range are scaled, in a copy, by a power of two, which does not change any
    digit of a cosine.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # such vectors are found by their squares below
        squares = squared_lengths(vectors, precision)
    low, high = _RANGE[vectors.dtype]
    if squares[squares.argmin()] >= low and squares[squares.argmax()] <= high:  # both are NaN if one is
        return vectors, squares
    rows = np.flatnonzero(~ordinary(squares, vectors.dtype))
    require_finite(vectors[rows], what, rows)
    largest = np.abs(vectors[rows]).max(axis=1)
    rows, largest = rows[largest > 0], largest[largest > 0]
    if rows.size:
        vectors = vectors.copy()
        vectors[rows] = np.ldexp(vectors[rows], -np.frexp(largest)[1][:, np.newaxis])
        squares[rows] = squared_lengths(vectors[rows], precision)
    squares[squares == 0] = np.inf
    return vectors, squares
