"""Match spans of a source by the share of them that the items cover together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.inputs.items import Quote, Span
from retrieval_metrics.judging.judged_rows import Unplaced
from retrieval_metrics.judging.matching.newlines import read_across_newlines
from retrieval_metrics.judging.matching.normalised import normalised
from retrieval_metrics.judging.matching.places import Place
from retrieval_metrics.judging.matching.stretches import Union, shared

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.matching.matching import Matching
    from retrieval_metrics.judging.matching.piece_hits import PieceHits
    from retrieval_metrics.judging.matching.places import Locator


class _Covered:
    """A span, and how much of it the items cover so far."""

    def __init__(self, at: int, span: Span, locator: Locator) -> None:
        self.at = at
        self.span = span
        self._locator = locator
        self._characters = 0
        self._union = Union()

    def take(self, stretches: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Cover some stretches; return how many characters were covered before, and how many are now."""
        before = self._characters
        for stretch in stretches:
            for fresh in self._union.add(*stretch):
                self._characters += self._locator.length(self.span.source, *fresh)
        return before, self._characters


class SpanRule:
    """Finds spans by the union of the places of the items so far.

    Args:
        qrels: The judgments.
        matching: When a span is satisfied.
        hits: Takes what is found.
        locator: Places the items.
        sources: The sources that the retrieved items name.
    """

    def __init__(
        self, qrels: Qrels, matching: Matching, hits: PieceHits, locator: Locator, sources: Collection[str | None]
    ) -> None:
        self._matching = matching
        self._locator = locator
        self._queries = qrels.queries
        self._spans: dict[int, dict[str, list[tuple[int, Span]]]] = {}
        self._beside = _quotes_beside(qrels)
        self.unplaced: list[Unplaced] = []
        given = {at: piece for at, piece in enumerate(qrels.documents) if isinstance(piece, Span)}
        read, doubtful = read_across_newlines(given, locator.sources, self._beside)
        self.doubtful = [given[at] for at in doubtful]
        hits.spans.update(read)
        judged = {span.source for span in given.values()}
        self._all_elsewhere = not locator.sources and judged.isdisjoint(sources)
        for at, span in read.items():
            query = int(qrels.document_query[at])
            hits.size[at] = self._length(span, qrels.queries[query])
            self._spans.setdefault(query, {}).setdefault(span.source, []).append((at, span))

    def _length(self, span: Span, query: QueryId) -> int:
        source = self._locator.sources.get(span.source)
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
        if query not in self._spans:
            return
        by_source = {
            source: [_Covered(at, span, self._locator) for at, span in spans]
            for source, spans in self._spans[query].items()
        }
        among = {
            source: [(one.span, self._beside.get(one.at, ())) for one in spans] for source, spans in by_source.items()
        }
        for rank, item in ranking:
            place = self._locator.place(item, among)
            if place is None and self._all_elsewhere and item.claimed and not self._locator.is_settled(item, among):
                place = "another source"
            if place is None:
                continue
            if not isinstance(place, Place):
                if not self._locator.is_settled(item, among):
                    self.unplaced.append(Unplaced(self._queries[query], item.id, place))
                hits.located(query, rank, None)
                continue
            hits.located(query, rank, place)
            first, last = place.stretches[0][0], place.stretches[-1][1]
            for covered in by_source[place.source]:
                if first < covered.span.end and covered.span.start < last:
                    self._cover(covered, rank, place, hits)

    def _cover(self, covered: _Covered, rank: int, place: Place, hits: PieceHits) -> None:
        common = shared(place.stretches, [(covered.span.start, covered.span.end)])
        if characters := self._characters(place.source, common):
            shorter = min(hits.size[covered.at], self._characters(place.source, place.stretches))
            if characters / shorter >= self._matching.overlap:
                hits.overlapping(covered.at, rank)
            hits.cover(covered.at, rank, covered.take(common), self._matching.share)

    def _characters(self, source: str, stretches: Sequence[tuple[int, int]]) -> int:
        return sum(self._locator.length(source, *stretch) for stretch in stretches)


def _quotes_beside(qrels: Qrels) -> dict[int, list[str]]:
    """Return, by span, the normalised quotes that are alternatives to it, so that they name the same place."""
    spans: dict[int, list[int]] = {}
    quotes: dict[int, list[str]] = {}
    for document, group in zip(qrels.member_document.tolist(), qrels.member_group.tolist(), strict=True):
        piece = qrels.documents[document]
        if isinstance(piece, Span):
            spans.setdefault(group, []).append(document)
        elif isinstance(piece, Quote):
            quotes.setdefault(group, []).append(normalised(piece.text))
    return {document: quotes[group] for group, members in spans.items() if group in quotes for document in members}
