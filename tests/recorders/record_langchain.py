# /// script
# requires-python = ">=3.11"
# dependencies = ["langchain", "langfuse", "openinference-instrumentation-langchain", "opentelemetry-sdk"]
# ///
"""Record an agent of LangChain anew: `uv run tests/recorders/record_langchain.py openinference spans.jsonl`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import create_retriever_tool
from world import ANSWER, DOCUMENTS, HOPS, QUESTION, search


class Index(BaseRetriever):
    """Finds what the script says."""

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return [
            Document(DOCUMENTS[document_id], id=document_id, metadata={"source": "py.md"})
            for document_id in search(query)
        ]


class Scripted(BaseChatModel):
    """Asks for what the script says, and then answers."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Scripted:  # type: ignore[override]  # the tools are in the script
        del tools
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        del stop, run_manager
        turn = sum(isinstance(message, AIMessage) for message in messages)
        queries = HOPS[turn] if turn < len(HOPS) else []
        calls = [{"name": "search", "args": {"query": q}, "id": f"call_{turn}_{n}"} for n, q in enumerate(queries)]
        message_ = AIMessage("" if calls else ANSWER, tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message_)])


@wrap_tool_call
def keep_going(request: Any, handler: Any) -> Any:
    """Tell the model of a failure instead of ending."""
    try:
        return handler(request)
    except ConnectionError as error:
        call = request.tool_call
        return ToolMessage(f"error: {error}", tool_call_id=call["id"], name=call["name"], status="error")


def ask(callbacks: Any = ()) -> None:
    """Ask the agent the question."""
    tool = create_retriever_tool(Index(), "search", "Search the documents")
    agent = create_agent(Scripted(), [tool], middleware=[keep_going])
    config: Any = {"callbacks": list(callbacks), "metadata": {"question_id": "q1"}}
    agent.invoke({"messages": [("user", QUESTION)]}, config=config)


def main(form: str, path: str) -> None:
    """Run the agent under an instrumentation and write its spans."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    callbacks = []
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    if form == "openinference":
        from openinference.instrumentation.langchain import LangChainInstrumentor

        LangChainInstrumentor().instrument(tracer_provider=provider)
    else:
        from langfuse import Langfuse
        from langfuse.langchain import CallbackHandler

        os.environ["LANGFUSE_TRACING_ENABLED"] = "true"
        Langfuse(
            public_key="pk",
            secret_key="sk",
            host="http://127.0.0.1:9",
            tracer_provider=provider,
            span_exporter=exporter,
        )
        callbacks = [CallbackHandler(public_key="pk")]
    ask(callbacks)
    spans = {span.context.span_id: span.to_json() for span in exporter.get_finished_spans()}
    Path(path).write_text("".join(f"{json.dumps(json.loads(span))}\n" for span in spans.values()), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
