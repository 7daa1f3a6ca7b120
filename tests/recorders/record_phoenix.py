# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "arize-phoenix", "langchain", "openinference-instrumentation-langchain", "opentelemetry-exporter-otlp-proto-http",
# ]
# ///
"""Record an agent of LangChain in Phoenix, and ask it back: `uv run tests/recorders/record_phoenix.py all spans.jsonl`.

It writes three files: spans.json, what the REST API returns; spans.jsonl and spans.parquet, the frame of the client.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from phoenix.client import Client
from record_langchain import ask

PATIENCE = 240
"""Seconds for the service to begin, and for it to have all spans."""


def free_port() -> int:
    """Return a port that nobody uses."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
    return port


def wait_for(done: Any) -> None:
    """Wait until something is so."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if done():
                return
        except OSError:
            pass
        time.sleep(0.5)
    raise TimeoutError("Phoenix did not answer")


def fetch_back(url: str, path: Path) -> None:
    """Run the agent, and write what Phoenix has of it: the spans of its REST API, its frame as JSON and as Parquet."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces")))
    LangChainInstrumentor().instrument(tracer_provider=provider)
    ask()
    spans = Client(base_url=url).spans
    wait_for(lambda: any(one["parent_id"] is None for one in spans.get_spans(project_identifier="default", limit=500)))
    recorded = spans.get_spans(project_identifier="default", limit=500)
    path.with_suffix(".json").write_text(json.dumps(recorded, default=str), encoding="utf-8")
    frame = spans.get_spans_dataframe(project_identifier="default", limit=500)
    frame.to_json(path.with_suffix(".jsonl"), orient="records", lines=True, date_format="iso")
    for name in frame.columns:  # Arrow cannot hold columns of several types
        cells = frame[name]
        frame[name] = [json.dumps(one, default=str) if isinstance(one, (list, dict)) else one for one in cells]
    frame.to_parquet(path.with_suffix(".parquet"))


def main(form: str, path: str) -> None:
    """Start Phoenix, record and ask, and end it."""
    del form
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with TemporaryDirectory() as folder:
        settings = {"WORKING_DIR": folder, "PORT": str(port), "GRPC_PORT": str(free_port()), "HOST": "127.0.0.1"}
        settings |= {"TELEMETRY_ENABLED": "false", "ALLOW_EXTERNAL_RESOURCES": "false"}
        environment = os.environ | {f"PHOENIX_{name}": value for name, value in settings.items()}
        command = [sys.executable, "-m", "phoenix.server.main", "serve"]
        with Path(folder, "log").open("w") as log:
            service = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
            try:
                wait_for(lambda: urllib.request.urlopen(f"{url}/healthz", timeout=1).status == 200)  # noqa: S310  (OK, here)
                fetch_back(url, Path(path))
            finally:
                service.terminate()
                service.wait(30)


if __name__ == "__main__":
    main(*sys.argv[1:])
