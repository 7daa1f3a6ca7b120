"""Replace names that are too long for a chart by numbers, which a key below the chart lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

# A name with more letters has a number in charts, and stands in the key below them.
MAX_NAME_LETTERS = 28

ContentT = TypeVar("ContentT")


class NameKey:
    """Numbers in place of long names, in charts and in words on them; those used are listed with their names.

    Example:
        >>> key = NameKey(["bm25", "text-embedding-3-large + reranker"])
        >>> key("text-embedding-3-large + reranker is better than bm25"), key.lines
        ('#2 is better than bm25', ['#2: text-embedding-3-large + reranker'])
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.numbers: dict[str, str] = {}
        for number, name in enumerate(names, start=1):
            if len(name) > MAX_NAME_LETTERS:
                self.numbers[name] = f"#{number}"
        self._used: set[str] = set()
        longest_first = sorted(self.numbers, key=len, reverse=True)  # one may be the beginning of another
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def __call__(self, content: ContentT) -> ContentT:
        """Return words, or a chart, with numbers in place of long names."""
        shown: Any = content
        if isinstance(shown, str):
            shown = self._pattern.sub(self._replace, shown)
        elif isinstance(shown, tuple) and hasattr(shown, "_fields"):
            shown = type(shown)(*map(self, shown))
        elif isinstance(shown, (list, tuple)):
            shown = type(shown)(map(self, shown))
        return shown  # type: ignore[no-any-return]  # of the same type

    def _replace(self, match: re.Match[str]) -> str:
        name = match[0]
        self._used.add(name)
        return self.numbers[name]

    @property
    def lines(self) -> list[str]:
        """The numbers that were used, with their names."""
        lines = []
        for name, number in self.numbers.items():
            if name in self._used:
                lines.append(f"{number}: {name}")
        return lines
