"""Vectors of documents: known ones are looked up, others embedded, and all checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from langchain_core.documents import Document

from langchain_retrieval_metrics.items import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_retrieval_metrics.vector_cache import Vector

VectorFunction: TypeAlias = Callable[[Sequence[Document]], Sequence[Any]]
"""Returns the vector of each document, or None if it is unknown."""

STATE = "embedded_doc"
"""The name under which embedding compressors of LangChain keep the vector in the state of a document."""


class WantedVectors:
    """The vectors of documents: the known ones, and the texts to embed for the others.

    Args:
        documents: The documents, in order.
        known: A vector per document, or None where it is not known.
    """

    def __init__(self, documents: Sequence[Document], known: Sequence[Any]) -> None:
        self._documents = documents
        self._known = known
        self._first: dict[str, Document] = {}
        for document, vector in zip(documents, known, strict=True):
            if vector is None:
                self._first.setdefault(document.page_content, document)
        self.texts = list(self._first)

    def checked(self, texts: Sequence[str], embedded: Sequence[Any]) -> list[Vector]:
        """Return the embeddings of some of the texts as float32.

        Raises:
            ValueError: If it is not a vector for each; the message names the document.
        """
        if len(embedded) != len(texts):
            raise ValueError(f"embeddings returned {len(embedded)} vectors for {len(texts)} texts")
        return [as_vector(vector, shown(self._first[text])) for text, vector in zip(texts, embedded, strict=True)]

    def stacked(self, embedded: Mapping[str, Vector]) -> Vector:
        """Return all vectors as rows, shape (documents, d), given those of `texts`.

        Raises:
            ValueError: If vectors differ in length or are not lists of finite numbers; the message names the document.
        """
        rows = [
            embedded[document.page_content] if vector is None else _array(vector, document)
            for document, vector in zip(self._documents, self._known, strict=True)
        ]
        for document, row in zip(self._documents, rows, strict=True):
            if row.shape != rows[0].shape:
                raise ValueError(
                    f"{shown(document)} has a vector of {row.size} numbers, and {shown(self._documents[0])} one of "
                    f"{rows[0].size}; all must come from one embedding model"
                )
        stacked = np.stack(rows)
        if not np.isfinite(stacked).all():  # check all rows at once, and look for the wrong one only if there is one
            for document, row in zip(self._documents, rows, strict=True):
                as_vector(row, shown(document))
        return stacked


def as_vector(given: Any, whose: str) -> Vector:
    """Return a vector as float32.

    Raises:
        ValueError: If it is not a list of finite numbers.
    """
    try:
        vector = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the vector of {whose} must be a list of numbers, got {given!r:.80}") from error
    if given is None or vector.ndim != 1 or not vector.size:
        raise ValueError(f"the vector of {whose} must be a list of numbers, got {given!r:.80}")
    if not np.isfinite(vector).all():
        at = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise ValueError(f"the vector of {whose} holds {vector[at]} at position {at}; every number must be finite")
    return vector


def _array(given: Any, document: Document) -> Vector:
    """Return a vector as float32; whether its numbers are finite is checked for all vectors at once."""
    if isinstance(given, np.ndarray) and given.dtype == np.float32 and given.ndim == 1 and given.size:
        return given
    return as_vector(given, shown(document))


def state_vector(document: Document) -> Any:
    """Return the vector that an earlier compressor kept in the state of the document, if there is one."""
    state = getattr(document, "state", None)
    return state.get(STATE) if isinstance(state, dict) else None
