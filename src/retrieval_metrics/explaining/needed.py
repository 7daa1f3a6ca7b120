"""The texts of what is needed, and where they occur in what was retrieved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.inputs.items import Metadata, Quote, Span, Text
from retrieval_metrics.judging.normalised import where
from retrieval_metrics.judging.pieces_met import shared_words as shared
from retrieval_metrics.judging.places import Locator, Place
from retrieval_metrics.judging.places import shared as common_stretches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.inputs.items import Relevant, Retrieved
    from retrieval_metrics.judging.ranking_order import Matching


class Needed:
    """Looks up the texts of what is needed.

    Attributes:
        texts: Texts by document id.
    """

    def __init__(self, matching: Matching, texts: Mapping[Relevant, str], moved: Mapping[Span, Span]) -> None:
        self.texts = texts
        self._moved = moved
        self._matching = matching
        self._locator = Locator(matching.sources)

    @staticmethod
    def name(document: Relevant) -> str:
        """Return the name of something needed; empty for a quote or a text, which are shown as they are."""
        if isinstance(document, Quote | Text):
            return ""
        if isinstance(document, Span):
            return f"{document.source}, characters {document.start:,} to {document.end:,}"
        if isinstance(document, Metadata):
            return ", ".join(f"{name} {value}" for name, value in document.values)
        return str(document)

    def text(self, document: Relevant) -> str | None:
        """Return the text of something needed; None if it is unknown."""
        if isinstance(document, Quote | Text):
            return document.text
        if isinstance(document, Span):
            source, span = self._locator.sources.get(document.source), self._moved.get(document, document)
            return None if source is None else source.text[span.start : span.end]
        return self.texts.get(document)

    def marks(self, item: Retrieved | None, document: Relevant) -> list[tuple[int, int]]:
        """Return start and end of the needed text in the text of an item."""
        if item is None or item.text is None:
            return []
        if isinstance(document, Quote):
            place = where(document.text, item.text)
            return [] if place is None else [place]
        if isinstance(document, Text):
            return shared(document.text, item.text, self._matching.text_run)
        return self._covered(item, self._moved.get(document, document)) if isinstance(document, Span) else []

    def parts(self, item: Retrieved | None, document: Relevant) -> list[tuple[int, int]]:
        """Return start and end of what the text of an item has of a needed text, be it a part of a quote."""
        if isinstance(document, Quote) and item is not None and item.text is not None:
            return shared(document.text, item.text, self._matching.text_run)
        return self.marks(item, document)

    def _covered(self, item: Retrieved, span: Span) -> list[tuple[int, int]]:
        place = self._locator.place(item, {span.source: [(span, ())]})
        if not isinstance(place, Place) or item.text is None:
            return []
        common = common_stretches(place.stretches, [(span.start, span.end)])
        begins, ends = place.stretches[0][0], place.stretches[-1][1]
        if len(place.stretches) == 1 and ends - begins == len(item.text):
            return [(start - begins, end - begins) for start, end in common]
        source = self._locator.sources.get(span.source)  # the item is not verbatim, so the words are searched for
        found = [] if source is None else [where(source.text[start:end], item.text) for start, end in common]
        return [stretch for stretch in found if stretch is not None]
