"""Find the items whose whole text stands in what a model has read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from retrieval_metrics.agents.payload_decoding import unescape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# The number of first characters of a text that are searched before the whole text: short texts are found faster.
N_SEARCHED_CHARACTERS = 32
# The position that `str.find` returns for a text that is not there.
NOT_FOUND = -1


def find_quoted_items(read_text: str, items: Sequence[Any]) -> Iterator[Any]:
    """Yield the items whose whole text stands in what was read.

    The text may be written as it is or as JSON, and may differ in white space.
    """
    finder = _TextFinder(read_text)
    for item in items:
        if finder.holds(item.text):
            yield item


class _TextFinder:
    """Search texts in what was read; it is fast if they stand there one after another, written in the same way."""

    def __init__(self, read_text: str) -> None:
        self._read_text = read_text
        self._unescaped = ""
        self._end = 0
        self._writers: list[Callable[[str], str]] = [str, _write_ascii_json, _write_json]

    def holds(self, text: str) -> bool:
        """Return whether a text stands in what was read."""
        previous = None
        for number, write in enumerate(self._writers):
            written = write(text)
            start = NOT_FOUND if written == previous else self._find(written)
            if start != NOT_FOUND:
                self._end = start + len(written)
                # Try this way of writing first for the next text, which is probably written alike.
                self._writers.insert(0, self._writers.pop(number))
                return True
            previous = written
        self._unescaped = self._unescaped or unescape(self._read_text)
        return unescape(text) in self._unescaped

    def _find(self, written: str) -> int:
        """Return where a text begins, if possible after the last text that was found; NOT_FOUND if it is not there."""
        beginning = written[:N_SEARCHED_CHARACTERS]
        start = self._read_text.find(beginning, self._end)
        if start == NOT_FOUND:
            start = self._read_text.find(beginning)
        if start != NOT_FOUND and not self._read_text.startswith(written, start):
            start = self._read_text.find(written)
        return start


def _write_ascii_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _write_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
