"""Compute the union, the intersection and the difference of ranges of characters, each a pair of start and end."""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_get_start = itemgetter(0)
_get_end = itemgetter(1)


def merge_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the union of some ranges, sorted and disjoint.

    Example:
        >>> merge_ranges([(5, 9), (0, 3), (2, 4)])
        [(0, 4), (5, 9)]
    """
    union: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if union and start <= union[-1][1]:
            last_start, last_end = union[-1]
            union[-1] = last_start, max(last_end, end)
        else:
            union.append((start, end))
    return union


def intersect_ranges(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the intersection of two unions of ranges, each sorted and disjoint.

    Example:
        >>> intersect_ranges([(0, 4), (6, 9)], [(3, 7)])
        [(3, 4), (6, 7)]
    """
    common = []
    for start, end in left:
        first_overlapping = bisect_left(right, start + 1, key=_get_end)
        for index in range(first_overlapping, len(right)):
            right_start, right_end = right[index]
            if right_start >= end:
                break
            common.append((max(start, right_start), min(end, right_end)))
    return common


class RangeUnion:
    """A growing union of ranges; adding one takes logarithmic time for the search, plus the moves in a list.

    Attributes:
        ranges: The union, sorted and disjoint.

    Example:
        >>> union = RangeUnion()
        >>> union.add(2, 4), union.add(8, 12), union.add(0, 10)  # what is new each time
        ([(2, 4)], [(8, 12)], [(0, 2), (4, 8)])
        >>> union.ranges
        [(0, 12)]
    """

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []

    def add(self, start: int, end: int) -> list[tuple[int, int]]:
        """Add a range; return the parts of it that are new."""
        first = bisect_left(self.ranges, start, key=_get_end)  # the first range that touches the new one or follows it
        stop = bisect_left(self.ranges, end + 1, lo=first, key=_get_start)
        new_parts = []
        position = start
        for old_start, old_end in self.ranges[first:stop]:
            if position < old_start:
                new_parts.append((position, old_start))
            position = max(position, old_end)
        if position < end:
            new_parts.append((position, end))
        if first < stop:
            start = min(start, self.ranges[first][0])
            end = max(end, self.ranges[stop - 1][1])
        self.ranges[first:stop] = [(start, end)]
        return new_parts
