"""A cache of model replies on disk, so that no prompt is sent twice."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.entries import fingerprint
from retrieval_metrics.journal import Journal
from retrieval_metrics.models.prompt_locks import PromptLocks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from os import PathLike

KIND = "replies of models"
LOOK_AGAIN = 0.05
"""Seconds between looks at whether another process has its reply."""


class ReplyCache:
    """Replies by the name of the model and the exact prompt; each is written as it arrives.

    Replies that do not have the form asked for are written too, to be read by people, but never given back: the prompt
    is sent again next time.
    """

    def __init__(self, path: str | PathLike[str] | None) -> None:
        """Read the replies cached so far.

        Args:
            path: The file; None keeps the replies in memory only.

        Raises:
            ValueError: If the file is not a cache, is of a newer version, or is damaged before its last line.
        """
        self._journal = None if path is None else Journal(path, KIND)
        self._locks = None if path is None else PromptLocks(path)
        self._replies: dict[str, str] = {}
        self._position, self._line = 0, 1
        self._read_on()

    def get(self, model: str | None, prompt: str) -> str | None:
        """Return the reply to a prompt, or None if there is none yet."""
        return self._replies.get(_asked(model, prompt))

    @asynccontextmanager
    async def asking(self, model: str | None, prompt: str) -> AsyncIterator[None]:
        """Wait until no other process asks for this reply, and let none ask meanwhile; then read what they wrote."""
        if self._journal is None or self._locks is None:
            yield
            return
        asked = _asked(model, prompt)
        while not self._locks.take(asked):  # noqa: ASYNC110  (no event of this process tells when another is done)
            await asyncio.sleep(LOOK_AGAIN)
        try:
            self._read_on()
            yield
        finally:
            self._locks.give(asked)

    def keep(self, model: str | None, prompt: str, reply: str) -> None:
        """Keep a reply.

        Raises:
            OSError: If the file cannot be written.
        """
        asked = _asked(model, prompt)
        if self._journal is not None:
            self._journal.append({"asked": asked, "model": model, "reply": reply})
        self._replies[asked] = reply

    def keep_unusable(self, model: str | None, prompt: str, reply: str, reason: str) -> None:
        """Write down a reply that must not be given back.

        Raises:
            OSError: If the file cannot be written.
        """
        if self._journal is not None:
            asked = _asked(model, prompt)
            self._journal.append({"asked": asked, "model": model, "unusable": reply, "reason": reason})

    def _read_on(self) -> None:
        """Read what has been written since, by whichever process."""
        if self._journal is None:
            return
        entries, self._position = self._journal.since(self._position)
        for entry in entries:
            self._line += 1
            asked, reply = entry.get("asked"), entry.get("reply")
            if isinstance(asked, str) and "unusable" in entry:
                continue
            if not isinstance(asked, str) or not isinstance(reply, str):
                raise ValueError(  # noqa: TRY004  (what a file holds is a value)
                    f"{self._journal.path}, line {self._line}, holds no reply: {entry!r}"
                )
            self._replies[asked] = reply


def _asked(model: str | None, prompt: str) -> str:
    return fingerprint(["prompt", model, prompt])
