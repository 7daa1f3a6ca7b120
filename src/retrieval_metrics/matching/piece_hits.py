"""Collect which retrieved items satisfy, overlap or extend which judged pieces, in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.matching.judged_columns import Items, JudgedRanks, NewCoverage
from retrieval_metrics.matching.rank_rows import is_new
from retrieval_metrics.matching.span_offsets import ItemPositions

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import FloatArray, IntArray
    from retrieval_metrics.inputs.pieces import Span
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.span_offsets import ItemLocation


def pieces_by_query(qrels: Qrels, piece_type: type | tuple[type, ...]) -> dict[int, dict[int, Any]]:
    """Return the judged pieces of some type, by the position of their query and by their own in `Qrels.documents`."""
    pieces: dict[int, dict[int, Any]] = {}
    queries = qrels.document_query.tolist()
    for piece_position, (query, document) in enumerate(zip(queries, qrels.documents, strict=True)):
        if isinstance(document, piece_type):
            pieces.setdefault(query, {})[piece_position] = document
    return pieces


class PieceHits:
    """The results of the matching rules, by piece and rank.

    A piece is named by its position in `Qrels.documents`.

    Attributes:
        qrels: The judgments.
        size: Shape (documents,), how many characters items can cover of each piece; NaN if it cannot be covered in
            part.
        spans: The judged spans by position, with offsets that fit the texts of their sources.
        positions: By query, the locations of the items that may cover one of its spans.
    """

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self.size = np.full(len(qrels.documents), np.nan)
        self.spans: dict[int, Span] = {}
        self.positions: dict[int, ItemPositions] = {}
        # Columns of integers rather than a list of records, because the garbage collector visits every record.
        self._satisfied_pieces: list[int] = []
        self._satisfied_ranks: list[int] = []
        self._overlapping_pieces: list[int] = []
        self._overlapping_ranks: list[int] = []
        self._covered_pieces: list[int] = []
        self._covered_ranks: list[int] = []
        self._covered_characters: list[int] = []

    def add_satisfied(self, piece_position: int, rank: int) -> None:
        """Record the rank at which the items together first satisfy a piece."""
        self._satisfied_pieces.append(piece_position)
        self._satisfied_ranks.append(rank)

    def add_overlapping(self, piece_position: int, rank: int) -> None:
        """Record that the item at this rank counts as judged because of a piece, whatever the items above it hold."""
        self._overlapping_pieces.append(piece_position)
        self._overlapping_ranks.append(rank)

    def add_coverage(self, piece_position: int, rank: int, n_before: int, n_after: int, min_coverage: float) -> None:
        """Record the characters of a piece that the item at this rank covers and that no item above it covers.

        Args:
            piece_position: The piece.
            rank: The rank of the item.
            n_before: How many characters of the piece the items above this rank cover.
            n_after: How many they cover together with this item.
            min_coverage: The share of its characters from which on the piece is satisfied.
        """
        if n_after <= n_before:
            return
        self._covered_pieces.append(piece_position)
        self._covered_ranks.append(rank)
        self._covered_characters.append(n_after - n_before)
        # A quotient of integers is the float nearest to the exact share, so it equals a `min_coverage` of 0.8, say.
        # A product with `min_coverage` would be rounded otherwise.
        if n_before / self.size[piece_position] < min_coverage <= n_after / self.size[piece_position]:
            self.add_satisfied(piece_position, rank)

    def add_location(self, query: int, rank: int, location: ItemLocation | None) -> None:
        """Record the location of an item that may cover a span of its query; None if the location is unknown."""
        positions = self.positions.setdefault(query, ItemPositions())
        if location is not None:
            positions.ranks.append(rank)
            positions.locations.append(location)
        elif positions.first_unlocated is None:
            positions.first_unlocated = rank

    def covered_columns(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the columns of `add_coverage`: the pieces, the ranks, and how many characters became covered."""
        return (
            np.array(self._covered_pieces, dtype=np.int64),
            np.array(self._covered_ranks, dtype=np.int64),
            np.array(self._covered_characters, dtype=np.int64),
        )

    def items(self) -> Items:
        """Return the satisfied pieces, ordered by query, rank and grade."""
        piece_position = np.array(self._satisfied_pieces, dtype=np.int64)
        rank = np.array(self._satisfied_ranks, dtype=np.int64)
        query = self.qrels.document_query[piece_position]
        grade = self.qrels.document_grade[piece_position]
        order = np.lexsort((-grade, rank, query))
        untied = np.ones(len(piece_position), dtype=np.int64)
        return Items(piece_position[order], query[order], rank[order], grade[order], untied, rank[order])

    def ranks(self) -> JudgedRanks:
        """Return the ranks whose item counts as judged because of some piece."""
        piece_position = np.array(self._overlapping_pieces, dtype=np.int64)
        rank = np.array(self._overlapping_ranks, dtype=np.int64)
        query = self.qrels.document_query[piece_position]
        _, _, negated_smallest = _largest_grades(query, rank, -self.qrels.smallest_grade[piece_position])
        query, rank, grade = _largest_grades(query, rank, self.qrels.document_grade[piece_position])
        return JudgedRanks(query, rank, grade, -negated_smallest)

    def find_new_coverage(self) -> NewCoverage | None:
        """Return the ranks whose item covers more of a piece; None if no piece can be covered in part."""
        if np.isnan(self.size).all():
            return None
        piece_position, rank, _ = self.covered_columns()
        query = self.qrels.document_query[piece_position]
        query, rank, grade = _largest_grades(query, rank, self.qrels.document_grade[piece_position])
        satisfied = self.items()
        satisfied_query, satisfied_rank, satisfied_grade = _largest_grades(
            satisfied.query, satisfied.rank, satisfied.grade
        )
        completed = np.full(len(rank), -np.inf)
        # One number for each (query, rank), so that numpy can intersect the two columns.
        stride = max(rank.max(initial=0), satisfied_rank.max(initial=0)) + 1
        _, row, satisfied_row = np.intersect1d(
            query * stride + rank, satisfied_query * stride + satisfied_rank, return_indices=True
        )
        completed[row] = satisfied_grade[satisfied_row]
        return NewCoverage(query, rank, grade, completed)


def _largest_grades(query: IntArray, rank: IntArray, grade: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return each (query, rank) once, in order, with the largest of its grades."""
    order = np.lexsort((-grade, rank, query))
    query = query[order]
    rank = rank[order]
    is_first = is_new(query, rank)
    return query[is_first], rank[is_first], grade[order][is_first]
