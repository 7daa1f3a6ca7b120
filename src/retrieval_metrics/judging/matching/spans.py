"""Match spans of a source by the share of them that the items cover together."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.pieces import Span
from retrieval_metrics.judging.rows import Misplaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.aliases import QueryId
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.retrieved import Retrieved
    from retrieval_metrics.judging.matching.matching import Matching
    from retrieval_metrics.judging.matching.piece_hits import PieceHits
    from retrieval_metrics.judging.matching.positions import Locator


class _Covered:
    """A span, and the parts of it that the items cover so far."""

    def __init__(self, at: int, span: Span, locator: Locator) -> None:
        self.at = at
        self.start = span.start
        self.end = span.end
        self._source = span.source
        self._locator = locator
        self._characters = 0
        self._stretches: list[tuple[int, int]] = []

    def take(self, start: int, end: int) -> tuple[int, int]:
        """Cover a stretch of the span; return how many characters were covered before, and how many are now."""
        before = self._characters
        for stretch in uncovered(start, end, self._stretches):
            insort(self._stretches, stretch)
            self._characters += self._locator.length(self._source, *stretch)
        return before, self._characters


class SpanRule:
    """Finds spans by the union of the offsets of the items so far."""

    def __init__(self, qrels: Qrels, matching: Matching, hits: PieceHits, locator: Locator) -> None:
        self._matching = matching
        self._locator = locator
        self._queries = qrels.queries
        self._spans: dict[int, dict[str, list[tuple[int, Span]]]] = {}
        self.unplaced = 0
        self.misplaced: list[Misplaced] = []
        for at, piece in enumerate(qrels.documents):
            if isinstance(piece, Span):
                query = int(qrels.document_query[at])
                hits.size[at] = self._length(piece, qrels.queries[query])
                self._spans.setdefault(query, {}).setdefault(piece.source, []).append((at, piece))

    def _length(self, span: Span, query: QueryId) -> int:
        source = self._locator.source(span.source)
        if source is not None and span.end > len(source.text):
            raise ValueError(
                f"{span!r} for query {query!r} ends beyond its source, which has {len(source.text)} characters"
            )
        length = self._locator.length(span.source, span.start, span.end)
        if not length:
            raise ValueError(f"{span!r} for query {query!r} contains only white space, so nothing can cover it")
        return length

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the spans of a query in the items of its ranking."""
        by_source = {
            source: [_Covered(at, span, self._locator) for at, span in spans]
            for source, spans in self._spans.get(query, {}).items()
        }
        if not by_source:
            return
        for rank, item in ranking:
            if item.source is not None and item.source not in by_source:
                continue
            place = self._locator.place(item)
            if self._locator.is_misplaced(item):
                self.misplaced.append(Misplaced(self._queries[query], item.id, found=place is not None))
            if place is None or item.source is None:
                self.unplaced += 1
                hits.located(query, rank, None)
                continue
            hits.located(query, rank, (item.source, *place))
            for covered in by_source[item.source]:
                start, end = max(place[0], covered.start), min(place[1], covered.end)
                if start < end and (shared := self._locator.length(item.source, start, end)):
                    shorter = min(hits.size[covered.at], self._locator.length(item.source, *place))
                    if shared / shorter >= self._matching.overlap:
                        hits.overlapping(covered.at, rank)
                    hits.cover(covered.at, rank, covered.take(start, end), self._matching.share)


def uncovered(start: int, end: int, covered: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parts of [start, end) that are not covered by some stretches, which are sorted and disjoint.

    Example:
        >>> uncovered(0, 10, [(2, 4), (8, 12)])
        [(0, 2), (4, 8)]
    """
    fresh = []
    for left, right in covered:
        if right <= start:
            continue
        if left >= end:
            break
        if start < left:
            fresh.append((start, left))
        start = max(start, right)
    if start < end:
        fresh.append((start, end))
    return fresh
