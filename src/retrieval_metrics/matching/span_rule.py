"""Match spans, which are ranges of a source that the retrieved items have to cover together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.pieces import Quote, Span
from retrieval_metrics.matching.character_ranges import RangeUnion, intersect_ranges
from retrieval_metrics.matching.judged_columns import Unlocated
from retrieval_metrics.matching.line_endings import repair_line_endings
from retrieval_metrics.matching.span_offsets import ItemLocation, QuotedSpan
from retrieval_metrics.matching.text_normalisation import normalise

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.judged_columns import UnlocatedReason
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.matching.piece_hits import PieceHits
    from retrieval_metrics.matching.span_offsets import SpanLocator, SpansBySource


@dataclass(frozen=True, slots=True)
class _JudgedSpan:
    """A span that is judged for a query.

    Attributes:
        piece_position: Its position in `Qrels.documents`.
        span: The span.
    """

    piece_position: int
    span: Span


class _SpanCoverage:
    """A span, and how much of it the items cover so far.

    Attributes:
        piece_position: Its position in `Qrels.documents`.
        span: The span.
        n_covered: How many of its characters are covered.
    """

    def __init__(self, judged: _JudgedSpan, locator: SpanLocator) -> None:
        self.piece_position = judged.piece_position
        self.span = judged.span
        self.n_covered = 0
        self._locator = locator
        self._union = RangeUnion()

    def add(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Count the characters in some ranges as covered."""
        for start, end in ranges:
            for new_start, new_end in self._union.add(start, end):
                self.n_covered += self._locator.counted_length(self.span.source, new_start, new_end)


class SpanRule:
    """Finds spans by the union of the locations of the items so far.

    Attributes:
        unlocated: The items that could not be compared with a span, because their location is unknown.
        line_ending_spans: The spans that were probably written against a text with other line endings.
    """

    def __init__(
        self,
        qrels: Qrels,
        matching: Matching,
        hits: PieceHits,
        locator: SpanLocator,
        retrieved_sources: Collection[str | None],
    ) -> None:
        self._matching = matching
        self._locator = locator
        self._queries = qrels.queries
        self._quotes_by_span = _find_alternative_quotes(qrels)
        # By the position of the query, then by source.
        self._spans_by_query: dict[int, dict[str, list[_JudgedSpan]]] = {}
        self.unlocated: list[Unlocated] = []
        judged_spans = {position: piece for position, piece in enumerate(qrels.documents) if isinstance(piece, Span)}
        repaired, doubtful = repair_line_endings(judged_spans, locator.sources, self._quotes_by_span)
        self.line_ending_spans = [judged_spans[piece_position] for piece_position in doubtful]
        hits.spans.update(repaired)
        judged_sources = {span.source for span in judged_spans.values()}
        # If not, items without confirmed offsets may come from a judged source under another name.
        self._has_judged_source = bool(locator.sources) or not judged_sources.isdisjoint(retrieved_sources)
        for piece_position, span in repaired.items():
            query = int(qrels.document_query[piece_position])
            hits.size[piece_position] = self._measure(span, qrels.queries[query])
            spans_by_source = self._spans_by_query.setdefault(query, {})
            spans_by_source.setdefault(span.source, []).append(_JudgedSpan(piece_position, span))

    def _measure(self, span: Span, query: QueryId) -> int:
        """Return how many characters a span has; raise if nothing can cover it."""
        source = self._locator.sources.get(span.source)
        if source is not None and span.end > len(source.text):
            raise ValueError(
                f"{span!r} for query {query!r} ends beyond its source, which has {len(source.text)} characters"
            )
        length = self._locator.counted_length(span.source, span.start, span.end)
        if not length:
            raise ValueError(f"{span!r} for query {query!r} contains only white space, so nothing can cover it")
        return length

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the spans of a query in the items of its ranking."""
        if query not in self._spans_by_query:
            return
        coverage_by_source: dict[str, list[_SpanCoverage]] = {}
        spans_by_source: dict[str, list[QuotedSpan]] = {}
        for source, judged_spans in self._spans_by_query[query].items():
            coverage_by_source[source] = [_SpanCoverage(judged, self._locator) for judged in judged_spans]
            spans_by_source[source] = [self._add_quotes(judged) for judged in judged_spans]
        locations = [(rank, item, self._locate(item, spans_by_source)) for rank, item in ranking]
        located_ranks = {rank for rank, _, location in locations if isinstance(location, ItemLocation)}
        for rank, item, location in locations:
            if location is None:
                continue
            if not isinstance(location, ItemLocation):
                if rank in located_ranks:  # another copy says where the document is
                    continue
                if not self._locator.is_settled(item, spans_by_source):
                    self.unlocated.append(Unlocated(self._queries[query], item.id, location))
                hits.add_location(query, rank, None)
                continue
            hits.add_location(query, rank, location)
            item_start, _ = location.ranges[0]
            _, item_end = location.ranges[-1]
            for coverage in coverage_by_source[location.source]:
                if item_start < coverage.span.end and coverage.span.start < item_end:
                    self._cover(coverage, rank, location, hits)

    def _add_quotes(self, judged: _JudgedSpan) -> QuotedSpan:
        return QuotedSpan(judged.span, self._quotes_by_span.get(judged.piece_position, ()))

    def _locate(self, item: Retrieved, spans_by_source: SpansBySource) -> ItemLocation | UnlocatedReason | None:
        """Return where an item is, or why that is unknown; None if it cannot cover a judged span."""
        location = self._locator.locate(item, spans_by_source)
        if location is not None or self._has_judged_source or not item.offsets_unverified:
            return location
        if self._locator.is_settled(item, spans_by_source):
            return None
        return "another source"

    def _cover(self, coverage: _SpanCoverage, rank: int, location: ItemLocation, hits: PieceHits) -> None:
        """Record what an item covers of a span that it may overlap."""
        common = intersect_ranges(location.ranges, [(coverage.span.start, coverage.span.end)])
        n_common = self._count_characters(location.source, common)
        if not n_common:
            return
        shorter_size = min(hits.size[coverage.piece_position], self._count_characters(location.source, location.ranges))
        if n_common / shorter_size >= self._matching.min_overlap:
            hits.add_overlapping(coverage.piece_position, rank)
        n_before = coverage.n_covered
        coverage.add(common)
        hits.add_coverage(coverage.piece_position, rank, n_before, coverage.n_covered, self._matching.min_coverage)

    def _count_characters(self, source: str, ranges: Sequence[tuple[int, int]]) -> int:
        return sum(self._locator.counted_length(source, start, end) for start, end in ranges)


def _find_alternative_quotes(qrels: Qrels) -> dict[int, list[str]]:
    """Return the normalised quotes that are alternatives to each span, by the position of the span.

    Alternatives of a group state the same fact, so such a quote has the words of the span.
    """
    span_positions_by_group: dict[int, list[int]] = {}
    quotes_by_group: dict[int, list[str]] = {}
    for piece_position, group in zip(qrels.member_document.tolist(), qrels.member_group.tolist(), strict=True):
        piece = qrels.documents[piece_position]
        if isinstance(piece, Span):
            span_positions_by_group.setdefault(group, []).append(piece_position)
        elif isinstance(piece, Quote):
            quotes_by_group.setdefault(group, []).append(normalise(piece.text))
    quotes_by_span: dict[int, list[str]] = {}
    for group, span_positions in span_positions_by_group.items():
        if group in quotes_by_group:
            for span_position in span_positions:
                quotes_by_span[span_position] = quotes_by_group[group]
    return quotes_by_span
