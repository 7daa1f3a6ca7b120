"""Store each text of a report once, and shorten texts around the needed words if there is too much text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from retrieval_metrics.evaluation.page_data import TextRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Start and end of some characters of a text.
CharacterRange: TypeAlias = tuple[int, int]

# The number of characters of text on a page, unless the caller limits the length of texts.
MAX_PAGE_CHARACTERS = 5_000_000

# No text is cut to fewer characters than this.
MIN_TEXT_LENGTH = 120

# Each mark, a place of needed words, may use at least this many characters, however many marks share the length.
MIN_CHARACTERS_PER_MARK = 2

# At least this many characters are kept from the start of the needed words.
MIN_MARKED_CHARACTERS = 1

# The text that replaces characters which are left out.
GAP = " … "


@dataclass(frozen=True, slots=True)
class StoredText:
    """A text with the name and the source of its document, as far as they are known."""

    name: Any
    source: str | None
    text: str | None


class TextStore:
    """Collects texts, and marks of the needed words in them."""

    def __init__(self) -> None:
        self._number_by_text: dict[StoredText, int] = {}
        self._marks_by_number: dict[int, set[CharacterRange]] = {}

    def add(self, name: Any, source: str | None, text: str | None, marks: Iterable[CharacterRange] = ()) -> int:
        """Return the number of a text; equal texts with equal names and sources have one number."""
        number = self._number_by_text.setdefault(StoredText(name, source, text), len(self._number_by_text))
        if marks:
            self._marks_by_number.setdefault(number, set()).update(marks)
        return number

    def shortened(self, length: int | None) -> ShortenedTexts:
        """Return the texts, cut to `length` characters; None takes a length that keeps the page small enough."""
        if length is None:
            lengths = [len(stored.text) for stored in self._number_by_text if stored.text]
            length = fit_length(lengths, MAX_PAGE_CHARACTERS)
        return ShortenedTexts(list(self._number_by_text), self._marks_by_number, length)


class ShortenedTexts:
    """The texts of a page, shortened to a length.

    Attributes:
        rows: The texts with their names and sources.
        length: The length of the longest text that was not cut, in characters.
    """

    def __init__(
        self, texts: Sequence[StoredText], marks_by_number: Mapping[int, set[CharacterRange]], length: int
    ) -> None:
        self.length = length
        self._kept_ranges: dict[int, list[CharacterRange]] = {}
        self.rows: list[TextRow] = []
        for number, stored in enumerate(texts):
            text = stored.text
            is_shortened = False
            if text is not None and len(text) > length:
                marks = sorted(marks_by_number.get(number, ()))
                self._kept_ranges[number] = choose_kept_ranges(len(text), marks, length)
                text = _join_ranges(text, self._kept_ranges[number])
                is_shortened = True
            name = stored.name
            if name is not None:
                name = str(name)
            self.rows.append(TextRow(name, stored.source, text, is_shortened))

    def marks(self, number: int, marks: Iterable[CharacterRange]) -> tuple[CharacterRange, ...]:
        """Return places in a whole text as places in the shortened one, sorted and disjoint."""
        merged: list[CharacterRange] = []
        for mark in sorted(marks):
            for start, end in self._map_mark_to_shortened(number, mark):
                if merged and start <= merged[-1][1]:
                    merged_start, merged_end = merged[-1]
                    merged[-1] = (merged_start, max(merged_end, end))
                else:
                    merged.append((start, end))
        return tuple(merged)

    def _map_mark_to_shortened(self, number: int, mark: CharacterRange) -> list[CharacterRange]:
        if number not in self._kept_ranges:
            return [mark]
        start, end = mark
        shortened_marks = []
        n_before = 0
        for range_index, (kept_start, kept_end) in enumerate(self._kept_ranges[number]):
            if range_index or kept_start:
                n_before += len(GAP)
            shared_start = max(start, kept_start)
            shared_end = min(end, kept_end)
            if shared_start < shared_end:
                shortened_marks.append((shared_start - kept_start + n_before, shared_end - kept_start + n_before))
            n_before += kept_end - kept_start
        return shortened_marks


def fit_length(lengths: Iterable[int], total: int) -> int:
    """Return the length to which texts must be cut so that all together are no longer than `total`.

    Example:
        >>> fit_length([100, 800, 900], 1300)  # 100 and twice 600
        600
    """
    ascending = sorted(lengths)
    n_left = total
    for n_done, length in enumerate(ascending):
        share = n_left // (len(ascending) - n_done)
        if length > share:
            return max(share, MIN_TEXT_LENGTH)
        n_left -= length
    return max([MIN_TEXT_LENGTH, *ascending[-1:]])


def choose_kept_ranges(size: int, marks: Sequence[CharacterRange], length: int) -> list[CharacterRange]:
    """Return the stretches of a text to keep: the needed words and the text around them, or the beginning.

    Example:
        >>> choose_kept_ranges(1000, [], 100), choose_kept_ranges(1000, [(500, 520)], 100)
        ([(0, 100)], [(460, 560)])
    """
    if not marks:
        return [(0, length)]
    # All marks share the length alike.
    share = max(length // len(marks), MIN_CHARACTERS_PER_MARK)
    ranges: list[CharacterRange] = []
    n_left = length
    for mark_start, mark_end in marks:
        # What a mark leaves of its share is text around it, half before and half after; a longer mark is cut.
        margin = max(share - (mark_end - mark_start), 0) // 2
        start = max(0, mark_start - margin)
        end = min(size, mark_start + max(share - margin, MIN_MARKED_CHARACTERS))
        # Text that the range before has kept is not kept twice.
        if ranges and start <= ranges[-1][1]:
            start = ranges[-1][1]
        # The ranges together are no longer than the length; what is left of this one may be nothing.
        end = min(end, start + n_left)
        if start >= end:
            continue
        n_left -= end - start
        # Adjoining ranges become one, with no gap between them.
        if ranges and start == ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], end)
        else:
            ranges.append((start, end))
    return ranges


def _join_ranges(text: str, ranges: Sequence[CharacterRange]) -> str:
    joined = GAP.join(text[start:end] for start, end in ranges)
    if ranges[0][0] > 0:
        joined = GAP + joined
    if ranges[-1][1] < len(text):
        joined += GAP
    return joined
