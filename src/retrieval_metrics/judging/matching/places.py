"""Where retrieved items are in their sources, and how long stretches of a source are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from retrieval_metrics.inputs.sources import SourceText, read_sources
from retrieval_metrics.judging.matching.normalised import normalised
from retrieval_metrics.judging.matching.stretches import merged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.inputs.items import Retrieved, Span

    Beside: TypeAlias = "Sequence[tuple[Span, Sequence[str]]]"
    """Spans, each with the normalised quotes that are alternatives to it."""

Doubt: TypeAlias = Literal["no offsets", "unchecked", "wrong length", "not in the source", "another source"]
"""Why an item has no place: nothing is known of it; nothing confirms what is; it contradicts what is; or no item at all
names a judged source."""

MAIN = 0.5
"""A text that names no source is taken from one if so much of it is there."""
TELLING = 8
"""A text that begins with so many letters of the end of a quote, or ends with its first ones, may hold part of it."""


class Place(NamedTuple):
    """Where an item is.

    Attributes:
        source: The name of its source.
        stretches: Start and end of each part of the item that is in the source, sorted and disjoint.
    """

    source: str
    stretches: tuple[tuple[int, int], ...]


class _Somewhere(NamedTuple):
    """The places of an item whose text stands more than once in its source.

    Attributes:
        places: The places, the first first.
    """

    places: tuple[Place, ...]

    def nearest(self, among: Mapping[str, Beside]) -> Place:
        """Return the place that holds a judged span, because the same words are there; else the first."""
        for place in self.places:
            ((start, end),) = place.stretches
            if any(span.start < end and start < span.end for span, _ in among.get(place.source, ())):
                return place
        return self.places[0]


def _somewhere(places: list[Place]) -> Place | _Somewhere | None:
    return _Somewhere(tuple(places)) if len(places) > 1 else next(iter(places), None)


@dataclass
class Positions:
    """Where the items of one query are, for items from a source that has a span of the query.

    Attributes:
        ranks: The rank of each.
        places: The place of each.
        first_unplaced: The first rank whose item could cover something but whose position is unknown.
    """

    # Apart from each other, because pairs would be as many objects for the garbage collector to visit.
    ranks: list[int] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    first_unplaced: int | None = None


class Locator:
    """Measures stretches in the characters that count, and places items.

    Offsets are claims until a text confirms them, because parsers and postprocessors leave wrong ones behind. If the
    text of a source is given, it must hold the item there; otherwise the item is searched for in it, whole or by the
    parts that are of the source, if something was added to it or left out. Without it, the
    offsets must be as far apart as the item is long, and those that a framework recorded must agree with the quotes
    beside the spans. What cannot be placed so has no place.

    With the text of a source, white space does not count. Without it, every character counts.

    Attributes:
        sources: The sources whose texts were given.
        ambiguous: How many different items were searched for and occur in their source more than once. The same words
            stand at each place, so the one with a judged span is used, else the first.
        misplaced: How many of the placed items have offsets that do not fit their text or their source.
    """

    def __init__(self, sources: Mapping[str, str] | None) -> None:
        self.sources = read_sources(sources)
        self._found: dict[tuple[str, str], list[Place]] = {}
        self._parts: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self._placed: dict[tuple[Any, ...], Place | _Somewhere | Doubt] = {}
        self._normalised: dict[str, str] = {}
        self._wrong: set[tuple[Any, ...]] = set()
        self.ambiguous = 0
        self.misplaced = 0

    def length(self, name: str, start: int, end: int) -> int:
        """Return how many characters of a stretch count."""
        source = self.sources.get(name)
        return end - start if source is None else source.length(start, end)

    def length_of(self, item: Retrieved) -> int:
        """Return how many characters of an item count, wherever it is."""
        if item.text is not None:
            return len("".join(item.text.split())) if self.sources else len(item.text)
        if item.start is None or item.end is None:
            return 0
        return self.length(item.source or "", item.start, item.end)

    def place(self, item: Retrieved, among: Mapping[str, Beside]) -> Place | Doubt | None:
        """Return where an item is.

        Args:
            item: The item.
            among: By source, the spans that it is compared with.

        Returns:
            The place; why it is unknown; or None if the item is in another source.
        """
        name = item.source
        if name is None or not (name in among or name in self.sources):
            return self._by_text(item, among)
        if name not in among:
            return None
        key = name, item.text, item.start, item.end, item.claimed
        place = self._placed.get(key)
        if place is None:
            source = self.sources.get(name)
            place = self._placed[key] = self._in_source(item, source, key) if source else self._by_length(item, key)
        if isinstance(place, _Somewhere):
            place = place.nearest(among)
        self.misplaced += key in self._wrong
        if item.claimed and name not in self.sources and isinstance(place, Place):
            (start, _), *_ = place.stretches
            return place if all(self._agrees(item, start, *beside) for beside in among[name]) else "unchecked"
        return place

    def is_settled(self, item: Retrieved, among: Mapping[str, Beside]) -> bool:
        """Return whether the place of an item does not matter, because quotes say the same of it as the spans would.

        That is so if each span has a quote beside it, and the item holds all of the quote or nothing of it.
        """
        if item.text is None:
            return False
        text = self._normal(item.text)
        return all(
            bool(quotes) and (any(quote in text for quote in quotes) or not any(_may_hold(text, one) for one in quotes))
            for spans in among.values()
            for _, quotes in spans
        )

    def _in_source(self, item: Retrieved, source: SourceText, key: tuple[Any, ...]) -> Place | _Somewhere | Doubt:
        """Place an item in a source whose text is known."""
        name = item.source or ""
        if item.start is not None and item.end is not None:
            place = source.confirmed(item.text, item.start, item.end)
            if place is not None:
                return Place(name, (place,)) if item.text is not None or not item.claimed else "unchecked"
            self._wrong.add(key)
        if item.text is None:
            return "no offsets" if item.start is None else "not in the source"
        return _somewhere(self._search(item.text, name)) or self._of_parts(item.text, name) or "not in the source"

    def _by_length(self, item: Retrieved, key: tuple[Any, ...]) -> Place | Doubt:
        """Place an item in a source whose text is not known."""
        if item.start is None or item.end is None:
            return "no offsets"
        if item.text is not None and item.end - item.start != len(item.text):
            self._wrong.add(key)
            return "wrong length"
        return Place(item.source or "", ((item.start, item.end),))

    def _by_text(self, item: Retrieved, among: Mapping[str, Beside]) -> Place | Doubt | None:
        """Place an item whose source has no name, or one that is no source, as an intermediate document has."""
        known = [name for name in among if name in self.sources] if item.text is not None else []
        text = item.text or ""
        for name in known:
            if (found := _somewhere(self._search(text, name))) is not None:
                return found.nearest(among) if isinstance(found, _Somewhere) else found
        for name in known:
            if (found := self._of_parts(text, name, MAIN)) is not None:
                return found
        if item.source is not None:
            return None
        if item.text is None or not self.sources:
            return "no offsets"
        elsewhere = any(self._search(text, name) for name in self.sources if name not in among)
        return None if elsewhere else "not in the source"

    def _search(self, text: str, name: str) -> list[Place]:
        """Return the places of a text in a source, the first first."""
        key = name, text
        if key not in self._found:
            self._found[key] = [Place(name, (each,)) for each in self.sources[name].places(text)]
            self.ambiguous += len(self._found[key]) > 1
        return self._found[key]

    def _of_parts(self, text: str, name: str, least: float = 0.0) -> Place | None:
        """Return where the parts of a text are that are of a source, if they are at least some share of it.

        The rest was added: a heading, a context, a number; or left out, as by a compressor.
        """
        key = name, text
        if key not in self._parts:
            self._parts[key] = merged(self.sources[name].parts(text))
        parts = self._parts[key]
        share = sum(self.length(name, *part) for part in parts) / max(len("".join(text.split())), 1)
        return Place(name, tuple(parts)) if parts and share >= least else None

    def _agrees(self, item: Retrieved, offset: int, span: Span, quotes: Sequence[str]) -> bool:
        """Return whether the text of an item confirms that its claimed offsets cover a span or do not."""
        if not quotes or item.text is None:
            return False
        start, end = max(span.start - offset, 0), min(span.end - offset, len(item.text))
        if start < end:
            part = normalised(item.text[start:end])
            from_start, to_end = span.start >= offset, span.end <= offset + len(item.text)
            return any(_is_part(part, quote, from_start=from_start, to_end=to_end) for quote in quotes)
        text = self._normal(item.text)
        return not any(_may_hold(text, quote) for quote in quotes)

    def _normal(self, text: str) -> str:
        if text not in self._normalised:
            self._normalised[text] = normalised(text)
        return self._normalised[text]


def _is_part(part: str, quote: str, *, from_start: bool, to_end: bool) -> bool:
    """Return whether a text is a quote, or the part of it that begins or ends where the quote does."""
    if from_start and to_end:
        return part in quote or quote in part  # a span may be a little longer than its quote
    if from_start:
        return quote.startswith(part)
    return quote.endswith(part) if to_end else part in quote


def _may_hold(text: str, quote: str) -> bool:
    """Return whether a text holds a quote, or the beginning or the end of it.

    Example:
        >>> _may_hold("refundstakefive", "takefiveworkingdays"), _may_hold("refundstaken", "takefiveworkingdays")
        (True, False)
    """
    if quote in text or text in quote:
        return True
    first, last = quote.rfind(text[:TELLING]), quote.find(text[-TELLING:])
    return (first >= 0 and text.startswith(quote[first:])) or (last >= 0 and text.endswith(quote[: last + TELLING]))
