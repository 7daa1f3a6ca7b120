"""A cache of model replies on disk, so that no prompt is sent twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.inputs.fingerprints import fingerprint
from retrieval_metrics.journal import Journal

if TYPE_CHECKING:
    from os import PathLike

KIND = "replies of models"


class ReplyCache:
    """Replies by the name of the model and the exact prompt; each is written as it arrives."""

    def __init__(self, path: str | PathLike[str] | None) -> None:
        """Read the replies cached so far.

        Args:
            path: The file; None keeps the replies in memory only.

        Raises:
            ValueError: If the file is not a cache, is of a newer version, or is damaged before its last line.
        """
        self._journal = None if path is None else Journal(path, KIND)
        self._replies: dict[str, str] = {}
        for number, entry in enumerate([] if self._journal is None else self._journal.entries(), start=2):
            asked, reply = entry.get("asked"), entry.get("reply")
            if not isinstance(asked, str) or not isinstance(reply, str):
                raise ValueError(  # noqa: TRY004  (what a file holds is a value)
                    f"{path}, line {number}, holds no reply: {entry!r}"
                )
            self._replies[asked] = reply

    def get(self, model: str | None, prompt: str) -> str | None:
        """Return the reply to a prompt, or None if there is none yet."""
        return self._replies.get(_asked(model, prompt))

    def keep(self, model: str | None, prompt: str, reply: str) -> None:
        """Keep a reply.

        Raises:
            OSError: If the file cannot be written.
        """
        asked = _asked(model, prompt)
        if self._journal is not None:
            self._journal.append({"asked": asked, "model": model, "reply": reply})
        self._replies[asked] = reply


def _asked(model: str | None, prompt: str) -> str:
    return fingerprint(["prompt", model, prompt])
