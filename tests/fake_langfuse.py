"""A server on this machine that takes what the SDK of Langfuse sends, for the recipe that shows it."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PROJECT = {"id": "p", "name": "p", "metadata": {}, "organization": {"id": "o", "name": "o"}}


class _Answers(BaseHTTPRequestHandler):
    received: list[tuple[str, bytes]]

    def do_GET(self) -> None:
        self._answer({"data": [PROJECT]})

    def do_POST(self) -> None:
        self.received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self._answer({"successes": [], "errors": []})

    def _answer(self, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing: what is printed is compared with the page."""


@contextmanager
def fake_langfuse() -> Iterator[list[tuple[str, bytes]]]:
    """Serve as Langfuse while the block runs, and let the SDK find it; yields the paths and bodies that arrive."""
    received: list[tuple[str, bytes]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Answers", (_Answers,), {"received": received}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ.update(
        LANGFUSE_BASE_URL=f"http://127.0.0.1:{server.server_port}",
        LANGFUSE_PUBLIC_KEY="pk-lf-here",
        LANGFUSE_SECRET_KEY="sk-lf-here",  # noqa: S106  (of a server that asks for none)
    )
    try:
        yield received
    finally:
        server.shutdown()
        server.server_close()
