"""Compare and count ranks of many queries at once: arrays of (query, rank) in, arrays out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import BoolArray, FloatArray, IntArray


def is_relevant(grade: FloatArray, rel: float | None) -> BoolArray:
    """Return which grades are relevant: above 0, or at least `rel` if a threshold is given."""
    return grade > 0 if rel is None else grade >= rel


def is_forbidden(smallest_grade: FloatArray, grade: float | None = None) -> BoolArray:
    """Return which grades are forbidden: below 0, or at most `grade` if a level is given."""
    return smallest_grade < 0 if grade is None else smallest_grade <= grade


def within(query: IntArray, rank: IntArray, k: int | IntArray) -> BoolArray:
    """Return which ranks are among the first k of their query."""
    if isinstance(k, np.ndarray):  # one cutoff per query
        return rank <= k[query]
    return rank <= k


def cut_rows(query: IntArray, rank: IntArray, row: IntArray, k: int | IntArray) -> BoolArray:
    """Return which rows of the expanded ranking are within a cutoff; a cutoff per query limits ranks only."""
    if isinstance(k, np.ndarray):
        return rank <= k[query]
    if row is rank:  # the expanded ranking is the ranking itself
        return row <= k
    return (row <= k) & (rank <= k)


def count_above(query: IntArray, rank: IntArray, other_query: IntArray, other_rank: IntArray) -> IntArray:
    """Return for each (query, rank) how many of the others are above it in its query; they are in order.

    Example:
        >>> query, rank = np.array([0, 1]), np.array([5, 5])
        >>> count_above(query, rank, np.array([0, 0, 1]), np.array([1, 9, 4])).tolist()  # ranks 1, 9 and 4
        [1, 1]
    """
    stride = _stride(rank, other_rank)
    n_before: IntArray = np.searchsorted(other_query * stride + other_rank, query * stride + rank)
    n_before_query = np.searchsorted(other_query, query)
    return n_before - n_before_query


def is_among(query: IntArray, rank: IntArray, other_query: IntArray, other_rank: IntArray) -> BoolArray:
    """Return for each (query, rank) whether it is one of the others."""
    stride = _stride(rank, other_rank)
    return np.isin(query * stride + rank, other_query * stride + other_rank)


def _stride(rank: IntArray, other_rank: IntArray) -> int:
    """Return a number above every rank, so that `query * stride + rank` orders pairs by query, then by rank."""
    stride: int = max(rank.max(initial=0), other_rank.max(initial=0)) + 1
    return stride


def ordinals(query: IntArray) -> IntArray:
    """Return the position (from 1) of each entry within its query, for entries ordered by query.

    Example:
        >>> ordinals(np.array([0, 0, 2, 2, 2])).tolist()
        [1, 2, 1, 2, 3]
    """
    counts = np.bincount(query)
    n_before = np.cumsum(counts) - counts
    numbers: IntArray = np.arange(1, len(query) + 1) - n_before[query]
    return numbers


def is_new(*columns: IntArray | FloatArray) -> BoolArray:
    """Return which entries differ from the one before in some column; the first entry is new.

    Example:
        >>> is_new(np.array([0, 0, 0, 1]), np.array([3, 3, 4, 4])).tolist()
        [True, False, True, True]
    """
    differs = np.zeros(len(columns[0]), dtype=bool)
    differs[:1] = True
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return differs
