"""Blocks of documents with equal scores, query by query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.judging.judged_run import is_relevant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Block:
    """Documents of one query with the same score, of which at least one is judged; a block of one has no ties.

    Attributes:
        above: How many documents stand above the block.
        size: How many documents it has.
        relevant: How many of them are relevant.
        grades: The grades of those that are judged.
    """

    above: int
    size: int
    relevant: int
    grades: FloatArray

    def within(self, k: int | None) -> int:
        """Return how many places of the block the first `k` of the ranking hold."""
        return self.size if k is None else min(max(k - self.above, 0), self.size)


def blocks_of(judged: JudgedRun, queries: IntArray, rel: float | None) -> Iterator[tuple[int, list[Block]]]:
    """Yield for each query its blocks, from the top."""
    items = judged.items
    first, end = np.searchsorted(items.query, queries), np.searchsorted(items.query, queries, side="right")
    for query, start, stop in zip(queries.tolist(), first.tolist(), end.tolist(), strict=True):
        ranks, inverse = np.unique(items.rank[start:stop], return_inverse=True)
        blocks = []
        for number, rank in enumerate(ranks.tolist()):
            here = np.flatnonzero(inverse == number) + start
            grades = items.grade[here]
            blocks.append(Block(rank - 1, int(items.tied[here[0]]), int(is_relevant(grades, rel).sum()), grades))
        yield query, blocks
