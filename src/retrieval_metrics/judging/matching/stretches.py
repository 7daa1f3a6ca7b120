"""Stretches of a text as (start, end): their union and intersection."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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
    """Return the intersection of two unions of stretches.

    Example:
        >>> shared([(0, 4), (6, 9)], [(3, 7)])
        [(3, 4), (6, 7)]
    """
    common = ((max(a, c), min(b, d)) for a, b in left for c, d in right)
    return [(start, end) for start, end in common if start < end]
