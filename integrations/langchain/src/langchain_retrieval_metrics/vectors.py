"""Vectors of documents: looked up in their store, kept in a cache, or embedded."""

from __future__ import annotations

import asyncio
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from langchain_core.documents import Document
from numpy import typing as npt

from langchain_retrieval_metrics.host import shown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Mapping

    from langchain_core.vectorstores import VectorStore


VectorFunction: TypeAlias = Callable[[Sequence[Document]], Sequence[Any]]
"""Returns the vector of each document, or None if it is unknown."""

STATE = "embedded_doc"
"""The name under which embedding compressors of LangChain keep the vector in the state of a document."""


class WantedVectors:
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
        return [as_vector(vector, shown(self._first[text])) for text, vector in zip(texts, embedded, strict=True)]

    def stacked(self, embedded: Mapping[str, Vector]) -> Vector:
        """Return all vectors as rows, shape (documents, d), given those of `texts`."""
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
    return as_vector(given, shown(document))


def state_vector(document: Document) -> Any:
    """Return the vector that an earlier compressor kept in the state of the document, if there is one."""
    state = getattr(document, "state", None)
    return state.get(STATE) if isinstance(state, dict) else None


# A cache of vectors of texts, shared by all retrievers of one embedding model and by concurrent calls.

Vector: TypeAlias = npt.NDArray[np.float32]
Kind: TypeAlias = Literal["document", "query"]
"""Models may embed queries and documents differently."""
Flight: TypeAlias = "Future[Vector | None]"
"""The vector of a text that is being embedded; None if that failed."""


class _Claimed(NamedTuple):
    """How each text is obtained."""

    known: dict[str, Vector]
    mine: dict[str, Flight | None]
    """Those that the caller embeds; with None, nobody waits for these."""
    others: dict[str, Flight]
    """Those that another caller is embedding."""


class VectorCache:
    """The float32 vectors of the last used texts, by the hash of the text; each text is embedded by one caller.

    A caller that needs a text which another thread or task is embedding waits for it. If that fails, the caller embeds
    the text itself.

    Args:
        size: How many vectors are kept; 0 keeps none.

    Example:
        >>> cache = VectorCache(2)
        >>> embed = lambda texts: [np.ones(2, dtype=np.float32) for text in texts if not print("embedding", text)]
        >>> sorted(cache.vectors("document", ["a", "b"], embed))
        embedding a
        embedding b
        ['a', 'b']
        >>> sorted(cache.vectors("document", ["b", "c"], embed))
        embedding c
        ['b', 'c']
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._flights: dict[bytes, tuple[Flight, bool]] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._vectors)

    def vectors(
        self, kind: Kind, texts: Iterable[str], embed: Callable[[list[str]], list[Vector]]
    ) -> dict[str, Vector]:
        """Return the vector of each text."""
        found: dict[str, Vector] = {}
        missing = list(dict.fromkeys(texts))
        while missing:
            claimed = self._claim(kind, missing, asynchronous=False)
            found |= claimed.known
            if claimed.mine:
                try:
                    embedded = embed(list(claimed.mine))
                except BaseException:
                    self._give_up(kind, claimed.mine)
                    raise
                found |= self._keep(kind, claimed.mine, embedded)
            landed = {text: flight.result() for text, flight in claimed.others.items()}
            found |= {text: vector for text, vector in landed.items() if vector is not None}
            missing = [text for text in missing if text not in found]
        return found

    async def avectors(
        self, kind: Kind, texts: Iterable[str], embed: Callable[[list[str]], Awaitable[list[Vector]]]
    ) -> dict[str, Vector]:
        """Return the vector of each text; the asynchronous twin of `vectors`."""
        found: dict[str, Vector] = {}
        missing = list(dict.fromkeys(texts))
        while missing:
            claimed = self._claim(kind, missing, asynchronous=True)
            found |= claimed.known
            if claimed.mine:
                try:
                    embedded = await embed(list(claimed.mine))
                except BaseException:
                    self._give_up(kind, claimed.mine)
                    raise
                found |= self._keep(kind, claimed.mine, embedded)
            landed = {text: await asyncio.wrap_future(flight) for text, flight in claimed.others.items()}
            found |= {text: vector for text, vector in landed.items() if vector is not None}
            missing = [text for text in missing if text not in found]
        return found

    def _claim(self, kind: Kind, texts: Iterable[str], *, asynchronous: bool) -> _Claimed:
        claimed = _Claimed({}, {}, {})
        with self._lock:
            for text in texts:
                key = _key(kind, text)
                if (vector := self._vectors.get(key)) is not None:
                    self._vectors.move_to_end(key)
                    claimed.known[text] = vector
                elif key not in self._flights:
                    flight: Flight = Future()
                    flight.set_running_or_notify_cancel()  # a cancelled waiter must not cancel it for all
                    self._flights[key] = flight, asynchronous
                    claimed.mine[text] = flight
                elif self._flights[key][1] and not asynchronous:
                    # A task may need this thread to return to its event loop, so never wait for one here.
                    claimed.mine[text] = None
                else:
                    claimed.others[text] = self._flights[key][0]
        return claimed

    def _keep(self, kind: Kind, mine: dict[str, Flight | None], embedded: list[Vector]) -> dict[str, Vector]:
        found = dict(zip(mine, embedded, strict=True))
        with self._lock:
            for text, flight in mine.items():
                key = _key(kind, text)
                if self._size:
                    self._vectors[key] = found[text]
                if flight is not None:
                    del self._flights[key]
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        for text, flight in mine.items():
            if flight is not None:
                flight.set_result(found[text])
        return found

    def _give_up(self, kind: Kind, mine: dict[str, Flight | None]) -> None:
        flights = {text: flight for text, flight in mine.items() if flight is not None}
        with self._lock:
            for text in flights:
                del self._flights[_key(kind, text)]
        for flight in flights.values():
            flight.set_result(None)


def _key(kind: Kind, text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, person=kind.encode()).digest()


_shared: dict[tuple[int, int], tuple[VectorCache, Any]] = {}
_guard = Lock()


def shared_cache(embeddings: Any, size: int) -> VectorCache:
    """Return the cache of an embedding model, the same for every retriever that uses this object."""
    # It lives as long as that object. A retriever configured for one call is a new object and would start with an empty
    # cache if the cache belonged to the retriever.
    key = id(embeddings), size
    with _guard:
        if key not in _shared:
            held = None
            try:
                weakref.finalize(embeddings, _shared.pop, key, None).atexit = False
            except TypeError:  # has no weak references: then it lives as long as the program, so its id stays unique
                held = embeddings
            _shared[key] = VectorCache(size), held
        return _shared[key][0]


# Look up vectors in vector stores, so that stored documents are not embedded again.


def vectors_of(store: VectorStore) -> VectorFunction:
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
        >>> known, unknown = vectors_of(store)([Document("a text", id="a"), Document("another", id="b")])
        >>> len(known), unknown
        (3, None)
    """
    known = _known(store)
    if known is not None and (refusal := _refusal(store)) is None:
        return known(store)
    hint = "; a retriever knows its store as retriever.vectorstore" if hasattr(store, "vectorstore") else ""
    got = f"{type(store).__name__}{hint}" if known is None else refusal
    raise TypeError(
        f"vectors_of supports {', '.join(_KNOWN)}, got {got}; for another store write "
        "vector_fn=lambda documents: [vector or None for each], or pass embeddings to embed the texts"
    )


def holds_vectors(store: VectorStore) -> bool:
    """Whether `vectors_of` supports a store."""
    return _known(store) is not None and _refusal(store) is None


def _known(store: Any) -> Callable[[Any], VectorFunction] | None:
    for kind in type(store).__mro__:
        if kind.__name__ in _KNOWN and kind.__module__.startswith(_ONLY_OF.get(kind.__name__, "")):
            return _KNOWN[kind.__name__]
    return None


def _refusal(store: Any) -> str | None:
    """Return why the vectors of a store cannot be looked up although its class is known."""
    if is_kind(store, "Milvus") and not isinstance(store._vector_field, str):  # noqa: SLF001  (public nowhere)
        return f"a Milvus with several vectors of each document ({', '.join(store._vector_field)})"  # noqa: SLF001  (as above)
    if is_kind(store, "PGVector") and store.async_mode:
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
        return None if point is None else str(point)

    def _held(self, keys: list[Any]) -> Mapping[Any, Any]:
        name = self._store.vector_name
        found = self._store.client.retrieve(
            self._store.collection_name, keys, with_payload=False, with_vectors=[name] if name else True
        )
        return {str(one.id): one.vector.get(name) if isinstance(one.vector, dict) else one.vector for one in found}


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


def to_find_again(store: VectorStore) -> dict[str, Any]:
    """Return the arguments with which a store must be searched so that its documents can be found in it again."""
    # The search of Elasticsearch leaves out the ids unless a `doc_builder` puts them in.
    if not is_kind(store, "ElasticsearchStore"):
        return {}
    field: str = store.query_field  # type: ignore[attr-defined]  # the store is no dependency
    return {"doc_builder": partial(_with_id, field)}


def _with_id(field: str, hit: dict[str, Any]) -> Document:
    held = hit["_source"]
    return Document(held.get(field, ""), id=hit["_id"], metadata=held.get("metadata", {}))


def is_kind(store: VectorStore, name: str) -> bool:
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
