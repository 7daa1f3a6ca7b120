"""Vectors as the cosine sees them: directions."""

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
from retrieval_metrics.reranking.engine.vectors import require_finite

if TYPE_CHECKING:
    import numpy.typing as npt

    from retrieval_metrics.reranking.engine.vectors import Indices, Vectors

# Squared lengths in between neither overflow nor lose digits on their way into a cosine.
_RANGE = {dtype: (float(np.finfo(dtype).tiny) ** 0.6, float(np.finfo(dtype).max) ** 0.9) for dtype in (SINGLE, DOUBLE)}
_CONVERTED = 32_768  # numbers at once: 256 kB of float64 stay in a cache, and in memory that the process has already


class Directions:
    """Vectors with what their cosines need; a zero vector has the cosine 0 with every vector.

    Attributes:
        vectors: The vectors, float32 or float64, shape (n, d), none so long or short that its square is out of range.
        precision: That of the products of vectors.
        block: How many dimensions of a product are added up in a row.
        inverse_lengths: 1 / length of each, 0 for a zero vector, shape (n,), in that precision.
    """

    def __init__(
        self, vectors: Vectors, what: str, *, precision: np.dtype[Any] | None = None, block: int = BLOCK
    ) -> None:
        """Take the vectors and their name for the error that a NaN or an infinite number raises.

        Args:
            vectors: The vectors.
            what: Their name.
            precision: That of the products of vectors; None takes that of the vectors.
            block: How many dimensions of a float32 product are added up in a row.
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
        """Return the least distance of two scores that proves which is larger.

        Args:
            largest: The largest absolute relevance.
        """
        return resolution(self.precision, self.vectors.shape[1], largest, self.block)

    def unit(self, row: int) -> Vectors:
        """Return the unit vector of one row, shape (d,)."""
        # Before numpy 2, a float64 number times a float32 array was float32.
        unit: Vectors = np.multiply(self.vectors[row], self.inverse_lengths[row], dtype=self.precision)
        return unit

    def products(self, units: Vectors, rows: Indices | slice = ALL) -> Vectors:
        """Return the dot products of some vectors with one unit vector, or with each of several."""
        if units.ndim == 1 and self.block >= len(units):
            products: Vectors = self.vectors[rows].dot(units)  # all that `dot_products` would do, without its trouble
            return products
        return dot_products(self.vectors[rows], units, self.precision, self.block)

    def cosines(self, unit: Vectors) -> Vectors:
        """Return the cosine of every vector with one unit vector, shape (n,)."""
        return self.products(unit.astype(self.precision, copy=False)) * self.inverse_lengths

    def cosines_between(self, rows: Indices | slice, others: Indices | slice) -> Vectors:
        """Return the cosine of each of some vectors with each of some others, shape (rows, others)."""
        left = self.vectors[rows]
        # The products of a matrix with itself take half the time.
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
    """Return which squared lengths are neither zero, nor too small or large for cosines in `dtype`, nor NaN."""
    low, high = _RANGE[dtype]
    inside: npt.NDArray[np.bool_] = (squares >= low) & (squares <= high)
    return inside


def _in_range(vectors: Vectors, precision: np.dtype[Any], what: str) -> tuple[Vectors, Vectors]:
    """Return finite vectors and their squared lengths, infinity for 0, each vector brought into range where it is not.

    That is done in a copy, by multiplying with a power of two, which changes no cosine, not even its last digit.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what is not ordinary is found in the squares
        squares = squared_lengths(vectors, precision)
    low, high = _RANGE[vectors.dtype]
    if squares[squares.argmin()] >= low and squares[squares.argmax()] <= high:  # NaN, if there is one, is both
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
