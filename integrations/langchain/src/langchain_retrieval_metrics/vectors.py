"""Combine the known vectors of documents with those that have to be embedded, and check them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy import typing as npt

from langchain_retrieval_metrics.documents import describe_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langchain_core.documents import Document


Vector: TypeAlias = npt.NDArray[np.float32]

# The name under which embedding compressors of LangChain keep the vector in the state of a document.
STATE_KEY = "embedded_doc"


class DocumentVectors:
    """The vectors of documents: the known ones, and the texts to embed for the others."""

    def __init__(self, documents: Sequence[Document], known_vectors: Sequence[Any]) -> None:
        """Take the vector of each document, None where it is unknown."""
        self._documents = documents
        self._known_vectors = known_vectors
        self._document_by_text: dict[str, Document] = {}
        for document, vector in zip(documents, known_vectors, strict=True):
            if vector is None:
                self._document_by_text.setdefault(document.page_content, document)
        self.texts = list(self._document_by_text)

    def check_embeddings(self, texts: Sequence[str], embeddings: Sequence[Any]) -> list[Vector]:
        """Return the embeddings of some of the texts as float32."""
        if len(embeddings) != len(texts):
            raise ValueError(f"embeddings returned {len(embeddings)} vectors for {len(texts)} texts")
        vectors = []
        for text, embedding in zip(texts, embeddings, strict=True):
            owner = describe_document(self._document_by_text[text])
            vectors.append(as_vector(embedding, owner))
        return vectors

    def stack(self, vector_by_text: Mapping[str, Vector]) -> Vector:
        """Return all vectors as rows, shape (documents, d), given those of `texts`."""
        rows = []
        for document, vector in zip(self._documents, self._known_vectors, strict=True):
            row = vector_by_text[document.page_content] if vector is None else _as_row(vector, document)
            rows.append(row)
        self._require_equal_lengths(rows)
        stacked = np.stack(rows)
        # Check all rows at once, and look for the wrong one only if there is one.
        if not np.isfinite(stacked).all():
            for document, row in zip(self._documents, rows, strict=True):
                as_vector(row, describe_document(document))
        return stacked

    def _require_equal_lengths(self, rows: Sequence[Vector]) -> None:
        first_document = self._documents[0]
        for document, row in zip(self._documents, rows, strict=True):
            if row.shape != rows[0].shape:
                raise ValueError(
                    f"{describe_document(document)} has a vector of {row.size} numbers, and "
                    f"{describe_document(first_document)} one of {rows[0].size}; all must come from one embedding model"
                )


def as_vector(value: object, owner: str) -> Vector:
    """Return a vector as float32.

    Raises:
        ValueError: If it is not a list of finite numbers; the message names its owner.
    """
    try:
        vector = np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the vector of {owner} must be a list of numbers, got {value!r:.80}") from error
    if value is None or vector.ndim != 1 or not vector.size:
        raise ValueError(f"the vector of {owner} must be a list of numbers, got {value!r:.80}")
    is_finite = np.isfinite(vector)
    if not is_finite.all():
        position = int(np.flatnonzero(~is_finite)[0])
        raise ValueError(
            f"the vector of {owner} holds {vector[position]} at position {position}; every number must be finite"
        )
    return vector


def _as_row(value: object, document: Document) -> Vector:
    """Return a vector as float32; whether its numbers are finite is checked for all vectors at once."""
    if isinstance(value, np.ndarray) and value.dtype == np.float32 and value.ndim == 1 and value.size:
        return value
    return as_vector(value, describe_document(document))


def get_state_vector(document: Document) -> object:
    """Return the vector that an earlier compressor kept in the state of the document, if there is one."""
    state = getattr(document, "state", None)
    return state.get(STATE_KEY) if isinstance(state, dict) else None
