"""Blocks of documents with equal scores, query by query: for metrics that depend on several documents at once."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.judging.judged_run import is_relevant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.judging.judged_run import JudgedRun


class Block(NamedTuple):
    """Documents of one query with the same score, of which at least one is judged; a block of one has no ties.

    Attributes:
        above: How many documents are ranked above the block.
        size: How many documents it has.
        relevant: How many of them are relevant.
        grades: The grades of those that are judged.
    """

    above: int
    size: int
    relevant: int
    grades: FloatArray

    def within(self, k: int | None) -> int:
        """Return how many documents of the block are among the first `k` of the ranking."""
        return self.size if k is None else min(max(k - self.above, 0), self.size)


def by_block(judged: JudgedRun, rel: float | None, mean_of: Callable[[int, Sequence[Block]], float]) -> FloatArray:
    """Return the mean of a metric over all orders of equal scores, computed query by query, shape (queries,).

    Args:
        judged: The judged run with all documents of a tie at its first rank.
        rel: The relevance threshold.
        mean_of: Takes the position of a query and its blocks, top first, and returns the mean.
    """
    mean = np.zeros(judged.n_queries)
    for query, blocks in blocks_of(judged, rel):
        mean[query] = mean_of(query, blocks)
    return mean


def blocks_of(judged: JudgedRun, rel: float | None) -> Iterator[tuple[int, list[Block]]]:
    """Yield each query with ties and its blocks, top first."""
    items, queries = judged.items, judged.tied_queries()
    first, end = np.searchsorted(items.query, queries), np.searchsorted(items.query, queries, side="right")
    for query, start, stop in zip(queries.tolist(), first.tolist(), end.tolist(), strict=True):
        ranks, inverse = np.unique(items.rank[start:stop], return_inverse=True)
        blocks = []
        for number, rank in enumerate(ranks.tolist()):
            here = np.flatnonzero(inverse == number) + start
            grades = items.grade[here]
            blocks.append(Block(rank - 1, int(items.tied[here[0]]), int(is_relevant(grades, rel).sum()), grades))
        yield query, blocks


def chance(size: int, relevant: int, drawn: int, hits: int) -> float:
    """Return the probability that `drawn` documents of a block include exactly `hits` of its relevant ones.

    Example:
        >>> chance(4, 2, 2, 1)  # 2 * 2 of the 6 pairs
        0.6666666666666666
    """
    if not 0 <= hits <= drawn:
        return 0.0
    return comb(relevant, hits) * comb(size - relevant, drawn - hits) / comb(size, drawn)
