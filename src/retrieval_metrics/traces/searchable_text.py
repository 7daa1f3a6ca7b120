"""Search many texts in a long one, in time that grows with their lengths and not with their product."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from retrieval_metrics._internal.plain_types import IntArray

    HashArray = npt.NDArray[np.uint64]

# The position that `str.find` returns for a text that is not there.
NOT_FOUND = -1
# The number of first characters of a text that are searched before the whole text: short texts are found faster.
N_SEARCHED_CHARACTERS = 32
# An index takes as long to make as about so many searches from the beginning to the end.
MAX_SCANS = 64
# Windows of the largest width tell most texts apart; a shorter text has windows of the largest power of two within it.
MAX_WINDOW_WIDTH = 32
# A table with so many entries per window of the text, rounded up to a power of two, has few collisions.
ENTRIES_PER_WINDOW = 2
# An odd number without a pattern in its bits, from the golden ratio.
MULTIPLIER = 0x9E3779B97F4A7C15


class SearchableText:
    """A text in which many others are searched; it is fast if they stand there one after another.

    Once many searches have gone through the whole text in vain, an index of its windows bounds where a text can begin.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self._n_scans = 0
        self._index_by_width: dict[int, _WindowIndex] = {}

    def holds(self, text: str) -> bool:
        """Return whether a text stands in this one."""
        start = self._find(text)
        if start == NOT_FOUND:
            return False
        self._end = start + len(text)
        return True

    def _find(self, text: str) -> int:
        """Return where a text begins, if possible after the last one that was found; NOT_FOUND if it is not there."""
        if self._n_scans >= MAX_SCANS and text:
            return self._find_by_index(text)
        beginning = text[:N_SEARCHED_CHARACTERS]
        start = self._text.find(beginning, self._end)
        if start == NOT_FOUND:
            self._n_scans += 1
            start = self._text.find(beginning)
        if start != NOT_FOUND and not self._text.startswith(text, start):
            self._n_scans += 1
            start = self._text.find(text)
        return start

    def _find_by_index(self, text: str) -> int:
        if self._text.startswith(text, self._end):
            return self._end
        width = min(MAX_WINDOW_WIDTH, 1 << (len(text).bit_length() - 1))
        if width not in self._index_by_width:
            self._index_by_width[width] = _WindowIndex(self._text, width)
        earliest = self._index_by_width[width].bound_start(text)
        if earliest == NOT_FOUND or self._text.startswith(text, earliest):
            return earliest
        return self._text.find(text, earliest)


class _WindowIndex:
    """Where each window of a text occurs first, by a hash of its characters."""

    def __init__(self, text: str, width: int) -> None:
        self._width = width
        hashes = _hash_windows(text, width)
        self._n_bits = max(1, (ENTRIES_PER_WINDOW * len(hashes)).bit_length())
        self._first = np.full(1 << self._n_bits, NOT_FOUND, dtype=np.int64)
        # Of several values for one entry the last is kept, so the first window comes last.
        self._first[self._entries(hashes)[::-1]] = np.arange(len(hashes))[::-1]

    def bound_start(self, text: str) -> int:
        """Return a position before which the text does not begin; NOT_FOUND if a window of it occurs nowhere."""
        first = self._first[self._entries(_hash_windows(text, self._width))]
        if (first == NOT_FOUND).any():
            return NOT_FOUND
        # Where the text begins, each of its windows follows at its offset, which no first occurrence exceeds.
        return max(0, int((first - np.arange(len(first))).max()))

    def _entries(self, hashes: HashArray) -> IntArray:
        entries: IntArray = (hashes >> np.uint64(64 - self._n_bits)).astype(np.int64)
        return entries


def _hash_windows(text: str, width: int) -> HashArray:
    """Return a hash of each window of so many characters, a power of two; none if the text is shorter."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    hashes = (codes.astype(np.uint64) + np.uint64(1)) * np.uint64(MULTIPLIER)
    hashed_width = 1
    while hashed_width < width:
        # The halves are mixed unequally, so that their order counts.
        left = hashes[:-hashed_width]
        right = hashes[hashed_width:]
        hashes = ((left ^ (left >> np.uint64(29))) * np.uint64(MULTIPLIER)) + right
        hashed_width *= 2
    return hashes * np.uint64(MULTIPLIER)
