"""Open a source once and read it from the start: a path, a pipe or a file object, compressed or not, within limits."""

from __future__ import annotations

import codecs
import io
import os
import stat
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from retrieval_metrics._internal.validation import positive_integer, positive_number
from retrieval_metrics.files.compressions import COMPRESSIONS, MAX_MAGIC_LENGTH, find_compression, find_member
from retrieval_metrics.files.csv_checks import require_line_feeds
from retrieval_metrics.files.encodings import (
    BYTE_ORDER_MARK,
    require_no_utf16_mark,
    require_no_zero_byte,
    require_utf8,
)
from retrieval_metrics.files.rewindable_stream import RewindableStream, let_ctrl_c_interrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    Source = str | PathLike[str] | IO[bytes] | IO[str]


STANDARD_INPUT = "-"
# Bytes of text read at once: small enough for the processor's cache, large enough to make other costs negligible.
PIECE_BYTES = 4 << 20
# Bytes of text from which the format is recognised.
BEGINNING_BYTES = 1 << 16
# Characters of a text that a message shows.
MAX_SHOWN_CHARACTERS = 40
# Bytes of text that every file may have, however well it is compressed.
ALWAYS_ALLOWED_BYTES = 64 << 20
# A byte order mark after the start of a text.
INNER_BYTE_ORDER_MARK = b"\n" + BYTE_ORDER_MARK


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


@contextmanager
def open_source(source: Source, limits: Limits | None = None) -> Iterator[Reader]:
    """Open a source for reading."""
    name = _describe_source(source)
    limits = limits or Limits()
    if isinstance(source, (str, os.PathLike)) and source != STANDARD_INPUT:
        let_ctrl_c_interrupt()  # opening a named pipe waits for its writer
        with _open_path(source) as file:
            mode = os.fstat(file.fileno()).st_mode
            _refuse_device(name, file, mode)
            is_regular = stat.S_ISREG(mode)
            stream = file if is_regular else RewindableStream(file.raw)
            yield Reader(name, stream, limits, is_regular=is_regular)
        return
    if source == STANDARD_INPUT and sys.stdin is None:
        raise ValueError("standard input is closed, so nothing can be read from '-'")
    open_file: Any = sys.stdin if source == STANDARD_INPUT else source
    yield Reader(name, RewindableStream(_as_binary(open_file)), limits, is_regular=False)


def _open_path(path: str | PathLike[str]) -> Any:
    """Open a file for reading; raise a clear error if `path` is the content of a file."""
    try:
        file_path = Path(path)
        if file_path.is_dir():
            raise IsADirectoryError(_folder_given_message(file_path))
        return file_path.open("rb")
    except (OSError, ValueError) as error:  # the file is missing, or its name is too long or holds a NUL
        if isinstance(path, str) and _looks_like_content(path):
            raise ValueError(_content_given_message(path, "io.StringIO(text)")) from error
        raise


def _folder_given_message(folder: Path) -> str:
    """Return which files of a folder are read instead, if they are those of a BEIR dataset."""
    message = f"{folder} is a folder; pass the path of a file"
    if not (folder / "queries.jsonl").exists() and not (folder / "corpus.jsonl").exists():
        return message
    judgment_files = sorted((folder / "qrels").glob("*.tsv"))
    files_by_reader = {
        "read_corpus": [folder / "corpus.jsonl"],
        "read_queries": [folder / "queries.jsonl"],
        "read_qrels": judgment_files,
    }
    advice = []
    for reader, files in files_by_reader.items():
        if files and files[0].exists():
            advice.append(f"{reader}({str(files[0])!r})")
    return f"{message}, as in {', '.join(advice)}, or read it whole: read_questions({str(folder)!r})"


def _refuse_device(name: str, file: IO[bytes], mode: int) -> None:
    """Raise if a path is that of a device other than a terminal: some give data without end."""
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not file.isatty()):
        raise ValueError(f"{name} is a device; pass the path of a file, or of a pipe such as /dev/stdin")


def _looks_like_content(path: str) -> bool:
    return path.lstrip().startswith(("{", "[")) or "\n" in path


def _content_given_message(content: str | bytes, replacement: str) -> str:
    dots = "..." if len(content) > MAX_SHOWN_CHARACTERS else ""
    return (
        f"{content[:MAX_SHOWN_CHARACTERS]!r}{dots} is what a file holds and not its path; pass {replacement} in its "
        "place"
    )


def _describe_source(source: Any) -> str:
    """Return the name of a source, for messages."""
    if source == STANDARD_INPUT:
        return "standard input"
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    if isinstance(name, str):
        return name
    return f"the {type(source).__name__}"


def _as_binary(file: Any) -> Any:
    """Return a file object in binary mode."""
    if isinstance(file, (bytes, bytearray)):
        raise TypeError(_content_given_message(bytes(file), "io.BytesIO(content)"))
    if not hasattr(file, "read"):
        raise TypeError(
            f"give the path of a file, or a file opened for reading, got {file!r:.80} ({type(file).__name__})"
        )
    if not isinstance(file.read(0), str):
        return file
    if hasattr(file, "buffer") and (file is sys.stdin or _is_unread_utf8(file)):
        return file.buffer
    # A text file reads ahead, so its buffer no longer begins where the text does.
    return io.BytesIO(file.read().encode())


def _is_unread_utf8(file: io.TextIOWrapper) -> bool:
    """Return whether nothing of a text file was read, and its bytes are UTF-8."""
    try:
        return file.tell() == 0 and codecs.lookup(file.encoding).name == "utf-8"
    except OSError:  # a pipe, or a file that is being read line by line
        return False


class Reader:
    """A source that is opened once; its text is read from the start, and again if an error needs it.

    Attributes:
        name: The name of the source, for messages.
        limits: The limits beyond which it is refused.
        growth_remedy: What a message advises where the text is too large for its compressed size.
        is_regular: Whether it is a file that can be opened again.
        is_line_unfinished: Whether the last line was read and has no line end.
    """

    def __init__(self, name: str, file: Any, limits: Limits, *, is_regular: bool) -> None:
        self.name = name
        self.limits = limits
        self.growth_remedy = "limits=Limits(compression=...) allows more"
        self.is_regular = is_regular
        self.is_line_unfinished = False
        self._file = file

    @property
    def file_name(self) -> str:
        """The name whose extension shows the format: that of the source, or that of the file in a zip archive."""
        magic = COMPRESSIONS[".zip"].magic
        self._file.seek(0)
        is_archive = self._file.read(len(magic)) == magic
        if is_archive:
            return find_member(self._file, self.name).filename
        return self.name

    def fingerprint(self) -> tuple[int, ...]:
        """Return values that change when a regular file is rewritten or replaced."""
        status = os.fstat(self._file.fileno())
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    @property
    def size(self) -> int:
        """The bytes of a regular file, before they are decompressed; 0 for anything else."""
        if not self.is_regular:
            return 0
        return os.fstat(self._file.fileno()).st_size

    def beginning(self, size: int = BEGINNING_BYTES) -> bytes:
        """Return the first bytes of the text."""
        with self._open_text() as text:
            start: bytes = text.read(size)
        return start.removeprefix(BYTE_ORDER_MARK)

    def content(self) -> bytes:
        """Return the whole content, decompressed."""
        with self._open_text() as text:
            return b"".join(iter(partial(text.read, PIECE_BYTES), b""))

    def read_text(self) -> bytes:
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
        r"""Yield the text in pieces of whole lines, each line ended by `\n`, without a byte order mark.

        Args:
            advance: Called after each piece with the number of bytes of the file that were read.
        """
        n_bytes_before = 0
        with self._open_text() as text:
            while start := text.read(PIECE_BYTES):
                if not n_bytes_before:
                    # Checked first, because UTF-16 or a lone carriage return would be read as one very long line.
                    require_no_utf16_mark(start[:BEGINNING_BYTES], self.name)
                    self._require_known_line_ends(start)
                line_end = text.readline(self.limits.line + 1)
                n_bytes = len(start) + len(line_end)
                if not n_bytes_before:
                    start = start.removeprefix(BYTE_ORDER_MARK)
                piece = start + line_end
                is_unfinished = not piece.endswith(b"\n")
                if is_unfinished or len(piece) > self.limits.line:
                    self._require_short_lines(piece, n_bytes_before)
                if is_unfinished:
                    self.is_line_unfinished = True
                    piece += b"\n"
                self._require_no_inner_mark(piece, n_bytes_before)
                n_bytes_before += n_bytes
                yield piece
                if advance is not None:
                    advance(self._file.tell())
        if not n_bytes_before:
            raise ValueError(f"{self.name} is empty")

    def _require_known_line_ends(self, start: bytes) -> None:
        text = start.strip()
        # JSON may hold a carriage return wherever it may hold a blank.
        is_json = text.startswith((b"{", b"["))
        if b"\r" in text and b"\n" not in text and not is_json:
            require_line_feeds(text, self.name, quoted=True)

    def _require_no_inner_mark(self, piece: bytes, n_bytes_before: int) -> None:
        # Searching for one byte is ten times as fast as for a word, and this byte is rare.
        if BYTE_ORDER_MARK[:1] not in piece or INNER_BYTE_ORDER_MARK not in piece:
            return
        n_lines = piece[: piece.index(INNER_BYTE_ORDER_MARK) + 1].count(b"\n")
        number = self._count_lines(n_bytes_before) + n_lines + 1
        raise ValueError(
            f"{self.name}, line {number}: the line begins with a byte order mark, as when files are "
            "joined; remove it, because it would become part of the first word"
        )

    def _count_lines(self, n_bytes: int) -> int:
        """Return how many lines the first bytes of the text have; they are counted only for an error."""
        n_lines = 0
        with self._open_text() as text:
            while n_bytes > 0:
                piece = text.read(min(n_bytes, PIECE_BYTES))
                if not piece:
                    break
                n_lines += piece.count(b"\n")
                n_bytes -= len(piece)
        return n_lines

    def _require_short_lines(self, piece: bytes, n_bytes_before: int) -> None:
        start = 0
        n_lines = 0
        while start < len(piece):
            end = piece.find(b"\n", start)
            if end < 0:
                end = len(piece)
            if end - start > self.limits.line:
                number = self._count_lines(n_bytes_before) + n_lines + 1
                raise ValueError(
                    f"{self.name}, line {number}: the line has more than {self.limits.line:,} bytes; is this the right "
                    "file? limits=Limits(line=...) allows more"
                )
            start = end + 1
            n_lines += 1

    @contextmanager
    def _open_text(self) -> Iterator[Any]:
        """Yield the decompressed text from the start."""
        self._file.seek(0)
        raw = self._file if self.is_regular else io.BufferedReader(self._file)
        compression = find_compression(raw.peek(MAX_MAGIC_LENGTH))
        damage_errors = () if compression is None else compression.damage_errors()
        try:
            if compression is None:
                yield raw
            else:
                yield _SizeCheckedText(compression.open_reader(raw, self.name), self)
        except damage_errors as error:
            raise ValueError(
                f"{self.name} is damaged or cut short: its compressed data cannot be read to the end ({error})"
            ) from error
        finally:
            if raw is not self._file:
                raw.detach()

    def refuse_growth(self, n_bytes: int) -> None:
        """Raise if the `n_bytes` of text read so far are too many for the compressed bytes that they came from."""
        if n_bytes <= ALWAYS_ALLOWED_BYTES:
            return
        n_compressed = max(self._file.tell(), 1)
        if n_bytes > self.limits.compression * n_compressed:
            raise ValueError(
                f"{self.name} expands too much to be a run or judgments: {n_bytes / 1e6:,.0f} MB of text came "
                f"from {n_compressed / 1e6:,.2f} MB, more than {self.limits.compression:g} times as much; "
                f"{self.growth_remedy}"
            )


class _SizeCheckedText:
    """Decompressed text whose size is checked as it is read."""

    def __init__(self, text: Any, reader: Reader) -> None:
        self._text = text
        self._reader = reader
        self._size = 0

    def read(self, size: int) -> bytes:
        return self._count(self._text.read(size))

    def readline(self, size: int) -> bytes:
        return self._count(self._text.readline(size))

    def _count(self, content: bytes) -> bytes:
        self._size += len(content)
        self._reader.refuse_growth(self._size)
        return content
