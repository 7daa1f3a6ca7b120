"""Retrievers and postprocessors of LlamaIndex whose answers are prepared."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode


def node(node_id: str, text: str | None = None, *, source: str | None = None, **metadata: Any) -> NodeWithScore:
    """A retrieved chunk, cut from the document `source`; its text is its own, as early 0.13 drops equal texts."""
    relationships: dict[Any, Any] = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=source)} if source else {}
    return NodeWithScore(
        node=TextNode(id_=node_id, text=text or f"text of {node_id}", metadata=metadata, relationships=relationships),
        score=0.5,
    )


class Prepared(BaseRetriever):
    """Answers every query with what was prepared for it: ids, nodes, or an exception to raise. Only synchronous."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        super().__init__()
        self.answers = answers

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        answer = self.answers.get(query_bundle.query_str, [])
        if isinstance(answer, Exception):
            raise answer
        return [entry if isinstance(entry, NodeWithScore) else node(entry) for entry in answer]


class PreparedAsync(Prepared):
    """The same, and has no synchronous way."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise NotImplementedError(f"the asynchronous way must be taken for {query_bundle}")

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(0)
        return super()._retrieve(query_bundle)


def with_sources(run: Mapping[str, Sequence[str]]) -> dict[str, list[NodeWithScore]]:
    """Rankings of documents as rankings of chunks cut from them, so that one document can be retrieved repeatedly."""
    return {
        query: [node(f"chunk {rank} for {query}", source=source) for rank, source in enumerate(ranking)]
        for query, ranking in run.items()
    }


class Deliver(BaseNodePostprocessor):
    """Replaces what was retrieved by what was prepared: the way by which a node id can come back twice."""

    answers: dict[str, list[str]]

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        del nodes
        assert query_bundle is not None
        return [node(entry) for entry in self.answers.get(query_bundle.query_str, [])]


class DeliverAsync(Deliver):
    """The same, and has no synchronous way."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        raise NotImplementedError(f"the asynchronous way must be taken for {query_bundle}, {nodes}")

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        await asyncio.sleep(0)
        return super()._postprocess_nodes(nodes, query_bundle)
