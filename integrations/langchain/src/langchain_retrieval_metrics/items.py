"""Convert documents of LangChain for the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.documents import Document

from langchain_retrieval_metrics.relevance import score_in
from retrieval_metrics import Retrieved
from retrieval_metrics.adapting import known_score, listed

SOURCE = "source"
START_INDEX = "start_index"
"""The metadata in which LangChain's text splitters write the offset of a chunk, if configured."""


def as_retrieved(document: Document) -> Retrieved:
    """Return a document as an item of the core: its id, its text, and its place in its source.

    Args:
        document: A document; it is not changed. Its source and its offset are `metadata["source"]` and
            `metadata["start_index"]`, as written by loaders and splitters of LangChain; its score is
            `metadata["relevance_score"]` or `metadata["score"]`, as written by rerankers.

    Example:
        >>> chunk = Document("The with statement", id="with#2", metadata={"source": "with.txt", "start_index": 120})
        >>> item = as_retrieved(chunk)
        >>> item.id, item.source, item.start, item.end
        ('with#2', 'with.txt', 120, 138)
    """
    metadata = document.metadata
    source, start = metadata.get(SOURCE), metadata.get(START_INDEX)
    placed = isinstance(start, int) and start >= 0  # splitters write -1 where they do not find a chunk again
    _, score = score_in(metadata)
    return Retrieved(
        document.id,
        text=document.page_content,
        source=source if isinstance(source, str) else None,
        start=start if placed else None,
        score=known_score(score),
        metadata=metadata,
        claimed=True,
    )


def items_of(documents: Any) -> list[Retrieved]:
    """Return what a retriever returned as items of the core, each under its own id; items stay as they are.

    Raises:
        TypeError: If it is not a list of Documents.
    """
    if isinstance(documents, list) and all(isinstance(one, Retrieved) for one in documents):
        return documents  # of the searches of an agent
    found = listed(documents, Document, "a retriever must return a list of Documents")
    return [as_retrieved(document) for document in found]


def part(of: Any, key: str, what: str) -> Any:
    """Return the value of a key of an input, an output or an answer.

    Raises:
        ValueError: If there is no such key; the message says which keys there are.
    """
    if isinstance(of, Mapping) and key in of:
        return of[key]
    has = ", ".join(map(repr, of or ())) or "nothing"
    raise ValueError(f"{what} has no {key!r}; it has {has}")


def shown(document: Document) -> str:
    """Return a short description of a document, for messages."""
    text = document.page_content
    return f"document {document.id!r}, {text[:40]!r}{'...' if len(text) > 40 else ''}"  # noqa: PLR2004  (what fits a line)
