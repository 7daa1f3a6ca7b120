"""Where retrieved items are in their sources, and which judged pieces they meet there."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from retrieval_metrics.inputs.chunk_offsets import SourceText, read_sources
from retrieval_metrics.matching.judged_run import Items, JudgedRanks, NewCoverage
from retrieval_metrics.matching.text_normalisation import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics._internal.validation import FloatArray, IntArray
    from retrieval_metrics.inputs.items import Retrieved, Span
    from retrieval_metrics.inputs.qrels import Qrels

    Beside: TypeAlias = "Sequence[tuple[Span, Sequence[str]]]"
    """Spans, each with the normalised quotes that are alternatives to it."""


UnlocatedReason: TypeAlias = Literal["no offsets", "unchecked", "wrong length", "not in the source", "another source"]
"""Why an item has no place: nothing is known of it; nothing confirms what is; it contradicts what is; or no item at all
names a judged source."""

MAIN = 0.5
"""A text that names no source is taken from one if so much of it is there."""
TELLING = 8
"""A text that begins with so many letters of the end of a quote, or ends with its first ones, may hold part of it."""


class ItemLocation(NamedTuple):
    """Where an item is.

    Attributes:
        source: The name of its source.
        stretches: Start and end of each part of the item that is in the source, sorted and disjoint.
    """

    source: str
    ranges: tuple[tuple[int, int], ...]


class AmbiguousPosition(NamedTuple):
    """The places of an item whose text stands in its source, perhaps more than once.

    Attributes:
        places: The places, the first first.
    """

    places: tuple[ItemLocation, ...]

    def nearest(self, among: Mapping[str, Beside]) -> ItemLocation:
        """Return the place that holds a judged span, because the same words are there; else the first."""
        for place in self.places:
            ((start, end),) = place.ranges
            if any(span.start < end and start < span.end for span, _ in among.get(place.source, ())):
                return place
        return self.places[0]


def _somewhere(places: list[ItemLocation]) -> AmbiguousPosition | None:
    return AmbiguousPosition(tuple(places)) if places else None


@dataclass
class ItemPositions:
    """Where the items of one query are, for items from a source that has a span of the query.

    Attributes:
        ranks: The rank of each.
        places: The place of each.
        first_unplaced: The first rank whose item could cover something but whose position is unknown.
    """

    # Apart from each other, because pairs would be as many objects for the garbage collector to visit.
    ranks: list[int] = field(default_factory=list)
    places: list[ItemLocation] = field(default_factory=list)
    first_unplaced: int | None = None


class SpanLocator:
    """Measures stretches in the characters that count, and places items.

    Attributes:
        sources: The sources whose texts were given.
        ambiguous_locations: How many different items were searched for and occur in their source more than once. The same words
            stand at each place, so the one with a judged span is used, else the first.
        invalid_offsets: How many of the placed items have offsets that do not fit their text or their source.
    """

    def __init__(self, sources: Mapping[str, str] | None) -> None:
        self.sources = read_sources(sources)
        self._found: dict[tuple[str, str], list[ItemLocation]] = {}
        self._parts: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self._placed: dict[tuple[Any, ...], ItemLocation | AmbiguousPosition | UnlocatedReason] = {}
        self._normalised: dict[str, str] = {}
        self._wrong: set[tuple[Any, ...]] = set()
        self.ambiguous_locations = 0
        self.invalid_offsets = 0

    def counted_length(self, name: str, start: int, end: int) -> int:
        """Return how many characters of a stretch count."""
        source = self.sources.get(name)
        return end - start if source is None else source.length(start, end)

    def item_length(self, item: Retrieved) -> int:
        """Return how many characters of an item count, wherever it is."""
        if item.text is not None:
            return len("".join(item.text.split())) if self.sources else len(item.text)
        if item.start is None or item.end is None:
            return 0
        return self.counted_length(item.source or "", item.start, item.end)

    def locate(self, item: Retrieved, among: Mapping[str, Beside]) -> ItemLocation | UnlocatedReason | None:
        """Return where an item is."""
        name = item.source
        if name is None or not (name in among or name in self.sources):
            return self._by_text(item, among)
        if name not in among:
            return None
        key = name, item.text, item.start, item.end, item.offsets_unverified
        place = self._placed.get(key)
        if place is None:
            source = self.sources.get(name)
            place = self._placed[key] = self._in_source(item, source, key) if source else self._by_length(item, key)
        if isinstance(place, AmbiguousPosition):
            place = place.nearest(among)
        self.invalid_offsets += key in self._wrong
        if item.offsets_unverified and name not in self.sources and isinstance(place, ItemLocation):
            (start, _), *_ = place.ranges
            return place if all(self._agrees(item, start, *beside) for beside in among[name]) else "unchecked"
        return place

    def is_settled(self, item: Retrieved, among: Mapping[str, Beside]) -> bool:
        """Return whether the place of an item does not matter, because quotes say the same of it as the spans would."""
        if item.text is None:
            return False
        text = self._normal(item.text)
        return all(
            bool(quotes) and (any(quote in text for quote in quotes) or not any(_may_hold(text, one) for one in quotes))
            for spans in among.values()
            for _, quotes in spans
        )

    def _in_source(
        self, item: Retrieved, source: SourceText, key: tuple[Any, ...]
    ) -> ItemLocation | AmbiguousPosition | UnlocatedReason:
        """Place an item in a source whose text is known."""
        name = item.source or ""
        if item.start is not None and item.end is not None:
            place = source.confirm_range(item.text, item.start, item.end)
            if place is not None:
                return (
                    ItemLocation(name, (place,))
                    if item.text is not None or not item.offsets_unverified
                    else "unchecked"
                )
            self._wrong.add(key)
        if item.text is None:
            return "no offsets" if item.start is None else "not in the source"
        return _somewhere(self._search(item.text, name)) or self._of_parts(item.text, name) or "not in the source"

    def _by_length(self, item: Retrieved, key: tuple[Any, ...]) -> ItemLocation | UnlocatedReason:
        """Place an item in a source whose text is not known."""
        if item.start is None or item.end is None:
            return "no offsets"
        if item.text is not None and item.end - item.start != len(item.text):
            self._wrong.add(key)
            return "wrong length"
        return ItemLocation(item.source or "", ((item.start, item.end),))

    def _by_text(self, item: Retrieved, among: Mapping[str, Beside]) -> ItemLocation | UnlocatedReason | None:
        """Place an item whose source has no name, or one that is no source, as an intermediate document has."""
        known = [name for name in among if name in self.sources] if item.text is not None else []
        text = item.text or ""
        for name in known:
            if (found := _somewhere(self._search(text, name))) is not None:
                return found.nearest(among)
        for name in known:
            if (part := self._of_parts(text, name, MAIN)) is not None:
                return part
        if item.source is not None:
            return None
        if item.text is None or not self.sources:
            return "no offsets"
        elsewhere = any(self._search(text, name) for name in self.sources if name not in among)
        return None if elsewhere else "not in the source"

    def _search(self, text: str, name: str) -> list[ItemLocation]:
        """Return the places of a text in a source, the first first."""
        key = name, text
        if key not in self._found:
            self._found[key] = [ItemLocation(name, (each,)) for each in self.sources[name].find_all(text)]
            self.ambiguous_locations += len(self._found[key]) > 1
        return self._found[key]

    def _of_parts(self, text: str, name: str, least: float = 0.0) -> ItemLocation | None:
        """Return where the parts of a text are that are of a source, if they are at least some share of it."""
        key = name, text
        if key not in self._parts:
            self._parts[key] = merge_ranges(self.sources[name].parts(text))
        parts = self._parts[key]
        share = sum(self.counted_length(name, *part) for part in parts) / max(len("".join(text.split())), 1)
        return ItemLocation(name, tuple(parts)) if parts and share >= least else None

    def _agrees(self, item: Retrieved, offset: int, span: Span, quotes: Sequence[str]) -> bool:
        """Return whether the text of an item confirms that its claimed offsets cover a span or do not."""
        if not quotes or item.text is None:
            return False
        start, end = max(span.start - offset, 0), min(span.end - offset, len(item.text))
        if start < end:
            part = normalise(item.text[start:end])
            from_start, to_end = span.start >= offset, span.end <= offset + len(item.text)
            return any(_is_part(part, quote, from_start=from_start, to_end=to_end) for quote in quotes)
        text = self._normal(item.text)
        return not any(_may_hold(text, quote) for quote in quotes)

    def _normal(self, text: str) -> str:
        if text not in self._normalised:
            self._normalised[text] = normalise(text)
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


# Stretches of a text as (start, end): their union, intersection and difference.

_START, _END = itemgetter(0), itemgetter(1)


def merge_ranges(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the union of some stretches, sorted and disjoint.

    Example:
        >>> merge_ranges([(5, 9), (0, 3), (2, 4)])
        [(0, 4), (5, 9)]
    """
    union: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if union and start <= union[-1][1]:
            union[-1] = union[-1][0], max(union[-1][1], end)
        else:
            union.append((start, end))
    return union


def intersect_ranges(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the intersection of two unions of stretches, each sorted and disjoint.

    Example:
        >>> intersect_ranges([(0, 4), (6, 9)], [(3, 7)])
        [(3, 4), (6, 7)]
    """
    common = []
    for start, end in left:
        for at in range(bisect_left(right, start + 1, key=_END), len(right)):
            if right[at][0] >= end:
                break
            common.append((max(start, right[at][0]), min(end, right[at][1])))
    return common


class RangeUnion:
    """A union of stretches that grows; adding one takes time logarithmic in their number, and memory moves.

    Example:
        >>> union = RangeUnion()
        >>> union.add(2, 4), union.add(8, 12), union.add(0, 10)  # what is new each time
        ([(2, 4)], [(8, 12)], [(0, 2), (4, 8)])
        >>> union.ranges
        [(0, 12)]
    """

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []

    def add(self, start: int, end: int) -> list[tuple[int, int]]:
        """Add a stretch; return the parts of it that are new."""
        held = self.ranges
        first = bisect_left(held, start, key=_END)  # the first one that touches it or is behind it
        last = bisect_left(held, end + 1, lo=first, key=_START)
        fresh, at = [], start
        for left, right in held[first:last]:
            if at < left:
                fresh.append((at, left))
            at = max(at, right)
        if at < end:
            fresh.append((at, end))
        if first < last:
            start, end = min(start, held[first][0]), max(end, held[last - 1][1])
        held[first:last] = [(start, end)]
        return fresh


# Read the offsets of spans in a source whose lines end otherwise than those of the text they were written against.
#
# Python's `open` makes one character of "\r\n"; a file that is read as bytes, or by some frameworks, keeps both. Each
# line then moves the offsets of what follows by one.

MANY_MORE = 4
"""By how many times; spans that cut words fit either way by chance."""


def repair_line_endings(
    spans: Mapping[int, Span], sources: Mapping[str, SourceText], beside: Mapping[int, Sequence[str]]
) -> tuple[dict[int, Span], list[int]]:
    r"""Return spans as they are meant in the texts of their sources, and the numbers of those in doubt.

    Example:
        >>> from retrieval_metrics import Span
        >>> from retrieval_metrics.inputs.chunk_offsets import SourceText
        >>> sources = {"terms": SourceText("Terms\r\n\r\nRefunds take\r\nfive days.")}
        >>> repair_line_endings({0: Span("terms", 7, 30)}, sources, {0: ["refundstakefivedays."]})
        ({0: Span(source='terms', start=9, end=33)}, [])
        >>> repair_line_endings({0: Span("terms", 7, 30)}, sources, {})
        ({0: Span(source='terms', start=7, end=30)}, [0])
    """
    read, doubtful, certain = dict(spans), [], 0
    for number, span in spans.items():
        source = sources.get(span.source)
        if source is None or (other := _other(span, source)) is None:
            continue
        quotes = beside.get(number, ())
        fits, other_fits = (_fit(one, source, quotes) for one in (span, other))
        if quotes:
            read[number] = other if other_fits > fits else span
        elif other_fits > fits:
            doubtful.append(number)
        else:
            certain += fits > other_fits
    return read, doubtful if len(doubtful) > MANY_MORE * certain else []


def has_same_text(quote: str, held: str) -> bool:
    """Return whether a normalised quote equals the normalised text of a span, or one contains the other."""
    return bool(held) and (quote in held or held in quote)


def _other(span: Span, source: SourceText) -> Span | None:
    start, end = source.find_across_newlines(span.start), source.find_across_newlines(span.end)
    if (start, end) == (span.start, span.end) or end > len(source.text) or start >= end:
        return None
    return replace(span, start=start, end=end)


def _fit(span: Span, source: SourceText, quotes: Sequence[str]) -> int:
    """Return how well a span fits: 2 if it holds a quote and nothing else, 1 if it may, 0 if not."""
    text = source.text
    if span.end > len(text):
        return 0
    if quotes:
        held = normalise(text[span.start : span.end])
        return 2 if held in quotes else int(any(has_same_text(quote, held) for quote in quotes))
    begins = not text[span.start].isspace() and not (span.start and _is_word(text[span.start - 1 : span.start + 1]))
    return int(begins and not text[span.end - 1].isspace() and not _is_word(text[span.end - 1 : span.end + 1]))


def _is_word(pair: str) -> bool:
    """Return whether two characters are next to each other in one word."""
    return len(pair) == 2 and pair.isalnum()


# Collect in columns which retrieved items satisfy, overlap or extend which judged pieces.


def pieces_by_query(qrels: Qrels, kind: type | tuple[type, ...]) -> dict[int, dict[int, Any]]:
    """Return what is judged of a kind by the position of its query, and by its own position in `Qrels.documents`."""
    found: dict[int, dict[int, Any]] = {}
    for at, (query, judged) in enumerate(zip(qrels.document_query.tolist(), qrels.documents, strict=True)):
        if isinstance(judged, kind):
            found.setdefault(query, {})[at] = judged
    return found


class PieceHits:
    """The findings of the matching rules, by piece and rank."""

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self.size = np.full(len(qrels.documents), np.nan)
        self.spans: dict[int, Span] = {}
        self.positions: dict[int, ItemPositions] = {}
        self._satisfied: tuple[list[int], list[int]] = ([], [])
        self._overlapping: tuple[list[int], list[int]] = ([], [])
        self._added: tuple[list[int], list[int], list[int]] = ([], [], [])

    def satisfied(self, piece: int, rank: int) -> None:
        """Record that the items down to this rank satisfy a piece, and those above it did not."""
        self._satisfied[0].append(piece)
        self._satisfied[1].append(rank)

    def overlapping(self, piece: int, rank: int) -> None:
        """Record that the item at this rank is relevant because of a piece, whether or not an item above it was."""
        self._overlapping[0].append(piece)
        self._overlapping[1].append(rank)

    def cover(self, piece: int, rank: int, characters: tuple[int, int], share: float) -> None:
        """Record how many characters of a piece are covered above this rank, and with it; `share` satisfies it."""
        before, after = characters
        if after > before:
            self._added[0].append(piece)
            self._added[1].append(rank)
            self._added[2].append(after - before)
            # The quotient of two integers is the float nearest to the share in the call; a product may not be.
            if before / self.size[piece] < share <= after / self.size[piece]:
                self.satisfied(piece, rank)

    def located(self, query: int, rank: int, place: ItemLocation | None) -> None:
        """Record the place of an item that may cover a span of its query; None if it is unknown."""
        found = self.positions.setdefault(query, ItemPositions())
        if place is not None:
            found.ranks.append(rank)
            found.places.append(place)
        elif found.first_unplaced is None:
            found.first_unplaced = rank

    def record_new_coverage(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return piece, rank and characters of everything that adds to what is covered."""
        piece, rank, characters = (np.array(column, dtype=np.int64) for column in self._added)
        return piece, rank, characters

    def items(self) -> Items:
        """Return what was satisfied, ordered by query, rank and grade."""
        piece, rank = (np.array(column, dtype=np.int64) for column in self._satisfied)
        query, grade = self.qrels.document_query[piece], self.qrels.document_grade[piece]
        order = np.lexsort((-grade, rank, query))
        untied = np.ones(len(piece), dtype=np.int64)
        return Items(piece[order], query[order], rank[order], grade[order], untied, rank[order])

    def ranks(self) -> JudgedRanks:
        """Return the ranks whose item is relevant or judged because of some piece."""
        piece, rank = (np.array(column, dtype=np.int64) for column in self._overlapping)
        query = self.qrels.document_query[piece]
        *_, least = self._largest_grades(query, rank, -self.qrels.smallest_grade[piece])
        return JudgedRanks(*self._largest_grades(query, rank, self.qrels.document_grade[piece]), -least)

    def find_new_coverage(self) -> NewCoverage | None:
        """Return the ranks that add to what is covered; None if nothing can be covered in part."""
        if np.isnan(self.size).all():
            return None
        piece, rank, _ = self.record_new_coverage()
        query, rank, grade = self._largest_grades(
            self.qrels.document_query[piece], rank, self.qrels.document_grade[piece]
        )
        query_done, rank_done, grade_done = self._largest_grades(*self.items()[1:4])
        completed = np.full(len(rank), -np.inf)
        longest = max(rank.max(initial=0), rank_done.max(initial=0)) + 1
        _, here, there = np.intersect1d(query * longest + rank, query_done * longest + rank_done, return_indices=True)
        completed[here] = grade_done[there]
        return NewCoverage(query, rank, grade, completed)

    @staticmethod
    def _largest_grades(query: IntArray, rank: IntArray, grade: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return each (query, rank) once, in order, with the largest of its grades."""
        order = np.lexsort((-grade, rank, query))
        query, rank, grade = query[order], rank[order], grade[order]
        first = (np.diff(query, prepend=-1) != 0) | (np.diff(rank, prepend=0) != 0)
        return query[first], rank[first], grade[first]
