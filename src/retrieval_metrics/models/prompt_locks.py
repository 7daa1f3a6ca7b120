"""Locks on prompts, so that two processes with one cache do not ask the same thing at the same time."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

POSITIONS = 1 << 40
_OPEN: dict[Path, int] = {}
"""One descriptor a file, never closed: closing any of a process gives up all its locks on that file."""


class PromptLocks:
    """One lock for each prompt: a byte of a file in the folder for temporary files, which the system frees by itself.

    A process that ends, however it ends, gives up its locks. On Windows, and for processes on different machines,
    nothing is locked: then a prompt can be sent twice, and both replies are kept.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        """Set the file that is cached in."""
        name = hashlib.sha256(os.fsencode(Path(path).resolve())).hexdigest()[:16]
        self._path = Path(tempfile.gettempdir()) / f"retrieval-metrics-{name}.lock"

    def take(self, asked: str) -> bool:
        """Take the lock of a prompt; return False if another process has it."""
        if sys.platform == "win32":
            return True
        import fcntl  # noqa: PLC0415  (not on Windows)

        try:
            fcntl.lockf(self._descriptor(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _position(asked))
        except BlockingIOError:
            return False
        return True

    def give(self, asked: str) -> None:
        """Give the lock of a prompt back."""
        if sys.platform == "win32":
            return
        import fcntl  # noqa: PLC0415  (as above)

        fcntl.lockf(self._descriptor(), fcntl.LOCK_UN, 1, _position(asked))

    def _descriptor(self) -> int:
        if self._path not in _OPEN:
            _OPEN[self._path] = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        return _OPEN[self._path]


def _position(asked: str) -> int:
    return int.from_bytes(hashlib.sha256(asked.encode()).digest()[:8], "big") % POSITIONS
