"""A postprocessor that orders the nodes of any retriever by maximal marginal relevance."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal, TypeAlias

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr, SerializeAsAny, field_validator
from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]  # re-exported without saying so
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.core.settings import Settings

from llama_index.evaluation.retrieval_metrics.vector_lookup import VectorLookup, make_vector_lookup
from retrieval_metrics import mmr
from retrieval_metrics.integration_api import relevance_by, vector_cache

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

    _has_logged: bool = PrivateAttr(default=False)
    _lookup: VectorLookup | None = PrivateAttr(default=None)

    @field_validator("vectors")
    @classmethod
    def _require_lookup(cls, vectors: Any) -> Any:
        if vectors is not None:
            make_vector_lookup(vectors)
        return vectors

    def model_post_init(self, context: Any, /) -> None:
        """Find out once how vectors are looked up."""
        super().model_post_init(context)
        self._lookup = None if self.vectors is None else make_vector_lookup(self.vectors)

    @field_validator("embed_model", mode="before")
    @classmethod
    def _load_embed_model(cls, model: Any) -> Any:
        """Create the model from its part of the result of `to_dict`."""
        return _load_model(model) if isinstance(model, Mapping) else model

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex serialises it."""
        return "MMRPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if len(nodes) <= 1:
            return list(nodes)
        node_vectors = self._look_up_vectors(nodes, query_bundle)
        model = self._find_model(node_vectors)

        def embed(texts: list[str]) -> list[Vector]:
            self._log_once(texts, nodes)
            return _as_arrays(model.get_text_embedding_batch(texts))

        vector_by_text: Mapping[str, Vector] = {}
        query_vector = None
        if node_vectors.texts_to_embed:
            vector_by_text = vector_cache(model).vectors("document", node_vectors.texts_to_embed, embed)
        if node_vectors.queries_to_embed:
            query_vector = model.get_agg_embedding_from_queries(node_vectors.queries_to_embed)
        return self._rerank(nodes, node_vectors.complete(nodes, vector_by_text), query_bundle, query_vector)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if len(nodes) <= 1:
            return list(nodes)
        node_vectors = self._look_up_vectors(nodes, query_bundle)
        model = self._find_model(node_vectors)

        async def embed(texts: list[str]) -> list[Vector]:
            self._log_once(texts, nodes)
            return _as_arrays(await model.aget_text_embedding_batch(texts))

        async def embed_texts() -> Mapping[str, Vector]:
            if not node_vectors.texts_to_embed:
                return {}
            return await vector_cache(model).avectors("document", node_vectors.texts_to_embed, embed)

        async def embed_missing_query() -> Vector | None:
            if not node_vectors.queries_to_embed:
                return None
            return await model.aget_agg_embedding_from_queries(node_vectors.queries_to_embed)

        vector_by_text, query_vector = await asyncio.gather(embed_texts(), embed_missing_query())
        return self._rerank(nodes, node_vectors.complete(nodes, vector_by_text), query_bundle, query_vector)

    def _look_up_vectors(self, nodes: Sequence[NodeWithScore], query_bundle: QueryBundle | None) -> _NodeVectors:
        """Return the known vectors of the nodes, and the texts of nodes and query that are still to be embedded."""
        known_vectors = self._find_known_vectors(nodes)
        node_vectors = _NodeVectors(known_vectors, queries_to_embed=self._list_missing_queries(query_bundle))
        for node_with_score, vector in zip(nodes, known_vectors, strict=True):
            if vector is None:
                node_vectors.texts_to_embed.append(_embedded_text(node_with_score))
        return node_vectors

    def _find_known_vectors(self, nodes: Sequence[NodeWithScore]) -> list[Vector | None]:
        """Return the vector of every node: its own, or that of the index."""
        vectors: list[Any] = [node_with_score.node.embedding for node_with_score in nodes]
        if self._lookup is None:
            return vectors
        missing_positions = [position for position, vector in enumerate(vectors) if vector is None]
        if missing_positions:
            missing_ids = [nodes[position].node.node_id for position in missing_positions]
            for position, vector in zip(missing_positions, self._lookup(missing_ids), strict=True):
                vectors[position] = vector
        return vectors

    def _log_once(self, texts: Sequence[str], nodes: Sequence[NodeWithScore]) -> None:
        if not self._has_logged:
            self._has_logged = True
            logger.warning(
                "MMR embeds %d of %d candidates, because the retriever returned them without vectors: %d texts for "
                "this query, and each new text once. To embed none, pass vectors=index, or a function of node IDs",
                len(texts),
                len(nodes),
                len(texts),
            )

    @property
    def _model(self) -> BaseEmbedding:
        return Settings.embed_model if self.embed_model is None else self.embed_model

    def _find_model(self, node_vectors: _NodeVectors) -> Any:
        """Return the model if anything is to be embedded, because reading the one in Settings creates it."""
        if node_vectors.texts_to_embed or node_vectors.queries_to_embed:
            return self._model
        return None

    def embeds_query_with(self, model: BaseEmbedding) -> bool:
        """Return whether a query without a vector is embedded with this model."""
        return self.relevance == "query" and self._model is model

    def _list_missing_queries(self, query_bundle: QueryBundle | None) -> list[str]:
        """Return the texts of a query that has no vector, if relevance needs it."""
        if self.relevance != "query":
            return []
        if query_bundle is None:
            raise ValueError(
                "MMR compares the nodes with the query: pass query_bundle or query_str, or use relevance='score' or "
                "'rank'"
            )
        return query_bundle.embedding_strs if query_bundle.embedding is None else []

    def _rerank(
        self,
        nodes: list[NodeWithScore],
        vectors: Sequence[Vector],
        query_bundle: QueryBundle | None,
        query_vector: Vector | None,
    ) -> list[NodeWithScore]:
        top_n = len(nodes) if self.top_n is None else self.top_n
        start_event = ReRankStartEvent(query=query_bundle, nodes=nodes, top_n=top_n, model_name=self.class_name())
        dispatcher.event(start_event)
        payload: dict[str, Any] = {
            EventPayload.NODES: nodes,
            EventPayload.MODEL_NAME: self.class_name(),
            EventPayload.QUERY_STR: query_bundle.query_str if query_bundle else None,
            EventPayload.TOP_K: self.top_n,
        }
        with self.callback_manager.event(CBEventType.RERANKING, payload=payload) as event:
            if query_vector is None and query_bundle is not None and self.relevance == "query":
                query_vector = query_bundle.embedding
            relevance = relevance_by(self.relevance, nodes, _read_score)
            selection = mmr(query_vector, vectors, k=self.top_n, lambda_mult=self.lambda_mult, relevance=relevance)
            reranked = [nodes[index] for index in selection]
            event.on_end(payload={EventPayload.NODES: reranked})
        dispatcher.event(ReRankEndEvent(nodes=reranked))
        return reranked


@dataclass(slots=True)
class _NodeVectors:
    """The vectors that nodes have, and what is still to embed.

    Attributes:
        known_vectors: The vector of each node; None if it is unknown.
        texts_to_embed: The texts of the nodes without a vector, in order.
        queries_to_embed: The texts of the query; empty if it has a vector or relevance needs none.
    """

    known_vectors: list[Vector | None]
    texts_to_embed: list[str] = field(default_factory=list)
    queries_to_embed: list[str] = field(default_factory=list)

    def complete(self, nodes: Sequence[NodeWithScore], vector_by_text: Mapping[str, Vector]) -> list[Vector]:
        """Return the vectors of all nodes; raise if they differ in length, because one model has to have made them."""
        vectors = []
        for node_with_score, vector in zip(nodes, self.known_vectors, strict=True):
            vectors.append(vector_by_text[_embedded_text(node_with_score)] if vector is None else vector)
        for node_with_score, vector in zip(nodes, vectors, strict=True):
            if len(vector) != len(vectors[0]):
                raise ValueError(
                    f"node {node_with_score.node.node_id!r} has a vector of {len(vector)} numbers and node "
                    f"{nodes[0].node.node_id!r} one of {len(vectors[0])}: they come from different embedding models; "
                    "pass the model of the index as embed_model"
                )
        return vectors


def _load_model(data: Mapping[str, Any]) -> BaseEmbedding:
    """Return the embedding model of a `to_dict`, of any class that has been imported."""
    class_by_name: dict[str, type[BaseEmbedding]] = {}
    pending: list[Any] = [BaseEmbedding]
    while pending:
        for cls in pending.pop().__subclasses__():
            if "class_name" in vars(cls):  # an inherited one names another class
                class_by_name[cls.class_name()] = cls
            pending.append(cls)
    name = data.get("class_name")
    if name not in class_by_name:
        raise ValueError(
            f"the class of embed_model is {name!r}, which no imported class has; import it before from_dict, "
            "or define class_name() in it"
        )
    model: BaseEmbedding = class_by_name[name].from_dict(dict(data))
    return model


async def embed_query(query: QueryBundle, retriever: object, postprocessors: Sequence[BaseNodePostprocessor]) -> None:
    """Put the vector of a query into its bundle if the retriever and MMR would both compute it with the same model."""
    # Asynchronous retrievers do not put the vector into the bundle, so a postprocessor would not find it there.
    model = getattr(retriever, "_embed_model", None)
    if model is None or query.embedding is not None:
        return
    for postprocessor in postprocessors:
        if isinstance(postprocessor, MMRPostprocessor) and postprocessor.embeds_query_with(model):
            query.embedding = await model.aget_agg_embedding_from_queries(query.embedding_strs)
            return


def _embedded_text(node_with_score: NodeWithScore) -> str:
    """Return the text of a node that an embedding model reads."""
    return str(node_with_score.node.get_content(metadata_mode=MetadataMode.EMBED))


def _as_arrays(vectors: Sequence[Any]) -> list[Vector]:
    return [np.asarray(vector, dtype=np.float64) for vector in vectors]


def _read_score(node_with_score: NodeWithScore) -> float:
    if node_with_score.score is None or not isfinite(node_with_score.score):
        raise ValueError(
            f"relevance='score' needs a finite score, but node {node_with_score.node.node_id!r} has "
            f"{node_with_score.score!r}"
        )
    return node_with_score.score
