"""Vectors looked up in vector stores, so that stored documents are not embedded again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

import numpy as np
from langchain_core.documents import Document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.vectorstores import VectorStore

    from langchain_retrieval_metrics.vectors import Vector

VectorFunction: TypeAlias = Callable[[Sequence[Document]], Sequence[Any]]
"""Returns the vector of each document, or None if it is unknown."""


def get_vectors(store: VectorStore) -> VectorFunction:
    """Return a `vector_fn` that looks up vectors in a vector store.

    It supports InMemoryVectorStore, FAISS, Chroma, Qdrant, LanceDB, Milvus, PGVector, Elasticsearch and Pinecone, and
    subclasses of them. Documents that are not in the store are embedded. The function can be pickled if the store can.
    LanceDB returns documents without their ids, so they are found by their texts. Elasticsearch does so too, and a
    search needs the `doc_builder` that `MMRRetriever.from_store` passes.

    Args:
        store: The store.

    Raises:
        TypeError: If the store is of another class, is a Milvus with several vectors per document or a PGVector with
            `async_mode=True`. Write a function of your own then, which takes the documents and returns the vector of
            each, or None.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> store = InMemoryVectorStore.from_texts(["a text"], DeterministicFakeEmbedding(size=3), ids=["a"])
        >>> known, unknown = get_vectors(store)([Document("a text", id="a"), Document("another", id="b")])
        >>> len(known), unknown
        (3, None)
    """
    known = _known(store)
    if known is not None and (refusal := _refusal(store)) is None:
        return known(store)
    hint = "; a retriever knows its store as retriever.vectorstore" if hasattr(store, "vectorstore") else ""
    got = f"{type(store).__name__}{hint}" if known is None else refusal
    raise TypeError(
        f"get_vectors supports {', '.join(_KNOWN)}, got {got}; for another store write "
        "vector_fn=lambda documents: [vector or None for each], or pass embeddings to embed the texts"
    )


def is_supported_store(store: VectorStore) -> bool:
    """Whether `get_vectors` supports a store."""
    return _known(store) is not None and _refusal(store) is None


def _known(store: Any) -> Callable[[Any], VectorFunction] | None:
    for kind in type(store).__mro__:
        if kind.__name__ in _KNOWN and kind.__module__.startswith(_ONLY_OF.get(kind.__name__, "")):
            return _KNOWN[kind.__name__]
    return None


def _refusal(store: Any) -> str | None:
    """Return why the vectors of a store cannot be looked up although its class is known."""
    if is_instance_by_name(store, "Milvus") and not isinstance(store._vector_field, str):  # noqa: SLF001  (public nowhere)
        return f"a Milvus with several vectors of each document ({', '.join(store._vector_field)})"  # noqa: SLF001  (as above)
    if is_instance_by_name(store, "PGVector") and store.async_mode:
        return "a PGVector with async_mode=True, which cannot be read synchronously"
    return None


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
        held = self._store.store.get(name)
        if held is None and name.isdecimal():
            held = self._store.store.get(int(name))  # a document has its id as text, whatever the store was given
        if held is None:
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
            self._places = {str(name): place for place, name in names.items()}
            self._names, self._count = names, len(names)
        places = [None if one.id is None else self._places.get(one.id) for one in documents]
        held = [place for place in places if place is not None]
        vectors = iter(self._store.index.reconstruct_batch(held) if held else ())
        return [None if place is None else next(vectors) for place in places]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._store,)


class _ByKey:
    """Asks a store for the vectors of several documents at once, each by its key there."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __call__(self, documents: Sequence[Document]) -> list[Any]:
        keys = [self._key(one) for one in documents]
        wanted = list(dict.fromkeys(key for key in keys if key is not None))
        held = self._held(wanted) if wanted else {}
        return [held.get(key) for key in keys]

    def _key(self, document: Document) -> Any:
        return document.id

    def _held(self, keys: list[Any]) -> Mapping[Any, Any]:
        raise NotImplementedError


class _Chroma(_ByKey):
    def _held(self, keys: list[Any]) -> Mapping[Any, Any]:
        held = self._store.get(ids=keys, include=["embeddings"])
        return dict(zip(held["ids"], held["embeddings"], strict=True))


class _Qdrant(_ByKey):
    """Documents of Qdrant have no id; the point they came from is in their metadata."""

    def _key(self, document: Document) -> Any:
        point = document.metadata.get("_id", document.id)
        return point if isinstance(point, int) or _is_uuid(point) else None  # a server refuses the request for another

    def _held(self, keys: list[Any]) -> Mapping[Any, Any]:
        name = self._store.vector_name
        found = self._store.client.retrieve(
            self._store.collection_name, keys, with_payload=False, with_vectors=[name] if name else True
        )
        return {one.id: one.vector.get(name) if isinstance(one.vector, dict) else one.vector for one in found}


def _is_uuid(name: Any) -> bool:
    try:
        return bool(str(UUID(name)) == name)
    except (TypeError, ValueError, AttributeError):
        return False


class _LanceDB(_ByKey):
    """Documents of LanceDB have no id, only their text; equal texts have equal vectors."""

    def _key(self, document: Document) -> Any:
        return document.page_content

    def _held(self, keys: list[Any]) -> Mapping[Any, Any]:
        table, text, vector = self._store.get_table(), self._store._text_key, self._store._vector_key  # noqa: SLF001  (public nowhere)
        if table is None:  # nothing was ever added
            return {}
        quoted = ", ".join("'" + key.replace("'", "''") + "'" for key in keys)
        search = table.search().where(f"{text} IN ({quoted})").select([text, vector])
        return {row[text]: row[vector] for row in search.limit(table.count_rows()).to_list()}


class _Milvus(_ByKey):
    """Documents of Milvus have no id; their primary key is in their metadata."""

    def _key(self, document: Document) -> Any:
        return document.metadata.get(self._store._primary_field, document.id)  # noqa: SLF001  (public nowhere)

    def _held(self, keys: list[Any]) -> Mapping[Any, Any]:
        key, vector = self._store._primary_field, self._store._vector_field  # noqa: SLF001  (as above)
        found = self._store.client.get(self._store.collection_name, ids=keys, output_fields=[key, vector])
        return {row[key]: row[vector] for row in found}


class _PGVector(_ByKey):
    def _held(self, keys: list[Any]) -> Mapping[Any, Any]:
        row = self._store.EmbeddingStore
        with self._store._make_sync_session() as session:  # noqa: SLF001  (what its own get_by_ids does)
            of_collection = row.collection_id == self._store.get_collection(session).uuid
            found = session.query(row.id, row.embedding).filter(of_collection, row.id.in_(keys))
            return {name: vector for name, vector in found if vector is not None}


class _Elasticsearch(_ByKey):
    def _held(self, keys: list[Any]) -> Mapping[Any, Any]:
        field = self._store.vector_query_field
        found = self._store.client.search(
            index=self._store._store.index,  # noqa: SLF001  (public nowhere)
            query={"ids": {"values": keys}},
            size=len(keys),
            source=True,
            source_includes=[field],
        )
        return {hit["_id"]: hit["_source"].get(field) for hit in found["hits"]["hits"]}


class _Pinecone(_ByKey):
    def _held(self, keys: list[Any]) -> Mapping[Any, Any]:
        held: dict[str, Any] = {}
        for start in range(0, len(keys), MOST_FETCHED):
            names = keys[start : start + MOST_FETCHED]
            found = self._store.index.fetch(ids=names, namespace=self._store._namespace)  # noqa: SLF001  (public nowhere)
            held |= {name: one.values or None for name, one in found.vectors.items()}
        return held


MOST_FETCHED = 100
"""How many ids one request to Pinecone holds; they stand in its address, which servers limit."""


def lookup_arguments(store: VectorStore) -> dict[str, Any]:
    """Return the arguments with which a store must be searched so that its documents can be found in it again."""
    # The search of Elasticsearch leaves out the ids unless a `doc_builder` puts them in.
    if not is_instance_by_name(store, "ElasticsearchStore"):
        return {}
    field: str = store.query_field  # type: ignore[attr-defined]  # the store is no dependency
    return {"doc_builder": partial(_with_id, field)}


def _with_id(field: str, hit: dict[str, Any]) -> Document:
    held = hit["_source"]
    return Document(held.get(field, ""), id=hit["_id"], metadata=held.get("metadata", {}))


def is_instance_by_name(store: VectorStore, name: str) -> bool:
    """Whether a store is of a class with that name or derived from one."""
    return any(kind.__name__ == name for kind in type(store).__mro__)


_KNOWN: dict[str, Callable[[Any], VectorFunction]] = {
    "InMemoryVectorStore": _InMemory,
    "FAISS": _Faiss,
    "Chroma": _Chroma,
    "QdrantVectorStore": _Qdrant,
    "LanceDB": _LanceDB,
    "Milvus": _Milvus,
    "PGVector": _PGVector,
    "ElasticsearchStore": _Elasticsearch,
    "PineconeVectorStore": _Pinecone,
}
"""By the name of the class, because the stores are not dependencies; several packages have a Chroma or a FAISS."""
_ONLY_OF = {
    "Milvus": "langchain_milvus",
    "PGVector": "langchain_postgres",
    "ElasticsearchStore": "langchain_elasticsearch",
}
"""The package of a class of which langchain-community has an older one that keeps its rows in another way."""
