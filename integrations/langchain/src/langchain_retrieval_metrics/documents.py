"""Convert LangChain's documents to items of the core, and read their scores."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from os import PathLike, fsdecode
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document

from retrieval_metrics import Retrieved
from retrieval_metrics.integration_api import as_list_of, finite_score_or_none

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# The metadata in which loaders and text splitters of LangChain write the source of a chunk and, if configured, its
# offset there.
SOURCE = "source"
START_INDEX = "start_index"

# The metadata in which rerankers of LangChain write scores.
SCORE_KEYS = ("relevance_score", "score")

# As much of a text as fits a line of a message.
MAX_SHOWN_CHARACTERS = 40


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
    source = metadata.get(SOURCE)
    if isinstance(source, PathLike):
        source = fsdecode(source)
    start = metadata.get(START_INDEX)
    has_offset = isinstance(start, int) and start >= 0  # splitters write -1 where they do not find a chunk again
    return Retrieved(
        document.id,
        text=document.page_content,
        source=source if isinstance(source, str) else None,
        start=start if has_offset else None,
        score=finite_score_or_none(_first_value(metadata, SCORE_KEYS)),
        metadata=metadata,
        offsets_unverified=True,
    )


def convert_items(answer: object) -> list[Retrieved]:
    """Return the documents of an answer as items of the core, each with its own id; items stay as they are.

    Args:
        answer: A list, best first: of documents; of pairs of a document and its score, as
            `similarity_search_with_score` returns them, of which only the order counts, because some stores return
            distances; or of ids.

    Raises:
        TypeError: If it is anything else.
    """
    # The searches of an agent were converted when they were recorded.
    if isinstance(answer, list) and all(isinstance(item, Retrieved) for item in answer):
        return answer
    if isinstance(answer, list) and answer:
        if all(isinstance(document_id, (str, int)) and not isinstance(document_id, bool) for document_id in answer):
            return [Retrieved(document_id) for document_id in answer]
        if all(_is_scored_document(pair) for pair in answer):
            return [as_retrieved(document) for document, _score in answer]
    requirement = "a retriever must return a list of Documents, of (Document, score) pairs, or of ids"
    documents = as_list_of(answer, Document, requirement)
    return [as_retrieved(document) for document in documents]


def _is_scored_document(pair: object) -> bool:
    """Return whether something is a pair of a document and its score."""
    return isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], Document) and isinstance(pair[1], Real)


def are_documents(value: object) -> bool:
    """Return whether a value is a list of documents, at least one."""
    return isinstance(value, list) and len(value) > 0 and all(isinstance(document, Document) for document in value)


def get_key(mapping: Mapping[str, object] | None, key: str, what: str) -> object:
    """Return the value of a key; raise if it is missing, with a message that says in what."""
    if isinstance(mapping, Mapping) and key in mapping:
        return mapping[key]
    raise ValueError(f"{what} has no {key!r}; it has {_quote_names(mapping or (), 'nothing')}")


def describe_document(document: Document) -> str:
    """Return a short description of a document, for messages."""
    text = document.page_content
    ellipsis = "..." if len(text) > MAX_SHOWN_CHARACTERS else ""
    return f"document {document.id!r}, {text[:MAX_SHOWN_CHARACTERS]!r}{ellipsis}"


def read_score(document: Document, key: str | None) -> float:
    """Return the score in the metadata of a document, under the key or, without one, under a key of rerankers."""
    keys = SCORE_KEYS if key is None else (key,)
    value = _first_value(document.metadata, keys)
    if value is None:
        raise ValueError(
            f"document {document.id!r} has no metadata {' or '.join(map(repr, keys))} with its score; it has "
            f"{_quote_names(document.metadata, 'none')}. Name its key with score_key=..., or use relevance='rank'"
        )
    score = finite_score_or_none(value)
    if score is None:
        raise ValueError(f"the score of document {document.id!r} must be a finite number, got {value!r}")
    return score


def _first_value(metadata: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """Return the value of the first key whose value is not None; None if there is no such key."""
    for key in keys:
        value = metadata.get(key)
        if value is not None:
            return value
    return None


def _quote_names(names: Iterable[Any], default: str) -> str:
    return ", ".join(map(repr, names)) or default
