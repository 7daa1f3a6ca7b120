"""Retrievers and postprocessors of LlamaIndex whose answers are prepared."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata, MessageRole
from llama_index.core.bridge.pydantic import Field
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
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
    chunks: dict[str, list[NodeWithScore]] = {query: [] for query in run}
    for query, ranking in run.items():
        for rank, source in enumerate(ranking):
            chunks[query].append(node(f"chunk {rank} for {query}", source=source))
    return chunks


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


class Scripted(FunctionCallingLLM):
    """A model that calls the tool `search` with one list of queries after the other, and then answers."""

    key: str = "input"
    hops: list[list[str]] = Field(default_factory=list)
    answer: str = "It is so."

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, model_name="scripted")

    def _prepare_chat_with_tools(self, tools: Any, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]  # as below
        del tools
        user = kwargs.get("user_msg")
        return {"messages": [*(kwargs.get("chat_history") or []), *([user] if user else [])]}

    def get_tool_calls_from_response(self, response: Any, **kwargs: Any) -> list[ToolSelection]:  # type: ignore[override]  # the rest is not needed
        del kwargs
        turn = response.message.additional_kwargs.get("turn")
        queries = [] if turn is None else self.hops[turn]
        return [
            ToolSelection(tool_id=f"{turn}/{position}", tool_name="search", tool_kwargs={self.key: query})
            for position, query in enumerate(queries)
        ]

    def _next(self, messages: Any) -> ChatResponse:
        turn = sum(message.role == MessageRole.ASSISTANT for message in messages)
        if turn < len(self.hops):
            return ChatResponse(message=ChatMessage(role="assistant", content="", additional_kwargs={"turn": turn}))
        return ChatResponse(message=ChatMessage(role="assistant", content=self.answer))

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        del kwargs
        return self._next(messages)

    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return self.chat(messages, **kwargs)

    def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
        yield self.chat(messages, **kwargs)

    async def astream_chat(self, messages: Any, **kwargs: Any) -> Any:
        async def parts() -> Any:
            yield self.chat(messages, **kwargs)

        return parts()

    async def astream_chat_with_tools(self, tools: Any, **kwargs: Any) -> Any:  # type: ignore[override]  # as above
        return await self.astream_chat(self._prepare_chat_with_tools(tools, **kwargs)["messages"])

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        del prompt, formatted, kwargs
        return CompletionResponse(text="")

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return self.complete(prompt, formatted, **kwargs)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        yield self.complete(prompt, formatted, **kwargs)

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        async def parts() -> Any:
            yield self.complete(prompt, formatted, **kwargs)

        return parts()
