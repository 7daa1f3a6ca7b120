"""Match spans: parts of sources that the retrieved items together have to cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.inputs.items import Quote, Span
from retrieval_metrics.matching.character_ranges import RangeUnion, intersect_ranges
from retrieval_metrics.matching.judged_columns import Unlocated
from retrieval_metrics.matching.line_endings import repair_line_endings
from retrieval_metrics.matching.span_offsets import ItemLocation
from retrieval_metrics.matching.text_normalisation import normalise

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.judged_columns import UnlocatedReason
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.matching.piece_hits import PieceHits
    from retrieval_metrics.matching.span_offsets import SpanLocator, SpansWithQuotes


class _SpanCoverage:
    """A span, and how much of it the items cover so far.

    Attributes:
        piece: Its position in `Qrels.documents`.
        span: The span.
        n_covered: How many of its characters are covered.
    """

    def __init__(self, piece: int, span: Span, locator: SpanLocator) -> None:
        self.piece = piece
        self.span = span
        self.n_covered = 0
        self._locator = locator
        self._union = RangeUnion()

    def add(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Cover some ranges."""
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
        self._spans: dict[int, dict[str, list[tuple[int, Span]]]] = {}
        self.unlocated: list[Unlocated] = []
        judged_spans = {piece: span for piece, span in enumerate(qrels.documents) if isinstance(span, Span)}
        repaired, doubtful = repair_line_endings(judged_spans, locator.sources, self._quotes_by_span)
        self.line_ending_spans = [judged_spans[piece] for piece in doubtful]
        hits.spans.update(repaired)
        judged_sources = {span.source for span in judged_spans.values()}
        self._has_no_judged_source = not locator.sources and judged_sources.isdisjoint(retrieved_sources)
        for piece, span in repaired.items():
            query = int(qrels.document_query[piece])
            hits.size[piece] = self._measure(span, qrels.queries[query])
            self._spans.setdefault(query, {}).setdefault(span.source, []).append((piece, span))

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
        if query not in self._spans:
            return
        coverage_by_source: dict[str, list[_SpanCoverage]] = {}
        spans_by_source: dict[str, SpansWithQuotes] = {}
        for source, spans in self._spans[query].items():
            coverage_by_source[source] = [_SpanCoverage(piece, span, self._locator) for piece, span in spans]
            spans_by_source[source] = [(span, self._quotes_by_span.get(piece, ())) for piece, span in spans]
        for rank, item in ranking:
            location = self._locate(item, spans_by_source)
            if location is None:
                continue
            if not isinstance(location, ItemLocation):
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

    def _locate(
        self, item: Retrieved, spans_by_source: Mapping[str, SpansWithQuotes]
    ) -> ItemLocation | UnlocatedReason | None:
        """Return where an item is, or why that is unknown; None if it cannot matter."""
        location = self._locator.locate(item, spans_by_source)
        if location is not None or not self._has_no_judged_source or not item.offsets_unverified:
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
        shorter_size = min(hits.size[coverage.piece], self._count_characters(location.source, location.ranges))
        if n_common / shorter_size >= self._matching.min_overlap:
            hits.add_overlapping(coverage.piece, rank)
        n_before = coverage.n_covered
        coverage.add(common)
        hits.add_coverage(coverage.piece, rank, n_before, coverage.n_covered, self._matching.min_coverage)

    def _count_characters(self, source: str, ranges: Sequence[tuple[int, int]]) -> int:
        return sum(self._locator.counted_length(source, start, end) for start, end in ranges)


def _find_alternative_quotes(qrels: Qrels) -> dict[int, list[str]]:
    """Return, by span, the normalised quotes that are alternatives to it, so that they name the same place."""
    spans_by_group: dict[int, list[int]] = {}
    quotes_by_group: dict[int, list[str]] = {}
    for document, group in zip(qrels.member_document.tolist(), qrels.member_group.tolist(), strict=True):
        piece = qrels.documents[document]
        if isinstance(piece, Span):
            spans_by_group.setdefault(group, []).append(document)
        elif isinstance(piece, Quote):
            quotes_by_group.setdefault(group, []).append(normalise(piece.text))
    quotes_by_span: dict[int, list[str]] = {}
    for group, spans in spans_by_group.items():
        if group in quotes_by_group:
            for span in spans:
                quotes_by_span[span] = quotes_by_group[group]
    return quotes_by_span
