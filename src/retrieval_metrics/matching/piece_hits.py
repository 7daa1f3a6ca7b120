"""Collect in columns which retrieved items satisfy, overlap or extend which judged pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.matching.judged_columns import Items, JudgedRanks, NewCoverage
from retrieval_metrics.matching.rank_rows import is_new
from retrieval_metrics.matching.span_offsets import ItemPositions

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import FloatArray, IntArray
    from retrieval_metrics.inputs.items import Span
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.span_offsets import ItemLocation


def pieces_by_query(qrels: Qrels, kind: type | tuple[type, ...]) -> dict[int, dict[int, Any]]:
    """Return what is judged of a kind by the position of its query, and by its own position in `Qrels.documents`."""
    pieces: dict[int, dict[int, Any]] = {}
    for position, (query, document) in enumerate(zip(qrels.document_query.tolist(), qrels.documents, strict=True)):
        if isinstance(document, kind):
            pieces.setdefault(query, {})[position] = document
    return pieces


class PieceHits:
    """The results of the matching rules, by piece and rank.

    Attributes:
        qrels: The judgments.
        size: How many characters each piece has that items can cover; NaN if it cannot be covered in part.
        spans: The judged spans by position, as they are meant in their sources.
        positions: Where the items of each query are that may cover a span of it.
    """

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self.size = np.full(len(qrels.documents), np.nan)
        self.spans: dict[int, Span] = {}
        self.positions: dict[int, ItemPositions] = {}
        # Columns of integers, because a tuple for each row would be an object for the garbage collector to visit.
        self._satisfied_pieces: list[int] = []
        self._satisfied_ranks: list[int] = []
        self._overlapping_pieces: list[int] = []
        self._overlapping_ranks: list[int] = []
        self._covered_pieces: list[int] = []
        self._covered_ranks: list[int] = []
        self._covered_characters: list[int] = []

    def add_satisfied(self, piece: int, rank: int) -> None:
        """Record that the items down to this rank satisfy a piece, and those above it did not."""
        self._satisfied_pieces.append(piece)
        self._satisfied_ranks.append(rank)

    def add_overlapping(self, piece: int, rank: int) -> None:
        """Record that the item at this rank is relevant because of a piece, whether or not an item above it was."""
        self._overlapping_pieces.append(piece)
        self._overlapping_ranks.append(rank)

    def add_coverage(self, piece: int, rank: int, n_before: int, n_after: int, min_coverage: float) -> None:
        """Record how many characters of a piece are covered above this rank, and with it.

        The piece is satisfied once the share `min_coverage` of it is covered.
        """
        if n_after <= n_before:
            return
        self._covered_pieces.append(piece)
        self._covered_ranks.append(rank)
        self._covered_characters.append(n_after - n_before)
        # The quotient of two integers is the float nearest to the share in the call; a product may not be.
        if n_before / self.size[piece] < min_coverage <= n_after / self.size[piece]:
            self.add_satisfied(piece, rank)

    def add_location(self, query: int, rank: int, location: ItemLocation | None) -> None:
        """Record where an item is that may cover a span of its query; None if that is unknown."""
        positions = self.positions.setdefault(query, ItemPositions())
        if location is not None:
            positions.ranks.append(rank)
            positions.locations.append(location)
        elif positions.first_unlocated is None:
            positions.first_unlocated = rank

    def covered_columns(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return piece, rank and characters of everything that adds to what is covered."""
        return (
            np.array(self._covered_pieces, dtype=np.int64),
            np.array(self._covered_ranks, dtype=np.int64),
            np.array(self._covered_characters, dtype=np.int64),
        )

    def items(self) -> Items:
        """Return what was satisfied, ordered by query, rank and grade."""
        piece = np.array(self._satisfied_pieces, dtype=np.int64)
        rank = np.array(self._satisfied_ranks, dtype=np.int64)
        query = self.qrels.document_query[piece]
        grade = self.qrels.document_grade[piece]
        order = np.lexsort((-grade, rank, query))
        untied = np.ones(len(piece), dtype=np.int64)
        return Items(piece[order], query[order], rank[order], grade[order], untied, rank[order])

    def ranks(self) -> JudgedRanks:
        """Return the ranks whose item is relevant or judged because of some piece."""
        piece = np.array(self._overlapping_pieces, dtype=np.int64)
        rank = np.array(self._overlapping_ranks, dtype=np.int64)
        query = self.qrels.document_query[piece]
        _, _, negated_smallest = _largest_grades(query, rank, -self.qrels.smallest_grade[piece])
        query, rank, grade = _largest_grades(query, rank, self.qrels.document_grade[piece])
        return JudgedRanks(query, rank, grade, -negated_smallest)

    def find_new_coverage(self) -> NewCoverage | None:
        """Return the ranks that add to what is covered; None if nothing can be covered in part."""
        if np.isnan(self.size).all():
            return None
        piece, rank, _ = self.covered_columns()
        query, rank, grade = _largest_grades(self.qrels.document_query[piece], rank, self.qrels.document_grade[piece])
        satisfied = self.items()
        done_query, done_rank, done_grade = _largest_grades(satisfied.query, satisfied.rank, satisfied.grade)
        completed = np.full(len(rank), -np.inf)
        stride = max(rank.max(initial=0), done_rank.max(initial=0)) + 1
        _, row, done_row = np.intersect1d(query * stride + rank, done_query * stride + done_rank, return_indices=True)
        completed[row] = done_grade[done_row]
        return NewCoverage(query, rank, grade, completed)


def _largest_grades(query: IntArray, rank: IntArray, grade: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return each (query, rank) once, in order, with the largest of its grades."""
    order = np.lexsort((-grade, rank, query))
    query = query[order]
    rank = rank[order]
    is_first = is_new(query, rank)
    return query[is_first], rank[is_first], grade[order][is_first]
