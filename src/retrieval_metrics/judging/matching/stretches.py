"""Stretches of a text as (start, end): their union, intersection and difference."""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_START, _END = itemgetter(0), itemgetter(1)


def merged(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the union of some stretches, sorted and disjoint.

    Example:
        >>> merged([(5, 9), (0, 3), (2, 4)])
        [(0, 4), (5, 9)]
    """
    union: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if union and start <= union[-1][1]:
            union[-1] = union[-1][0], max(union[-1][1], end)
        else:
            union.append((start, end))
    return union


def shared(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the intersection of two unions of stretches, each sorted and disjoint.

    Example:
        >>> shared([(0, 4), (6, 9)], [(3, 7)])
        [(3, 4), (6, 7)]
    """
    common = []
    for start, end in left:
        for at in range(bisect_left(right, start + 1, key=_END), len(right)):
            if right[at][0] >= end:
                break
            common.append((max(start, right[at][0]), min(end, right[at][1])))
    return common


class Union:
    """A union of stretches that grows; adding one takes time logarithmic in their number, and memory moves.

    Example:
        >>> union = Union()
        >>> union.add(2, 4), union.add(8, 12), union.add(0, 10)  # what is new each time
        ([(2, 4)], [(8, 12)], [(0, 2), (4, 8)])
        >>> union.stretches
        [(0, 12)]
    """

    def __init__(self) -> None:
        self.stretches: list[tuple[int, int]] = []

    def add(self, start: int, end: int) -> list[tuple[int, int]]:
        """Add a stretch; return the parts of it that are new."""
        held = self.stretches
        first = bisect_left(held, start, key=_END)  # the first one that touches it or is behind it
        last = bisect_left(held, end + 1, lo=first, key=_START)
        fresh, at = [], start
        for left, right in held[first:last]:
            if at < left:
                fresh.append((at, left))
            at = max(at, right)
        if at < end:
            fresh.append((at, end))
        if first < last:
            start, end = min(start, held[first][0]), max(end, held[last - 1][1])
        held[first:last] = [(start, end)]
        return fresh
