"""Look up the texts of needed documents, and find them in the texts of retrieved items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.inputs.pieces import Metadata, Quote, Span, Text
from retrieval_metrics.matching.character_ranges import intersect_ranges
from retrieval_metrics.matching.quote_search import find_range
from retrieval_metrics.matching.span_offsets import ItemLocation, QuotedSpan, SpanLocator
from retrieval_metrics.matching.text_rule import find_shared_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.inputs.items import Relevant, Retrieved
    from retrieval_metrics.matching.matching_options import Matching


class RelevantTexts:
    """Looks up the texts of needed documents and finds them in retrieved texts.

    Attributes:
        judged_texts: Texts by document id.
    """

    def __init__(self, matching: Matching, texts: Mapping[Relevant, str], moved: Mapping[Span, Span]) -> None:
        self.judged_texts = texts
        self._moved = moved
        self._matching = matching
        self._locator = SpanLocator(matching.sources)

    @staticmethod
    def name(document: Relevant) -> str:
        """Return the name of a needed document; empty for a quote or a text, which are shown themselves."""
        if isinstance(document, Quote | Text):
            return ""
        if isinstance(document, Span):
            return f"{document.source}, characters {document.start:,} to {document.end:,}"
        if isinstance(document, Metadata):
            pairs = ", ".join(f"{name} {value}" for name, value in document.values)
            return f"not {pairs}" if document.negated else pairs
        return str(document)

    def text(self, document: Relevant) -> str | None:
        """Return the text of a needed document; None if it is unknown."""
        if isinstance(document, Quote | Text):
            return document.text
        if isinstance(document, Span):
            source = self._locator.sources.get(document.source)
            span = self._moved.get(document, document)
            return None if source is None else source.text[span.start : span.end]
        return self.judged_texts.get(document)

    def marked_ranges(self, item: Retrieved | None, document: Relevant) -> list[tuple[int, int]]:
        """Return start and end of the needed text in the text of an item."""
        if item is None or item.text is None:
            return []
        if isinstance(document, Quote):
            quoted_range = find_range(document.text, item.text)
            return [] if quoted_range is None else [quoted_range]
        if isinstance(document, Text):
            return find_shared_words(document.text, item.text, self._matching.min_common_words)
        if isinstance(document, Span):
            return self._covered_ranges(item, item.text, self._moved.get(document, document))
        return []

    def marked_parts(self, item: Retrieved | None, document: Relevant) -> list[tuple[int, int]]:
        """Return start and end of the parts of a needed text in the text of an item; even a part of a quote counts."""
        if isinstance(document, Quote) and item is not None and item.text is not None:
            return find_shared_words(document.text, item.text, self._matching.min_common_words)
        return self.marked_ranges(item, document)

    def _covered_ranges(self, item: Retrieved, text: str, span: Span) -> list[tuple[int, int]]:
        """Return where the text of an item holds the characters that it shares with a span of its source."""
        location = self._locator.locate(item, {span.source: [QuotedSpan(span, ())]})
        if not isinstance(location, ItemLocation):
            return []
        shared_ranges = intersect_ranges(location.ranges, [(span.start, span.end)])
        item_start = location.ranges[0][0]
        item_end = location.ranges[-1][1]
        if len(location.ranges) == 1 and item_end - item_start == len(text):
            return [(start - item_start, end - item_start) for start, end in shared_ranges]
        # The item is not verbatim, so the words are searched for.
        source = self._locator.sources.get(span.source)
        if source is None:
            return []
        ranges = []
        for start, end in shared_ranges:
            word_range = find_range(source.text[start:end], text)
            if word_range is not None:
                ranges.append(word_range)
        return ranges
