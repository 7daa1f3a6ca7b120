"""The best and the worst order of documents with equal scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.definition.definition import OverOrders
from retrieval_metrics.judging.judged_rows import Items

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics.aliases import BoolArray, FloatArray
    from retrieval_metrics.judging.judged_run import JudgedRun


def between_orders(
    judged: JudgedRun, mean: FloatArray, score: Callable[[JudgedRun], FloatArray], first: BoolArray | None = None
) -> OverOrders:
    """Return a mean with the smallest and the largest value, for metrics that never fall when the order improves.

    In the best order of a block the relevant documents come first, highest grade on top, and those judged not relevant
    come last. The worst order is the reverse.

    Args:
        judged: The judged run with all documents of a tie at its first rank.
        mean: Shape (queries,), the mean over all orders.
        score: Takes a judged run and returns the values.
        first: The items that come first in the best order; None takes the relevant ones.
    """
    items = judged.items
    good = items.grade > 0 if first is None else first
    lowest = score(judged.with_items(_ordered(judged, ~good, -items.grade)))
    highest = score(judged.with_items(_ordered(judged, good, items.grade)))
    return OverOrders(mean, lowest, highest)


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
