"""Streams that can be read once, made readable again."""

from __future__ import annotations

import io
import signal
from tempfile import SpooledTemporaryFile
from typing import Any

KEPT_IN_MEMORY = 64 << 20
"""Bytes of a pipe that are kept in memory to be read again; more are kept in an unnamed temporary file."""
PIECE = 1 << 20
"""Bytes read at once to find the end."""


def let_ctrl_c_interrupt() -> None:
    """Undo what polars does to Ctrl-C, which would not interrupt waiting for a pipe."""
    if hasattr(signal, "siginterrupt"):  # not on Windows
        signal.siginterrupt(signal.SIGINT, True)  # noqa: FBT003  (that is its signature)


class Kept(io.RawIOBase):
    """Makes a stream that can be read once readable again, by keeping what was read."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._kept = SpooledTemporaryFile(max_size=KEPT_IN_MEMORY)  # noqa: SIM115  (closed with this stream)
        self._at = self._size = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to a place; from the end means that everything is read first."""
        if whence == io.SEEK_END:
            self._at = self._size
            while self.read(PIECE):
                """Everything is kept, so that its end is known."""
            offset += self._size
        elif whence == io.SEEK_CUR:
            offset += self._at
        self._at = offset
        return self._at

    def tell(self) -> int:
        """Return the place."""
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        """Read what was kept, and at once more of the stream: a first look sees as much as it asks for."""
        part = b""
        if self._at < self._size:
            self._kept.seek(self._at)
            part = self._kept.read(min(len(buffer), self._size - self._at))
        if len(part) < len(buffer):
            let_ctrl_c_interrupt()
            more = self._stream.read(len(buffer) - len(part)) or b""
            self._kept.seek(self._size)
            self._kept.write(more)
            self._size += len(more)
            part += more
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)

    def close(self) -> None:
        """Forget what was kept; the stream stays open."""
        self._kept.close()
        super().close()
