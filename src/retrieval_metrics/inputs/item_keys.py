"""What ids of the judgments are compared with: the id of a retrieved item, its source, or one of its properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from retrieval_metrics.checks import in_python, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics.checks import DocumentId
    from retrieval_metrics.inputs.retrieved import Retrieved

    Key: TypeAlias = Callable[[Retrieved], DocumentId | None]

METADATA = "metadata:"


class Keyed(Protocol):
    """Options that include what ids are compared with, such as `Matching`."""

    @property
    def by(self) -> str | Key:
        """What an id of the judgments is compared with."""


def key_of(match: str | Key | Keyed) -> Key:
    """Return the function that returns the value of an item to compare with ids.

    Args:
        match: `"id"`, `"source"`, `"metadata:<name>"`, a callable that takes a `Retrieved`, or a `Matching`.

    Raises:
        ValueError: If `match` is anything else.
    """
    by = match if isinstance(match, str) or callable(match) else getattr(match, "by", match)
    if callable(by):
        return by
    if by == "id":
        return lambda item: item.id
    if by == "source":
        return lambda item: item.value("source")
    if isinstance(by, str) and by.startswith(METADATA) and by != METADATA:
        name = by.removeprefix(METADATA)
        return lambda item: item.value(name)
    hint = (
        "; for the whole text, pass lambda item: item.text; a judged Quote or Text is found in the text anyway"
        if by in {"text", "content"}
        else ""
    )
    raise ValueError(
        f"{named('match')} must be 'id', 'source', 'metadata:<name>'{in_python(' or a callable')}, got {by!r}{hint}"
    )
