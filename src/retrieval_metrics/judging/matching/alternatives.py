"""Choose one alternative of each group so that the covered share is largest."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Gain = Callable[[Iterable[frozenset[int]]], int]

Group: TypeAlias = "Sequence[frozenset[int]]"
"""The alternatives of a group, each as the atoms it consists of."""

MOST_CHOICES = 10_000
"""Overlapping groups with up to this many choices are searched in full; others are improved one group at a time."""


class Atoms:
    """Stretches that pieces consist of; several pieces may share one.

    Attributes:
        covered: How many characters of each atom are covered.
        size: How many characters each atom has.
        of: The atoms of each piece.
    """

    def __init__(self) -> None:
        self.covered: list[int] = []
        self.size: list[int] = []
        self.of: dict[int, frozenset[int]] = {}

    def add(self, pieces: Iterable[int], covered: int, size: int) -> None:
        """Add an atom that some pieces share."""
        for piece in pieces:
            self.of[piece] = self.of.get(piece, frozenset()) | {len(self.size)}
        self.covered.append(covered)
        self.size.append(size)

    def sums(self, chosen: Iterable[frozenset[int]]) -> tuple[int, int]:
        """Return how many characters of some pieces are covered, and how many they have, each counted once."""
        union: frozenset[int] = frozenset().union(*chosen)
        return sum(self.covered[atom] for atom in union), sum(self.size[atom] for atom in union)


def best_choice(groups: Sequence[Group], atoms: Atoms) -> tuple[int, int]:
    """Return the covered and the total characters of one alternative per group, chosen for the largest quotient.

    The choice is exact if each set of overlapping groups leaves at most `MOST_CHOICES` choices. Beyond that, it is one
    that changing a single group cannot improve.

    Example:
        >>> atoms = Atoms()
        >>> for piece, (covered, size) in enumerate([(5, 10), (4, 4), (0, 6)]):
        ...     atoms.add([piece], covered, size)
        >>> first, second, third = atoms.of.values()
        >>> best_choice([[first, second], [third]], atoms)  # 4 of 10, as (5 + 0) / 16 is less
        (4, 10)
    """
    parts = _overlapping(groups)
    chosen = [[group[0] for group in part] for part in parts]
    while True:  # Dinkelbach (1967): a better choice at the present share has a larger share; repeat until none exists
        covered, size = atoms.sums(piece for part in chosen for piece in part)

        def gain(pieces: Iterable[frozenset[int]], covered: int = covered, size: int = size) -> int:
            held, length = atoms.sums(pieces)
            return held * size - covered * length

        better = [_best(part, present, gain) for part, present in zip(parts, chosen, strict=True)]
        if sum(map(gain, better)) <= 0:
            return covered, size
        chosen = better


def _best(part: Sequence[Group], present: list[frozenset[int]], gain: Gain) -> list[frozenset[int]]:
    """Return the choice among overlapping groups that gains most."""
    if prod(map(len, part)) <= MOST_CHOICES:
        return list(max(product(*part), key=gain))
    best, improved = list(present), True
    while improved:
        improved = False
        for at, group in enumerate(part):
            other = max(([*best[:at], piece, *best[at + 1 :]] for piece in group), key=gain)
            if gain(other) > gain(best):
                best, improved = other, True
    return best


def _overlapping(groups: Iterable[Group]) -> list[list[Group]]:
    """Return the groups in parts that share no atom."""
    parts: list[tuple[set[int], list[Group]]] = []
    for group in groups:
        atoms: set[int] = set().union(*group)
        members = [group]
        apart = []
        for other, others in parts:
            if atoms.isdisjoint(other):
                apart.append((other, others))
            else:
                atoms, members = atoms | other, [*others, *members]
        parts = [*apart, (atoms, members)]
    return [members for _, members in parts]
