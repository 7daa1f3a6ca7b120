"""The items that users retrieve, and the shapes in which judgments and runs are accepted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fsdecode
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.inputs.pieces import GradedPieces


# What a caller may go on filling after he made an item of it.
_COPIED_VALUES = (list, set, dict)


def path_as_text(value: Any) -> Any:
    """Return a path of `pathlib` or any other path as text, and every other value as it is.

    Example:
        >>> from pathlib import PurePosixPath
        >>> path_as_text(PurePosixPath("docs/guide.md")), path_as_text(3)
        ('docs/guide.md', 3)
    """
    if value is None or not isinstance(value, PathLike):
        return value
    return fsdecode(value)


def _source_as_text(source: Any) -> Any:
    """Return the path of a source as text, also if it is in bytes."""
    return fsdecode(source) if isinstance(source, bytes) else path_as_text(source)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """An item that a retriever returned; only what is compared with the judgments is required.

    Attributes:
        id: Its id in the index; None if it has none.
        text: Its text.
        source: What it was cut from: a file, a page, a document id. A `Path` or bytes become text.
        start: Offset of its first character in the source, from 0.
        end: Offset after its last character; optional if there are a `text` and a `start`.
        score: The retriever's score. It is not used: rankings of Retrieved are in list order.
        metadata: Anything else, by name; copied, with the lists, sets and dicts in it, and ignored by the hash.
        tokens: How many tokens it has, for cutoffs such as `recall@800tokens`.
        offsets_unverified: Whether `start` and `end` are only what a framework recorded. Such offsets may refer to a
            section, a page or an earlier form of the text, so they count only where the text of the source, or the
            quote beside a span, confirms them.
        copies: Other items of the same document, which `fuse` keeps; quotes, texts, spans and metadata are looked for
            in them as well, and they take no rank.
        contains: The ids of the chunks that it contains, if it is the parent that a retriever returned in their place.
            A judged one counts as found at its rank.

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
    offsets_unverified: bool = field(default=False, repr=False, compare=False, kw_only=True)
    copies: tuple[Retrieved, ...] = field(default=(), repr=False, compare=False, kw_only=True)
    contains: tuple[DocumentId, ...] = field(default=(), repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.metadata is not None:
            # A copy, because a caller may use one dict for one result after another.
            metadata = dict(self.metadata)
            for name, value in metadata.items():
                if type(value) in _COPIED_VALUES:
                    metadata[name] = value.copy()
            object.__setattr__(self, "metadata", metadata)
        if type(self.source) is not str:
            object.__setattr__(self, "source", _source_as_text(self.source))
        if self.text is not None and not isinstance(self.text, str):
            raise TypeError(
                f"the text of retrieved item {self.id!r} must be a str or None, got {type(self.text).__name__}"
            )
        if self.start is not None or self.end is not None:  # unusual, and items are made by the million
            self._complete_offsets()

    def _complete_offsets(self) -> None:
        """Add the end that the start and the text give; raise if the offsets are wrong."""
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
        """Return `source` or an entry of the metadata, where an item without a source may have it; paths as text."""
        if name == "source" and self.source is not None:
            return self.source
        if self.metadata is None:
            return None
        value = self.metadata.get(name)
        if value is None or type(value) is str:
            return value
        return _source_as_text(value) if name == "source" else path_as_text(value)


def item_identity(item: Any) -> Any:
    """Return a value that is equal for equal items: the id, or else the range in a source, or else the text."""
    if not isinstance(item, Retrieved):
        return item
    if item.id is not None:
        return item.id
    if item.source is not None and item.start is not None:
        return (item.source, item.start, item.end)
    return ("text", item.text)


class Piece:
    """A judgment other than an id: what a retrieved item must contain, cover or be."""

    __slots__ = ()


# Aliases of the shapes in which judgments and runs are accepted.

# A mapping is invariant in its keys, so "str or int" must be a union of mappings, not a mapping of a union.
NumberById: TypeAlias = Mapping[str, float] | Mapping[int, float]

# What can be relevant: a document by its id, or a piece such as a quote.
Relevant: TypeAlias = "DocumentId | Piece"

Grades: TypeAlias = "NumberById | GradedPieces | Mapping[Piece, float] | Mapping[Relevant, float]"

# Alternatives of which one suffices: ids or pieces, with or without grades.
Alternatives: TypeAlias = "Grades | Collection[Relevant]"

# The judgments of one query: ids or pieces, with or without grades, or groups that are all needed.
Judgments: TypeAlias = "Grades | Collection[Relevant] | Sequence[Alternatives]"

# What was retrieved for one query: ids with scores, or ids or items, best first.
Ranking: TypeAlias = "NumberById | Sequence[DocumentId] | Sequence[Retrieved]"

QrelsMapping: TypeAlias = Mapping[str, Judgments] | Mapping[int, Judgments]
RunMapping: TypeAlias = Mapping[str, Ranking] | Mapping[int, Ranking]
QueryTexts: TypeAlias = Mapping[str, str] | Mapping[int, str]
NO_TEXTS: QueryTexts = MappingProxyType({})
