# /// script
# requires-python = ">=3.11"
# dependencies = ["haystack-ai", "opentelemetry-haystack", "opentelemetry-sdk"]
# ///
"""Record an agent of Haystack by OpenTelemetry: `uv run tests/recorders/record_haystack.py tool spans.jsonl`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ |= {"HAYSTACK_CONTENT_TRACING_ENABLED": "true", "HAYSTACK_TELEMETRY_ENABLED": "False"}

from haystack import Document, Pipeline, component, tracing  # the settings are read at the import
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import ComponentTool, PipelineTool
from haystack_integrations.tracing.opentelemetry import OpenTelemetryTracer
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from world import ANSWER, DOCUMENTS, HOPS, QUESTION, search


@component
class Index:
    """Finds what the script says."""

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, list[Document]]:
        """Search the documents."""
        return {
            "documents": [Document(id=document_id, content=DOCUMENTS[document_id]) for document_id in search(query)]
        }


@component
class Scripted:
    """Asks for what the script says, and then answers."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **_: Any) -> dict[str, list[ChatMessage]]:
        """Say the next thing of the script."""
        del tools
        turn = sum(message.role.value == "assistant" for message in messages)
        if turn == len(HOPS):
            return {"replies": [ChatMessage.from_assistant(ANSWER)]}
        queries = enumerate(HOPS[turn])
        calls = [ToolCall(tool_name="search", arguments={"query": q}, id=f"call_{turn}_{n}") for n, q in queries]
        return {"replies": [ChatMessage.from_assistant(tool_calls=calls)]}


def main(form: str, path: str) -> None:
    """Run the agent, with the index as its tool or in a pipeline that is its tool, and write its spans."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.enable_tracing(OpenTelemetryTracer(provider.get_tracer("agents")))
    tool: Any = ComponentTool(Index(), name="search", description="Search the documents")
    if form == "pipeline":
        pipeline = Pipeline()
        pipeline.add_component("index", Index())
        into = {"query": ["index.query"]}
        out = {"index.documents": "documents"}
        tool = PipelineTool(
            pipeline, name="search", description="Search the documents", input_mapping=into, output_mapping=out
        )
    agent = Agent(chat_generator=Scripted(), tools=[tool], raise_on_tool_invocation_failure=False)
    agent.run(messages=[ChatMessage.from_user(QUESTION)])
    spans = [json.loads(span.to_json()) for span in exporter.get_finished_spans()]
    Path(path).write_text("".join(f"{json.dumps(span)}\n" for span in spans), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
