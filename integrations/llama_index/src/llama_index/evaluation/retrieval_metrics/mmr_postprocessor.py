"""Maximal marginal relevance for the nodes of any retriever."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Literal, TypeAlias
from uuid import UUID

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr, SerializeAsAny, field_validator
from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.indices import VectorStoreIndex
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]  # re-exported without saying so
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.core.settings import Settings
from llama_index.core.vector_stores import SimpleVectorStore

from retrieval_metrics import mmr
from retrieval_metrics.integration_api import relevance_by, vector_cache

VectorLookup: TypeAlias = Callable[[list[str]], Sequence[Any]]
"""Returns the vector of each node id, None for an unknown one."""
Vector: TypeAlias = Any  # a list of numbers or an array
dispatcher = get_dispatcher(__name__)
logger = logging.getLogger(__name__)


class MMRPostprocessor(BaseNodePostprocessor):
    """Orders nodes by relevance and diversity: each is relevant and unlike those before it.

    The next node is the one with the largest `lambda_mult * relevance - (1 - lambda_mult) * largest similarity to those
    already chosen` (Carbonell and Goldstein 1998; see `retrieval_metrics.mmr`). Only the order and number of nodes
    change; the nodes, their scores and their embeddings do not. It can only choose among the retrieved nodes, so
    retrieve more than `top_n`.

    Args:
        top_n: How many nodes are kept; None keeps all.
        lambda_mult: The weight of relevance from 0 (diversity alone, after the most relevant node) to 1.
        relevance: `"query"` takes the cosine of query and node; `"score"` takes the scores of the nodes, such as those
            of another reranker, scaled to [0, 1]; `"rank"` takes their order, from 1 to 0.
        embed_model: Embeds nodes without a vector, in one batch, and the query if its vector is not in the query
            bundle. None takes the one in `Settings`, only if it is needed. Stores return nodes without their vectors,
            so without `vectors` every candidate is embedded once; the vectors are kept for the model, by text, and the
            log says once what is embedded.
        vectors: Where the vectors of the index are, so that nothing is embedded: the `VectorStoreIndex` with a simple
            store, Qdrant, FAISS or Chroma; one of these stores, except FAISS, which does not know the ids of its nodes;
            or a function from node ids to their vectors, None for an unknown one.

    Raises:
        ValueError: (as pydantic's ValidationError) If an argument is unknown or out of range.

    Example:
        >>> from llama_index.core.schema import TextNode
        >>> vectors = {"a": [1.0, 0.0], "again a": [1.0, 0.0], "b": [0.6, 0.8]}
        >>> nodes = [NodeWithScore(node=TextNode(text=text, embedding=vector)) for text, vector in vectors.items()]
        >>> query = QueryBundle("q", embedding=[0.9, 0.1])
        >>> [node.text for node in MMRPostprocessor(top_n=2).postprocess_nodes(nodes, query)]
        ['a', 'b']
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    top_n: int | None = Field(default=None, ge=1, description="How many nodes are kept; None keeps all")
    lambda_mult: float = Field(default=0.5, ge=0, le=1, description="The weight of relevance")
    relevance: Literal["query", "score", "rank"] = Field(default="query", description="The source of relevance")
    embed_model: SerializeAsAny[BaseEmbedding] | None = Field(
        default=None, description="Embeds nodes and queries without a vector; None takes the one in Settings"
    )

    vectors: Any = Field(default=None, description="Where the vectors of the index are", exclude=True)

    _said: bool = PrivateAttr(default=False)
    _lookup: VectorLookup | None = PrivateAttr(default=None)

    @field_validator("vectors")
    @classmethod
    def _can_be_looked_up(cls, vectors: Any) -> Any:
        if vectors is not None:
            lookup_of(vectors)
        return vectors

    def model_post_init(self, context: Any, /) -> None:
        """Find out once how vectors are looked up."""
        super().model_post_init(context)
        self._lookup = None if self.vectors is None else lookup_of(self.vectors)

    @field_validator("embed_model", mode="before")
    @classmethod
    def _is_loaded(cls, model: Any) -> Any:
        """Create the model from its part of the result of `to_dict`."""
        return _loaded(model) if isinstance(model, Mapping) else model

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex serialises it."""
        return "MMRPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if len(nodes) <= 1:
            return list(nodes)
        known, queries = self._known(nodes), self._queries_without_vector(query_bundle)
        texts = [_text_of(scored) for scored, vector in zip(nodes, known, strict=True) if vector is None]
        model: Any = self._model if texts or queries else None  # that of the settings is made when it is first read

        def embed(missing: list[str]) -> list[Vector]:
            self._say_once(missing, nodes)
            return _arrays(model.get_text_embedding_batch(missing))

        made = vector_cache(model).vectors("document", texts, embed) if texts else {}
        query = model.get_agg_embedding_from_queries(queries) if queries else None
        return self._chosen(nodes, _completed(nodes, known, made), query_bundle, query)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if len(nodes) <= 1:
            return list(nodes)
        known, queries = self._known(nodes), self._queries_without_vector(query_bundle)
        texts = [_text_of(scored) for scored, vector in zip(nodes, known, strict=True) if vector is None]
        model: Any = self._model if texts or queries else None  # that of the settings is made when it is first read

        async def embed(missing: list[str]) -> list[Vector]:
            self._say_once(missing, nodes)
            return _arrays(await model.aget_text_embedding_batch(missing))

        made, query = await asyncio.gather(
            vector_cache(model).avectors("document", texts, embed) if texts else _nothing({}),
            model.aget_agg_embedding_from_queries(queries) if queries else _nothing(None),
        )
        return self._chosen(nodes, _completed(nodes, known, made), query_bundle, query)

    def _known(self, nodes: Sequence[NodeWithScore]) -> list[Vector | None]:
        """Return the vector of every node: its own, or that of the index."""
        known: list[Any] = [scored.node.embedding for scored in nodes]
        if self._lookup is not None and (missing := [at for at, vector in enumerate(known) if vector is None]):
            found = self._lookup([nodes[at].node.node_id for at in missing])
            for at, vector in zip(missing, found, strict=True):
                known[at] = vector
        return known

    def _say_once(self, texts: Sequence[str], nodes: Sequence[NodeWithScore]) -> None:
        if not self._said:
            self._said = True
            logger.warning(
                "MMR embeds %d of %d candidates, because the retriever returned them without vectors: %d texts for "
                "this query, and each further text once. To embed none, pass vectors=index, or a function of node ids",
                len(texts),
                len(nodes),
                len(texts),
            )

    @property
    def _model(self) -> BaseEmbedding:
        return Settings.embed_model if self.embed_model is None else self.embed_model

    def _queries_without_vector(self, query_bundle: QueryBundle | None) -> list[str]:
        if self.relevance != "query":
            return []
        if query_bundle is None:
            raise ValueError(
                "MMR compares the nodes with the query: pass query_bundle or query_str, or use relevance='score' or "
                "'rank'"
            )
        return query_bundle.embedding_strs if query_bundle.embedding is None else []

    def _chosen(
        self,
        nodes: list[NodeWithScore],
        vectors: Sequence[Vector],
        query_bundle: QueryBundle | None,
        query: Vector | None,
    ) -> list[NodeWithScore]:
        top_n = len(nodes) if self.top_n is None else self.top_n
        start = ReRankStartEvent(query=query_bundle, nodes=nodes, top_n=top_n, model_name=self.class_name())
        dispatcher.event(start)
        payload: dict[str, Any] = {
            EventPayload.NODES: nodes,
            EventPayload.MODEL_NAME: self.class_name(),
            EventPayload.QUERY_STR: query_bundle.query_str if query_bundle else None,
            EventPayload.TOP_K: self.top_n,
        }
        with self.callback_manager.event(CBEventType.RERANKING, payload=payload) as event:
            if query is None and query_bundle is not None and self.relevance == "query":
                query = query_bundle.embedding
            relevance = relevance_by(self.relevance, nodes, _score)
            chosen = mmr(query, vectors, k=self.top_n, lambda_mult=self.lambda_mult, relevance=relevance)
            reranked = [nodes[at] for at in chosen]
            event.on_end(payload={EventPayload.NODES: reranked})
        dispatcher.event(ReRankEndEvent(nodes=reranked))
        return reranked


def _loaded(data: Mapping[str, Any]) -> BaseEmbedding:
    """Return the embedding model of a `to_dict`, of any class that has been imported."""
    waiting, known = [BaseEmbedding], {}
    while waiting:
        for found in waiting.pop().__subclasses__():
            if "class_name" in vars(found):  # an inherited one names another class
                known[found.class_name()] = found
            waiting.append(found)
    name = data.get("class_name")
    if name not in known:
        raise ValueError(
            f"the class of embed_model is {name!r}, which no imported class has; import it before from_dict, "
            "or define class_name() in it"
        )
    made: BaseEmbedding = known[name].from_dict(dict(data))
    return made


async def embed_query(query: QueryBundle, retriever: Any, postprocessors: Sequence[BaseNodePostprocessor]) -> None:
    """Put the vector of a query into its bundle if the retriever and an MMR would both compute it with one model."""
    # Asynchronous retrievers do not put the vector into the bundle, so a postprocessor would not find it there.
    model = getattr(retriever, "_embed_model", None)
    if model is None or query.embedding is not None:
        return
    for one in postprocessors:
        if isinstance(one, MMRPostprocessor) and one.relevance == "query" and one._model is model:  # noqa: SLF001  (its own module)
            query.embedding = await model.aget_agg_embedding_from_queries(query.embedding_strs)
            return


async def _nothing(value: Any) -> Any:
    return value


def _text_of(scored: NodeWithScore) -> str:
    return str(scored.node.get_content(metadata_mode=MetadataMode.EMBED))


def _arrays(vectors: Sequence[Any]) -> list[Vector]:
    return [np.asarray(vector, dtype=np.float64) for vector in vectors]


def _completed(
    nodes: Sequence[NodeWithScore], known: Sequence[Vector | None], made: Mapping[str, Vector]
) -> list[Vector]:
    """Return the vectors of all nodes if one model can have made them."""
    vectors = [made[_text_of(scored)] if own is None else own for scored, own in zip(nodes, known, strict=True)]
    for scored, vector in zip(nodes, vectors, strict=True):
        if len(vector) != len(vectors[0]):
            raise ValueError(
                f"node {scored.node.node_id!r} has a vector of {len(vector)} numbers and node "
                f"{nodes[0].node.node_id!r} one of {len(vectors[0])}: they come from different embedding models; pass "
                "the model of the index as embed_model"
            )
    return vectors


def _score(scored: NodeWithScore) -> float:
    if scored.score is None or not isfinite(scored.score):
        raise ValueError(
            f"relevance='score' needs a finite score, but node {scored.node.node_id!r} has {scored.score!r}"
        )
    return scored.score


def lookup_of(given: Any) -> VectorLookup:
    """Return the function that finds vectors in what was given: a function, a store, or an index with its store."""
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
