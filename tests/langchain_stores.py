"""Vector stores of LangChain that hold the texts of the tests, and filters in their languages."""

import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

from chromadb import EphemeralClient
from langchain_chroma import Chroma
from langchain_community.vectorstores import FAISS
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_qdrant import QdrantVectorStore
from qdrant_client import models

from clustered_embeddings import NAMES, TEXTS, Counting, N


def in_memory(embeddings: Embeddings, names: Any = NAMES) -> VectorStore:
    return InMemoryVectorStore.from_texts(TEXTS, embeddings, ids=names)


def faiss(embeddings: Embeddings, names: Any = NAMES) -> VectorStore:
    return FAISS.from_texts(TEXTS, embeddings, ids=names)


def chroma(embeddings: Embeddings, names: Any = NAMES) -> VectorStore:
    store = Chroma(
        f"c{uuid.uuid4().hex}",
        embeddings,
        client=EphemeralClient(),
        collection_metadata={"hnsw:space": "cosine", "hnsw:search_ef": N},  # exact, as the others are
    )
    store.add_texts(TEXTS, ids=names)
    return store


def qdrant(embeddings: Embeddings, names: Any = NAMES) -> VectorStore:
    return QdrantVectorStore.from_texts(TEXTS, embeddings, ids=names, location=":memory:", collection_name="c")


class Store(NamedTuple):
    store: VectorStore
    embeddings: Counting


MAKERS: dict[str, Callable[..., VectorStore]] = {
    "InMemoryVectorStore": in_memory,
    "FAISS": faiss,
    "Chroma": chroma,
    "Qdrant": qdrant,
}


def ids(documents: list[Document]) -> list[Any]:
    return [document.metadata.get("_id", document.id) for document in documents]


def filtered(maker: Callable[[Embeddings], VectorStore], every: int) -> tuple[VectorStore, Any]:
    """Return a store in which one text of so many matches, and the filter for them, in its own language."""
    metadata = [{"part": number % every} for number in range(N)]
    store: Any = maker(Counting())
    store.delete(NAMES)
    store.add_texts(TEXTS, metadata, ids=NAMES)
    kind = type(store).__name__
    if kind == "QdrantVectorStore":
        match = models.FieldCondition(key="metadata.part", match=models.MatchValue(value=1))
        return store, models.Filter(must=[match])
    return store, (lambda document: document.metadata["part"] == 1) if kind == "InMemoryVectorStore" else {"part": 1}
