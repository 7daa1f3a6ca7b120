"""Documents of Haystack: as items of the core, and by what they are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from haystack import Document

from retrieval_metrics import Retrieved
from retrieval_metrics.integration_api import as_list_of, finite_score_or_none

if TYPE_CHECKING:
    from retrieval_metrics.types import DocumentId

# What a retriever returns: documents, or the outputs of a component.
RetrieverAnswer: TypeAlias = Sequence[Document] | Mapping[str, Any]

# The prefix of fields in the metadata of a document.
META_PREFIX = "meta."

# The metadata in which Haystack's splitters write the document of a chunk, and its offset there.
SOURCE_KEY = "source_id"
START_KEY = "split_idx_start"

# The metadata in which the hierarchical splitter writes how often a chunk was split; its source is then a chunk.
LEVEL_KEY = "__level"

# The length of an id in messages.
MAX_ID_LENGTH = 12


def as_retrieved(document: Document) -> Retrieved:
    """Return a document as an item of the core: its id, its text, its score, and its place in its source, if known.

    Example:
        >>> chunk = Document(id="c2", content="The with statement", meta={"source_id": "book", "split_idx_start": 120})
        >>> item = as_retrieved(chunk)
        >>> item.id, item.source, item.start, item.end
        ('c2', 'book', 120, 138)
    """
    source = document.meta.get(SOURCE_KEY)
    level = document.meta.get(LEVEL_KEY)
    if isinstance(level, int) and level > 1:
        source = None
    text = document.content
    start = document.meta.get(START_KEY)
    is_located = source is not None and text is not None and isinstance(start, int) and start >= 0
    if SOURCE_KEY not in document.meta and text is not None:
        # Converters keep the line ends of Windows in whole documents, but spans are written against what `open` reads.
        text = text.replace("\r\n", "\n")
    return Retrieved(
        document.id,
        text=text,
        source=source if isinstance(source, str) else None,
        start=start if is_located else None,
        score=finite_score_or_none(document.score),
        metadata=document.meta,
        offsets_unverified=True,
    )


def convert_items(answer: RetrieverAnswer) -> list[Retrieved]:
    """Return what a retriever returned as items of the core: documents, or a component's outputs with `documents`."""
    documents = answer
    if isinstance(answer, Mapping) and "documents" in answer:
        documents = answer["documents"]
    documents = as_list_of(documents, Document, "a retriever must return a list of Documents")
    return [as_retrieved(document) for document in documents]


def get_match_value(document: Document, field: str) -> DocumentId | None:
    """Return the value by which a document is compared; None if it has none.

    Example:
        >>> get_match_value(Document(content="text", meta={"source": {"url": "a.html"}}), "meta.source.url")
        'a.html'
    """
    if field == "content":
        return document.content
    if field == "id":
        return document.id
    value: Any = document.meta
    for key in field.removeprefix(META_PREFIX).split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None or (isinstance(value, (str, int)) and not isinstance(value, bool)):
        return value
    raise TypeError(
        f"documents can be compared by a str or an int; {field} of {describe_document(document)} is {value!r}"
    )


def require_field(field: str, argument: str, other_fields: Sequence[str] = ()) -> None:
    """Raise if a setting does not name a field of a document."""
    if field in other_fields:
        return
    if not field.startswith(META_PREFIX) or field == META_PREFIX:
        allowed = ", ".join(map(repr, [*other_fields, "meta.<key>"]))
        raise ValueError(f"{argument} must be one of {allowed}, got {field!r}")


def describe_document(document: Document) -> str:
    """Return a short description of a document, for messages."""
    return f"document {document.id[:MAX_ID_LENGTH]!r}, {document.content or '':.40}"
