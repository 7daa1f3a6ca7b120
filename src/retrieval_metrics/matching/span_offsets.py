"""Find where retrieved items are in their sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from retrieval_metrics.inputs.chunk_offsets import SourceText, read_sources
from retrieval_metrics.matching.character_ranges import merge_ranges
from retrieval_metrics.matching.text_normalisation import normalise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.inputs.items import Retrieved, Span
    from retrieval_metrics.matching.judged_columns import UnlocatedReason

    # Spans of one source, each with the normalised quotes that are alternatives to it.
    SpansWithQuotes: TypeAlias = "Sequence[tuple[Span, Sequence[str]]]"


# A text that names no source is taken from one if this share of it is there.
MIN_SHARE_FROM_SOURCE = 0.5

# A text may hold part of a quote if it begins with this many letters of the quote's end, or ends with its first ones.
N_TELLING_LETTERS = 8


class ItemLocation(NamedTuple):
    """Where an item is.

    Attributes:
        source: The name of its source.
        ranges: Start and end of each part of the item that is in the source, sorted and disjoint.
    """

    source: str
    ranges: tuple[tuple[int, int], ...]


class AmbiguousPosition(NamedTuple):
    """The locations of an item whose text stands in its source, perhaps more than once.

    Attributes:
        locations: The locations, the first first.
    """

    locations: tuple[ItemLocation, ...]

    def nearest(self, spans_by_source: Mapping[str, SpansWithQuotes]) -> ItemLocation:
        """Return the location that holds a judged span, because the same words are there; else the first."""
        for location in self.locations:
            ((start, end),) = location.ranges
            for span, _ in spans_by_source.get(location.source, ()):
                if span.start < end and start < span.end:
                    return location
        return self.locations[0]


@dataclass
class ItemPositions:
    """Where the items of one query are, for items from a source that has a span of the query.

    Attributes:
        ranks: The rank of each.
        locations: The location of each.
        first_unlocated: The first rank whose item could cover something but whose position is unknown.
    """

    # Apart from each other, because pairs would be as many objects for the garbage collector to visit.
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
        ambiguous_locations: How many different items were searched for and occur in their source more than once. The
            same words stand at each place, so the one with a judged span is used, else the first.
        invalid_offsets: How many of the located items have offsets that do not fit their text or their source.
    """

    def __init__(self, sources: Mapping[str, str] | None) -> None:
        self.sources = read_sources(sources)
        self.ambiguous_locations = 0
        self.invalid_offsets = 0
        self._locations_by_text: dict[tuple[str, str], list[ItemLocation]] = {}
        self._parts_by_text: dict[tuple[str, str], list[tuple[int, int]]] = {}
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

    def locate(
        self, item: Retrieved, spans_by_source: Mapping[str, SpansWithQuotes]
    ) -> ItemLocation | UnlocatedReason | None:
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
            result = result.nearest(spans_by_source)
        if key in self._keys_with_invalid_offsets:
            self.invalid_offsets += 1
        if not item.offsets_unverified or name in self.sources or not isinstance(result, ItemLocation):
            return result
        start, _ = result.ranges[0]
        for span, quotes in spans_by_source[name]:
            if not self._confirms_offsets(item, start, span, quotes):
                return "unchecked"
        return result

    def is_settled(self, item: Retrieved, spans_by_source: Mapping[str, SpansWithQuotes]) -> bool:
        """Return whether the location of an item does not matter: quotes say the same of it as the spans would."""
        if item.text is None:
            return False
        text = self._normalise(item.text)
        for spans in spans_by_source.values():
            for _, quotes in spans:
                if not _is_settled_by_quotes(text, quotes):
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
        self, item: Retrieved, spans_by_source: Mapping[str, SpansWithQuotes]
    ) -> ItemLocation | UnlocatedReason | None:
        """Locate an item whose source has no name, or one that is no source, as an intermediate document has."""
        if item.text is not None:
            judged_names = [name for name in spans_by_source if name in self.sources]
            for name in judged_names:
                locations = self._find_text(item.text, name)
                if locations:
                    return AmbiguousPosition(tuple(locations)).nearest(spans_by_source)
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
        """Return the locations of a text in a source, the first first."""
        key = name, text
        if key not in self._locations_by_text:
            locations = [ItemLocation(name, (text_range,)) for text_range in self.sources[name].find_all(text)]
            self._locations_by_text[key] = locations
            if len(locations) > 1:
                self.ambiguous_locations += 1
        return self._locations_by_text[key]

    def _locate_parts(self, text: str, name: str, min_share: float = 0.0) -> ItemLocation | None:
        """Return where the parts of a text are that are of a source, if they are at least some share of it."""
        key = name, text
        if key not in self._parts_by_text:
            self._parts_by_text[key] = merge_ranges(self.sources[name].parts(text))
        parts = self._parts_by_text[key]
        n_from_source = sum(self.counted_length(name, start, end) for start, end in parts)
        n_characters = len("".join(text.split()))
        if not parts or n_from_source / max(n_characters, 1) < min_share:
            return None
        return ItemLocation(name, tuple(parts))

    def _confirms_offsets(self, item: Retrieved, offset: int, span: Span, quotes: Sequence[str]) -> bool:
        """Return whether the text of an item confirms that its claimed offsets cover a span or do not."""
        if not quotes or item.text is None:
            return False
        start = max(span.start - offset, 0)
        end = min(span.end - offset, len(item.text))
        if start < end:
            span_text = normalise(item.text[start:end])
            from_start = span.start >= offset
            to_end = span.end <= offset + len(item.text)
            return any(_is_part(span_text, quote, from_start=from_start, to_end=to_end) for quote in quotes)
        text = self._normalise(item.text)
        return not any(_may_hold(text, quote) for quote in quotes)

    def _normalise(self, text: str) -> str:
        if text not in self._normalised:
            self._normalised[text] = normalise(text)
        return self._normalised[text]


def _is_settled_by_quotes(text: str, quotes: Sequence[str]) -> bool:
    """Return whether a normalised text holds one of the quotes, or nothing of any of them."""
    if not quotes:
        return False
    if any(quote in text for quote in quotes):
        return True
    return not any(_may_hold(text, quote) for quote in quotes)


def _is_part(part: str, quote: str, *, from_start: bool, to_end: bool) -> bool:
    """Return whether a text is a quote, or the part of it that begins or ends where the quote does."""
    if from_start and to_end:
        return part in quote or quote in part  # a span may be a little longer than its quote
    if from_start:
        return quote.startswith(part)
    if to_end:
        return quote.endswith(part)
    return part in quote


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
