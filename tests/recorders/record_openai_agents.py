# /// script
# requires-python = ">=3.11"
# dependencies = ["openai-agents"]
# ///
"""Record an agent of the OpenAI Agents SDK: `uv run tests/recorders/record_openai_agents.py export spans.jsonl`."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from agents import Agent, RunConfig, Runner, function_tool, generation_span, set_trace_processors
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.tracing.processor_interface import TracingProcessor
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from world import ANSWER, DOCUMENTS, HOPS, QUESTION
from world import search as found_by


class Scripted(Model):
    """Asks for what the script says, and then answers; it leaves the span that the SDK's chat models leave."""

    turn = 0

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:  # noqa: A002  (the SDK's name)
        """Say the next thing of the script."""
        del system_instructions
        queries = HOPS[self.turn] if self.turn < len(HOPS) else []
        output: list[Any] = [
            ResponseFunctionToolCall(
                id=f"fc_{self.turn}_{n}",
                call_id=f"call_{self.turn}_{n}",
                type="function_call",
                name="search",
                arguments=json.dumps({"query": query}),
            )
            for n, query in enumerate(queries)
        ]
        if not queries:
            text = ResponseOutputText(type="output_text", text=ANSWER, annotations=[])
            output = [
                ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
            ]
        self.turn += 1
        with generation_span(
            input=input if isinstance(input, list) else [{"content": input}], model="scripted"
        ) as span:
            span.span_data.output = [item.model_dump() for item in output]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        """Not used."""
        raise NotImplementedError


class Keep(TracingProcessor):
    """Keeps what ends."""

    def __init__(self) -> None:
        self.lines_kept: list[Any] = []

    def on_trace_start(self, trace: Any) -> None:
        """Not needed."""

    def on_trace_end(self, trace: Any) -> None:
        """Keep a trace."""
        self.lines_kept.append(trace.export())

    def on_span_start(self, span: Any) -> None:
        """Not needed."""

    def on_span_end(self, span: Any) -> None:
        """Keep a span."""
        self.lines_kept.append(span.export())

    def shutdown(self) -> None:
        """Nothing to end."""

    def force_flush(self) -> None:
        """Nothing waits."""


@function_tool
def search(query: str) -> list[dict[str, str]]:
    """Search the documents."""
    return [{"id": document_id, "text": DOCUMENTS[document_id]} for document_id in found_by(query)]


def main(form: str, path: str) -> None:
    """Run the agent and write what its processors get."""
    del form
    keep = Keep()
    set_trace_processors([keep])
    agent = Agent("searcher", model=Scripted(), tools=[search])
    asyncio.run(Runner.run(agent, QUESTION, run_config=RunConfig(trace_metadata={"question_id": "q1"})))
    Path(path).write_text("".join(f"{json.dumps(span)}\n" for span in keep.lines_kept), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
