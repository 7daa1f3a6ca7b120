"""The best and the worst order of documents with equal scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.judging.judged_run import Items

if TYPE_CHECKING:
    from retrieval_metrics.checks import BoolArray, FloatArray
    from retrieval_metrics.judging.judged_run import JudgedRun


def best_and_worst(judged: JudgedRun, first: BoolArray) -> tuple[JudgedRun, JudgedRun]:
    """Return a judged run in the best order of equal scores and in the worst, which is the reverse.

    In the best order of a block some documents come first, highest grade on top, and the other judged ones come last.

    Args:
        judged: The judged run with all documents of a tie at its first rank.
        first: The items that come first.
    """
    grade = judged.items.grade
    best, worst = _ordered(judged, first, grade), _ordered(judged, ~first, -grade)
    return judged.with_items(best), judged.with_items(worst)


def _ordered(judged: JudgedRun, first: BoolArray, worth: FloatArray) -> Items:
    """Return the items with some of them first in their block and the other judged ones last.

    Args:
        judged: The judged run with all documents of a tie at its first rank.
        first: The items that come first.
        worth: Among these, items worth more are ranked higher.
    """
    items = judged.items
    order = np.lexsort((-worth, ~first, items.rank, items.query))
    query, above, size, first = items.query[order], items.rank[order] - 1, items.tied[order], first[order]
    new = np.diff(query, prepend=-1).astype(bool) | np.diff(above, prepend=-1).astype(bool)
    start = np.flatnonzero(new)
    block = np.cumsum(new) - 1
    place = np.arange(len(order)) - start[block]
    length = np.diff(np.append(start, len(order)))[block]
    rank = above + 1 + np.where(first, place, size - length + place)
    return Items(items.document[order], query, rank, items.grade[order], size, above + 1)
