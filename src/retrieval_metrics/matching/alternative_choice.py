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

    Gain: TypeAlias = Callable[[Iterable["Alternative"]], int]

# An alternative, as the numbers of the segments it consists of.
Alternative: TypeAlias = frozenset[int]
# The alternatives of which a group needs one.
Group: TypeAlias = "Sequence[Alternative]"

# Overlapping groups with up to this many choices are searched in full; others are improved one group at a time.
MAX_SEARCHED_CHOICES = 10_000


class TextSegments:
    """The segments of texts that pieces consist of; several pieces may share a segment.

    Attributes:
        covered: How many characters of each segment are covered.
        size: How many characters each segment has.
        by_piece: The segments of each piece, by the position of the piece.
    """

    def __init__(self) -> None:
        self.covered: list[int] = []
        self.size: list[int] = []
        self.by_piece: dict[int, Alternative] = {}

    def add(self, piece_positions: Iterable[int], covered: int, size: int) -> None:
        """Add a segment that some pieces share."""
        segment = len(self.size)
        for piece_position in piece_positions:
            self.by_piece[piece_position] = self.by_piece.get(piece_position, frozenset()) | {segment}
        self.covered.append(covered)
        self.size.append(size)

    def count_characters(self, alternatives: Iterable[Alternative]) -> tuple[int, int]:
        """Return how many characters of some alternatives are covered, and how many they have, each counted once."""
        union: frozenset[int] = frozenset().union(*alternatives)
        n_covered = sum(self.covered[segment] for segment in union)
        n_characters = sum(self.size[segment] for segment in union)
        return n_covered, n_characters


def choose_alternatives(groups: Sequence[Group], segments: TextSegments) -> tuple[int, int]:
    """Choose an alternative of each group so that the covered share is largest; return its two counts of characters.

    Returns:
        How many characters of the chosen alternatives are covered, and how many they have.

    Example:
        >>> segments = TextSegments()
        >>> for piece_position, (covered, size) in enumerate([(5, 10), (4, 4), (0, 6)]):
        ...     segments.add([piece_position], covered, size)
        >>> first, second, third = segments.by_piece.values()
        >>> choose_alternatives([[first, second], [third]], segments)  # 4 of 10, as (5 + 0) / 16 is less
        (4, 10)
    """
    clusters = _cluster_overlapping(groups)
    chosen = [[group[0] for group in cluster] for cluster in clusters]
    # Dinkelbach (1967): alternatives with a positive gain over the present share have a larger share. Repeat until no
    # alternatives gain anything.
    while True:
        alternatives: list[Alternative] = []
        for choice in chosen:
            alternatives += choice
        covered, size = segments.count_characters(alternatives)
        gain = _make_gain(segments, covered, size)
        best_choices = [_choose_best(cluster, choice, gain) for cluster, choice in zip(clusters, chosen, strict=True)]
        if sum(map(gain, best_choices)) <= 0:
            return covered, size
        chosen = best_choices


def _make_gain(segments: TextSegments, covered: int, size: int) -> Gain:
    """Return a function of alternatives that is positive if their covered share is larger than covered / size."""

    def gain(alternatives: Iterable[Alternative]) -> int:
        n_covered, n_characters = segments.count_characters(alternatives)
        return n_covered * size - covered * n_characters

    return gain


def _choose_best(cluster: Sequence[Group], present: list[Alternative], gain: Gain) -> list[Alternative]:
    """Return the alternatives of overlapping groups that together gain most.

    With too many choices to try them all, start from the present one and change one group at a time.
    """
    if prod(map(len, cluster)) <= MAX_SEARCHED_CHOICES:
        return list(max(product(*cluster), key=gain))
    best = list(present)
    is_improved = True
    while is_improved:
        is_improved = False
        for index, group in enumerate(cluster):
            candidates = [[*best[:index], alternative, *best[index + 1 :]] for alternative in group]
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
