"""Cosines that depend on nothing but their two vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.reranking.vectors import Indices, Vectors

_NUMBERS_AT_ONCE = 8192  # in the buffer of einsum, which splits a sum where it ends


def exact_cosines(left: Vectors, rows: Indices, right: Vectors, others: Indices) -> FloatArray:
    """Return the float64 cosines a.b / (|a| |b|) of pairs of vectors, 0 for a zero vector, shape (pairs,).

    Pairs of equal vectors have equal cosines. BLAS does not guarantee that: its order of summation depends on the
    position of a vector in the matrix.

    Args:
        left: Vectors, shape (n, d).
        rows: The row of the first vector of each pair, shape (pairs,).
        right: Vectors, shape (m, d).
        others: The row of the second vector of each pair, shape (pairs,).
    """
    cosines = np.zeros(len(rows))
    pairs = max(1, _NUMBERS_AT_ONCE // left.shape[1])
    for start in range(0, len(rows), pairs):
        some = slice(start, start + pairs)
        a, b = left[rows[some]].astype(np.float64), right[others[some]].astype(np.float64)
        products, left_squares, right_squares = (np.einsum("ij,ij->i", *pair) for pair in ((a, b), (a, a), (b, b)))
        lengths = np.sqrt(left_squares) * np.sqrt(right_squares)
        np.divide(products, lengths, out=cosines[some], where=lengths > 0)
    return cosines
