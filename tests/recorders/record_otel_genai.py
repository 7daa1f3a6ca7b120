# /// script
# requires-python = ">=3.11"
# dependencies = ["opentelemetry-sdk", "opentelemetry-util-genai"]
# ///
"""Record searches by OpenTelemetry's GenAI helpers: `uv run tests/recorders/record_otel_genai.py spans spans.jsonl`."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util.genai.handler import TelemetryHandler
from opentelemetry.util.genai.types import RetrievalDocument
from world import HOPS, search


def main(form: str, path: str) -> None:
    """Make the searches of the script and write their spans."""
    del form
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    handler = TelemetryHandler(tracer_provider=provider)
    with handler.workflow(name="agent"):
        for query in (query for hop in HOPS for query in hop):
            with contextlib.suppress(ConnectionError), handler.retrieval(data_source_id="docs") as retrieval:
                retrieval.query_text = query
                retrieval.documents = [RetrievalDocument(id=document_id, score=1.0) for document_id in search(query)]
    spans = [json.loads(span.to_json()) for span in exporter.get_finished_spans()]
    Path(path).write_text("".join(f"{json.dumps(span)}\n" for span in spans), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
