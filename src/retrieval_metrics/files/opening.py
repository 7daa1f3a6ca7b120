"""Open a file, compressed or not, and read it in pieces of whole lines."""

from __future__ import annotations

import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from retrieval_metrics.checks import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
ZSTD_PACKAGE = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PIECE = 4 << 20
"""Bytes of text read at once: small enough for the processor's cache, large enough to make other costs negligible."""


@contextmanager
def opened(path: str | PathLike[str]) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open a file for reading: its text, and the file itself, whose position tells the progress.

    Raises:
        ValueError: If compressed data is damaged or ends too early.
    """
    with Path(path).open("rb") as raw:
        start = raw.peek(4)
        text: Any = raw
        errors: tuple[type[Exception], ...] = ()
        if start.startswith(GZIP):
            import gzip

            text, errors = gzip.GzipFile(fileobj=raw), (EOFError, zlib.error, gzip.BadGzipFile)
        elif start.startswith(ZSTD):
            zstd = require(ZSTD_PACKAGE, "reading a .zst file")
            text, errors = zstd.ZstdFile(raw), (EOFError, zstd.ZstdError)
        try:
            yield text, raw
        except errors as error:
            raise ValueError(
                f"{path} is damaged or cut short: its compressed data cannot be read to the end ({error})"
            ) from error


def pieces(path: str | PathLike[str], advance: Callable[[int], None] | None = None) -> Iterator[bytes]:
    r"""Return the text of a file in pieces of whole lines, each line ended by `\n`, without a byte order mark.

    Args:
        path: The file.
        advance: Called after each piece with the number of bytes of the file read so far.

    Raises:
        ValueError: If the file is empty, or compressed data is damaged.
    """
    with opened(path) as (text, raw):
        first = True
        while piece := text.read(PIECE):
            piece += text.readline()
            if first:
                piece, first = piece.removeprefix(BYTE_ORDER_MARK), False
            yield piece if piece.endswith(b"\n") else piece + b"\n"
            if advance is not None:
                advance(raw.tell())
        if first:
            raise ValueError(f"{path} is empty")


def first_lines(path: str | PathLike[str], size: int = 1 << 16) -> bytes:
    """Return the beginning of the text of a file."""
    with opened(path) as (text, _):
        start: bytes = text.read(size)
        return start.removeprefix(BYTE_ORDER_MARK)


def numbered_lines(path: str | PathLike[str]) -> Iterator[tuple[int, str]]:
    """Return the lines of a text that are not blank, numbered from 1.

    Raises:
        ValueError: If a line is not UTF-8.
    """
    number = 0
    for piece in pieces(path):
        for line in piece.splitlines():
            number += 1
            if line.strip():
                yield number, decoded(line, path, number)


def decoded(line: bytes, path: str | PathLike[str], number: int) -> str:
    """Return a line as text.

    Raises:
        ValueError: If it is not UTF-8, naming the line.
    """
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{at_line(path, number, repr(line[:200]))}: it is not UTF-8 text ({error.reason})") from error


def at_line(path: str | PathLike[str], number: int, line: str) -> str:
    """Return how an error names a line: file, number, and the line itself."""
    shown = line if len(line) <= 200 else line[:200] + "..."  # noqa: PLR2004  (about two lines of a terminal)
    return f"{path}, line {number}: {shown}"
