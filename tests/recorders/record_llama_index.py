# /// script
# requires-python = ">=3.11"
# dependencies = ["llama-index-core", "openinference-instrumentation-llama-index", "opentelemetry-sdk"]
# ///
"""Record an agent of LlamaIndex anew: `uv run tests/recorders/record_llama_index.py openinference spans.jsonl`."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, MessageRole
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import RetrieverTool
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from world import ANSWER, DOCUMENTS, HOPS, QUESTION, search


class Index(BaseRetriever):
    """Finds what the script says."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        nodes = [
            TextNode(id_=document_id, text=DOCUMENTS[document_id]) for document_id in search(query_bundle.query_str)
        ]
        return [NodeWithScore(node=node, score=1.0) for node in nodes]


class Scripted(FunctionCallingLLM):
    """Asks for what the script says, and then answers."""

    @property
    def metadata(self) -> LLMMetadata:
        """What it can do."""
        return LLMMetadata(is_function_calling_model=True, model_name="scripted")

    def _prepare_chat_with_tools(self, tools: Any, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]  # as below
        del tools
        user = kwargs.get("user_msg")
        return {"messages": [*(kwargs.get("chat_history") or []), *([user] if user else [])]}

    def get_tool_calls_from_response(self, response: Any, **kwargs: Any) -> list[ToolSelection]:  # type: ignore[override]  # the rest is not needed
        """Return what it asked for."""
        del kwargs
        turn = response.message.additional_kwargs.get("turn")
        queries = enumerate([] if turn is None else HOPS[turn])
        return [ToolSelection(tool_id=f"{turn}/{n}", tool_name="search", tool_kwargs={"input": q}) for n, q in queries]

    @llm_chat_callback()
    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        """Say the next thing of the script."""
        del kwargs
        turn = sum(message.role == MessageRole.ASSISTANT for message in messages)
        if turn < len(HOPS):
            return ChatResponse(message=ChatMessage(role="assistant", content="", additional_kwargs={"turn": turn}))
        return ChatResponse(message=ChatMessage(role="assistant", content=ANSWER))

    async def achat_with_tools(self, tools: Any, **kwargs: Any) -> ChatResponse:  # type: ignore[override]  # as above
        """Say the next thing of the script."""
        return await self.achat(**self._prepare_chat_with_tools(tools, **kwargs))

    def chat(self, messages: Any, **kwargs: Any) -> Any:
        """Not used."""
        raise NotImplementedError

    complete = acomplete = stream_complete = astream_complete = stream_chat = astream_chat = chat


def main(form: str, path: str) -> None:
    """Run the agent under an instrumentation and write its spans."""
    del form
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    tool = RetrieverTool.from_defaults(Index(), name="search", description="Search the documents")

    async def run() -> None:
        await FunctionAgent(tools=[tool], llm=Scripted(), streaming=False).run(user_msg=QUESTION)

    asyncio.run(run())
    spans = [json.loads(span.to_json()) for span in exporter.get_finished_spans()]
    Path(path).write_text("".join(f"{json.dumps(span)}\n" for span in spans), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
