"""Look up vectors in vector stores, so that stored documents are not embedded again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from langchain_core.documents import Document
    from langchain_core.vectorstores import VectorStore

    from langchain_retrieval_metrics.vector_cache import Vector
    from langchain_retrieval_metrics.vectors import VectorFunction


def vectors_of(store: VectorStore) -> VectorFunction:
    """Return a `vector_fn` that looks up vectors in a vector store.

    It supports InMemoryVectorStore, FAISS, Chroma and Qdrant, and subclasses of them. Documents that are not in the
    store are embedded. The function can be pickled if the store can.

    Args:
        store: The store.

    Raises:
        TypeError: If the store is of another class. Write a function of your own then, which takes the documents and
            returns the vector of each, or None.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> store = InMemoryVectorStore.from_texts(["a text"], DeterministicFakeEmbedding(size=3), ids=["a"])
        >>> known, unknown = vectors_of(store)([Document("a text", id="a"), Document("another", id="b")])
        >>> len(known), unknown
        (3, None)
    """
    for one in type(store).__mro__:
        if one.__name__ in _KNOWN:
            return _KNOWN[one.__name__](store)
    hint = "; a retriever knows its store as retriever.vectorstore" if hasattr(store, "vectorstore") else ""
    raise TypeError(
        f"vectors_of supports {', '.join(_KNOWN)}, got {type(store).__name__}{hint}; for another store write "
        "vector_fn=lambda documents: [vector or None for each], or pass embeddings to embed the texts"
    )


def holds_vectors(store: VectorStore) -> bool:
    """Whether `vectors_of` supports a store."""
    return any(kind.__name__ in _KNOWN for kind in type(store).__mro__)


class _InMemory:
    """Converts each list of Python floats once, which takes longer than MMR itself."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._converted: dict[str, tuple[Any, Vector]] = {}

    def __call__(self, documents: Sequence[Document]) -> list[Any]:
        if len(self._converted) > len(self._store.store):  # some were deleted
            self._converted = {name: kept for name, kept in self._converted.items() if name in self._store.store}
        return [None if one.id is None else self._vector(one.id) for one in documents]

    def _vector(self, name: str) -> Vector | None:
        if (held := self._store.store.get(name)) is None:
            self._converted.pop(name, None)
            return None
        stored, known = held["vector"], self._converted.get(name)
        if known is None or known[0] is not stored:  # new, or replaced since
            known = self._converted[name] = stored, np.asarray(stored, dtype=np.float32)
        return known[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._store,)


class _Faiss:
    """Reconstructs vectors by their place in the index, as the store's own MMR does."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._names: Any = None
        self._count = -1
        self._places: dict[str, int] = {}

    def __call__(self, documents: Sequence[Document]) -> list[Any]:
        names = self._store.index_to_docstore_id  # grows in place, and is another object after a deletion
        if names is not self._names or len(names) != self._count:
            self._places = {name: place for place, name in names.items()}
            self._names, self._count = names, len(names)
        places = [None if one.id is None else self._places.get(one.id) for one in documents]
        held = [place for place in places if place is not None]
        vectors = iter(self._store.index.reconstruct_batch(held) if held else ())
        return [None if place is None else next(vectors) for place in places]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._store,)


class _Chroma:
    def __init__(self, store: Any) -> None:
        self._store = store

    def __call__(self, documents: Sequence[Document]) -> list[Any]:
        names = list(dict.fromkeys(one.id for one in documents if one.id is not None))
        if not names:
            return [None] * len(documents)
        held = self._store.get(ids=names, include=["embeddings"])
        by_name = dict(zip(held["ids"], held["embeddings"], strict=True))
        return [by_name.get(one.id) for one in documents]


class _Qdrant:
    """Documents of Qdrant have no id; the point they came from is in their metadata."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __call__(self, documents: Sequence[Document]) -> list[Any]:
        points = [one.metadata.get("_id", one.id) for one in documents]
        wanted = list(dict.fromkeys(point for point in points if point is not None))
        if not wanted:
            return [None] * len(documents)
        name = self._store.vector_name
        found = self._store.client.retrieve(
            self._store.collection_name, wanted, with_payload=False, with_vectors=[name] if name else True
        )
        by_point = {str(one.id): one.vector.get(name) if isinstance(one.vector, dict) else one.vector for one in found}
        return [by_point.get(str(point)) for point in points]


_KNOWN: dict[str, Callable[[Any], VectorFunction]] = {
    "InMemoryVectorStore": _InMemory,
    "FAISS": _Faiss,
    "Chroma": _Chroma,
    "QdrantVectorStore": _Qdrant,
}
"""By the name of the class, because the stores are not dependencies; several packages have a Chroma or a FAISS."""
