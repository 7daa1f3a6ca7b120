"""Count the characters of spans and texts that are covered at a cutoff, and how many there are."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.inputs.pieces import Text
from retrieval_metrics.matching.alternative_choice import TextSegments, choose_alternatives
from retrieval_metrics.matching.character_ranges import intersect_ranges, merge_ranges
from retrieval_metrics.matching.piece_hits import pieces_by_query
from retrieval_metrics.matching.rank_rows import within
from retrieval_metrics.matching.span_offsets import ItemPositions
from retrieval_metrics.matching.words import unhyphenated_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import Cut, FloatArray, QueryId
    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.pieces import Span
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.piece_hits import PieceHits
    from retrieval_metrics.matching.span_offsets import SpanLocator


class CoveredCharacters:
    """Counts the characters of spans and texts that are covered at a cutoff, and how many there are."""

    def __init__(self, hits: PieceHits, rankings: Mapping[QueryId, Sequence[Retrieved]], locator: SpanLocator) -> None:
        self._qrels = hits.qrels
        self._size = hits.size
        self._coverage = hits.covered_columns()
        self._positions = hits.positions
        self._spans = hits.spans
        self._rankings = rankings
        self._locator = locator
        self._alternatives = _list_alternatives(hits.qrels)

    @property
    def moved(self) -> dict[Span, Span]:
        """The spans whose offsets were corrected for the line endings of their source: as judged, and as corrected."""
        documents: Any = self._qrels.documents
        moved = {}
        for piece_position, span in self._spans.items():
            judged_span = documents[piece_position]
            if judged_span != span:
                moved[judged_span] = span
        return moved

    def count_at_cutoff(self, k: Cut) -> tuple[FloatArray, FloatArray]:
        """Return, for each query, how many of the needed characters the first k items cover, and how many are needed.

        Both are NaN for a query with a group that has no span and no text, or with an item at an unknown position.
        """
        covered = np.full(len(self._qrels), np.nan)
        total = np.full(len(self._qrels), np.nan)
        n_covered = self._count_by_piece(k)
        for query, groups in self._alternatives.items():
            measured_groups = [self._select_measured(group) for group in groups]
            if not all(measured_groups):
                continue  # no alternative of some group has characters to count
            positions = self._positions.get(query, ItemPositions())
            depth = self._find_depth(query, k)
            if positions.first_unlocated is not None and positions.first_unlocated <= depth:
                continue  # the item could cover something, so the count is unknown
            piece_positions: list[int] = []
            for group in measured_groups:
                piece_positions += group
            segments = self._cut_into_segments(piece_positions, n_covered, positions, depth)
            segments_by_group = [[segments.by_piece[position] for position in group] for group in measured_groups]
            covered[query], total[query] = choose_alternatives(segments_by_group, segments)
        return covered, total

    def lengths(self, k: Cut) -> FloatArray:
        """Return how many characters the first k items have, duplicates included, shape (queries,)."""
        queries_with_texts = pieces_by_query(self._qrels, Text)
        lengths = np.zeros(len(self._qrels))
        for query, query_id in enumerate(self._qrels.queries):
            items: list[Retrieved] = []
            for item in self._rankings.get(query_id, ())[: self._find_depth(query, k)]:
                items += (item, *item.copies)
            if query in queries_with_texts:
                lengths[query] = sum(_count_word_characters(item) for item in items)
            else:
                lengths[query] = sum(self._locator.item_length(item) for item in items)
        return lengths

    def _select_measured(self, group: Sequence[int]) -> list[int]:
        """Return the pieces of a group that can be covered in part: its spans and texts."""
        return [piece_position for piece_position in group if not np.isnan(self._size[piece_position])]

    def _find_depth(self, query: int, k: Cut) -> int:
        """Return how many of the first items of a query count."""
        if k is None:
            return len(self._rankings.get(self._qrels.queries[query], ()))
        if isinstance(k, np.ndarray):
            return int(k[query])
        return k

    def _count_by_piece(self, k: Cut) -> list[int]:
        """Return how many characters of each piece the first k items cover."""
        piece_position, rank, characters = self._coverage
        if k is not None:
            characters = np.where(within(self._qrels.document_query[piece_position], rank, k), characters, 0)
        return [int(total) for total in np.bincount(piece_position, characters, minlength=len(self._size))]

    def _cut_into_segments(
        self, piece_positions: Iterable[int], n_covered: Sequence[int], positions: ItemPositions, depth: int
    ) -> TextSegments:
        """Cut the spans among some pieces at every start and end of a span; a text is a single segment."""
        segments = TextSegments()
        spans_by_source: dict[str, dict[int, Span]] = {}
        for piece_position in piece_positions:
            span = self._spans.get(piece_position)
            if span is None:
                segments.add([piece_position], n_covered[piece_position], int(self._size[piece_position]))
            else:
                spans_by_source.setdefault(span.source, {})[piece_position] = span
        for source, spans in spans_by_source.items():
            retrieved_ranges = _merge_retrieved_ranges(positions, source, depth)
            edges = {span.start for span in spans.values()} | {span.end for span in spans.values()}
            for start, end in pairwise(sorted(edges)):
                spanning = []
                for piece_position, span in spans.items():
                    if span.start <= start and end <= span.end:
                        spanning.append(piece_position)
                if not spanning:
                    continue
                n_covered_here = 0
                for covered_start, covered_end in intersect_ranges([(start, end)], retrieved_ranges):
                    n_covered_here += self._locator.counted_length(source, covered_start, covered_end)
                segments.add(spanning, n_covered_here, self._locator.counted_length(source, start, end))
        return segments


def _count_word_characters(item: Retrieved) -> int:
    return sum(map(len, unhyphenated_words(item.text or "")))


def _merge_retrieved_ranges(positions: ItemPositions, source: str, depth: int) -> list[tuple[int, int]]:
    """Return the ranges of a source that the items down to a rank hold, as a union."""
    ranges: list[tuple[int, int]] = []
    for rank, location in zip(positions.ranks, positions.locations, strict=True):
        if rank <= depth and location.source == source:
            ranges += location.ranges
    return merge_ranges(ranges)


def _list_alternatives(qrels: Qrels) -> dict[int, list[list[int]]]:
    """Return, by query, the relevant pieces of each group that has any."""
    pieces_by_group: dict[int, list[int]] = {}
    members = zip(qrels.member_document.tolist(), qrels.member_group.tolist(), qrels.member_grade.tolist(), strict=True)
    for document, group, grade in members:
        if grade > 0:
            pieces_by_group.setdefault(group, []).append(document)
    groups_by_query: dict[int, list[list[int]]] = {}
    for group in sorted(pieces_by_group):
        query = int(qrels.group_query[group])
        groups_by_query.setdefault(query, []).append(pieces_by_group[group])
    return groups_by_query
