"""Find the items whose whole text stands in what a model has read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from retrieval_metrics.traces.payload_decoding import unescape
from retrieval_metrics.traces.searchable_text import SearchableText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def find_quoted_items(read_text: str, items: Sequence[Any]) -> Iterator[Any]:
    """Yield the items whose whole text stands in what was read.

    The text may be written as it is or as JSON, and may differ in white space.
    """
    finder = _TextFinder(read_text)
    for item in items:
        if finder.holds(item.text):
            yield item


class _TextFinder:
    """Search texts in what was read, in each way of writing them."""

    def __init__(self, read_text: str) -> None:
        self._read_text = read_text
        self._as_written = SearchableText(read_text)
        self._unescaped: SearchableText | None = None
        self._writers: list[Callable[[str], str]] = [str, _write_ascii_json, _write_json]

    def holds(self, text: str) -> bool:
        """Return whether a text stands in what was read."""
        previous = None
        for number, write in enumerate(self._writers):
            written = write(text)
            if written != previous and self._as_written.holds(written):
                # Try this way of writing first for the next text, which is probably written alike.
                self._writers.insert(0, self._writers.pop(number))
                return True
            previous = written
        if self._unescaped is None:
            self._unescaped = SearchableText(unescape(self._read_text))
        return self._unescaped.holds(unescape(text))


def _write_ascii_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _write_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
