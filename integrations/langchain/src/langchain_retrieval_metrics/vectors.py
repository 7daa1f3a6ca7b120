"""Vectors of documents: the known ones, and the texts to embed for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy import typing as npt

from langchain_retrieval_metrics.host import describe_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langchain_core.documents import Document


Vector: TypeAlias = npt.NDArray[np.float32]
STATE = "embedded_doc"
"""The name under which embedding compressors of LangChain keep the vector in the state of a document."""


class DocumentVectors:
    """The vectors of documents: the known ones, and the texts to embed for the others."""

    def __init__(self, documents: Sequence[Document], known: Sequence[Any]) -> None:
        self._documents = documents
        self._known = known
        self._first: dict[str, Document] = {}
        for document, vector in zip(documents, known, strict=True):
            if vector is None:
                self._first.setdefault(document.page_content, document)
        self.texts = list(self._first)

    def checked(self, texts: Sequence[str], embedded: Sequence[Any]) -> list[Vector]:
        """Return the embeddings of some of the texts as float32."""
        if len(embedded) != len(texts):
            raise ValueError(f"embeddings returned {len(embedded)} vectors for {len(texts)} texts")
        return [
            as_vector(vector, describe_document(self._first[text]))
            for text, vector in zip(texts, embedded, strict=True)
        ]

    def stacked(self, embedded: Mapping[str, Vector]) -> Vector:
        """Return all vectors as rows, shape (documents, d), given those of `texts`."""
        rows = [
            embedded[document.page_content] if vector is None else _array(vector, document)
            for document, vector in zip(self._documents, self._known, strict=True)
        ]
        for document, row in zip(self._documents, rows, strict=True):
            if row.shape != rows[0].shape:
                raise ValueError(
                    f"{describe_document(document)} has a vector of {row.size} numbers, and "
                    f"{describe_document(self._documents[0])} one of "
                    f"{rows[0].size}; all must come from one embedding model"
                )
        stacked = np.stack(rows)
        if not np.isfinite(stacked).all():  # check all rows at once, and look for the wrong one only if there is one
            for document, row in zip(self._documents, rows, strict=True):
                as_vector(row, describe_document(document))
        return stacked


def as_vector(given: Any, whose: str) -> Vector:
    """Return a vector as float32."""
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
    return as_vector(given, describe_document(document))


def get_state_vector(document: Document) -> Any:
    """Return the vector that an earlier compressor kept in the state of the document, if there is one."""
    state = getattr(document, "state", None)
    return state.get(STATE) if isinstance(state, dict) else None
