"""The texts that chunks were cut from, and where a chunk is in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.inputs.items import Retrieved

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics._internal.validation import BoolArray, DocumentId, IntArray


FEWEST_WORDS = 5
FEWEST_CHARACTERS = 20
"""What is shared with a source by chance is shorter."""
MOST_PLACES = 20
"""In how many places the longest stretch is looked for; boilerplate has more."""

UNSPACED_SCRIPTS = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""The characters of scripts without spaces between words, for a class of a regular expression."""

# Words; of scripts without spaces, letters.
_PIECE = re.compile(rf"[{UNSPACED_SCRIPTS}]|[^\s{UNSPACED_SCRIPTS}]+")

_SPACE_LIMIT = 0x3001
"""From this code point on, no character is white space."""


@cache
def _is_space() -> BoolArray:
    return np.array([chr(code).isspace() for code in range(_SPACE_LIMIT)] + [False])


class Location(NamedTuple):
    """Where a text was found.

    Attributes:
        start: Offset of its first character.
        end: Offset after its last character.
        ambiguous: Whether there was another possible place.
    """

    start: int
    end: int
    ambiguous: bool


class SourceText:
    r"""A source text; offsets count all characters, lengths only those that are not white space.

    Example:
        >>> source = SourceText("ab  cd\r\nab")
        >>> source.length(0, 6)
        4
        >>> source.find("c d")
        Location(start=4, end=6, ambiguous=False)
        >>> source.find("ab", previous=(0, 6))
        Location(start=8, end=10, ambiguous=False)
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def length(self, start: int, end: int) -> int:
        """Return how many characters from `start` to before `end` are not white space."""
        last = len(self.text)
        return int(self._before[min(end, last)]) - int(self._before[min(start, last)])

    def contains_at(self, text: str | None, start: int, end: int) -> bool:
        """Return whether a text is at a place, ignoring white space; None asks whether there is such a place."""
        if end > len(self.text):
            return False
        there = self.text[start:end]
        return text is None or there == text or "".join(there.split()) == "".join(text.split())

    def confirm_range(self, text: str | None, start: int, end: int) -> tuple[int, int] | None:
        """Return where a text is that is said to be at a place: there, or there if ends of lines count otherwise."""
        if self.contains_at(text, start, end):
            return start, end
        across = self.find_across_newlines(start), self.find_across_newlines(end)
        return across if text is not None and self.contains_at(text, *across) else None

    def find_across_newlines(self, offset: int) -> int:
        r"""Return where in the text an offset is that counts "\r\n" as one character.

        Example:
            >>> SourceText("a\r\nb").find_across_newlines(2), SourceText("a\nb").find_across_newlines(3)
            (3, 2)
        """
        if self._has_pairs:
            return offset + int(np.searchsorted(self._ends_of_lines, offset, side="left"))
        return offset - int(np.searchsorted(self._ends_of_lines, offset, side="right"))

    def find(self, text: str, previous: tuple[int, int] = (-1, 0)) -> Location | None:
        """Return where a text is, ignoring white space; None if it is not there."""
        wanted = "".join(text.split())
        if not wanted:
            return None
        behind_start, end = (int(at) for at in np.searchsorted(self._offsets, [previous[0] + 1, previous[1]]))
        lowest = min(behind_start, end)  # the place after an empty piece is its own
        ahead = self._compact.find(wanted, end)
        behind = self._compact.rfind(wanted, lowest, max(end - 1 + len(wanted), 0))
        if ahead < 0 and behind < 0:
            return None
        at = ahead if behind < 0 or 0 <= ahead - end <= end - behind else behind
        again = self._compact.find(wanted, lowest) < at or self._compact.find(wanted, at + 1) >= 0
        return Location(int(self._offsets[at]), int(self._offsets[at + len(wanted) - 1]) + 1, again)

    def find_all(self, text: str) -> list[tuple[int, int]]:
        """Return where a text is, ignoring white space: all places, up to `MOST_PLACES`.

        Example:
            >>> SourceText("ab  cd a b").find_all("ab")
            [(0, 2), (7, 10)]
        """
        wanted = "".join(text.split())
        found: list[tuple[int, int]] = []
        at = self._compact.find(wanted) if wanted else -1
        while at >= 0 and len(found) < MOST_PLACES:
            found.append((int(self._offsets[at]), int(self._offsets[at + len(wanted) - 1]) + 1))
            at = self._compact.find(wanted, at + 1)
        return found

    def parts(self, text: str) -> list[tuple[int, int]]:
        """Return the stretches that a text shares with the source, ignoring white space, each where it is longest.

        Example:
            >>> source = SourceText("One two three. Slots save memory in every instance. The end of it is near now.")
            >>> source.parts("From the handbook: Slots save memory in every instance. [...]")
            [(15, 51)]
        """
        words = _PIECE.findall(text)
        found: list[tuple[int, int]] = []
        first = 0
        while first < len(words):
            last, at = self._longest(words, first)
            if last > first:
                length = sum(map(len, words[first:last]))
                found.append((int(self._offsets[at]), int(self._offsets[at + length - 1]) + 1))
            first = max(last, first + 1)
        return found

    def _longest(self, words: Sequence[str], first: int) -> tuple[int, int]:
        """Return where the longest run of words from the first on ends that is in the source, and its place there."""
        end = first + FEWEST_WORDS
        while end <= len(words) and sum(map(len, words[first:end])) < FEWEST_CHARACTERS:
            end += 1
        if end > len(words):
            return first, 0
        seed = "".join(words[first:end])
        best, place, at = first, 0, self._compact.find(seed)
        for _ in range(MOST_PLACES):
            if at < 0:
                break
            last, length = end, len(seed)
            while last < len(words) and self._compact.startswith(words[last], at + length):
                length += len(words[last])
                last += 1
            if last > best:
                best, place = last, at
            at = self._compact.find(seed, at + 1)
        return best, place

    @cached_property
    def _has_pairs(self) -> bool:
        return "\r\n" in self.text

    @cached_property
    def _ends_of_lines(self) -> IntArray:
        """The end of each line, as an offset that counts it otherwise than the text does."""
        ends = [found.start() for found in re.finditer("\r\n" if self._has_pairs else "\n", self.text)]
        order = np.arange(len(ends))
        return np.array(ends, dtype=np.int64) + (-order if self._has_pairs else order + 1)

    @cached_property
    def _counts(self) -> BoolArray:
        codes = np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        counts: BoolArray = ~_is_space()[np.minimum(codes, _SPACE_LIMIT)]
        return counts

    @cached_property
    def _before(self) -> IntArray:
        return np.concatenate([[0], np.cumsum(self._counts)])

    @cached_property
    def _offsets(self) -> IntArray:
        return np.flatnonzero(self._counts)

    @cached_property
    def _compact(self) -> str:
        return "".join(self.text.split())


def read_sources(sources: Mapping[str, str] | None) -> dict[str, SourceText]:
    """Return the sources by name."""
    if sources is None:
        return {}
    if not isinstance(sources, Mapping) or not all(isinstance(text, str) for text in sources.values()):
        raise TypeError(f"sources must map names to texts, got {type(sources).__name__}")
    return {name: SourceText(text) for name, text in sources.items()}


# The offsets of chunks in their sources.


class LocatedChunks(list[Retrieved]):
    """Chunks with their offsets, in the order given.

    Attributes:
        ambiguous: The ids of the chunks whose text appears more than once after the chunk before.
        unplaced: The ids of the chunks without offsets: their source is unknown, or does not contain their text, so
            that offsets they had were wrong.
    """

    def __init__(
        self, chunks: Iterable[Retrieved], ambiguous: Iterable[DocumentId | None], unplaced: Iterable[DocumentId | None]
    ) -> None:
        super().__init__(chunks)
        self.ambiguous = list(ambiguous)
        self.unplaced = list(unplaced)

    def __repr__(self) -> str:
        return f"<{len(self)} chunks, {len(self.ambiguous)} ambiguous, {len(self.unplaced)} unplaced>"


def locate(chunks: Iterable[Retrieved], sources: Mapping[str, str]) -> LocatedChunks:
    r"""Find the offsets of chunks in their sources, for splitters that do not record them.

    The search for a chunk begins after the start of the chunk before it. Of several places, the one nearest to the end
    of that chunk is taken, so the order distinguishes chunks that overlap or repeat each other. White space does not
    matter. A chunk that has a heading or a context before its text is placed by the part that is of its source. Offsets
    that a chunk has are kept only if its text is there.

    Args:
        chunks: The chunks in the order of their sources, each with its source and its text.
        sources: The text of each source.

    Returns:
        The chunks with their offsets, and the ids of those whose position is ambiguous or unknown.

    Raises:
        TypeError: If a chunk is not a `Retrieved`, or the sources are not a mapping of names to texts.

    Example:
        >>> from retrieval_metrics import Retrieved
        >>> chunks = locate([Retrieved(at, "la la", source="song") for at in range(2)], {"song": "la la\n\nla la"})
        >>> [(chunk.start, chunk.end) for chunk in chunks], chunks.ambiguous
        ([(0, 5), (7, 12)], [0, 1])
    """
    texts = read_sources(sources)
    located: list[Retrieved] = []
    ambiguous: list[DocumentId | None] = []
    unplaced: list[DocumentId | None] = []
    previous: dict[str, tuple[int, int]] = {}
    for chunk in chunks:
        if not isinstance(chunk, Retrieved):
            raise TypeError(f"chunks must be Retrieved(id, text=..., source=...), got {chunk!r}")
        source = chunk.source
        placed = chunk
        if chunk.text is not None and source in texts:
            place = _checked(chunk, texts[source], previous.get(source, (-1, 0)))
            if place is None:
                placed = replace(chunk, start=None, end=None)
            else:
                placed = replace(chunk, start=place.start, end=place.end, offsets_unverified=False)
                ambiguous += [chunk.id] * place.ambiguous
        located.append(placed)
        if placed.start is None or placed.end is None:
            unplaced.append(chunk.id)
        elif source is not None:
            previous[source] = placed.start, placed.end
    return LocatedChunks(located, ambiguous, unplaced)


def _checked(chunk: Retrieved, source: SourceText, previous: tuple[int, int]) -> Location | None:
    """Return where a chunk is: where it says, or where its text or the part of it that is of the source is found."""
    if chunk.start is not None and chunk.end is not None:
        place = source.confirm_range(chunk.text, chunk.start, chunk.end)
        if place is not None:
            return Location(*place, ambiguous=False)
    text = chunk.text or ""
    found = source.find(text, previous) or source.find(text)
    if found is None and len(parts := source.parts(text)) == 1:
        return Location(*parts[0], ambiguous=False)
    return found
