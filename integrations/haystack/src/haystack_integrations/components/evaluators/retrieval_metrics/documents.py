"""Convert Haystack's documents to items of the core, and describe them in messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fsdecode
from typing import Any, TypeAlias

from haystack import Document

from retrieval_metrics import Retrieved
from retrieval_metrics.integration_api import as_list_of, finite_score_or_none

# What a retriever returns: documents, or the outputs of a component.
RetrieverAnswer: TypeAlias = Sequence[Document] | Mapping[str, Any]

# The metadata in which Haystack's splitters write the document of a chunk, and its offset there.
SOURCE_KEY = "source_id"
START_KEY = "split_idx_start"

# The metadata in which the hierarchical splitter writes how often a chunk was split. From the second split on, the
# recorded source of a chunk is another chunk and not a document.
LEVEL_KEY = "__level"
# The ids of the chunks of a document, written by the HierarchicalDocumentSplitter.
CHILDREN_KEY = "__children_ids"

# How much of an id and of a text a message shows.
MAX_SHOWN_ID_CHARACTERS = 12
MAX_SHOWN_TEXT_CHARACTERS = 40


def as_retrieved(document: Document) -> Retrieved:
    """Return a document as an item of the core: its id, its text, its score, and its place in its source, if known.

    Example:
        >>> chunk = Document(id="c2", content="The with statement", meta={"source_id": "book", "split_idx_start": 120})
        >>> item = as_retrieved(chunk)
        >>> item.id, item.source, item.start, item.end
        ('c2', 'book', 120, 138)
    """
    source = document.meta.get(SOURCE_KEY)
    if isinstance(source, PathLike):
        source = fsdecode(source)
    n_splits = document.meta.get(LEVEL_KEY)
    if isinstance(n_splits, int) and n_splits > 1:
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
        contains=_find_children(document),
    )


def _find_children(document: Document) -> tuple[str, ...]:
    """Return the ids of the chunks of a document, which an AutoMergingRetriever returns in their place."""
    children = document.meta.get(CHILDREN_KEY)
    if not isinstance(children, list):
        return ()
    return tuple(child for child in children if isinstance(child, str))


def convert_items(answer: RetrieverAnswer) -> list[Retrieved]:
    """Return what a retriever returned as items of the core: documents, or a component's outputs with `documents`."""
    returned = answer
    if isinstance(answer, Mapping) and "documents" in answer:
        returned = answer["documents"]
    documents = as_list_of(returned, Document, "a retriever must return a list of Documents")
    return [as_retrieved(document) for document in documents]


def describe_document(document: Document) -> str:
    """Return a short description of a document, for messages."""
    shown_id = document.id[:MAX_SHOWN_ID_CHARACTERS]
    shown_text = (document.content or "")[:MAX_SHOWN_TEXT_CHARACTERS]
    description = f"document {shown_id!r}"
    return f"{description}, {shown_text}" if shown_text else description
