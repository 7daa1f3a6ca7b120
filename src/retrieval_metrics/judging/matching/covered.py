"""How many of the characters that are needed the retrieved items hold together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.inputs.pieces import Span, Text
from retrieval_metrics.judging.judged_run import within
from retrieval_metrics.judging.matching.texts import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.retrieved import Retrieved
    from retrieval_metrics.judging.matching.positions import Geography
    from retrieval_metrics.types import Cut, FloatArray, IntArray, QueryId


@dataclass
class Placed:
    """Where the items of one query stand, as far as they stand in a source that holds a span of the query.

    Attributes:
        stretches: Rank, source, start and end of each.
        first_unplaced: The first rank whose item could hold something but stands nobody knows where.
    """

    stretches: list[tuple[int, str, int, int]] = field(default_factory=list)
    first_unplaced: int | None = None


class Coverage:
    """Counts the characters of spans and texts that are covered at a cut-off, and those there are.

    Args:
        qrels: The judgments.
        size: Shape (documents,), how many characters each piece has; NaN for what cannot be covered in part.
        added: Piece, rank and number of characters that an item covers and no item above it does.
        placed: Per query where its items stand.
        rankings: Per query its items.
        geography: The lengths of stretches.
    """

    def __init__(
        self,
        qrels: Qrels,
        *,
        size: FloatArray,
        added: tuple[IntArray, IntArray, IntArray],
        placed: Mapping[int, Placed],
        rankings: Mapping[QueryId, Sequence[Retrieved]],
        geography: Geography,
    ) -> None:
        self._qrels = qrels
        self._size = size
        self._added = added
        self._placed = placed
        self._rankings = rankings
        self._geography = geography
        self._alternatives = _alternatives(qrels)

    def counted(self, k: Cut) -> tuple[FloatArray, FloatArray]:
        """Return how many needed characters the first k items hold, and how many there are, shape (queries,) each.

        Of each group one alternative is needed: those with which the share is largest. NaN where something needed has
        no characters to count, or an item stands nobody knows where.
        """
        covered = np.full(len(self._qrels), np.nan)
        total = np.full(len(self._qrels), np.nan)
        of_piece = self._covered_of_piece(k)
        for query, groups in self._alternatives.items():
            measured = [[at for at in group if not np.isnan(self._size[at])] for group in groups]
            placed = self._placed.get(query, Placed())
            deep = self._depth(query, k)
            unknown = placed.first_unplaced is not None and placed.first_unplaced <= deep
            if unknown or not all(measured):
                continue
            chosen = best_choice([[(of_piece[at], int(self._size[at]), at) for at in group] for group in measured])
            covered[query], total[query] = self._distinct(chosen, placed, of_piece, deep)
        return covered, total

    def lengths(self, k: Cut) -> FloatArray:
        """Return how many characters the first k items have, repeats included, shape (queries,)."""
        has_texts = {
            int(self._qrels.document_query[at])
            for at, piece in enumerate(self._qrels.documents)
            if isinstance(piece, Text)
        }
        length = np.zeros(len(self._qrels))
        for query, name in enumerate(self._qrels.queries):
            items = self._rankings.get(name, ())[: self._depth(query, k)]
            length[query] = sum(
                sum(map(len, words(item.text or ""))) if query in has_texts else self._geography.length_of(item)
                for item in items
            )
        return length

    def _depth(self, query: int, k: Cut) -> int:
        if k is None:
            return len(self._rankings.get(self._qrels.queries[query], ()))
        return int(k[query]) if isinstance(k, np.ndarray) else k

    def _covered_of_piece(self, k: Cut) -> list[int]:
        piece, rank, characters = self._added
        if k is not None:
            characters = np.where(within(self._qrels.document_query[piece], rank, k), characters, 0)
        return [int(sum_of_piece) for sum_of_piece in np.bincount(piece, characters, minlength=len(self._size))]

    def _distinct(self, chosen: Iterable[int], placed: Placed, of_piece: Sequence[int], depth: int) -> tuple[int, int]:
        """Count covered and all characters of some pieces, those that several spans share once."""
        covered = total = 0
        spans: dict[str, list[tuple[int, int]]] = {}
        for at in set(chosen):
            piece = self._qrels.documents[at]
            if isinstance(piece, Span):
                spans.setdefault(piece.source, []).append((piece.start, piece.end))
            else:
                covered, total = covered + of_piece[at], total + int(self._size[at])
        for source, stretches in spans.items():
            needed = merged(stretches)
            held = merged(
                [(start, end) for rank, where, start, end in placed.stretches if rank <= depth and where == source]
            )
            total += sum(self._geography.length(source, *stretch) for stretch in needed)
            covered += sum(self._geography.length(source, *stretch) for stretch in shared(needed, held))
        return covered, total


def _alternatives(qrels: Qrels) -> dict[int, list[list[int]]]:
    """Return the relevant pieces of each group that has any, by query."""
    groups: dict[int, list[int]] = {}
    members = zip(qrels.member_document.tolist(), qrels.member_group.tolist(), qrels.member_grade.tolist(), strict=True)
    for document, group, grade in members:
        if grade > 0:
            groups.setdefault(group, []).append(document)
    of_query: dict[int, list[list[int]]] = {}
    for group in sorted(groups):
        of_query.setdefault(int(qrels.group_query[group]), []).append(groups[group])
    return of_query


def best_choice(groups: Sequence[Sequence[tuple[int, int, int]]]) -> list[int]:
    """Choose one alternative of each group so that the covered share of all that is chosen is largest.

    Args:
        groups: Of each alternative its covered characters, all its characters, and what it is.

    Example:
        >>> best_choice([[(5, 10, 0), (4, 4, 1)], [(0, 6, 2)]])  # (5 + 0) / 16 against (4 + 0) / 10
        [1, 2]
    """
    chosen = [group[0] for group in groups]
    while True:  # Dinkelbach (1967): a better choice at the present share has a larger share, until there is none
        covered, size = sum(one[0] for one in chosen), sum(one[1] for one in chosen)

        def gain(one: tuple[int, int, int], covered: int = covered, size: int = size) -> int:
            return one[0] * size - covered * one[1]

        better = [max(group, key=gain) for group in groups]
        if sum(map(gain, better)) <= 0:
            return [one[2] for one in chosen]
        chosen = better


def merged(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the union of some stretches, in order and apart.

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
    """Return what two unions of stretches have in common.

    Example:
        >>> shared([(0, 4), (6, 9)], [(3, 7)])
        [(3, 4), (6, 7)]
    """
    common = ((max(a, c), min(b, d)) for a, b in left for c, d in right)
    return [(start, end) for start, end in common if start < end]
