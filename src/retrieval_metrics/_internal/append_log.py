"""Append-only log files: entries are appended under a file lock, and a log stays readable after a crash."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import sys
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from retrieval_metrics._internal.warn import warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike


FORMAT = "retrieval-metrics"

# The format version of saved files and of append logs.
VERSION = 1

# The keys in the first line of a log; any other key makes it another file.
HEADER_KEYS = {"format", "version", "kind"}

COMPRESSED_SUFFIXES = (".bz2", ".gz", ".xz", ".zip", ".zst")

# Bytes read at once, from the end of a log, to find its last line.
CHUNK_SIZE = 1 << 16

# The lines with which git marks what it could not merge.
CONFLICT_MARK = re.compile(rb"^(?:<{7} .*|={7}|>{7} .*|\|{7} .*)\r?$", re.MULTILINE)


class AppendLog:
    """An append-only file: a header, then one line of JSON for each entry.

    Example:
        >>> from tempfile import mkdtemp
        >>> log = AppendLog(Path(mkdtemp()) / "notes.jsonl", "notes")
        >>> log.append({"n": 1})
        >>> log.append({"n": 2})
        >>> log.read_entries()
        [{'n': 1}, {'n': 2}]
    """

    def __init__(self, path: str | PathLike[str], kind: str, *, is_private: bool = False) -> None:
        """Set the path; the first entry creates the file, for its owner alone if it is private."""
        self.path = Path(path)
        self.kind = kind
        self._mode = 0o600 if is_private else 0o666
        self._torn_line: bytes | None = None
        if self.path.suffix in COMPRESSED_SUFFIXES:
            raise ValueError(
                f"{self.path} cannot be compressed, because it is appended to; name it {self.path.with_suffix('')}"
            )

    def read_entries(self) -> list[dict[str, Any]]:
        """Return all entries, oldest first; none if there is no file yet.

        Raises:
            ValueError: If it is no regular file, or holds something else.
        """
        self._require_regular()
        try:
            with self.path.open("rb") as file, _locked(file, exclusive=False):
                content = file.read()
        except FileNotFoundError:
            return []
        *lines, unfinished = content.split(b"\n")
        if unfinished:
            if _parse_object(unfinished) is not None:
                lines.append(unfinished)  # complete but without a line break, as an editor may leave it
            else:
                self._warn_of_torn_line(unfinished)
        if not lines:
            return []
        self._require_no_conflict(content)
        self._require_header(_parse_object(lines[0]))
        entries = []
        for line in lines[1:]:
            if not line.strip():
                continue
            entry = _parse_object(line)
            if entry is not None and entry.get("format") == FORMAT:
                self._require_header(entry)  # the header of another log that git merged into this one
                continue
            if entry is None:
                self._refuse_line(content, line, "this is not an entry")
            if entry.pop("digest", None) != _digest(_without_digest(line)):
                self._refuse_line(content, line, "the line was changed after it was written")
            entries.append(entry)
        return entries

    def require_writable(self) -> None:
        """Raise if nothing can be appended, before anything is done whose result would be lost; create no file.

        Raises:
            OSError: If the file, or the folder in which it would be created, is not writable.
            ValueError: If it is no regular file.
        """
        self._require_regular()
        if self.path.exists():
            self.path.open("ab").close()
            return
        folder = self.path.absolute().parent
        while not folder.exists():
            folder = folder.parent
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self.path))

    def append(self, entry: dict[str, Any]) -> None:
        """Append one entry as a whole; if that fails, append nothing."""
        line = _encode(entry)
        with self._open_exclusively() as file:
            self._write(file, line)

    def append_after(self, entry_after: Callable[[bytes], dict[str, Any]]) -> None:
        """Append the entry that a function returns for the content of the log, which is locked meanwhile."""
        with self._open_exclusively() as file:
            file.seek(0)
            content = file.read()
            self._require_no_conflict(content)
            self._write(file, _encode(entry_after(content)))

    def _require_regular(self) -> None:
        """Raise if the path is that of a device or a pipe: nothing that is appended could be read again."""
        try:
            mode = self.path.stat().st_mode
        except OSError:  # there is no file yet, or opening it raises a better error
            return
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise ValueError(
                f"{self.path} is a device or a pipe, to which nothing can be appended and read again; pass the path of "
                "a file, which may not exist yet"
            )

    @contextmanager
    def _open_exclusively(self) -> Iterator[IO[bytes]]:
        self._require_regular()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a+b", buffering=0, opener=self._create) as file, _locked(file, exclusive=True):
            yield file

    def _create(self, path: str, flags: int) -> int:
        return os.open(path, flags, self._mode)

    def _write(self, file: IO[bytes], line: bytes) -> None:
        size = file.seek(0, os.SEEK_END)
        if not size:
            line = self._header() + line
        else:
            file.seek(0)
            first_line = file.readline()
            if not first_line.endswith(b"\n") and self._header().startswith(first_line):
                self._warn_of_torn_line(first_line)  # a crash interrupted the first write of all, so drop its part
                file.truncate(0)
                line = self._header() + line
            else:
                self._require_header(_parse_object(first_line))
                line = self._finish_last_line(file, size) + line
        _write_whole(file, line)

    def _require_no_conflict(self, content: bytes) -> None:
        mark = CONFLICT_MARK.search(content)
        if mark is not None:
            number = content.count(b"\n", 0, mark.start()) + 1
            raise ValueError(
                f"{self.path}, line {number}: {mark[0].decode()!r} marks a conflict that git could not merge; keep the "
                "lines of both sides and remove the marks, or write `*.jsonl merge=union` into .gitattributes, and git "
                "keeps both by itself; nothing was changed"
            )

    def _refuse_line(self, content: bytes, line: bytes, problem: str) -> NoReturn:
        number = content[: content.find(line)].count(b"\n") + 1
        raise ValueError(
            f"{self.path}, line {number}: {problem}: {line[:80].decode(errors='replace')!r}; "
            "remove the line to read the rest"
        )

    def _header(self) -> bytes:
        return json.dumps({"format": FORMAT, "version": VERSION, "kind": self.kind}).encode() + b"\n"

    def _finish_last_line(self, file: IO[bytes], size: int) -> bytes:
        """Drop an incomplete last line; return what to write before the next entry."""
        tail = b""
        position = size
        while position and b"\n" not in tail:
            chunk_size = min(CHUNK_SIZE, position)
            position -= chunk_size
            file.seek(position)
            tail = file.read(chunk_size) + tail
        last_line = tail[tail.rfind(b"\n") + 1 :]
        if not last_line:
            return b""
        if _parse_object(last_line) is not None:
            return b"\n"
        self._warn_of_torn_line(last_line)
        file.truncate(size - len(last_line))
        return b""

    def _warn_of_torn_line(self, line: bytes) -> None:
        """Warn once of a line, which is met when the log is read and again when the next entry replaces it."""
        if line == self._torn_line:
            return
        self._torn_line = line
        warn(
            f"{self.path}: the last line is incomplete, as after a crash, and is dropped: "
            f"{line[:80].decode(errors='replace')!r}",
        )

    def _require_header(self, header: dict[str, Any] | None) -> None:
        """Raise unless the first line of a file is the header of a log of this kind, in a version that can be read."""
        if header is None:
            header = {}
        kind = header.get("kind")
        if header.get("format") != FORMAT or kind != self.kind:
            problem = f"it is of kind {kind!r}" if kind else "its first line was not written by this package"
            raise ValueError(f"{self.path} must be a file of kind {self.kind!r}, but {problem}; nothing was changed")
        require_supported_version(self.path, header.get("version"))


def find_log_kind(content: bytes) -> str | None:
    """Return the kind that the header of a log names; None if the content is not that of a log."""
    header = _parse_object(content.partition(b"\n")[0])
    if header is None or header.keys() != HEADER_KEYS:
        return None
    return str(header["kind"])


def require_supported_version(path: Any, version: Any) -> None:
    """Raise if the format of a file is newer than this package."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f"{path} is damaged: its version must be a whole number from 1, got {version!r}")
    if version > VERSION:
        raise ValueError(
            f"{path} has format version {version}, and this release of retrieval-metrics reads versions up to "
            f"{VERSION}; upgrade it: pip install --upgrade retrieval-metrics"
        )


def _encode(entry: dict[str, Any]) -> bytes:
    """Return an entry as a line of JSON, whose last key is the digest of the text before that key."""
    text = json.dumps(entry, allow_nan=False).encode()
    unclosed = text.removesuffix(b"}")
    separator = ", " if entry else ""
    return unclosed + f'{separator}"digest": "{_digest(unclosed)}"}}\n'.encode()


def _without_digest(line: bytes) -> bytes:
    """Return the part of a line before its digest, from which the digest was computed."""
    end = line.rfind(b', "digest": "')
    if line.startswith(b'{"digest'):  # an empty entry, in which no comma precedes the digest
        end = max(end, line.find(b'"digest": "'))
    return line[:end]


def _digest(text: bytes) -> str:
    return sha256(text).hexdigest()[:16]


def _parse_object(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object in a line; None if it holds anything else."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _write_whole(file: IO[bytes], line: bytes) -> None:
    """Append a whole line; if the disk is full, remove what was written of it and raise."""
    start = file.seek(0, os.SEEK_END)
    unwritten = memoryview(line)
    try:
        while unwritten:
            n_written = file.write(unwritten)
            unwritten = unwritten[n_written:]
    except OSError as error:
        file.truncate(start)
        if error.filename is None:  # a write knows only the number of its file
            error.filename = os.fspath(file.name)
        raise


@contextmanager
def _locked(file: IO[bytes], *, exclusive: bool) -> Iterator[None]:
    """Lock a file against other processes: against readers and writers if exclusive, otherwise against writers."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        try:
            yield
        finally:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
        return
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
