"""Compute the overlap of two rankings of a query at a cutoff, which needs no judgments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.comparison.distinct_ranking import DistinctRanking


def overlap(first: DistinctRanking, second: DistinctRanking, k: int, tolerance: float = 0.0) -> float:
    """Return the number of documents that the first k of two rankings share, divided by the longer of the two.

    Ties at rank k, on either side, are broken in favour of agreement, so a tie that is broken otherwise is no change.

    Example:
        >>> from retrieval_metrics.comparison.distinct_ranking import DistinctRanking
        >>> first = DistinctRanking(["a", "b", "c"], np.array([3.0, 2.0, 2.0]))  # b and c tie
        >>> overlap(first, DistinctRanking(["a", "c"], np.array([2.0, 1.0])), 2)
        1.0
    """
    n_longest = max(min(k, len(first.documents)), min(k, len(second.documents)))
    if not n_longest:
        return 1.0
    top_of_first = _find_top(first, k, tolerance)
    top_of_second = _find_top(second, k, tolerance)
    n_common = len(top_of_first.certain & top_of_second.certain)
    # A tied document takes a free place beside a certain one of the other ranking; then tied ones of both agree.
    n_tied_in_second = min(len(top_of_first.certain & top_of_second.tied), top_of_second.n_free)
    n_tied_in_first = min(len(top_of_first.tied & top_of_second.certain), top_of_first.n_free)
    n_tied_in_both = min(
        len(top_of_first.tied & top_of_second.tied),
        top_of_second.n_free - n_tied_in_second,
        top_of_first.n_free - n_tied_in_first,
    )
    return (n_common + n_tied_in_second + n_tied_in_first + n_tied_in_both) / n_longest


@dataclass(frozen=True, slots=True)
class _Top:
    """The documents that are surely among the first k, those that tie at rank k, and how many of these fit."""

    certain: set[DocumentId]
    tied: set[DocumentId]
    n_free: int


def _find_top(ranking: DistinctRanking, k: int, tolerance: float) -> _Top:
    documents, scores = ranking
    if len(documents) <= k:
        return _Top(set(documents), set(), 0)
    differs_from_last = np.abs(scores - scores[k - 1]) > tolerance
    start = int(differs_from_last.argmin())
    end = len(differs_from_last) - int(differs_from_last[::-1].argmin())
    if end <= k:
        return _Top(set(documents[:k]), set(), 0)
    return _Top(set(documents[:start]), set(documents[start:end]), k - start)
