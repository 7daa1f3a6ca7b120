"""Vectors looked up in vector stores, so that stored documents are not embedded again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from uuid import UUID

import numpy as np
from langchain_core.documents import Document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.vectorstores import VectorStore

    from langchain_retrieval_metrics.vectors import Vector

# Returns the vector of each document, or None if it is unknown.
VectorFunction: TypeAlias = Callable[[Sequence[Document]], Sequence[Any]]

# How many ids one request to Pinecone holds; they stand in its address, which servers limit.
MAX_IDS_PER_FETCH = 100


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
        >>> stored, not_stored = get_vectors(store)([Document("a text", id="a"), Document("another", id="b")])
        >>> len(stored), not_stored
        (3, None)
    """
    lookup = _find_lookup(store)
    if lookup is None:
        unsupported_note = type(store).__name__
        if hasattr(store, "vectorstore"):
            unsupported_note += "; a retriever knows its store as retriever.vectorstore"
    else:
        unsupported_note = _unsupported_note(store)
        if not unsupported_note:
            return lookup(store)
    raise TypeError(
        f"get_vectors supports {', '.join(_LOOKUPS)}, got {unsupported_note}; for another store write "
        "vector_fn=lambda documents: [vector or None for each], or pass embeddings to embed the texts"
    )


def is_supported_store(store: VectorStore) -> bool:
    """Return whether `get_vectors` supports a store."""
    return _find_lookup(store) is not None and not _unsupported_note(store)


def _find_lookup(store: Any) -> Callable[[Any], VectorFunction] | None:
    """Return the class that looks up vectors in a store of this class or of one it derives from; None if unknown."""
    for cls in type(store).__mro__:
        required_package = _REQUIRED_PACKAGES.get(cls.__name__, "")
        if cls.__name__ in _LOOKUPS and cls.__module__.startswith(required_package):
            return _LOOKUPS[cls.__name__]
    return None


def _unsupported_note(store: Any) -> str:
    """Return why the vectors of a store cannot be looked up although its class is known; "" if they can."""
    if is_instance_by_name(store, "Milvus") and not isinstance(store._vector_field, str):
        return f"a Milvus with several vectors of each document ({', '.join(store._vector_field)})"
    if is_instance_by_name(store, "PGVector") and store.async_mode:
        return "a PGVector with async_mode=True, which cannot be read synchronously"
    return ""


class _ConvertedVector(NamedTuple):
    """A vector as the store holds it, and the same vector as an array."""

    stored: list[float]
    array: Vector


class _InMemory:
    """Looks up vectors in an InMemoryVectorStore, whose lists of Python floats are converted to arrays once.

    Converting them takes longer than MMR itself.
    """

    def __init__(self, store: Any) -> None:
        self._store = store
        self._converted: dict[str, _ConvertedVector] = {}

    def __call__(self, documents: Sequence[Document]) -> list[Any]:
        stored = self._store.store
        if len(self._converted) > len(stored):  # documents were deleted
            self._converted = {name: vector for name, vector in self._converted.items() if name in stored}
        vectors: list[Any] = []
        for document in documents:
            vectors.append(None if document.id is None else self._find_vector(document.id))
        return vectors

    def _find_vector(self, document_id: str) -> Vector | None:
        entry = self._store.store.get(document_id)
        if entry is None and document_id.isdecimal():
            # A document has its id as text, whatever the store was given.
            entry = self._store.store.get(int(document_id))
        if entry is None:
            self._converted.pop(document_id, None)
            return None
        stored = entry["vector"]
        converted = self._converted.get(document_id)
        if converted is None or converted.stored is not stored:  # new, or replaced since
            converted = _ConvertedVector(stored, np.asarray(stored, dtype=np.float32))
            self._converted[document_id] = converted
        return converted.array

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._store,)


class _Faiss:
    """Reconstructs the vectors of a FAISS store from their positions in its index, as the store's own MMR does."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._id_by_position: Any = None
        self._n_ids = -1
        self._position_by_id: dict[str, int] = {}

    def __call__(self, documents: Sequence[Document]) -> list[Any]:
        self._update_positions()
        positions: list[int | None] = []
        for document in documents:
            positions.append(None if document.id is None else self._position_by_id.get(document.id))
        stored_positions = [position for position in positions if position is not None]
        vectors: list[Any] = [None] * len(documents)
        if stored_positions:
            reconstructed = iter(self._reconstruct(stored_positions))
            for index, position in enumerate(positions):
                if position is not None:
                    vectors[index] = next(reconstructed)
        return vectors

    def _reconstruct(self, positions: list[int]) -> Any:
        index = self._store.index
        try:
            return index.reconstruct_batch(positions)
        except RuntimeError as error:
            raise ValueError(
                f"the {type(index).__name__} of this FAISS store does not return the vectors that MMR compares: for an "
                "IVF index, call store.index.make_direct_map() once; for another, embed the texts again: "
                "MMRRetriever(base_retriever=store.as_retriever(), embeddings=embeddings)"
            ) from error

    def _update_positions(self) -> None:
        id_by_position = self._store.index_to_docstore_id  # grows in place, and is another object after a deletion
        if id_by_position is self._id_by_position and len(id_by_position) == self._n_ids:
            return
        self._position_by_id = {str(document_id): position for position, document_id in id_by_position.items()}
        self._id_by_position = id_by_position
        self._n_ids = len(id_by_position)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._store,)


class _KeyLookup:
    """Asks a store for the vectors of several documents at once, each by its key there."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __call__(self, documents: Sequence[Document]) -> list[Any]:
        keys = [self._document_key(document) for document in documents]
        distinct_keys = [key for key in dict.fromkeys(keys) if key is not None]
        vector_by_key = self._fetch(distinct_keys) if distinct_keys else {}
        return [vector_by_key.get(key) for key in keys]

    def _document_key(self, document: Document) -> Any:
        return document.id

    def _fetch(self, keys: list[Any]) -> Mapping[Any, Any]:
        raise NotImplementedError


class _Chroma(_KeyLookup):
    def _fetch(self, keys: list[Any]) -> Mapping[Any, Any]:
        answer = self._store.get(ids=keys, include=["embeddings"])
        return dict(zip(answer["ids"], answer["embeddings"], strict=True))


class _Qdrant(_KeyLookup):
    """Documents of Qdrant have no id; the point they came from is in their metadata."""

    def _document_key(self, document: Document) -> Any:
        point_id = document.metadata.get("_id", document.id)
        if isinstance(point_id, int) or _is_uuid(point_id):
            return point_id
        return None  # a server refuses the whole request if one id has another form

    def _fetch(self, keys: list[Any]) -> Mapping[Any, Any]:
        name = self._store.vector_name
        points = self._store.client.retrieve(
            self._store.collection_name, keys, with_payload=False, with_vectors=[name] if name else True
        )
        vectors = {}
        for point in points:
            vectors[point.id] = point.vector.get(name) if isinstance(point.vector, dict) else point.vector
        return vectors


def _is_uuid(value: Any) -> bool:
    try:
        return bool(str(UUID(value)) == value)
    except (TypeError, ValueError, AttributeError):
        return False


class _LanceDB(_KeyLookup):
    """Documents of LanceDB have no id, only their text; equal texts have equal vectors."""

    def _document_key(self, document: Document) -> Any:
        return document.page_content

    def _fetch(self, keys: list[Any]) -> Mapping[Any, Any]:
        table = self._store.get_table()
        if table is None:  # nothing was ever added
            return {}
        text_column = self._store._text_key
        vector_column = self._store._vector_key
        literals = [key.replace("'", "''") for key in keys]
        quoted = ", ".join(f"'{literal}'" for literal in literals)
        search = table.search().where(f"{text_column} IN ({quoted})").select([text_column, vector_column])
        rows = search.limit(table.count_rows()).to_list()
        return {row[text_column]: row[vector_column] for row in rows}


class _Milvus(_KeyLookup):
    """Documents of Milvus have no id; their primary key is in their metadata."""

    def _document_key(self, document: Document) -> Any:
        return document.metadata.get(self._store._primary_field, document.id)

    def _fetch(self, keys: list[Any]) -> Mapping[Any, Any]:
        key_field = self._store._primary_field
        vector_field = self._store._vector_field
        rows = self._store.client.get(self._store.collection_name, ids=keys, output_fields=[key_field, vector_field])
        return {row[key_field]: row[vector_field] for row in rows}


class _PGVector(_KeyLookup):
    def _fetch(self, keys: list[Any]) -> Mapping[Any, Any]:
        table = self._store.EmbeddingStore
        with self._store._make_sync_session() as session:
            in_collection = table.collection_id == self._store.get_collection(session).uuid
            rows = session.query(table.id, table.embedding).filter(in_collection, table.id.in_(keys))
            return {document_id: vector for document_id, vector in rows if vector is not None}


class _Elasticsearch(_KeyLookup):
    def _fetch(self, keys: list[Any]) -> Mapping[Any, Any]:
        field = self._store.vector_query_field
        answer = self._store.client.search(
            index=self._store._store.index,
            query={"ids": {"values": keys}},
            size=len(keys),
            source=True,
            source_includes=[field],
        )
        return {hit["_id"]: hit["_source"].get(field) for hit in answer["hits"]["hits"]}


class _Pinecone(_KeyLookup):
    def _fetch(self, keys: list[Any]) -> Mapping[Any, Any]:
        namespace = self._store._namespace
        vectors: dict[str, Any] = {}
        for start in range(0, len(keys), MAX_IDS_PER_FETCH):
            batch = keys[start : start + MAX_IDS_PER_FETCH]
            answer = self._store.index.fetch(ids=batch, namespace=namespace)
            for document_id, record in answer.vectors.items():
                vectors[document_id] = record.values or None
        return vectors


def lookup_arguments(store: VectorStore) -> dict[str, Any]:
    """Return the arguments with which a store must be searched so that its documents can be found in it again."""
    # The search of Elasticsearch leaves out the ids unless a `doc_builder` puts them in.
    if not is_instance_by_name(store, "ElasticsearchStore"):
        return {}
    text_field: str = store.query_field  # type: ignore[attr-defined]  # the store is no dependency
    return {"doc_builder": partial(_make_document, text_field)}


def _make_document(text_field: str, hit: dict[str, Any]) -> Document:
    source = hit["_source"]
    return Document(source.get(text_field, ""), id=hit["_id"], metadata=source.get("metadata", {}))


def is_instance_by_name(store: VectorStore, name: str) -> bool:
    """Return whether the class of a store has this name or derives from one that has it."""
    return any(cls.__name__ == name for cls in type(store).__mro__)


# The lookups by the name of the store's class, because the stores are not dependencies, and several packages have a
# Chroma or a FAISS.
_LOOKUPS: dict[str, Callable[[Any], VectorFunction]] = {
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
# The package of a class of which langchain-community has an older one that keeps its rows in another way.
_REQUIRED_PACKAGES = {
    "Milvus": "langchain_milvus",
    "PGVector": "langchain_postgres",
    "ElasticsearchStore": "langchain_elasticsearch",
}
