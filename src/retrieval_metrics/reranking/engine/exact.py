"""Cosines that depend on nothing but their two vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics.aliases import FloatArray
    from retrieval_metrics.reranking.vectors import Indices, Vectors

_NUMBERS_AT_ONCE = 16_000  # 125 kB of float64: malloc serves them without a system call
_EINSUM_BLOCK = 4096  # einsum splits longer sums where numpy's buffer of 8192 numbers ends


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
        lengths = np.sqrt(_dot(a, a)) * np.sqrt(_dot(b, b))
        np.divide(_dot(a, b), lengths, out=cosines[some], where=lengths > 0)
    return cosines


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the dot product of each row of `a` with the same row of `b`, all summed in the same order."""
    products = np.zeros(len(a))
    for start in range(0, a.shape[1], _EINSUM_BLOCK):
        block = slice(start, start + _EINSUM_BLOCK)
        products += np.einsum("ij,ij->i", a[:, block], b[:, block])
    return products
