"""One retrieved item and its properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import NoneType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.checks import DocumentId


@dataclass(frozen=True, slots=True)
class Retrieved:
    """An item that a retriever returned; only what is compared with the judgments is required.

    Attributes:
        id: Its id in the index; None if it has none.
        text: Its text.
        source: What it was cut from: a file, a page, a document id.
        start: Offset of its first character in the source, from 0.
        end: Offset after its last character; optional if there are a `text` and a `start`.
        score: The retriever's score. It is not used: rankings of Retrieved are in list order.
        metadata: Anything else, by name; ignored by the hash.
        tokens: How many tokens it has, for cut-offs such as `recall@800tokens`.
        claimed: Whether `start` and `end` are only what a framework recorded. Such offsets may refer to a section, a
            page or an earlier form of the text, so they count only where the text of the source, or the quote beside a
            span, confirms them.

    Raises:
        TypeError: If the text is not a str, or an offset is not an int.
        ValueError: If the offsets are negative or reversed, or there is an end without a start.

    Example:
        >>> Retrieved("with#2", "The with statement", source="with", start=120).end
        138
    """

    id: DocumentId | None
    text: str | None = None
    source: str | None = None
    start: int | None = None
    end: int | None = None
    score: float | None = None
    metadata: Mapping[str, Any] | None = field(default=None, hash=False)
    tokens: int | None = None
    claimed: bool = field(default=False, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.text is not None and not isinstance(self.text, str):
            raise TypeError(
                f"the text of retrieved item {self.id!r} must be a str or None, got {type(self.text).__name__}"
            )
        if self.start is self.end is None:  # the usual case, and items are made by the million
            return
        if not (isinstance(self.start, (int, NoneType)) and isinstance(self.end, (int, NoneType))):
            raise TypeError(
                f"the offsets of retrieved item {self.id!r} must be int or None, got {self.start!r} and {self.end!r}"
            )
        if self.start is None:
            if self.end is not None:
                raise ValueError(f"retrieved item {self.id!r} ends at {self.end!r} but has no start")
            return
        if self.end is None:
            if self.text is None:
                return
            object.__setattr__(self, "end", self.start + len(self.text))
        elif not 0 <= self.start <= self.end:
            raise ValueError(f"retrieved item {self.id!r} needs 0 <= start <= end, got {self.start!r} and {self.end!r}")
        if self.start < 0:
            raise ValueError(f"retrieved item {self.id!r} needs 0 <= start, got {self.start!r}")

    def value(self, name: str) -> Any:
        """Return `source` or an entry of the metadata, where an item without a source may have it."""
        if name == "source" and self.source is not None:
            return self.source
        return None if self.metadata is None else self.metadata.get(name)


def identity(item: Any) -> Any:
    """Return what makes two items the same: their id; without one their place in a source; else their text."""
    if not isinstance(item, Retrieved):
        return item
    if item.id is not None:
        return item.id
    if item.source is not None and item.start is not None:
        return (item.source, item.start, item.end)
    return ("text", item.text)
