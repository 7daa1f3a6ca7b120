"""Where retrieved items are in their sources, and how long stretches of a source are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.sources import Location, SourceText, read_sources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.inputs.retrieved import Retrieved


@dataclass
class Positions:
    """Where the items of one query are, for items from a source that has a span of the query.

    Attributes:
        stretches: Rank, source, start and end of each.
        first_unplaced: The first rank whose item could cover something but whose position is unknown.
    """

    stretches: list[tuple[int, str, int, int]] = field(default_factory=list)
    first_unplaced: int | None = None


class Locator:
    """Measures stretches in the characters that count, and locates items.

    If the text of a source is given, white space does not count, and items without offsets are searched for in it.
    Without the text, every character counts. Offsets are checked before use, because parsers and postprocessors leave
    wrong ones behind: the source must contain the item there or, if its text is unknown, the offsets must be as far
    apart as the item is long. An item with wrong offsets is treated like an item without offsets.

    Attributes:
        ambiguous: How many different items were searched for and occur in their source more than once; the first place
            is used.
    """

    def __init__(self, sources: Mapping[str, str] | None) -> None:
        self._sources = read_sources(sources)
        self._found: dict[tuple[str, str], Location | None] = {}
        self._fitting: dict[tuple[str | None, str | None, int, int], bool] = {}
        self.ambiguous = 0

    def source(self, name: str) -> SourceText | None:
        """Return a source; None if its text was not given."""
        return self._sources.get(name)

    def length(self, name: str, start: int, end: int) -> int:
        """Return how many characters of a stretch count."""
        source = self._sources.get(name)
        return end - start if source is None else source.length(start, end)

    def length_of(self, item: Retrieved) -> int:
        """Return how many characters of an item count, independent of its position."""
        if item.source in self._sources and (place := self.place(item)) is not None:
            return self._sources[item.source].length(*place)
        if item.text is not None:
            return len("".join(item.text.split())) if self._sources else len(item.text)
        return 0 if item.start is None or item.end is None else item.end - item.start

    def place(self, item: Retrieved) -> tuple[int, int] | None:
        """Return start and end of an item in its source; None if they are unknown."""
        if item.start is not None and item.end is not None and not self.is_misplaced(item):
            return item.start, item.end
        if item.source is None or item.text is None or item.source not in self._sources:
            return None
        key = item.source, item.text
        if key not in self._found:
            place = self._found[key] = self._sources[item.source].find(item.text)
            self.ambiguous += place is not None and place.ambiguous
        found = self._found[key]
        return None if found is None else (found.start, found.end)

    def is_misplaced(self, item: Retrieved) -> bool:
        """Return whether an item has offsets that do not fit its text or its source."""
        if item.start is None or item.end is None:
            return False
        key = item.source, item.text, item.start, item.end
        if key not in self._fitting:
            source = None if item.source is None else self._sources.get(item.source)
            if source is None:
                self._fitting[key] = item.text is None or item.end - item.start == len(item.text)
            else:
                self._fitting[key] = source.holds(item.text, item.start, item.end)
        return not self._fitting[key]
