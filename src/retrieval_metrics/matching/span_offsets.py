"""Find where retrieved items are in their sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from retrieval_metrics.inputs.source_text import SourceText, read_sources
from retrieval_metrics.matching.character_ranges import merge_ranges
from retrieval_metrics.matching.text_normalisation import normalise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.pieces import Span
    from retrieval_metrics.matching.judged_columns import UnlocatedReason

    # The judged spans of a query by the name of their source.
    SpansBySource: TypeAlias = "Mapping[str, Sequence[QuotedSpan]]"


# A text that names no source is taken to come from a source that contains at least this share of it.
MIN_SHARE_FROM_SOURCE = 0.5

# A text may hold a part of a quote if so many letters at its edge occur in the quote.
N_TELLING_LETTERS = 8


class QuotedSpan(NamedTuple):
    """A judged span with the normalised quotes that are alternatives to it."""

    span: Span
    quotes: Sequence[str]


class ItemLocation(NamedTuple):
    """Where an item is.

    Attributes:
        source: The name of its source.
        ranges: Start and end of each part of the item that is in the source, sorted and disjoint.
    """

    source: str
    ranges: tuple[tuple[int, int], ...]


class AmbiguousPosition(NamedTuple):
    """All locations of an item whose text occurs in its source, perhaps more than once.

    Attributes:
        locations: The locations in the order of the source.
    """

    locations: tuple[ItemLocation, ...]

    def choose(self, spans_by_source: SpansBySource) -> ItemLocation:
        """Return the first location that overlaps a judged span, or else the first of all.

        The text is the same at each location, so an item counts as the judged one.
        """
        for location in self.locations:
            ((start, end),) = location.ranges
            for quoted_span in spans_by_source.get(location.source, ()):
                if quoted_span.span.start < end and start < quoted_span.span.end:
                    return location
        return self.locations[0]


@dataclass
class ItemPositions:
    """The locations of the items of one query that come from a source with a span of the query.

    Attributes:
        ranks: The rank of each located item.
        locations: The location of each located item.
        first_unlocated: The first rank whose item could cover a span but has an unknown location; None if there is
            no such rank.
    """

    # Two lists rather than a list of pairs, because the garbage collector would visit every pair.
    ranks: list[int] = field(default_factory=list)
    locations: list[ItemLocation] = field(default_factory=list)
    first_unlocated: int | None = None


class _ItemKey(NamedTuple):
    """What decides where an item from a named source is."""

    source: str
    text: str | None
    start: int | None
    end: int | None
    offsets_unverified: bool


class SpanLocator:
    """Measures ranges in the characters that count, and locates items.

    Attributes:
        sources: The sources whose texts were given.
        ambiguous_locations: How many different texts were searched for and occur in their source more than once; see
            `AmbiguousPosition.choose`.
        invalid_offsets: How many of the located items have offsets that do not fit their text or their source.
    """

    def __init__(self, sources: Mapping[str, str] | None) -> None:
        self.sources = read_sources(sources)
        self.ambiguous_locations = 0
        self.invalid_offsets = 0
        # By the name of a source and a text.
        self._locations_by_text: dict[tuple[str, str], list[ItemLocation]] = {}
        self._shared_ranges_by_text: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self._results: dict[_ItemKey, ItemLocation | AmbiguousPosition | UnlocatedReason] = {}
        self._keys_with_invalid_offsets: set[_ItemKey] = set()
        self._normalised: dict[str, str] = {}

    def counted_length(self, name: str, start: int, end: int) -> int:
        """Return how many characters of a range count."""
        source = self.sources.get(name)
        if source is None:
            return end - start
        return source.length(start, end)

    def item_length(self, item: Retrieved) -> int:
        """Return how many characters of an item count, wherever it is."""
        if item.text is not None:
            return len("".join(item.text.split())) if self.sources else len(item.text)
        if item.start is None or item.end is None:
            return 0
        return self.counted_length(item.source or "", item.start, item.end)

    def locate(self, item: Retrieved, spans_by_source: SpansBySource) -> ItemLocation | UnlocatedReason | None:
        """Return where an item is, or why that is unknown; None if it is from a source without a judged span."""
        name = item.source
        if name is None or (name not in spans_by_source and name not in self.sources):
            return self._locate_in_any_source(item, spans_by_source)
        if name not in spans_by_source:
            return None
        key = _ItemKey(name, item.text, item.start, item.end, item.offsets_unverified)
        result = self._results.get(key)
        if result is None:
            source = self.sources.get(name)
            result = self._locate_by_length(item, key) if source is None else self._locate_in_source(item, source, key)
            self._results[key] = result
        if isinstance(result, AmbiguousPosition):
            result = result.choose(spans_by_source)
        if key in self._keys_with_invalid_offsets:
            self.invalid_offsets += 1
        if not item.offsets_unverified or name in self.sources or not isinstance(result, ItemLocation):
            return result
        item_start, _ = result.ranges[0]
        for quoted_span in spans_by_source[name]:
            if not self._confirms_offsets(item, item_start, quoted_span):
                return "unchecked"
        return result

    def is_settled(self, item: Retrieved, spans_by_source: SpansBySource) -> bool:
        """Return whether the quotes of the spans decide what an item holds, so that its location is not needed."""
        if item.text is None:
            return False
        text = self._normalise(item.text)
        for quoted_spans in spans_by_source.values():
            for quoted_span in quoted_spans:
                if not _is_settled_by_quotes(text, quoted_span.quotes):
                    return False
        return True

    def _locate_in_source(
        self, item: Retrieved, source: SourceText, key: _ItemKey
    ) -> ItemLocation | AmbiguousPosition | UnlocatedReason:
        """Locate an item in a source whose text is known."""
        name = item.source or ""
        if item.start is not None and item.end is not None:
            confirmed = source.confirm_range(item.text, item.start, item.end)
            if confirmed is None:
                self._keys_with_invalid_offsets.add(key)
            elif item.text is None and item.offsets_unverified:
                return "unchecked"
            else:
                return ItemLocation(name, (confirmed,))
        if item.text is None:
            return "no offsets" if item.start is None else "not in the source"
        locations = self._find_text(item.text, name)
        if locations:
            return AmbiguousPosition(tuple(locations))
        return self._locate_parts(item.text, name) or "not in the source"

    def _locate_by_length(self, item: Retrieved, key: _ItemKey) -> ItemLocation | UnlocatedReason:
        """Locate an item in a source whose text is not known."""
        if item.start is None or item.end is None:
            return "no offsets"
        if item.text is not None and item.end - item.start != len(item.text):
            self._keys_with_invalid_offsets.add(key)
            return "wrong length"
        return ItemLocation(item.source or "", ((item.start, item.end),))

    def _locate_in_any_source(
        self, item: Retrieved, spans_by_source: SpansBySource
    ) -> ItemLocation | UnlocatedReason | None:
        """Locate an item by its text alone, because it names no source, or one that is unknown, such as a section."""
        if item.text is not None:
            judged_names = [name for name in spans_by_source if name in self.sources]
            for name in judged_names:
                locations = self._find_text(item.text, name)
                if locations:
                    return AmbiguousPosition(tuple(locations)).choose(spans_by_source)
            for name in judged_names:
                location = self._locate_parts(item.text, name, MIN_SHARE_FROM_SOURCE)
                if location is not None:
                    return location
        if item.source is not None:
            return None
        if item.text is None or not self.sources:
            return "no offsets"
        for name in self.sources:
            if name not in spans_by_source and self._find_text(item.text, name):
                return None
        return "not in the source"

    def _find_text(self, text: str, name: str) -> list[ItemLocation]:
        """Return the locations of a text in a source, in the order of the source."""
        key = name, text
        if key not in self._locations_by_text:
            locations = [ItemLocation(name, (text_range,)) for text_range in self.sources[name].find_all(text)]
            self._locations_by_text[key] = locations
            if len(locations) > 1:
                self.ambiguous_locations += 1
        return self._locations_by_text[key]

    def _locate_parts(self, text: str, name: str, min_share: float = 0.0) -> ItemLocation | None:
        """Return the ranges that a text shares with a source; None if they are less than a share of the text."""
        key = name, text
        if key not in self._shared_ranges_by_text:
            self._shared_ranges_by_text[key] = merge_ranges(self.sources[name].find_shared_ranges(text))
        shared_ranges = self._shared_ranges_by_text[key]
        n_from_source = sum(self.counted_length(name, start, end) for start, end in shared_ranges)
        n_characters = len("".join(text.split()))
        if not shared_ranges or n_from_source / max(n_characters, 1) < min_share:
            return None
        return ItemLocation(name, tuple(shared_ranges))

    def _confirms_offsets(self, item: Retrieved, item_start: int, quoted_span: QuotedSpan) -> bool:
        """Return whether the text of an item agrees with its claimed offsets, as the quotes of a span tell."""
        span = quoted_span.span
        if not quoted_span.quotes or item.text is None:
            return False
        start = max(span.start - item_start, 0)
        end = min(span.end - item_start, len(item.text))
        if start < end:
            span_text = normalise(item.text[start:end])
            has_start = span.start >= item_start
            has_end = span.end <= item_start + len(item.text)
            for quote in quoted_span.quotes:
                if _is_part(span_text, quote, has_start=has_start, has_end=has_end):
                    return True
            return False
        text = self._normalise(item.text)
        return not any(_may_hold(text, quote) for quote in quoted_span.quotes)

    def _normalise(self, text: str) -> str:
        if text not in self._normalised:
            self._normalised[text] = normalise(text)
        return self._normalised[text]


def _is_settled_by_quotes(text: str, quotes: Sequence[str]) -> bool:
    """Return whether a normalised text holds one of the quotes as a whole, or nothing of any of them."""
    if not quotes:
        return False
    if any(quote in text for quote in quotes):
        return True
    return not any(_may_hold(text, quote) for quote in quotes)


def _is_part(span_text: str, quote: str, *, has_start: bool, has_end: bool) -> bool:
    """Return whether the text of a span, or of its part inside an item, agrees with a quote.

    Args:
        span_text: The normalised text.
        quote: The normalised quote.
        has_start: Whether the text has the start of the span.
        has_end: Whether the text has the end of the span.
    """
    if has_start and has_end:
        return span_text in quote or quote in span_text  # a span may be a little longer than its quote
    if has_start:
        return quote.startswith(span_text)
    if has_end:
        return quote.endswith(span_text)
    return span_text in quote


def _may_hold(text: str, quote: str) -> bool:
    """Return whether a text holds a quote, or the beginning or the end of it.

    Example:
        >>> _may_hold("refundstakefive", "takefiveworkingdays"), _may_hold("refundstaken", "takefiveworkingdays")
        (True, False)
    """
    if quote in text or text in quote:
        return True
    quote_end_position = quote.rfind(text[:N_TELLING_LETTERS])
    if quote_end_position >= 0 and text.startswith(quote[quote_end_position:]):
        return True
    quote_start_position = quote.find(text[-N_TELLING_LETTERS:])
    return quote_start_position >= 0 and text.endswith(quote[: quote_start_position + N_TELLING_LETTERS])
