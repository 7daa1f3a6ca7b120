"""Keep the replies of models in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics._internal.append_log import AppendLog
from retrieval_metrics.inputs.fingerprints import fingerprint

if TYPE_CHECKING:
    from os import PathLike


# The kind of log that a file of replies is, by which any other log is refused.
CACHE_FILE_KIND = "replies of models"


class ReplyCache:
    """The replies of models, by the name of the model and the exact prompt; each is written to a file as it arrives."""

    def __init__(self, path: str | PathLike[str] | None) -> None:
        """Read the replies of a file; None keeps them in memory only."""
        self._log = None if path is None else AppendLog(path, CACHE_FILE_KIND, is_private=True)
        self._is_writable = False
        self._reply_by_prompt: dict[str, str] = {}
        if self._log is None:
            return
        for line, entry in enumerate(self._log.read_entries(), start=2):
            prompt_fingerprint = entry.get("asked")
            reply = entry.get("reply")
            if isinstance(prompt_fingerprint, str) and "unusable" in entry:
                continue
            if not isinstance(prompt_fingerprint, str) or not isinstance(reply, str):
                raise ValueError(f"{path}, line {line}, holds no reply: {entry!r}")
            self._reply_by_prompt[prompt_fingerprint] = reply

    def require_writable(self) -> None:
        """Raise OSError if no reply could be stored; the file is looked at once."""
        if self._log is not None and not self._is_writable:
            self._log.require_writable()
            self._is_writable = True

    def get(self, model: str | None, prompt: str) -> str | None:
        """Return the reply to a prompt, or None if there is none yet."""
        return self._reply_by_prompt.get(_prompt_fingerprint(model, prompt))

    def store(self, model: str | None, prompt: str, reply: str) -> None:
        """Keep a reply."""
        prompt_fingerprint = _prompt_fingerprint(model, prompt)
        if self._log is not None:
            self._log.append({"asked": prompt_fingerprint, "model": model, "reply": reply})
        self._reply_by_prompt[prompt_fingerprint] = reply

    def store_unusable(self, model: str | None, prompt: str, reply: str, reason: str) -> None:
        """Write a reply to the file for people to read, without ever returning it."""
        if self._log is not None:
            prompt_fingerprint = _prompt_fingerprint(model, prompt)
            self._log.append({"asked": prompt_fingerprint, "model": model, "unusable": reply, "reason": reason})


def _prompt_fingerprint(model: str | None, prompt: str) -> str:
    return fingerprint(["prompt", model, prompt])
