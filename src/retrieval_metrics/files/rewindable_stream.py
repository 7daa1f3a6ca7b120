"""Make streams that can be read only once, such as pipes, readable again."""

from __future__ import annotations

import io
import signal
from tempfile import SpooledTemporaryFile
from typing import Any

# Bytes of a pipe that are kept in memory to be read again; more are kept in an unnamed temporary file.
MAX_BYTES_IN_MEMORY = 64 << 20
# Bytes read at once to find the end.
BYTES_READ_AT_ONCE = 1 << 20


def let_ctrl_c_interrupt() -> None:
    """Let Ctrl-C interrupt waiting for a pipe again, which importing polars prevents."""
    if hasattr(signal, "siginterrupt"):  # not on Windows
        signal.siginterrupt(signal.SIGINT, True)  # noqa: FBT003  (that is its signature)


class RewindableStream(io.RawIOBase):
    """A stream that can be read again, because it keeps the bytes that were read."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._buffer = SpooledTemporaryFile(max_size=MAX_BYTES_IN_MEMORY)  # noqa: SIM115  (closed with this stream)
        self._position = 0
        self._size = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to a position; a position relative to the end reads the whole stream first."""
        if whence == io.SEEK_END:
            self._position = self._size
            has_more = True
            while has_more:
                has_more = bool(self.read(BYTES_READ_AT_ONCE))
            offset += self._size
        elif whence == io.SEEK_CUR:
            offset += self._position
        self._position = offset
        return self._position

    def tell(self) -> int:
        """Return the current position."""
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        """Read kept bytes first, then bytes of the stream, so that a reader gets as many bytes as it asks for."""
        content = b""
        if self._position < self._size:
            self._buffer.seek(self._position)
            content = self._buffer.read(min(len(buffer), self._size - self._position))
        if len(content) < len(buffer):
            let_ctrl_c_interrupt()
            new_content = self._stream.read(len(buffer) - len(content)) or b""
            self._buffer.seek(self._size)
            self._buffer.write(new_content)
            self._size += len(new_content)
            content += new_content
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)

    def close(self) -> None:
        """Delete the kept bytes; the stream itself stays open."""
        self._buffer.close()
        super().close()
