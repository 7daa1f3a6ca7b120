"""Choose one alternative of each group so that the covered share is largest.

Alternatives may overlap, so they are described by the segments that they consist of; a segment that several chosen
alternatives share counts once.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Gain: TypeAlias = Callable[[Iterable[frozenset[int]]], int]

# The alternatives of a group, each as the segments it consists of.
Group: TypeAlias = "Sequence[frozenset[int]]"

# Overlapping groups with up to this many choices are searched in full; others are improved one group at a time.
MAX_SEARCHED_CHOICES = 10_000


class TextSegments:
    """The segments that pieces consist of; several pieces may share one.

    Attributes:
        covered: How many characters of each segment are covered.
        size: How many characters each segment has.
        by_piece: The segments of each piece.
    """

    def __init__(self) -> None:
        self.covered: list[int] = []
        self.size: list[int] = []
        self.by_piece: dict[int, frozenset[int]] = {}

    def add(self, pieces: Iterable[int], covered: int, size: int) -> None:
        """Add a segment that some pieces share."""
        segment = len(self.size)
        for piece in pieces:
            self.by_piece[piece] = self.by_piece.get(piece, frozenset()) | {segment}
        self.covered.append(covered)
        self.size.append(size)

    def count_characters(self, pieces: Iterable[frozenset[int]]) -> tuple[int, int]:
        """Return how many characters of some pieces are covered, and how many they have, each counted once."""
        union: frozenset[int] = frozenset().union(*pieces)
        n_covered = sum(self.covered[segment] for segment in union)
        n_characters = sum(self.size[segment] for segment in union)
        return n_covered, n_characters


def choose_alternatives(groups: Sequence[Group], segments: TextSegments) -> tuple[int, int]:
    """Return the covered and the total characters of one alternative per group, chosen for the largest quotient.

    Example:
        >>> segments = TextSegments()
        >>> for piece, (covered, size) in enumerate([(5, 10), (4, 4), (0, 6)]):
        ...     segments.add([piece], covered, size)
        >>> first, second, third = segments.by_piece.values()
        >>> choose_alternatives([[first, second], [third]], segments)  # 4 of 10, as (5 + 0) / 16 is less
        (4, 10)
    """
    clusters = _cluster_overlapping(groups)
    chosen = [[group[0] for group in cluster] for cluster in clusters]
    while True:  # Dinkelbach (1967): a better choice at the present share has a larger share; repeat until none exists
        pieces: list[frozenset[int]] = []
        for choice in chosen:
            pieces += choice
        covered, size = segments.count_characters(pieces)
        gain = _make_gain(segments, covered, size)
        better = [_choose_best(cluster, choice, gain) for cluster, choice in zip(clusters, chosen, strict=True)]
        if sum(map(gain, better)) <= 0:
            return covered, size
        chosen = better


def _make_gain(segments: TextSegments, covered: int, size: int) -> Gain:
    """Return a function that is positive for pieces with a larger covered share than covered / size."""

    def gain(pieces: Iterable[frozenset[int]]) -> int:
        n_covered, n_characters = segments.count_characters(pieces)
        return n_covered * size - covered * n_characters

    return gain


def _choose_best(cluster: Sequence[Group], present: list[frozenset[int]], gain: Gain) -> list[frozenset[int]]:
    """Return the choice among overlapping groups that gains most."""
    if prod(map(len, cluster)) <= MAX_SEARCHED_CHOICES:
        return list(max(product(*cluster), key=gain))
    best = list(present)
    is_improved = True
    while is_improved:
        is_improved = False
        for index, group in enumerate(cluster):
            candidates = [[*best[:index], piece, *best[index + 1 :]] for piece in group]
            candidate = max(candidates, key=gain)
            if gain(candidate) > gain(best):
                best = candidate
                is_improved = True
    return best


class _Cluster(NamedTuple):
    """Groups that overlap each other, and the segments they consist of."""

    segments: set[int]
    groups: list[Group]


def _cluster_overlapping(groups: Iterable[Group]) -> list[list[Group]]:
    """Return the groups in clusters that share no segment."""
    clusters: list[_Cluster] = []
    for group in groups:
        merged = _Cluster(set().union(*group), [group])
        separate = []
        for cluster in clusters:
            if merged.segments.isdisjoint(cluster.segments):
                separate.append(cluster)
            else:
                merged = _Cluster(merged.segments | cluster.segments, [*cluster.groups, *merged.groups])
        clusters = [*separate, merged]
    return [cluster.groups for cluster in clusters]
