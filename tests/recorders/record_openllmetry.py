# /// script
# requires-python = ">=3.11"
# dependencies = ["langchain", "opentelemetry-instrumentation-langchain", "opentelemetry-sdk"]
# ///
"""Record an agent of LangChain by OpenLLMetry: `uv run tests/recorders/record_openllmetry.py traceloop spans.jsonl`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from opentelemetry.instrumentation.langchain import LangchainInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from record_langchain import ask


def main(form: str, path: str) -> None:
    """Run the agent and write its spans."""
    del form
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    LangchainInstrumentor().instrument(tracer_provider=provider)
    ask()
    spans = [json.loads(span.to_json()) for span in exporter.get_finished_spans()]
    Path(path).write_text("".join(f"{json.dumps(span)}\n" for span in spans), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
