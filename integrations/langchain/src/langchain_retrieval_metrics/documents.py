"""Convert documents of LangChain for the core, and choose the ids by which they are judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.documents import Document

from langchain_retrieval_metrics.relevance import is_number, score_in
from retrieval_metrics import Matching, Retrieved

if TYPE_CHECKING:
    from retrieval_metrics import Qrels
    from retrieval_metrics.adapting import DocumentId

DocumentKey: TypeAlias = Callable[[Document], str | int]
DocumentMatch: TypeAlias = str | DocumentKey | Matching

METADATA = "metadata:"
SOURCE = "source"
START_INDEX = "start_index"
"""The metadata in which LangChain's text splitters write the offset of a chunk, if configured."""


def as_retrieved(document: Document, name: DocumentId | None = None) -> Retrieved:
    """Return a document as an item of the core: its id, its text, and its place in its source.

    Args:
        document: A document; it is not changed. Its source and its offset are `metadata["source"]` and
            `metadata["start_index"]`, as written by loaders and splitters of LangChain; its score is
            `metadata["relevance_score"]` or `metadata["score"]`, as written by rerankers.
        name: The id by which it is judged; None takes its own.

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
        document.id if name is None else name,
        text=document.page_content,
        source=source if isinstance(source, str) else None,
        start=start if placed else None,
        score=float(score) if is_number(score) else None,
        metadata=metadata,
        claimed=True,
    )


def key_of(match: DocumentMatch) -> DocumentKey:
    """Return the function that returns the id by which a document is judged.

    Args:
        match: `"id"`, `"metadata:<key>"`, `"content"` (the whole text), a function of a Document, or the core's
            `Matching`.

    Raises:
        ValueError: If it is none of these.
    """
    if isinstance(match, Matching):
        return _id if match.by == "id" else _by_matching(match)
    if callable(match):
        return match
    if match == "id":
        return _id
    if match == "content":
        return _content
    if isinstance(match, str) and match.startswith(METADATA) and match != METADATA:
        return _metadata(match.removeprefix(METADATA))
    raise ValueError(
        f"match must be 'id', 'metadata:<key>', 'content', a function of a Document or a Matching, got {match!r}"
    )


def as_items(documents: Any, match: DocumentMatch, *, by_id: bool = True) -> list[Retrieved]:
    """Return the documents of a retriever as items of the core, in their order, with ids as in `match`.

    Args:
        documents: Documents, best first.
        match: What identifies them.
        by_id: Whether ids are judged; if only quotes, texts, spans or metadata are, documents need no id.

    Raises:
        TypeError: If it is not a list of Documents, or a `match` function returns something that is not an id.
        ValueError: If a document has no value for `match`.
    """
    if not by_id:
        return items_of(documents)
    require_documents(documents)
    key = key_of(match)
    items = []
    for document in documents:
        name = key(document)
        if not isinstance(name, (str, int)):
            raise TypeError(
                f"match must return an id, a str or an int, for every document; for {shown(document)}, it is {name!r}"
            )
        # A Matching of the core looks at the items itself.
        items.append(as_retrieved(document, document.id if isinstance(match, Matching) else name))
    return items


def items_of(documents: Any) -> list[Retrieved]:
    """Return what a retriever returned as items of the core, each under its own id; items stay as they are.

    Raises:
        TypeError: If it is not a list of Documents.
    """
    if isinstance(documents, list) and all(isinstance(one, Retrieved) for one in documents):
        return documents  # of the searches of an agent
    require_documents(documents)
    return [as_retrieved(document) for document in documents]


def require_documents(documents: Any) -> None:
    """Raise if what a retriever returned is not a list of Documents."""
    if isinstance(documents, (str, Mapping)) or not isinstance(documents, Sequence):
        raise TypeError(f"a retriever must return a list of Documents, got {type(documents).__name__}")
    if stray := [one for one in documents if not isinstance(one, Document)]:
        raise TypeError(f"a retriever must return a list of Documents; it holds {stray[0]!r}")


def part(of: Any, key: str, what: str) -> Any:
    """Return the value of a key of an input, an output or an answer.

    Raises:
        ValueError: If there is no such key; the message says which keys there are.
    """
    if isinstance(of, Mapping) and key in of:
        return of[key]
    has = ", ".join(map(repr, of or ())) or "nothing"
    raise ValueError(f"{what} has no {key!r}; it has {has}")


def needs_ids(qrels: Qrels) -> bool:
    """Whether documents are judged by an id, and not only by what they hold."""
    return qrels.document_kind is not None or not qrels.has_pieces


def _id(document: Document) -> DocumentId:
    if document.id is None:
        others = ["'content'", *(repr(f"{METADATA}{key}") for key in document.metadata)]
        raise ValueError(
            f"{shown(document)}, has no id to judge it by: set the ids of documents when you index them, "
            f"Document(..., id=...), or choose another match: {', '.join(others)}, or a function"
        )
    return document.id


def _content(document: Document) -> DocumentId:
    return document.page_content


def _metadata(key: str) -> DocumentKey:
    def value(document: Document) -> DocumentId:
        if document.metadata.get(key) is None:
            has = ", ".join(map(repr, document.metadata)) or "none"
            raise ValueError(f"{shown(document)}, has no metadata {key!r} to judge it by; it has {has}")
        found: DocumentId = document.metadata[key]
        return found

    return value


def _by_matching(matching: Matching) -> DocumentKey:
    def value(document: Document) -> DocumentId:
        found = matching.key(as_retrieved(document))
        if found is None:
            raise ValueError(f"{shown(document)}, has nothing that match={str(matching)!r} could judge it by")
        return found

    return value


def shown(document: Document) -> str:
    """Return a short description of a document, for messages."""
    text = document.page_content
    return f"document {document.id!r}, {text[:40]!r}{'...' if len(text) > 40 else ''}"  # noqa: PLR2004  (what fits a line)
