"""The texts of a report: each stored once, and shortened around the needed words if there is too much text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Mark: TypeAlias = tuple[int, int]

WHOLE = 5_000_000
"""The number of characters of text on a page, unless the caller limits the length of texts."""
SHORTEST = 120
GAP = " … "


class StoredTexts:
    """Collects texts and the places of needed words in them."""

    def __init__(self) -> None:
        self._places: dict[tuple[Any, ...], int] = {}
        self._marks: dict[int, set[Mark]] = {}

    def add(self, name: Any, source: str | None, text: str | None, marks: Iterable[Mark] = ()) -> int:
        """Return the number of a text; equal texts with equal names and sources have one number."""
        place = self._places.setdefault((name, source, text), len(self._places))
        if marks:
            self._marks.setdefault(place, set()).update(marks)
        return place

    def shortened(self, length: int | None) -> Shortened:
        """Return the texts, cut to `length` characters; None takes a length that keeps the page small enough."""
        if length is None:
            length = fitting([len(text) for _, _, text in self._places if text], WHOLE)
        return Shortened(list(self._places), self._marks, length)


class Shortened:
    """The texts of the page.

    Attributes:
        rows: Name, source, text and 1 if it was shortened, without what is missing at the end.
        length: The length of the longest text that was not cut, in characters.
    """

    def __init__(self, places: Sequence[tuple[Any, ...]], marks: dict[int, set[Mark]], length: int) -> None:
        self.length = length
        self._kept: dict[int, list[Mark]] = {}
        self.rows = []
        for at, (name, source, text) in enumerate(places):
            shown, short = text, 0
            if text is not None and len(text) > length:
                self._kept[at] = kept(len(text), sorted(marks.get(at, ())), length)
                shown, short = _joined(text, self._kept[at]), 1
            row = [name if name is None or isinstance(name, str) else str(name), source, shown, short]
            while len(row) > 1 and not row[-1]:
                row.pop()
            self.rows.append(row)

    def marks(self, at: int, marks: Iterable[Mark]) -> list[list[int]]:
        """Return places in a whole text as places in the shortened one, sorted and disjoint."""
        moved: list[list[int]] = []
        for start, end in sorted(marks):
            for left, right in self._moved(at, start, end):
                if moved and left <= moved[-1][1]:
                    moved[-1][1] = max(moved[-1][1], right)
                else:
                    moved.append([left, right])
        return moved

    def _moved(self, at: int, start: int, end: int) -> Iterable[Mark]:
        if at not in self._kept:
            return [(start, end)]
        found, before = [], 0
        for number, (left, right) in enumerate(self._kept[at]):
            before += len(GAP) if number or left else 0
            if max(start, left) < min(end, right):
                found.append((max(start, left) - left + before, min(end, right) - left + before))
            before += right - left
        return found


def fitting(lengths: Iterable[int], total: int) -> int:
    """Return the length to which texts must be cut so that all together are no longer than `total`.

    Example:
        >>> fitting([100, 800, 900], 1300)  # 100 and twice 600
        600
    """
    ordered = sorted(lengths)
    left = total
    for at, length in enumerate(ordered):
        share = left // (len(ordered) - at)
        if length > share:
            return max(share, SHORTEST)
        left -= length
    return max([SHORTEST, *ordered[-1:]])


def kept(size: int, marks: Sequence[Mark], length: int) -> list[Mark]:
    """Return the stretches of a text to keep: the needed words and the text around them, or the beginning.

    Example:
        >>> kept(1000, [], 100), kept(1000, [(500, 520)], 100)
        ([(0, 100)], [(460, 560)])
    """
    if not marks:
        return [(0, length)]
    share = max(length // len(marks), 2)
    stretches: list[Mark] = []
    left = length
    for start, end in marks:
        around = max(share - (end - start), 0) // 2
        first, last = max(0, start - around), min(size, start + max(share - around, 1))
        if stretches and first <= stretches[-1][1]:
            first = stretches[-1][1]
        last = min(last, first + left)
        if first >= last:
            continue
        left -= last - first
        if stretches and first == stretches[-1][1]:
            stretches[-1] = stretches[-1][0], last
        else:
            stretches.append((first, last))
    return stretches


def _joined(text: str, stretches: Sequence[Mark]) -> str:
    parts = GAP.join(text[start:end] for start, end in stretches)
    before = GAP if stretches[0][0] else ""
    return f"{before}{parts}{GAP if stretches[-1][1] < len(text) else ''}"
