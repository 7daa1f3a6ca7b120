# /// script
# requires-python = ">=3.11"
# dependencies = ["opentelemetry-sdk", "pydantic-ai-slim"]
# ///
"""Record an agent of Pydantic AI anew: `uv run tests/recorders/record_pydantic_ai.py otel spans.jsonl`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings
from world import ANSWER, DOCUMENTS, HOPS, QUESTION
from world import search as found_by


def model(messages: Any, info: Any) -> ModelResponse:
    """Ask for what the script says, and then answer."""
    del info
    turn = sum(isinstance(query, ModelResponse) for query in messages)
    if turn == len(HOPS):
        return ModelResponse(parts=[TextPart(ANSWER)])
    queries = enumerate(HOPS[turn])
    return ModelResponse(
        parts=[ToolCallPart("search", {"query": q}, tool_call_id=f"call_{turn}_{n}") for n, q in queries]
    )


def main(form: str, path: str) -> None:
    """Run the agent and write its spans."""
    del form
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    agent = Agent(FunctionModel(model))
    agent.instrument = InstrumentationSettings(tracer_provider=provider)

    @agent.tool_plain(retries=3)
    def search(query: str) -> list[dict[str, str]]:
        try:
            return [{"id": document_id, "text": DOCUMENTS[document_id]} for document_id in found_by(query)]
        except ConnectionError as error:
            raise ModelRetry(str(error)) from error

    agent.run_sync(QUESTION, metadata={"question_id": "q1"})
    spans = [json.loads(span.to_json()) for span in exporter.get_finished_spans()]
    Path(path).write_text("".join(f"{json.dumps(span)}\n" for span in spans), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
