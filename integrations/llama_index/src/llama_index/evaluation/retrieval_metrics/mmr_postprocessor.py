"""Maximal marginal relevance for the nodes of any retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import ConfigDict, Field, SerializeAsAny, field_validator
from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]  # the host re-exports it without saying so
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.core.settings import Settings

from retrieval_metrics import mmr
from retrieval_metrics.adapting import scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.types import FloatArray

    Vector = Sequence[float]


dispatcher = get_dispatcher(__name__)


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
            of another reranker, scaled to [0, 1].
        embed_model: Embeds nodes without a vector, in one batch, and the query if its vector is not in the query
            bundle. None takes the one in `Settings`, only if it is needed.

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
    relevance: Literal["query", "score"] = Field(default="query", description="The source of relevance")
    embed_model: SerializeAsAny[BaseEmbedding] | None = Field(
        default=None, description="Embeds nodes and queries without a vector; None takes the one in Settings"
    )

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
        texts, queries = _without_vector(nodes), self._queries_without_vector(query_bundle)
        made = self._model.get_text_embedding_batch(texts) if texts else []
        query = self._model.get_agg_embedding_from_queries(queries) if queries else None
        return self._chosen(nodes, made, query_bundle, query)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if len(nodes) <= 1:
            return list(nodes)
        texts, queries = _without_vector(nodes), self._queries_without_vector(query_bundle)
        made, query = await asyncio.gather(
            self._model.aget_text_embedding_batch(texts) if texts else _nothing([]),
            self._model.aget_agg_embedding_from_queries(queries) if queries else _nothing(None),
        )
        return self._chosen(nodes, made, query_bundle, query)

    @property
    def _model(self) -> BaseEmbedding:
        return Settings.embed_model if self.embed_model is None else self.embed_model

    def _queries_without_vector(self, query_bundle: QueryBundle | None) -> list[str]:
        if self.relevance == "score":
            return []
        if query_bundle is None:
            raise ValueError(
                "MMR compares the nodes with the query: pass query_bundle or query_str, or use relevance='score'"
            )
        return query_bundle.embedding_strs if query_bundle.embedding is None else []

    def _chosen(
        self,
        nodes: list[NodeWithScore],
        made: Sequence[Vector],
        query_bundle: QueryBundle | None,
        query: Vector | None,
    ) -> list[NodeWithScore]:
        vectors = _vectors(nodes, made)
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
            if self.relevance == "score":
                chosen = mmr(None, vectors, k=self.top_n, lambda_mult=self.lambda_mult, relevance=_scores(nodes))
            else:
                known = query_bundle.embedding if query is None and query_bundle else query
                chosen = mmr(known, vectors, k=self.top_n, lambda_mult=self.lambda_mult)
            reranked = [nodes[at] for at in chosen]
            event.on_end(payload={EventPayload.NODES: reranked})
        dispatcher.event(ReRankEndEvent(nodes=reranked))
        return reranked


def _loaded(data: Mapping[str, Any]) -> BaseEmbedding:
    """Return the embedding model of a `to_dict`, of any class that has been imported.

    Raises:
        ValueError: If no such class is known.
    """
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
    """Put the vector of a query into its bundle if the retriever and an MMR would both compute it with one model.

    Asynchronous retrievers do not put the vector into the bundle, so a postprocessor would not find it there.
    """
    model = getattr(retriever, "_embed_model", None)
    if model is None or query.embedding is not None:
        return
    for one in postprocessors:
        if isinstance(one, MMRPostprocessor) and one.relevance == "query" and one._model is model:  # noqa: SLF001  (its own module)
            query.embedding = await model.aget_agg_embedding_from_queries(query.embedding_strs)
            return


async def _nothing(value: Any) -> Any:
    return value


def _without_vector(nodes: Sequence[NodeWithScore]) -> list[str]:
    return [
        scored.node.get_content(metadata_mode=MetadataMode.EMBED) for scored in nodes if scored.node.embedding is None
    ]


def _vectors(nodes: Sequence[NodeWithScore], made: Sequence[Vector]) -> list[Vector]:
    """Return the vector of every node: its own, or the next of the computed ones."""
    waiting = iter(made)
    vectors = [next(waiting) if scored.node.embedding is None else scored.node.embedding for scored in nodes]
    for scored, vector in zip(nodes, vectors, strict=True):
        if len(vector) != len(vectors[0]):
            raise ValueError(
                f"node {scored.node.node_id!r} has a vector of {len(vector)} numbers and node "
                f"{nodes[0].node.node_id!r} one of {len(vectors[0])}: they come from different embedding models; pass "
                "the model of the index as embed_model"
            )
    return vectors


def _scores(nodes: Sequence[NodeWithScore]) -> FloatArray:
    """Return the scores of the nodes, scaled so that the lowest is 0 and the highest 1."""
    scores = []
    for scored in nodes:
        if scored.score is None or not isfinite(scored.score):
            raise ValueError(
                f"relevance='score' needs a finite score, but node {scored.node.node_id!r} has {scored.score!r}"
            )
        scores.append(scored.score)
    return scaled(np.array(scores, dtype=np.float64))
