"""A service on this machine that answers in JSON, in place of one that a host's client would reach over the network."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class JSONHandler(BaseHTTPRequestHandler):
    """Inherit and give `respond`, which reads with `body` and ends with `answer`, whatever the method."""

    protocol_version = "HTTP/1.1"  # connections stay open, and clients keep them
    disable_nagle_algorithm = True  # else each answer on a connection that stayed open waits 40 ms

    def respond(self) -> None:
        raise NotImplementedError

    def _dispatch(self) -> None:
        self.respond()

    do_GET = do_POST = do_PUT = do_HEAD = _dispatch  # noqa: N815  (the names of http.server)

    def body(self) -> bytes:
        """Return what was sent."""
        return self.rfile.read(int(self.headers["Content-Length"] or 0))

    def answer(self, content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Send an answer; to `HEAD` without its content."""
        sent = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(sent)

    def log_message(self, *_: Any) -> None:
        """Say nothing: what is printed may be compared."""


@contextmanager
def serving(handler: type[JSONHandler], **attributes: Any) -> Iterator[str]:
    """Yield the address of a service that ends with the statement; `attributes` are those of its handlers' class."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type(handler.__name__, (handler,), attributes))
    thread = Thread(target=server.serve_forever, args=(0.01,))  # how often it looks whether it shall end
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
