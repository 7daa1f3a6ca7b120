"""The relevance of documents from the scores in their metadata."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.adapting import scaled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langchain_core.documents import Document

    from retrieval_metrics.types import FloatArray

SCORE_KEYS = ("relevance_score", "score")
"""The metadata in which rerankers of LangChain write scores."""


def by_score(documents: Sequence[Document], key: str | None) -> FloatArray:
    """Return the scores in the metadata, scaled so that the lowest is 0 and the highest 1; equal scores are all 1.

    Args:
        documents: At least one document.
        key: The key of the score; None takes `relevance_score`, or else `score`.

    Raises:
        ValueError: If a document has no score, or one that is not a finite number; the message names it.
    """
    return scaled(np.array([_score(document, key) for document in documents], dtype=np.float64))


def score_in(metadata: Mapping[str, Any], key: str | None = None) -> tuple[Sequence[str], Any]:
    """Return the keys that may hold a score, and the value of the first that exists; None if none does."""
    keys = SCORE_KEYS if key is None else (key,)
    return keys, next((metadata[name] for name in keys if metadata.get(name) is not None), None)


def is_number(score: Any) -> bool:
    """Whether a score is a finite number."""
    return isinstance(score, Real) and not isinstance(score, bool) and math.isfinite(score)


def _score(document: Document, key: str | None) -> float:
    keys, found = score_in(document.metadata, key)
    if found is None:
        has = ", ".join(map(repr, document.metadata)) or "none"
        raise ValueError(
            f"document {document.id!r} has no metadata {' or '.join(map(repr, keys))} with its score; it has {has}. "
            "Name its key with score_key=..., or use relevance='rank'"
        )
    if not is_number(found):
        raise ValueError(f"the score of document {document.id!r} must be a finite number, got {found!r}")
    return float(found)
