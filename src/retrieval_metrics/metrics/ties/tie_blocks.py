"""Average metrics that depend on several documents at once over the orders of each block of equal scores."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.matching.rank_rows import is_relevant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.matching.judged_run import JudgedRun


class Block(NamedTuple):
    """Documents of one query with the same score, of which at least one is judged; a block of one has no ties.

    Attributes:
        n_above: How many documents are ranked above the block.
        size: How many documents it has.
        n_relevant: How many of them are relevant.
        grades: The grades of those that are judged.
    """

    n_above: int
    size: int
    n_relevant: int
    grades: FloatArray

    def within(self, k: int | None) -> int:
        """Return how many documents of the block are among the first `k` of the ranking."""
        if k is None:
            return self.size
        return min(max(k - self.n_above, 0), self.size)


def average_by_block(
    judged: JudgedRun, rel: float | None, compute_mean: Callable[[int, Sequence[Block]], float]
) -> FloatArray:
    """Return the mean of a metric over all orders of equal scores, computed query by query, shape (queries,)."""
    mean = np.zeros(judged.n_queries)
    for query, blocks in blocks_of(judged, rel):
        mean[query] = compute_mean(query, blocks)
    return mean


def blocks_of(judged: JudgedRun, rel: float | None) -> Iterator[tuple[int, list[Block]]]:
    """Yield each query with ties and its blocks, top first."""
    items = judged.items
    queries = judged.tied_queries()
    starts = np.searchsorted(items.query, queries)
    stops = np.searchsorted(items.query, queries, side="right")
    for query, start, stop in zip(queries.tolist(), starts.tolist(), stops.tolist(), strict=True):
        ranks, block_of_item = np.unique(items.rank[start:stop], return_inverse=True)
        blocks = []
        for number, rank in enumerate(ranks.tolist()):
            rows = np.flatnonzero(block_of_item == number) + start
            grades = items.grade[rows]
            n_relevant = int(is_relevant(grades, rel).sum())
            blocks.append(Block(rank - 1, int(items.tied[rows[0]]), n_relevant, grades))
        yield query, blocks


def hit_probability(size: int, n_relevant: int, n_drawn: int, n_hits: int) -> float:
    """Return the probability that `n_drawn` documents of a block include exactly `n_hits` of its relevant ones.

    Example:
        >>> hit_probability(4, 2, 2, 1)  # 2 * 2 of the 6 pairs
        0.6666666666666666
    """
    if not 0 <= n_hits <= n_drawn:
        return 0.0
    return comb(n_relevant, n_hits) * comb(size - n_relevant, n_drawn - n_hits) / comb(size, n_drawn)
