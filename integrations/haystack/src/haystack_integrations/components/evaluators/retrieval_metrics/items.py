"""Convert documents of Haystack for the core, and choose what they are compared by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from haystack import Document

from retrieval_metrics import Retrieved
from retrieval_metrics.adapting import known_score, listed

if TYPE_CHECKING:
    from retrieval_metrics.types import DocumentId

META = "meta."
SOURCE = "source_id"
START = "split_idx_start"
"""The metadata in which Haystack's splitters write the document of a chunk, and its offset there."""
LEVEL = "__level"
"""The metadata in which the hierarchical splitter writes how often a chunk was split; its source is then a chunk."""


def as_retrieved(document: Document) -> Retrieved:
    """Return a document as an item of the core: its id, its text, its score, and its place in its source, if known.

    Example:
        >>> chunk = Document(id="c2", content="The with statement", meta={"source_id": "book", "split_idx_start": 120})
        >>> item = as_retrieved(chunk)
        >>> item.id, item.source, item.start, item.end
        ('c2', 'book', 120, 138)
    """
    source, start = document.meta.get(SOURCE), document.meta.get(START)
    if isinstance(level := document.meta.get(LEVEL), int) and level > 1:
        source = None
    placed = source is not None and document.content is not None and isinstance(start, int) and start >= 0
    return Retrieved(
        document.id,
        text=document.content,
        source=source if isinstance(source, str) else None,
        start=start if placed else None,
        score=known_score(document.score),
        metadata=document.meta,
        claimed=True,
    )


def items_of(documents: Any) -> list[Retrieved]:
    """Return what a retriever returned as items of the core: documents, or a component's outputs with `documents`.

    Raises:
        TypeError: If it is not a list of Documents.
    """
    found = documents["documents"] if isinstance(documents, Mapping) and "documents" in documents else documents
    found = listed(found, Document, "a retriever must return a list of Documents")
    return [as_retrieved(document) for document in found]


def compared(document: Document, field: str) -> DocumentId | None:
    """Return the value by which a document is compared; None if it has none.

    Args:
        document: The document.
        field: `"content"`, `"id"`, or `"meta."` with a key, whose dots lead into nested metadata.

    Raises:
        TypeError: If the value is neither a str nor an int.

    Example:
        >>> compared(Document(content="text", meta={"source": {"url": "a.html"}}), "meta.source.url")
        'a.html'
    """
    if field in {"content", "id"}:
        return document.content if field == "content" else document.id
    value: Any = document.meta
    for key in field.removeprefix(META).split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None or (isinstance(value, (str, int)) and not isinstance(value, bool)):
        return value
    raise TypeError(f"documents can be compared by a str or an int; {field} of {shown(document)} is {value!r}")


def require_field(field: str, name: str, others: Sequence[str] = ()) -> None:
    """Raise if a setting does not name a field of a document.

    Raises:
        ValueError: If it is not one of the others, nor `"meta."` with a key.
    """
    if field not in others and (not field.startswith(META) or field == META):
        allowed = ", ".join(map(repr, [*others, "meta.<key>"]))
        raise ValueError(f"{name} must be one of {allowed}, got {field!r}")


def shown(document: Document) -> str:
    """Return a short description of a document, for messages."""
    return f"document {document.id[:12]!r}, {document.content or '':.40}"
