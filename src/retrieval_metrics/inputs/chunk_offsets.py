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

    from retrieval_metrics._internal.plain_types import BoolArray, DocumentId, IntArray


# What is shared with a source by chance has fewer words or characters.
MIN_SHARED_WORDS = 5
MIN_SHARED_CHARACTERS = 20
# In how many places the longest stretch is looked for; boilerplate has more.
MAX_PLACES = 20

# The characters of scripts without spaces between words, for a class of a regular expression.
UNSPACED_SCRIPTS = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Words; of scripts without spaces, letters.
WORD_PATTERN = re.compile(rf"[{UNSPACED_SCRIPTS}]|[^\s{UNSPACED_SCRIPTS}]+")

# From this code point on, no character is white space.
FIRST_CODE_WITHOUT_SPACE = 0x3001


@cache
def _is_space_by_code() -> BoolArray:
    is_space = [chr(code).isspace() for code in range(FIRST_CODE_WITHOUT_SPACE)]
    return np.array([*is_space, False])


def _remove_space(text: str) -> str:
    return "".join(text.split())


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
        text_end = len(self.text)
        n_before_end = int(self._n_counted_before[min(end, text_end)])
        n_before_start = int(self._n_counted_before[min(start, text_end)])
        return n_before_end - n_before_start

    def contains_at(self, text: str | None, start: int, end: int) -> bool:
        """Return whether a text is at a place, ignoring white space; None asks whether there is such a place."""
        if end > len(self.text):
            return False
        text_there = self.text[start:end]
        return text is None or text_there == text or _remove_space(text_there) == _remove_space(text)

    def confirm_range(self, text: str | None, start: int, end: int) -> tuple[int, int] | None:
        """Return where a text is that is said to be at a place: there, or there if ends of lines count otherwise."""
        if self.contains_at(text, start, end):
            return start, end
        start_across = self.find_across_newlines(start)
        end_across = self.find_across_newlines(end)
        if text is not None and self.contains_at(text, start_across, end_across):
            return start_across, end_across
        return None

    def find_across_newlines(self, offset: int) -> int:
        r"""Return where in the text an offset is that counts "\r\n" as one character.

        Example:
            >>> SourceText("a\r\nb").find_across_newlines(2), SourceText("a\nb").find_across_newlines(3)
            (3, 2)
        """
        if self._has_pairs:
            return offset + int(np.searchsorted(self._line_ends_counted_otherwise, offset, side="left"))
        return offset - int(np.searchsorted(self._line_ends_counted_otherwise, offset, side="right"))

    def find(self, text: str, previous: tuple[int, int] = (-1, 0)) -> Location | None:
        """Return where a text is, ignoring white space; None if it is not there.

        Args:
            text: The text.
            previous: Start and end of the text before it, to whose end the nearest of several places is taken.
        """
        compact_text = _remove_space(text)
        if not compact_text:
            return None
        after_previous_start = int(np.searchsorted(self._offsets, previous[0] + 1))
        previous_end = int(np.searchsorted(self._offsets, previous[1]))
        lowest = min(after_previous_start, previous_end)  # the place after an empty piece is its own
        ahead = self._compact.find(compact_text, previous_end)
        behind = self._compact.rfind(compact_text, lowest, max(previous_end - 1 + len(compact_text), 0))
        if ahead < 0 and behind < 0:
            return None
        position = behind
        if behind < 0 or 0 <= ahead - previous_end <= previous_end - behind:
            position = ahead
        occurs_before = self._compact.find(compact_text, lowest) < position
        occurs_again = self._compact.find(compact_text, position + 1) >= 0
        start, end = self._range_of(position, len(compact_text))
        return Location(start, end, occurs_before or occurs_again)

    def find_all(self, text: str) -> list[tuple[int, int]]:
        """Return where a text is, ignoring white space: all places, up to `MAX_PLACES`.

        Example:
            >>> SourceText("ab  cd a b").find_all("ab")
            [(0, 2), (7, 10)]
        """
        compact_text = _remove_space(text)
        ranges: list[tuple[int, int]] = []
        position = self._compact.find(compact_text) if compact_text else -1
        while position >= 0 and len(ranges) < MAX_PLACES:
            ranges.append(self._range_of(position, len(compact_text)))
            position = self._compact.find(compact_text, position + 1)
        return ranges

    def parts(self, text: str) -> list[tuple[int, int]]:
        """Return the stretches that a text shares with the source, ignoring white space, each where it is longest.

        Example:
            >>> source = SourceText("One two three. Slots save memory in every instance. The end of it is near now.")
            >>> source.parts("From the handbook: Slots save memory in every instance. [...]")
            [(15, 51)]
        """
        words = WORD_PATTERN.findall(text)
        ranges: list[tuple[int, int]] = []
        first_word = 0
        while first_word < len(words):
            run = self._find_longest_run(words, first_word)
            if run is None:
                first_word += 1
                continue
            ranges.append(self._range_of(run.position, run.length))
            first_word = run.end_word
        return ranges

    def _range_of(self, position: int, length: int) -> tuple[int, int]:
        """Return start and end in the text of characters that are not white space."""
        return int(self._offsets[position]), int(self._offsets[position + length - 1]) + 1

    def _find_longest_run(self, words: Sequence[str], first_word: int) -> _WordRun | None:
        """Return the longest run of words from the first on that is in the source; None if all are too short."""
        end_word = first_word + MIN_SHARED_WORDS
        while end_word <= len(words) and sum(map(len, words[first_word:end_word])) < MIN_SHARED_CHARACTERS:
            end_word += 1
        if end_word > len(words):
            return None
        seed = "".join(words[first_word:end_word])
        longest: _WordRun | None = None
        position = self._compact.find(seed)
        for _ in range(MAX_PLACES):
            if position < 0:
                break
            run = self._extend_run(_WordRun(end_word, position, len(seed)), words)
            if longest is None or run.end_word > longest.end_word:
                longest = run
            position = self._compact.find(seed, position + 1)
        return longest

    def _extend_run(self, run: _WordRun, words: Sequence[str]) -> _WordRun:
        """Return a run with all further words that follow it in the source."""
        end_word = run.end_word
        length = run.length
        while end_word < len(words) and self._compact.startswith(words[end_word], run.position + length):
            length += len(words[end_word])
            end_word += 1
        return _WordRun(end_word, run.position, length)

    @cached_property
    def _has_pairs(self) -> bool:
        return "\r\n" in self.text

    @cached_property
    def _line_ends_counted_otherwise(self) -> IntArray:
        """The end of each line, as an offset that counts it otherwise than the text does."""
        newline = "\r\n" if self._has_pairs else "\n"
        ends = np.array([match.start() for match in re.finditer(newline, self.text)], dtype=np.int64)
        line_numbers = np.arange(len(ends))
        if self._has_pairs:
            return ends - line_numbers
        return ends + line_numbers + 1

    @cached_property
    def _is_counted(self) -> BoolArray:
        codes = np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        is_counted: BoolArray = ~_is_space_by_code()[np.minimum(codes, FIRST_CODE_WITHOUT_SPACE)]
        return is_counted

    @cached_property
    def _n_counted_before(self) -> IntArray:
        return np.concatenate([[0], np.cumsum(self._is_counted)])

    @cached_property
    def _offsets(self) -> IntArray:
        return np.flatnonzero(self._is_counted)

    @cached_property
    def _compact(self) -> str:
        return _remove_space(self.text)


class _WordRun(NamedTuple):
    """Words in a row that are in a source.

    Attributes:
        end_word: The number of the word after the last.
        position: Where the first word is in the source, without white space.
        length: The characters of all words.
    """

    end_word: int
    position: int
    length: int


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
        unlocated: The ids of the chunks without offsets: their source is unknown, or does not contain their text, so
            that offsets they had were wrong.
    """

    def __init__(
        self,
        chunks: Iterable[Retrieved],
        ambiguous: Iterable[DocumentId | None],
        unlocated: Iterable[DocumentId | None],
    ) -> None:
        super().__init__(chunks)
        self.ambiguous = list(ambiguous)
        self.unlocated = list(unlocated)

    def __repr__(self) -> str:
        return f"<{len(self)} chunks, {len(self.ambiguous)} ambiguous, {len(self.unlocated)} unlocated>"


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
    unlocated: list[DocumentId | None] = []
    previous_by_source: dict[str, tuple[int, int]] = {}
    for chunk in chunks:
        if not isinstance(chunk, Retrieved):
            raise TypeError(f"chunks must be Retrieved(id, text=..., source=...), got {chunk!r}")
        source = chunk.source
        if chunk.text is not None and source in texts:
            location = _locate_chunk(chunk, texts[source], previous_by_source.get(source, (-1, 0)))
            if location is not None and location.ambiguous:
                ambiguous.append(chunk.id)
            chunk = _with_location(chunk, location)  # noqa: PLW2901  (the same chunk, with its offsets)
        located.append(chunk)
        if chunk.start is None or chunk.end is None:
            unlocated.append(chunk.id)
        elif source is not None:
            previous_by_source[source] = chunk.start, chunk.end
    return LocatedChunks(located, ambiguous, unlocated)


def _with_location(chunk: Retrieved, location: Location | None) -> Retrieved:
    if location is None:
        return replace(chunk, start=None, end=None)
    return replace(chunk, start=location.start, end=location.end, offsets_unverified=False)


def _locate_chunk(chunk: Retrieved, source: SourceText, previous: tuple[int, int]) -> Location | None:
    """Return where a chunk is: where it says, or where its text or the part of it that is of the source is found."""
    if chunk.start is not None and chunk.end is not None:
        confirmed = source.confirm_range(chunk.text, chunk.start, chunk.end)
        if confirmed is not None:
            return Location(*confirmed, ambiguous=False)
    text = chunk.text or ""
    location = source.find(text, previous) or source.find(text)
    if location is None:
        parts = source.parts(text)
        if len(parts) == 1:
            return Location(*parts[0], ambiguous=False)
    return location
