"""Match places in a source: by what the items cover of them together."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.pieces import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.retrieved import Retrieved
    from retrieval_metrics.judging.findings import Findings
    from retrieval_metrics.judging.matching import Matching


class _Covered:
    """A span, and what the items so far cover of it."""

    def __init__(self, at: int, span: Span) -> None:
        self.at = at
        self.start = span.start
        self.end = span.end
        self.characters = 0
        self._stretches: list[tuple[int, int]] = []

    def take(self, start: int, end: int) -> tuple[int, int]:
        """Cover a stretch of it; return how many characters were covered before and are now."""
        before = self.characters
        for stretch in uncovered(start, end, self._stretches):
            insort(self._stretches, stretch)
            self.characters += stretch[1] - stretch[0]
        return before, self.characters


class SpanRule:
    """Finds spans by the union of the offsets of the items so far."""

    def __init__(self, qrels: Qrels, matching: Matching, findings: Findings) -> None:
        self._matching = matching
        self._spans: dict[int, dict[str, list[tuple[int, Span]]]] = {}
        for at, piece in enumerate(qrels.documents):
            if isinstance(piece, Span):
                findings.size[at] = piece.end - piece.start
                of_query = self._spans.setdefault(int(qrels.document_query[at]), {})
                of_query.setdefault(piece.source, []).append((at, piece))

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], findings: Findings) -> None:
        """Look for the spans of a query in the items of its ranking."""
        by_source = {
            source: [_Covered(at, span) for at, span in spans] for source, spans in self._spans.get(query, {}).items()
        }
        if not by_source:
            return
        for rank, item in ranking:
            if item.start is None or item.end is None or item.source not in by_source:
                continue
            for covered in by_source[item.source]:
                start, end = max(item.start, covered.start), min(item.end, covered.end)
                if start < end:
                    shorter = min(findings.size[covered.at], item.end - item.start)
                    if (end - start) / shorter >= self._matching.overlap:
                        findings.overlapping(covered.at, rank)
                    findings.cover(covered.at, rank, covered.take(start, end), self._matching.share)


def uncovered(start: int, end: int, covered: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the stretches between two offsets that lie in none of some others, which are in order and apart.

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
