"""A server on this machine that takes what the SDK of Langfuse sends, for the recipe that shows it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from local_service import JSONHandler, serving

PROJECT = {"id": "p", "name": "p", "metadata": {}, "organization": {"id": "o", "name": "o"}}


class _Answers(JSONHandler):
    received: list[tuple[str, bytes]]

    def respond(self) -> None:
        if self.command == "POST":
            self.received.append((self.path, self.body()))
            self.answer({"successes": [], "errors": []})
        else:
            self.answer({"data": [PROJECT]})


@contextmanager
def fake_langfuse() -> Iterator[list[tuple[str, bytes]]]:
    """Serve as Langfuse while the block runs, and let the SDK find it; yields the paths and bodies that arrive."""
    received: list[tuple[str, bytes]] = []
    with serving(_Answers, received=received) as address:
        os.environ.update(
            LANGFUSE_BASE_URL=address,
            LANGFUSE_PUBLIC_KEY="pk-lf-here",
            LANGFUSE_SECRET_KEY="sk-lf-here",
        )
        yield received
