"""Resolve what the ids of judgments are compared with: the id of an item, its source, or a value of its metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.inputs.items import Retrieved

    # A function that returns the value of an item to compare with ids; None if the item has none.
    Key: TypeAlias = Callable[[Retrieved], DocumentId | None]

# What precedes the name of a value of the metadata in `match="metadata:page"`.
METADATA_PREFIX = "metadata:"


class KeyedMatching(Protocol):
    """Options that include what ids are compared with, such as `Matching`."""

    @property
    def by(self) -> str | Key:
        """What an id of the judgments is compared with."""


def get_match_key(match: str | Key | KeyedMatching) -> Key:
    """Return the function that returns the value of an item to compare with ids."""
    by = match if isinstance(match, str) or callable(match) else getattr(match, "by", match)
    if callable(by):
        return by
    if by == "id":
        return lambda item: item.id
    if by == "source":
        return lambda item: item.value("source")
    if isinstance(by, str) and by.startswith(METADATA_PREFIX) and by != METADATA_PREFIX:
        name = by.removeprefix(METADATA_PREFIX)
        return lambda item: item.value(name)
    raise ValueError(f"match must be 'id', 'source', 'metadata:<name>' or a callable, got {by!r}{_match_hint(by)}")


def _match_hint(by: Any) -> str:
    if by in ("text", "content"):  # a tuple, because the value may not be hashable
        return "; for the whole text, pass lambda item: item.text; a judged Quote or Text is found in the text anyway"
    if isinstance(by, str) and by.isidentifier():
        return f"; if that is a key of the metadata, write match={METADATA_PREFIX + by!r}"
    return ""
