"""Find texts in the source texts that they were cut from, whatever white space was changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import BoolArray, IntArray


# A range that a text shares with a source has at least so many words and characters; shorter ones occur by chance.
MIN_SHARED_WORDS = 5
MIN_SHARED_CHARACTERS = 20
# The first occurrences of a text that are considered; only boilerplate has more.
MAX_PLACES = 20

# The characters of scripts without spaces between words, for a class of a regular expression.
UNSPACED_SCRIPTS = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# A word; in scripts without spaces between words, every letter counts as a word.
WORD_PATTERN = lazy_pattern(rf"[{UNSPACED_SCRIPTS}]|[^\s{UNSPACED_SCRIPTS}]+")

# From this code point on, no character is white space.
FIRST_CODE_WITHOUT_SPACE = 0x3001


@cache
def _is_space_by_code() -> BoolArray:
    is_space = [chr(code).isspace() for code in range(FIRST_CODE_WITHOUT_SPACE)]
    return np.array([*is_space, False])


def _remove_space(text: str) -> str:
    return "".join(text.split())


class Location(NamedTuple):
    """The range in which a text was found.

    Attributes:
        start: Offset of its first character.
        end: Offset after its last character.
        ambiguous: Whether the text occurs in another possible range, too.
    """

    start: int
    end: int
    ambiguous: bool


class SourceText:
    r"""A source text in which other texts are found.

    Offsets count all characters; lengths count only those that are not white space. A position counts the characters of
    the compact text, which is the text without white space: texts are searched there.

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
        """Return whether the source has a text in a range, ignoring white space; None stands for any text."""
        if end > len(self.text):
            return False
        if text is None:
            return True
        text_in_range = self.text[start:end]
        return text_in_range == text or _remove_space(text_in_range) == _remove_space(text)

    def confirm_range(self, text: str | None, start: int, end: int) -> tuple[int, int] | None:
        """Return the range of a text that is claimed to be in a range; None if the source has another text there.

        The claimed offsets may count a line ending as one character where the source has two, or the other way around.
        """
        if self.contains_at(text, start, end):
            return start, end
        translated_start = self.translate_offset(start)
        translated_end = self.translate_offset(end)
        if text is not None and self.contains_at(text, translated_start, translated_end):
            return translated_start, translated_end
        return None

    def translate_offset(self, offset: int) -> int:
        r"""Return the offset in this text of an offset in the same text with other line endings.

        Lines end with "\n" in one of the two and with "\r\n" in the other.

        Example:
            >>> SourceText("a\r\nb").translate_offset(2), SourceText("a\nb").translate_offset(3)
            (3, 2)
        """
        if self._has_two_character_endings:
            return offset + int(np.searchsorted(self._translated_line_ends, offset, side="left"))
        return offset - int(np.searchsorted(self._translated_line_ends, offset, side="right"))

    def find(self, text: str, previous: tuple[int, int] = (-1, 0)) -> Location | None:
        """Return where a text is, ignoring white space; None if it is not there.

        Args:
            text: The text.
            previous: Start and end offset of the text before it; this text begins after that start. Of several ranges,
                the one nearest to that end is taken. By default, the text may begin anywhere and the first range is
                taken.
        """
        compact_text = _remove_space(text)
        if not compact_text:
            return None
        previous_start, previous_end = previous
        first_position = self._position(previous_start + 1)
        end_position = self._position(previous_end)
        # A previous text without characters ends where it starts; this one may begin there.
        first_position = min(first_position, end_position)
        position = self._nearest_position(compact_text, first_position, end_position)
        if position is None:
            return None
        occurs_before = self._compact.find(compact_text, first_position) < position
        occurs_again = self._compact.find(compact_text, position + 1) >= 0
        start, end = self._restore_space(position, len(compact_text))
        return Location(start, end, occurs_before or occurs_again)

    def _position(self, offset: int) -> int:
        """Return the position of the first character from an offset on that is not white space."""
        return int(np.searchsorted(self._offsets, offset))

    def _nearest_position(self, compact_text: str, first_position: int, end_position: int) -> int | None:
        """Return where a text begins nearest to a position, but not before `first_position`; None if nowhere."""
        ahead = self._compact.find(compact_text, end_position)
        # The last occurrence that begins before the position; `rfind` limits where it ends.
        behind = self._compact.rfind(compact_text, first_position, max(end_position - 1 + len(compact_text), 0))
        if ahead < 0 and behind < 0:
            return None
        if behind < 0:
            return ahead
        if ahead < 0:
            return behind
        # At equal distances, the text ahead is taken, since texts usually follow one another.
        is_ahead_nearer = ahead - end_position <= end_position - behind
        return ahead if is_ahead_nearer else behind

    def find_all(self, text: str) -> list[tuple[int, int]]:
        """Return all ranges in which a text is, ignoring white space, up to `MAX_PLACES`.

        Example:
            >>> SourceText("ab  cd a b").find_all("ab")
            [(0, 2), (7, 10)]
        """
        compact_text = _remove_space(text)
        ranges: list[tuple[int, int]] = []
        position = self._compact.find(compact_text) if compact_text else -1
        while position >= 0 and len(ranges) < MAX_PLACES:
            ranges.append(self._restore_space(position, len(compact_text)))
            position = self._compact.find(compact_text, position + 1)
        return ranges

    def find_shared_ranges(self, text: str) -> list[tuple[int, int]]:
        """Return the ranges of the source that a text shares with it, ignoring white space, each as long as possible.

        Example:
            >>> source = SourceText("One two three. Slots save memory in every instance. The end of it is near now.")
            >>> source.find_shared_ranges("From the handbook: Slots save memory in every instance. [...]")
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
            ranges.append(self._restore_space(run.position, run.length))
            first_word = run.end_word
        return ranges

    def _restore_space(self, position: int, length: int) -> tuple[int, int]:
        """Return the range of the text for a range of the text without white space."""
        return int(self._offsets[position]), int(self._offsets[position + length - 1]) + 1

    def _find_longest_run(self, words: Sequence[str], first_word: int) -> _WordRun | None:
        """Return the longest run of words from `first_word` on that is in the source; None if it is too short."""
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
    def _has_two_character_endings(self) -> bool:
        return "\r\n" in self.text

    @cached_property
    def _translated_line_ends(self) -> IntArray:
        """The offset of the end of each line, in this text with the other line endings."""
        newline = "\r\n" if self._has_two_character_endings else "\n"
        ends = np.array([match.start() for match in re.finditer(newline, self.text)], dtype=np.int64)
        line_numbers = np.arange(len(ends))
        if self._has_two_character_endings:
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
        """The offset of each character that is not white space, by its position in the compact text."""
        return np.flatnonzero(self._is_counted)

    @cached_property
    def _compact(self) -> str:
        """The text without white space."""
        return _remove_space(self.text)


class _WordRun(NamedTuple):
    """Consecutive words of a text that are also in a source.

    Attributes:
        end_word: The number of the word after the last.
        position: The offset of the first word in the source without white space.
        length: How many characters all words have.
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
