"""Look up the vectors of nodes in the store of their index, so that they are not embedded again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import UUID

from llama_index.core.indices import VectorStoreIndex
from llama_index.core.vector_stores import SimpleVectorStore

VectorLookup: TypeAlias = Callable[[list[str]], Sequence[Any]]
"""Returns the vector of each node id, None for an unknown one."""


def lookup_of(given: Any) -> VectorLookup:
    """Return the function that finds vectors in what was given: a function, a store, or an index with its store.

    Raises:
        ValueError: If the store is of another class, or does not know the ids of its nodes.
    """
    store = given.vector_store if isinstance(given, VectorStoreIndex) else given
    if isinstance(store, SimpleVectorStore):
        return lambda ids: [store.data.embedding_dict.get(one) for one in ids]
    kind = _class_of(store)
    if kind == "ChromaVectorStore":
        return lambda ids: _of_chroma(store, ids)
    if kind == "QdrantVectorStore" and store.client is not None:
        return lambda ids: _of_qdrant(store, ids)
    if kind == "FaissVectorStore" and store is not given:
        return _Faiss(store, given.index_struct.nodes_dict)
    if callable(store):
        return store  # type: ignore[no-any-return]  # whatever was given
    hints = {
        "FaissVectorStore": "which does not know the ids of its nodes: pass vectors=index, the VectorStoreIndex, or",
        "QdrantVectorStore": "which has only an asynchronous client: give it a client= too, or",
    }
    raise ValueError(
        "vectors must be a VectorStoreIndex, a SimpleVectorStore, QdrantVectorStore or ChromaVectorStore, or a "
        f"function of node ids, got {type(store).__name__}{', ' if kind in hints else '; for another store,'} "
        f"{hints.get(kind, '')} write a function: lambda ids: [vector of each id, or None]".replace("  ", " ")
    )


def _class_of(store: Any) -> str:
    """Return the name by which a store is known; FaissMapVectorStore derives from another and keeps ids differently."""
    names = [kind.__name__ for kind in type(store).__mro__]
    known = ("ChromaVectorStore", "QdrantVectorStore", "FaissVectorStore")
    return "" if "FaissMapVectorStore" in names else next((name for name in known if name in names), "")


def _of_chroma(store: Any, ids: list[str]) -> list[Any]:
    held = store.client.get(ids=list(dict.fromkeys(ids)), include=["embeddings"])
    by_id = dict(zip(held["ids"], held["embeddings"], strict=True))
    return [by_id.get(one) for one in ids]


def _of_qdrant(store: Any, ids: list[str]) -> list[Any]:
    wanted = [one for one in dict.fromkeys(ids) if _can_be_a_point(one)]
    name = store.dense_vector_name
    found = store.client.retrieve(store.collection_name, wanted, with_payload=False, with_vectors=True)
    by_id = {str(one.id): one.vector.get(name) if isinstance(one.vector, dict) else one.vector for one in found}
    return [by_id.get(one) for one in ids]


def _can_be_a_point(name: str) -> bool:
    """Whether Qdrant takes an id; it refuses the whole request for another one."""
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False


class _Faiss:
    """Reconstructs vectors by their place; the index knows which node is where."""

    def __init__(self, store: Any, nodes: Mapping[str, str]) -> None:
        self._store = store
        self._nodes = nodes  # grows in place
        self._places: dict[str, int] = {}

    def __call__(self, ids: list[str]) -> list[Any]:
        if len(self._places) != len(self._nodes):
            self._places = {node: int(place) for place, node in self._nodes.items()}
        places = [self._places.get(one) for one in ids]
        return [None if place is None else self._store.client.reconstruct(place) for place in places]
