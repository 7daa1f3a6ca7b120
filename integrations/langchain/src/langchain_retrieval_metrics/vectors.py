"""Vectors of documents: taken from where they are already, embedded at most once where they are not."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from langchain_core.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langchain_core.vectorstores import InMemoryVectorStore

Vector: TypeAlias = npt.NDArray[np.float32]
VectorFunction: TypeAlias = Callable[[Sequence[Document]], Sequence[Any]]
"""Gives the vector of each document, or None for one it does not know."""


class VectorCache:
    """The float32 vectors of the texts used last, by the hash of the text; safe to use from several threads.

    Args:
        size: How many vectors are kept; 0 keeps none.

    Example:
        >>> cache = VectorCache(1)
        >>> cache.put("a", [1.0, 0.0])
        >>> cache.put("b", [0.0, 1.0])
        >>> cache.get("a"), cache.get("b").tolist()
        (None, [0.0, 1.0])
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._lock = Lock()

    def get(self, text: str) -> Vector | None:
        """Return the vector of a text, if it is known."""
        key = _key(text)
        with self._lock:
            vector = self._vectors.get(key)
            if vector is not None:
                self._vectors.move_to_end(key)
            return vector

    def put(self, text: str, vector: Any) -> None:
        """Keep the vector of a text; the one used longest ago makes room."""
        if not self.size:
            return
        with self._lock:
            self._vectors[_key(text)] = np.asarray(vector, dtype=np.float32)
            if len(self._vectors) > self.size:
                self._vectors.popitem(last=False)

    def __len__(self) -> int:
        return len(self._vectors)

    def __reduce__(self) -> tuple[Any, ...]:  # a lock cannot be copied, and a copy may begin empty
        return VectorCache, (self.size,)

    def __deepcopy__(self, _: Any) -> VectorCache:
        return VectorCache(self.size)


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Wanted:
    """The vectors of some documents: those that are known, and the texts that have to be embedded for the others.

    Args:
        documents: The documents, in order.
        known: A vector per document, or None where it is not known.
    """

    def __init__(self, documents: Sequence[Document], known: Sequence[Any]) -> None:
        self._documents = documents
        self._known = list(known)
        self.texts = list(
            dict.fromkeys(one.page_content for one, vector in zip(documents, known, strict=True) if vector is None)
        )

    def stacked(self, embedded: Iterable[Any]) -> Vector:
        """Return all vectors as rows, shape (documents, d), given those of `texts`.

        Raises:
            ValueError: If vectors are of different lengths or no lists of numbers; the message names the document.
        """
        by_text = dict(zip(self.texts, embedded, strict=True))
        rows = [
            np.asarray(by_text[one.page_content] if vector is None else vector, dtype=np.float32)
            for one, vector in zip(self._documents, self._known, strict=True)
        ]
        for document, row in zip(self._documents, rows, strict=True):
            if row.ndim != 1 or row.shape != rows[0].shape:
                raise ValueError(
                    f"document {document.id!r} has a vector of shape {row.shape}, and document "
                    f"{self._documents[0].id!r} one of shape {rows[0].shape}; all must come from one embedding model"
                )
        return np.stack(rows)


def in_memory_vectors(store: InMemoryVectorStore) -> VectorFunction:
    """Return a `vector_fn` that looks up what an InMemoryVectorStore holds.

    Args:
        store: The store. Documents that are not in it have no vector there, and are embedded. The float32 form of
            every vector that was looked up is kept.

    Example:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> store = InMemoryVectorStore.from_texts(["a text"], DeterministicFakeEmbedding(size=3), ids=["a"])
        >>> known, unknown = in_memory_vectors(store)([Document("a text", id="a"), Document("another", id="b")])
        >>> len(known), unknown
        (3, None)
    """
    converted: dict[str, tuple[Any, Vector]] = {}  # to convert a list of Python floats takes longer than MMR itself

    def vector(name: str | None) -> Vector | None:
        if name is None or name not in store.store:
            converted.pop(str(name), None)
            return None
        stored = store.store[name]["vector"]
        if name not in converted or converted[name][0] is not stored:  # new, or replaced since
            converted[name] = stored, np.asarray(stored, dtype=np.float32)
        return converted[name][1]

    return lambda documents: [vector(one.id) for one in documents]
