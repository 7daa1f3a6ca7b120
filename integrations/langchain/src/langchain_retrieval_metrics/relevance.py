"""How relevant documents are by the score in their metadata."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.adapting import scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.documents import Document

    from retrieval_metrics.adapting import FloatArray

SCORE_KEYS = ("relevance_score", "score")
"""Where rerankers of LangChain write what they scored."""


def by_score(documents: Sequence[Document], key: str | None) -> FloatArray:
    """Return the scores in the metadata, scaled so that the lowest is 0 and the highest 1; equal scores are all 1.

    Args:
        documents: At least one document.
        key: The key of the score; None takes `relevance_score`, or else `score`.

    Raises:
        ValueError: If a document has no score, or one that is no finite number; the message names it.
    """
    return scaled(np.array([_score(document, key) for document in documents], dtype=np.float64))


def _score(document: Document, key: str | None) -> float:
    keys = SCORE_KEYS if key is None else (key,)
    found = next((document.metadata[name] for name in keys if document.metadata.get(name) is not None), None)
    if found is None:
        has = ", ".join(map(repr, document.metadata)) or "none"
        raise ValueError(
            f"document {document.id!r} has no metadata {' or '.join(map(repr, keys))} with its score; it has {has}. "
            "Name its key with score_key=..., or use relevance='rank'"
        )
    if isinstance(found, bool) or not isinstance(found, Real) or not math.isfinite(found):
        raise ValueError(f"the score of document {document.id!r} must be a finite number, got {found!r}")
    return float(found)
