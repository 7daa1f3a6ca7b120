"""Collect in columns which retrieved items satisfy, overlap or extend which judged pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.judging.judged_rows import Additions, Items, JudgedRanks
from retrieval_metrics.judging.matching.places import Positions

if TYPE_CHECKING:
    from retrieval_metrics.checks import FloatArray, IntArray
    from retrieval_metrics.inputs.items import Span
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.matching.places import Place


def pieces_of(qrels: Qrels, kind: type | tuple[type, ...]) -> dict[int, dict[int, Any]]:
    """Return what is judged of a kind by the position of its query, and by its own position in `Qrels.documents`."""
    found: dict[int, dict[int, Any]] = {}
    for at, (query, judged) in enumerate(zip(qrels.document_query.tolist(), qrels.documents, strict=True)):
        if isinstance(judged, kind):
            found.setdefault(query, {})[at] = judged
    return found


class PieceHits:
    """The findings of the matching rules, by piece and rank.

    A piece is identified by its position in `Qrels.documents`. Pieces that can be covered in part (spans, texts) have
    a size in characters; spans are kept as they are meant in their source.
    """

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self.size = np.full(len(qrels.documents), np.nan)
        self.spans: dict[int, Span] = {}
        self.positions: dict[int, Positions] = {}
        self._satisfied: tuple[list[int], list[int]] = ([], [])
        self._overlapping: tuple[list[int], list[int]] = ([], [])
        self._added: tuple[list[int], list[int], list[int]] = ([], [], [])

    def satisfied(self, piece: int, rank: int) -> None:
        """Record that the items down to this rank satisfy a piece, and those above it did not."""
        self._satisfied[0].append(piece)
        self._satisfied[1].append(rank)

    def overlapping(self, piece: int, rank: int) -> None:
        """Record that the item at this rank is relevant because of a piece, whether or not an item above it was."""
        self._overlapping[0].append(piece)
        self._overlapping[1].append(rank)

    def cover(self, piece: int, rank: int, characters: tuple[int, int], share: float) -> None:
        """Record how many characters of a piece are covered above this rank, and with it; `share` satisfies it."""
        before, after = characters
        if after > before:
            self._added[0].append(piece)
            self._added[1].append(rank)
            self._added[2].append(after - before)
            # The quotient of two integers is the float nearest to the share in the call; a product may not be.
            if before / self.size[piece] < share <= after / self.size[piece]:
                self.satisfied(piece, rank)

    def located(self, query: int, rank: int, place: Place | None) -> None:
        """Record the place of an item that may cover a span of its query; None if it is unknown."""
        found = self.positions.setdefault(query, Positions())
        if place is not None:
            found.ranks.append(rank)
            found.places.append(place)
        elif found.first_unplaced is None:
            found.first_unplaced = rank

    def added(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return piece, rank and characters of everything that adds to what is covered."""
        piece, rank, characters = (np.array(column, dtype=np.int64) for column in self._added)
        return piece, rank, characters

    def items(self) -> Items:
        """Return what was satisfied, ordered by query, rank and grade."""
        piece, rank = (np.array(column, dtype=np.int64) for column in self._satisfied)
        query, grade = self.qrels.document_query[piece], self.qrels.document_grade[piece]
        order = np.lexsort((-grade, rank, query))
        untied = np.ones(len(piece), dtype=np.int64)
        return Items(piece[order], query[order], rank[order], grade[order], untied, rank[order])

    def ranks(self) -> JudgedRanks:
        """Return the ranks whose item is relevant or judged because of some piece."""
        piece, rank = (np.array(column, dtype=np.int64) for column in self._overlapping)
        return JudgedRanks(
            *self._largest_grades(self.qrels.document_query[piece], rank, self.qrels.document_grade[piece])
        )

    def additions(self) -> Additions | None:
        """Return the ranks that add to what is covered; None if nothing can be covered in part."""
        if np.isnan(self.size).all():
            return None
        piece, rank, _ = self.added()
        query, rank, grade = self._largest_grades(
            self.qrels.document_query[piece], rank, self.qrels.document_grade[piece]
        )
        done = JudgedRanks(*self._largest_grades(*self.items()[1:4]))
        completed = np.full(len(rank), -np.inf)
        longest = max(rank.max(initial=0), done.rank.max(initial=0)) + 1
        _, here, there = np.intersect1d(query * longest + rank, done.query * longest + done.rank, return_indices=True)
        completed[here] = done.grade[there]
        return Additions(query, rank, grade, completed)

    @staticmethod
    def _largest_grades(query: IntArray, rank: IntArray, grade: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return each (query, rank) once, in order, with the largest of its grades."""
        order = np.lexsort((-grade, rank, query))
        query, rank, grade = query[order], rank[order], grade[order]
        first = (np.diff(query, prepend=-1) != 0) | (np.diff(rank, prepend=0) != 0)
        return query[first], rank[first], grade[first]
