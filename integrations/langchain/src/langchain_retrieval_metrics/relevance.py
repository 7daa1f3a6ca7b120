"""The scores of documents in their metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.adapting import known_score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langchain_core.documents import Document

SCORE_KEYS = ("relevance_score", "score")
"""The metadata in which rerankers of LangChain write scores."""


def score_in(metadata: Mapping[str, Any], key: str | None = None) -> tuple[Sequence[str], Any]:
    """Return the keys that may hold a score, and the value of the first that exists; None if none does."""
    keys = SCORE_KEYS if key is None else (key,)
    return keys, next((metadata[name] for name in keys if metadata.get(name) is not None), None)


def score_of(document: Document, key: str | None) -> float:
    """Return the score in the metadata of a document.

    Args:
        document: The document.
        key: The key of the score; None takes `relevance_score`, or else `score`.

    Raises:
        ValueError: If it has no score, or one that is not a finite number.
    """
    keys, found = score_in(document.metadata, key)
    if found is None:
        has = ", ".join(map(repr, document.metadata)) or "none"
        raise ValueError(
            f"document {document.id!r} has no metadata {' or '.join(map(repr, keys))} with its score; it has {has}. "
            "Name its key with score_key=..., or use relevance='rank'"
        )
    if (score := known_score(found)) is None:
        raise ValueError(f"the score of document {document.id!r} must be a finite number, got {found!r}")
    return score
