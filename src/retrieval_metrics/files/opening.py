"""Open a source once and read it from the start: a path, a pipe or a file object, compressed or not, within limits."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import signal
import stat
import sys
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics._internal.atomic_write import open_atomically
from retrieval_metrics._internal.validation import (
    format_argument,
    import_optional,
    positive_integer,
    positive_number,
    python_or_cli_text,
)
from retrieval_metrics.files.encodings import (
    BYTE_ORDER_MARK,
    require_line_feeds,
    require_no_utf16_mark,
    require_no_zero_byte,
    require_utf8,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from os import PathLike

    Source = str | PathLike[str] | IO[bytes] | IO[str]


# Streams that can be read once, made readable again.

KEPT_IN_MEMORY = 64 << 20
"""Bytes of a pipe that are kept in memory to be read again; more are kept in an unnamed temporary file."""
PIECE_REREADING = 1 << 20
"""Bytes read at once to find the end."""


def let_ctrl_c_interrupt() -> None:
    """Undo what polars does to Ctrl-C, which would not interrupt waiting for a pipe."""
    if hasattr(signal, "siginterrupt"):  # not on Windows
        signal.siginterrupt(signal.SIGINT, True)  # noqa: FBT003  (that is its signature)


class RewindableStream(io.RawIOBase):
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
            while self.read(PIECE_REREADING):
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


# The ways in which files are compressed: what each begins with, how it is read and how it is written.

ZSTD_PACKAGE = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
SHOWN = 3
"""The number of files of an archive that a message names."""
ENCRYPTED = 1
"""The bit of `ZipInfo.flag_bits` that says so."""


class Compression(NamedTuple):
    """A way to compress a file.

    Attributes:
        magic: What such a file begins with.
        reading: Returns the text of an open file, whose name messages need.
        writing: Returns a file for the text, to be written to an open file, whose path shows the name of the text.
        damaged: Returns what reading raises if the file is damaged or cut short.
    """

    magic: bytes
    reading: Callable[[Any, str], Any]
    writing: Callable[[Any, Path], AbstractContextManager[Any]]
    damaged: Callable[[], tuple[type[Exception], ...]]


def member_of(file: Any, name: str) -> zipfile.ZipInfo:
    """Return the one file of a zip archive, without what macOS adds."""
    try:
        held = zipfile.ZipFile(file).infolist()
    except (zipfile.BadZipFile, ValueError) as error:
        raise ValueError(f"{name} is damaged or cut short: it cannot be read as a zip archive ({error})") from error
    files = [one for one in held if not one.is_dir() and not one.filename.startswith("__MACOSX/")]
    if len(files) != 1:
        names = ", ".join(one.filename for one in files[:SHOWN]) + ", ..." * (len(files) > SHOWN)
        said = f"{len(files)} files, {names}" if files else "no file"
        raise ValueError(
            f"{name} is a zip archive with {said}, and is read if it holds exactly one; unpack it: unzip FILE"
        )
    if files[0].flag_bits & ENCRYPTED:
        raise ValueError(f"{name} needs a password; unpack it: unzip FILE")
    return files[0]


def _open_member(file: Any, name: str) -> IO[bytes]:
    member = member_of(file, name)
    try:
        return zipfile.ZipFile(file).open(member)
    except NotImplementedError as error:  # a compression that Python does not know
        raise ValueError(f"{name} cannot be unpacked ({error}); unpack it: unzip FILE") from error


@contextmanager
def _new_member(file: Any, path: Path) -> Iterator[Any]:
    # `ZipInfo` has a fixed time, so that equal data give equal files.
    member = zipfile.ZipInfo(path.stem)
    member.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(file, "w") as archive, archive.open(member, "w", force_zip64=True) as text:
        yield text


def _zstd() -> Any:
    return import_optional(ZSTD_PACKAGE, "a .zst file")


def _new_zstd(file: Any, _: Path) -> Any:
    zstd = _zstd()
    return zstd.ZstdFile(file, "w", options={zstd.CompressionParameter.checksum_flag: 1})


COMPRESSIONS: Mapping[str, Compression] = {
    ".bz2": Compression(
        b"BZh",
        lambda file, _: bz2.BZ2File(file),
        lambda file, _: bz2.BZ2File(file, "w"),
        lambda: (EOFError, OSError),
    ),
    ".gz": Compression(
        b"\x1f\x8b",
        lambda file, _: gzip.GzipFile(fileobj=file),
        # Without name and time, so that equal data give equal files.
        lambda file, _: gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0),
        lambda: (EOFError, zlib.error, gzip.BadGzipFile),
    ),
    ".xz": Compression(
        b"\xfd7zXZ\x00",
        lambda file, _: lzma.LZMAFile(file),  # noqa: SIM115  (closed with the source)
        lambda file, _: lzma.LZMAFile(file, "w"),  # noqa: SIM115  (closed by `open_for_saving`)
        lambda: (EOFError, lzma.LZMAError),
    ),
    ".zip": Compression(b"PK\x03\x04", _open_member, _new_member, lambda: (EOFError, zlib.error, zipfile.BadZipFile)),
    ".zst": Compression(
        b"\x28\xb5\x2f\xfd",
        lambda file, _: _zstd().ZstdFile(file),
        _new_zstd,
        lambda: (EOFError, _zstd().ZstdError),
    ),
}
"""Every compression, by the extension of its files."""


@contextmanager
def open_for_saving(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a file that is saved once it is complete, compressed if its extension says so."""
    compression = COMPRESSIONS.get(Path(path).suffix)
    with open_atomically(path) as file:
        if compression is None:
            yield file
        else:
            with compression.writing(file, Path(path)) as text:
                yield text


STANDARD_INPUT = "-"
LONGEST = max(len(one.magic) for one in COMPRESSIONS.values())
PIECE = 4 << 20
"""Bytes of text read at once: small enough for the processor's cache, large enough to make other costs negligible."""
BEGINNING = 1 << 16
"""Bytes of text from which the format is recognised."""
TEXT_SHOWN = 40
"""Characters of a text that a message shows."""


@contextmanager
def open_source(source: Source, limits: Limits | None = None) -> Iterator[Reader]:
    """Open a source for reading."""
    name = name_of(source)
    if isinstance(source, (str, os.PathLike)) and source != STANDARD_INPUT:
        let_ctrl_c_interrupt()  # opening a named pipe waits for its writer
        with _file(source) as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            yield Reader(name, file if regular else RewindableStream(file.raw), limits or Limits(), is_regular=regular)
        return
    if source == STANDARD_INPUT and sys.stdin is None:
        raise ValueError("standard input is closed, so nothing can be read from '-'")
    held: Any = sys.stdin if source == STANDARD_INPUT else source
    yield Reader(name, RewindableStream(_binary(held)), limits or Limits(), is_regular=False)


def _file(path: str | PathLike[str]) -> Any:
    """Return an open file; what is no path but a text is named as one."""
    try:
        return Path(path).open("rb")
    except (OSError, ValueError) as error:  # of the name of a file that is too long, is not there or holds a NUL
        if isinstance(path, str) and (path.lstrip().startswith(("{", "[")) or "\n" in path):
            raise ValueError(_no_path(path, "io.StringIO(text)")) from error
        raise


def _no_path(given: str | bytes, instead: str) -> str:
    more = "..." if len(given) > TEXT_SHOWN else ""
    return f"{given[:TEXT_SHOWN]!r}{more} is what a file holds and not its path" + python_or_cli_text(
        f"; pass {instead} in its place"
    )


def name_of(source: Any) -> str:
    """Return the name of a source, for messages."""
    if source == STANDARD_INPUT:
        return "standard input"
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else f"the {type(source).__name__}"


def _binary(file: Any) -> Any:
    """Return a file object in binary mode."""
    if isinstance(file, (bytes, bytearray)):
        raise TypeError(_no_path(bytes(file), "io.BytesIO(content)"))
    if not isinstance(file.read(0), str):
        return file
    return file.buffer if hasattr(file, "buffer") else io.BytesIO(file.read().encode())


class Reader:
    """A source that is opened once; its text is read from the start, and again if an error needs it.

    Attributes:
        name: The name of the source, for messages.
        is_regular: Whether it is a file that can be opened again.
        unended: Whether its last line was read, and has no line end.
    """

    def __init__(self, name: str, file: Any, limits: Limits, *, is_regular: bool) -> None:
        self.name = name
        self.limits = limits
        self.is_regular = is_regular
        self.is_line_unfinished = False
        self._file = file

    @property
    def file_name(self) -> str:
        """The name whose extension shows the format: in a zip archive, that of its file."""
        magic = COMPRESSIONS[".zip"].magic
        self._file.seek(0)
        return member_of(self._file, self.name).filename if self._file.read(len(magic)) == magic else self.name

    def fingerprint(self) -> tuple[int, ...]:
        """Return values that change when a regular file is rewritten or replaced."""
        found = os.fstat(self._file.fileno())
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    @property
    def size(self) -> int:
        """The bytes of a regular file, before they are decompressed; 0 for anything else."""
        return os.fstat(self._file.fileno()).st_size if self.is_regular else 0

    def beginning(self, size: int = BEGINNING) -> bytes:
        """Return the first bytes of the text."""
        with self._text() as text:
            start: bytes = text.read(size)
        return start.removeprefix(BYTE_ORDER_MARK)

    def content(self) -> bytes:
        """Return the whole content, decompressed."""
        with self._text() as text:
            return b"".join(iter(partial(text.read, PIECE), b""))

    def whole_text(self) -> bytes:
        """Return the whole content as UTF-8 text without a byte order mark, its lines of any length."""
        start = self.beginning()
        require_no_utf16_mark(start, self.name)
        require_no_zero_byte(start, self.name)
        content = self.content().removeprefix(BYTE_ORDER_MARK)
        if not content.strip():
            raise ValueError(f"{self.name} is empty")
        require_utf8(content, self.name)
        return content

    def pieces(self, advance: Callable[[int], None] | None = None) -> Iterator[bytes]:
        r"""Yield the text in pieces of whole lines, each line ended by `\n`, without a byte order mark."""
        before = 0
        with self._text() as text:
            while piece := text.read(PIECE):
                if not before:
                    require_no_utf16_mark(
                        piece[:BEGINNING], self.name
                    )  # before searching for the end of a very long line
                    self._refuse_other_line_ends(piece)
                size = len(piece)
                rest = text.readline(self.limits.line + 1)
                piece = (piece if before else piece.removeprefix(BYTE_ORDER_MARK)) + rest
                if not piece.endswith(b"\n"):
                    self._refuse_long_line(piece, before)
                    self.is_line_unfinished = True
                    piece += b"\n"
                elif len(piece) > self.limits.line:
                    self._refuse_long_line(piece, before)
                # Searching for one byte is ten times as fast as for a word, and this byte is rare.
                if BYTE_ORDER_MARK[:1] in piece and b"\n" + BYTE_ORDER_MARK in piece:
                    at = self._lines_before(before) + piece[: piece.index(b"\n" + BYTE_ORDER_MARK) + 1].count(b"\n")
                    raise ValueError(
                        f"{self.name}, line {at + 1}: the line begins with a byte order mark, as when files are "
                        "joined; remove it, because it would become part of the first word"
                    )
                before += size + len(rest)
                yield piece
                if advance is not None:
                    advance(self._file.tell())
        if not before:
            raise ValueError(f"{self.name} is empty")

    def _refuse_other_line_ends(self, start: bytes) -> None:
        words = start.strip()
        if b"\r" in words and b"\n" not in words and not words.startswith((b"{", b"[")):  # for JSON, it is a blank
            require_line_feeds(words, self.name, quoted=True)

    def _lines_before(self, size: int) -> int:
        """Return how many lines the first bytes of the text have; they are counted only for an error."""
        lines = 0
        with self._text() as text:
            while size > 0 and (part := text.read(min(size, PIECE))):
                lines += part.count(b"\n")
                size -= len(part)
        return lines

    def _refuse_long_line(self, piece: bytes, before: int) -> None:
        start, line = 0, 0
        while start < len(piece):
            end = piece.find(b"\n", start) if piece.find(b"\n", start) >= 0 else len(piece)
            if end - start > self.limits.line:
                number = self._lines_before(before) + line + 1
                raise ValueError(
                    f"{self.name}, line {number}: the line has more than {self.limits.line:,} bytes; is this the right "
                    f"file? {format_argument('line', python='limits=Limits(line=...)')} allows more"
                )
            start, line = end + 1, line + 1

    @contextmanager
    def _text(self) -> Iterator[Any]:
        """Yield the decompressed text from the start."""
        self._file.seek(0)
        raw = self._file if self.is_regular else io.BufferedReader(self._file)
        start = raw.peek(LONGEST)
        found = next((one for one in COMPRESSIONS.values() if start.startswith(one.magic)), None)
        damaged = () if found is None else found.damaged()
        try:
            yield raw if found is None else _SizeCheckedText(found.reading(raw, self.name), self)
        except damaged as error:
            raise ValueError(
                f"{self.name} is damaged or cut short: its compressed data cannot be read to the end ({error})"
            ) from error
        finally:
            if raw is not self._file:
                raw.detach()

    def refuse_growth(self, text: int) -> None:
        """Raise if the text read so far is too large for the compressed bytes that it came from."""
        if text <= HARMLESS:
            return
        compressed = max(self._file.tell(), 1)
        if text > self.limits.compression * compressed:
            raise ValueError(
                f"{self.name} is compressed too well to be a run or judgments: {text / 1e6:,.0f} MB of text came from "
                f"{compressed / 1e6:,.2f} MB; {format_argument('compression', python='limits=Limits(compression=...)')} "
                f"allows more than {self.limits.compression:g} times the size"
            )


HARMLESS = 64 << 20
"""Bytes of text that every file may have, however well it is compressed."""


class _SizeCheckedText:
    """Decompressed text whose size is checked as it is read."""

    def __init__(self, text: Any, reader: Reader) -> None:
        self._text, self._reader, self._size = text, reader, 0

    def read(self, size: int) -> bytes:
        return self._counted(self._text.read(size))

    def readline(self, size: int) -> bytes:
        return self._counted(self._text.readline(size))

    def _counted(self, part: bytes) -> bytes:
        self._size += len(part)
        self._reader.refuse_growth(self._size)
        return part


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits beyond which a file is refused, so that hostile or broken files are rejected early.

    Attributes:
        compression: How many times larger than the compressed file its text may be. Runs and judgments reach 5 to 30
            times, a file made to fill the memory 1,000 times. The first 64 MB of text are always read. `math.inf`
            turns the limit off.
        line: The largest number of bytes in a line; 64 MB hold a ranking of a million scored documents.

    Raises:
        TypeError: If `line` is not an integer.
        ValueError: If one of them is not positive.

    Example:
        >>> Limits(compression=1000).line
        67108864
    """

    compression: float = 200.0
    line: int = 64 << 20

    def __post_init__(self) -> None:
        positive_number(self.compression, "the limit of compression")
        positive_integer(self.line, "the limit of a line")
