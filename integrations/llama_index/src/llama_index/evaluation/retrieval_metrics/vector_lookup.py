"""Look up the vectors of nodes in the stores of LlamaIndex, so that stored nodes are not embedded again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias
from uuid import UUID

from llama_index.core.indices import VectorStoreIndex
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import BasePydanticVectorStore

# Returns the vector of each node id, None for an unknown one.
VectorLookup: TypeAlias = Callable[[list[str]], Sequence[Any]]

# Where vectors are looked up: the store of an index, a store, or a function.
VectorSource: TypeAlias = VectorStoreIndex | BasePydanticVectorStore | VectorLookup

CHROMA = "ChromaVectorStore"
QDRANT = "QdrantVectorStore"
FAISS = "FaissVectorStore"

# What to do with a store of a known class whose vectors cannot be looked up.
HINTS = {
    FAISS: "which does not know the IDs of its nodes: pass vectors=index, the VectorStoreIndex, or",
    QDRANT: "which has only an asynchronous client: give it a client= too, or",
}


def make_vector_lookup(vectors: VectorSource) -> VectorLookup:
    """Return the function that looks up vectors in a store, or in that of an index; a function stays as it is."""
    store: Any = vectors
    if isinstance(vectors, VectorStoreIndex):
        store = vectors.vector_store
    if isinstance(store, SimpleVectorStore):
        return partial(_look_up_simple, store)
    class_name = _find_class_name(store)
    if class_name == CHROMA:
        return partial(_look_up_chroma, store)
    if class_name == QDRANT and store.client is not None:
        return partial(_look_up_qdrant, store)
    if class_name == FAISS and isinstance(vectors, VectorStoreIndex):
        return _FaissLookup(store, vectors.index_struct.nodes_dict)
    if callable(store):
        lookup: VectorLookup = store
        return lookup
    hint = f", {HINTS[class_name]}" if class_name in HINTS else "; for another store,"
    raise ValueError(
        "vectors must be a VectorStoreIndex, a SimpleVectorStore, QdrantVectorStore or ChromaVectorStore, or a "
        f"function of node IDs, got {type(store).__name__}{hint} write a function: "
        "lambda ids: [vector of each id, or None]"
    )


def _find_class_name(store: Any) -> str:
    """Return the name of the class by which a store is known; "" if it is unknown."""
    names = [cls.__name__ for cls in type(store).__mro__]
    if "FaissMapVectorStore" in names:  # it derives from a known class and keeps ids differently
        return ""
    for name in (CHROMA, QDRANT, FAISS):
        if name in names:
            return name
    return ""


def _look_up_simple(store: SimpleVectorStore, ids: list[str]) -> list[Any]:
    return [store.data.embedding_dict.get(node_id) for node_id in ids]


def _look_up_chroma(store: Any, ids: list[str]) -> list[Any]:
    answer = store.client.get(ids=list(dict.fromkeys(ids)), include=["embeddings"])
    vector_by_id = dict(zip(answer["ids"], answer["embeddings"], strict=True))
    return [vector_by_id.get(node_id) for node_id in ids]


def _look_up_qdrant(store: Any, ids: list[str]) -> list[Any]:
    point_ids = [node_id for node_id in dict.fromkeys(ids) if _is_point_id(node_id)]
    name = store.dense_vector_name
    points = store.client.retrieve(store.collection_name, point_ids, with_payload=False, with_vectors=True)
    vector_by_id = {}
    for point in points:
        vector_by_id[str(point.id)] = point.vector.get(name) if isinstance(point.vector, dict) else point.vector
    return [vector_by_id.get(node_id) for node_id in ids]


def _is_point_id(node_id: str) -> bool:
    """Return whether Qdrant accepts an id; it refuses the whole request if one id is not accepted."""
    try:
        return str(UUID(node_id)) == node_id
    except ValueError:
        return False


class _FaissLookup:
    """Reconstructs vectors of a FAISS store from their positions, which only the index maps to nodes."""

    def __init__(self, store: Any, id_by_position: Mapping[str, str]) -> None:
        self._store = store
        self._id_by_position = id_by_position  # grows in place
        self._position_by_id: dict[str, int] = {}

    def __call__(self, ids: list[str]) -> list[Any]:
        if len(self._position_by_id) != len(self._id_by_position):
            self._position_by_id = {node_id: int(position) for position, node_id in self._id_by_position.items()}
        return [self._reconstruct(node_id) for node_id in ids]

    def _reconstruct(self, node_id: str) -> Any:
        position = self._position_by_id.get(node_id)
        if position is None:
            return None
        index = self._store.client
        try:
            return index.reconstruct(position)
        except RuntimeError as error:
            raise ValueError(
                f"the {type(index).__name__} of this FAISS store does not return the vectors that MMR compares: for an "
                "IVF index, call store.client.make_direct_map() once; for another, leave vectors= out, and the texts "
                "are embedded again"
            ) from error
