# /// script
# requires-python = ">=3.11"
# dependencies = ["langchain", "langsmith"]
# ///
"""Record what LangSmith's client sends: `uv run tests/recorders/record_langsmith.py runs runs.jsonl`."""

from __future__ import annotations

import gzip
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SENT: list[bytes] = []
SETTINGS = {
    "use_multipart_endpoint": False,
    "scale_up_qsize_trigger": 1000,
    "scale_up_nthreads_limit": 1,
    "scale_down_nempty_trigger": 4,
    "size_limit": 100,
    "size_limit_bytes": 20_000_000,
}


class Service(BaseHTTPRequestHandler):
    """Stands in for the service, and keeps what it gets."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Say that runs are taken in batches."""
        self._answer(200, {"version": "0.13.0", "batch_ingest_config": SETTINGS})

    def do_POST(self) -> None:
        """Keep runs."""
        sent = self.rfile.read(int(self.headers["content-length"]))
        SENT.append(gzip.decompress(sent) if self.headers.get("content-encoding") == "gzip" else sent)
        self._answer(202, {})

    do_PATCH = do_POST  # noqa: N815  (the name that the server looks for)

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


def main(form: str, path: str) -> None:
    """Run the agent, and write its runs, each as it was at its end."""
    del form
    service = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{service.server_port}"
    os.environ |= {"LANGSMITH_TRACING_V2": "true", "LANGSMITH_TRACING": "true"}
    os.environ |= {"LANGSMITH_ENDPOINT": endpoint, "LANGSMITH_API_KEY": "none"}
    from langchain_core.tracers.langchain import wait_for_all_tracers
    from langsmith.run_trees import get_cached_client
    from record_langchain import ask

    ask()
    wait_for_all_tracers()
    get_cached_client().flush()
    service.shutdown()
    runs: dict[str, dict[str, Any]] = {}
    for sent in map(json.loads, SENT):
        for run in (*sent.get("post", ()), *sent.get("patch", ())):
            runs.setdefault(run["id"], {}).update({key: value for key, value in run.items() if value is not None})
    Path(path).write_text("".join(f"{json.dumps(run)}\n" for run in runs.values()), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
