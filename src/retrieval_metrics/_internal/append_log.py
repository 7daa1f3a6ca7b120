"""Files that survive a crash: moved into place once they are complete, or appended to under a lock."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import IO, TYPE_CHECKING, Any

from retrieval_metrics._internal.validation import warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike


FORMAT = "retrieval-metrics"
VERSION = 1
"""Of files and journals."""
HEADER = {"format", "version", "kind"}
"""What the first line of a journal says, and nothing else."""
COMPRESSED = (".bz2", ".gz", ".xz", ".zip", ".zst")
CHUNK = 1 << 16
CONFLICT = re.compile(rb"^(?:<{7} .*|={7}|>{7} .*|\|{7} .*)\r?$", re.MULTILINE)
"""The lines with which git marks what it could not merge."""


class AppendLog:
    """An append-only file: a header, then one line of JSON for each entry.

    Example:
        >>> from tempfile import mkdtemp
        >>> journal = AppendLog(Path(mkdtemp()) / "notes.jsonl", "notes")
        >>> journal.append({"n": 1})
        >>> journal.append({"n": 2})
        >>> journal.entries()
        [{'n': 1}, {'n': 2}]
    """

    def __init__(self, path: str | PathLike[str], kind: str) -> None:
        """Set the path; the first entry creates the file."""
        self.path = Path(path)
        self.kind = kind
        if self.path.suffix in COMPRESSED:
            raise ValueError(
                f"{self.path} cannot be compressed, because it is appended to; name it {self.path.with_suffix('')}"
            )

    def entries(self) -> list[dict[str, Any]]:
        """Return all entries, oldest first; none if there is no file yet."""
        try:
            with self.path.open("rb") as file, _locked(file, alone=False):
                content = file.read()
        except FileNotFoundError:
            return []
        *whole, rest = content.split(b"\n")
        if rest:
            if _value(rest) is not None:
                whole.append(rest)  # complete but without a line break, as an editor may leave it
            else:
                self._say_torn(rest)
        if whole:
            self._refuse_conflict(content)
            self._check_header(_value(whole.pop(0)))
        found = []
        for line in whole:
            entry = _value(line)
            if not line.strip():
                continue
            if entry is not None and entry.get("format") == FORMAT:
                self._check_header(entry)  # that of a file which was merged with this one
                continue
            if entry is None or entry.pop("digest", None) != _digest(_without_digest(line)):
                what = "this is not an entry" if entry is None else "the line was changed after it was written"
                number = content[: content.find(line)].count(b"\n") + 1
                raise ValueError(
                    f"{self.path}, line {number}: {what}: {line[:80].decode(errors='replace')!r}; "
                    "remove the line to read the rest"
                )
            found.append(entry)
        return found

    def append(self, entry: dict[str, Any]) -> None:
        """Append one entry, or none of it."""
        line = _line(entry)
        with self._alone() as file:
            self._write(file, line)

    def append_after(self, entry_after: Callable[[bytes], dict[str, Any]]) -> None:
        """Append the entry that a function makes of the content so far, while no other process can append."""
        with self._alone() as file:
            file.seek(0)
            content = file.read()
            self._refuse_conflict(content)
            self._write(file, _line(entry_after(content)))

    @contextmanager
    def _alone(self) -> Iterator[IO[bytes]]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a+b", buffering=0) as file, _locked(file, alone=True):  # noqa: PTH123  (unbuffered)
            yield file

    def _write(self, file: IO[bytes], line: bytes) -> None:
        size = file.seek(0, os.SEEK_END)
        if not size:
            line = self._header() + line
        else:
            file.seek(0)
            first = file.readline()
            if not first.endswith(b"\n") and self._header().startswith(first):
                self._say_torn(first)  # the very first entry was under way
                file.truncate(0)
                line = self._header() + line
            else:
                self._check_header(_value(first))
                line = self._mend(file, size) + line
        _write(file, line)

    def _refuse_conflict(self, content: bytes) -> None:
        if (mark := CONFLICT.search(content)) is not None:
            number = content.count(b"\n", 0, mark.start()) + 1
            raise ValueError(
                f"{self.path}, line {number}: {mark[0].decode()!r} marks a conflict that git could not merge; keep the "
                "lines of both sides and remove the marks, or write `*.jsonl merge=union` into .gitattributes, and git "
                "keeps both by itself; nothing was changed"
            )

    def _header(self) -> bytes:
        return json.dumps({"format": FORMAT, "version": VERSION, "kind": self.kind}).encode() + b"\n"

    def _mend(self, file: Any, size: int) -> bytes:
        """Drop an incomplete last line; return what to write before the next entry."""
        torn, at = b"", size
        while at and b"\n" not in torn:
            step = min(CHUNK, at)
            at -= step
            file.seek(at)
            torn = file.read(step) + torn
        torn = torn[torn.rfind(b"\n") + 1 :]
        if not torn:
            return b""
        if _value(torn) is not None:
            return b"\n"
        self._say_torn(torn)
        file.truncate(size - len(torn))
        return b""

    def _say_torn(self, torn: bytes) -> None:
        warn(
            f"{self.path}: the last line is incomplete, as after a crash, and is dropped: "
            f"{torn[:80].decode(errors='replace')!r}",
        )

    def _check_header(self, header: Any) -> None:
        if not isinstance(header, dict) or header.get("format") != FORMAT or header.get("kind") != self.kind:
            kind = header.get("kind") if isinstance(header, dict) else None
            said = f"it is of kind {kind!r}" if kind else "its first line was not written by this package"
            raise ValueError(f"{self.path} must be a file of kind {self.kind!r}, but {said}; nothing was changed")
        require_supported_version(self.path, header.get("version"))


def find_log_kind(content: bytes) -> str | None:
    """Return of which kind a journal is, from its content; None if it is no journal."""
    header = _value(content.partition(b"\n")[0])
    return str(header["kind"]) if header is not None and header.keys() == HEADER else None


def require_supported_version(path: Any, version: Any) -> None:
    """Raise if the format of a file is newer than this package."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f"{path} is damaged: its version must be a whole number from 1, got {version!r}")
    if version > VERSION:
        raise ValueError(
            f"{path} has format version {version}, and this release of retrieval-metrics reads versions up to "
            f"{VERSION}; upgrade it: pip install --upgrade retrieval-metrics"
        )


def _line(entry: dict[str, Any]) -> bytes:
    """Return an entry as a line, with the digest of all before it as its last key."""
    text = json.dumps(entry, allow_nan=False).encode()
    return text[:-1] + f'{", " if entry else ""}"digest": "{_digest(text[:-1])}"}}\n'.encode()


def _without_digest(line: bytes) -> bytes:
    return line[: max(line.rfind(b', "digest": "'), line.find(b'"digest": "') if line.startswith(b'{"digest') else -1)]


def _digest(text: bytes) -> str:
    return sha256(text).hexdigest()[:16]


def _value(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _write(file: Any, line: bytes) -> None:
    """Write a whole line, or nothing if the disk is full."""
    start, left = file.seek(0, os.SEEK_END), memoryview(line)
    try:
        while left:
            left = left[file.write(left) :]
    except OSError:
        file.truncate(start)
        raise


@contextmanager
def _locked(file: IO[bytes], *, alone: bool) -> Iterator[None]:
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415  (only there)

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        try:
            yield
        finally:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
        return
    import fcntl  # noqa: PLC0415  (not on Windows)

    fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


# Write a file beside its target and move it into place once it is complete.

STANDARD_OUTPUT = "-"
OPEN_FILE = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
"""Names of files that are already open. They are written to directly; opening them again would empty them."""
SHOWN = 80
"""Characters of the target's name used in the temporary name; file systems limit the length of names."""
ABANDONED = 60.0
"""Seconds after which a temporary file that no process holds was left behind by a killed one."""


def save_text(path: str | PathLike[str], text: str) -> None:
    """Write a text to a file as UTF-8; see `open_atomically`."""
    with open_atomically(path) as file:
        file.write(text.encode())


@contextmanager
def open_atomically(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a file to write to, which replaces the target once it is complete."""
    if os.fspath(path) == STANDARD_OUTPUT:
        yield from _standard_output()
        return
    name = os.fspath(path)
    is_open = OPEN_FILE.fullmatch(name)
    if is_open or name in STANDARD:
        sys.stdout.flush()
        with os.fdopen(os.dup(int(is_open[1]) if is_open else STANDARD[name]), "wb") as file:
            yield file
        return
    found = None
    with suppress(FileNotFoundError):
        found = os.stat(path)  # noqa: PTH116  (follows links, as the target is looked for)
    if found is not None and not stat.S_ISREG(found.st_mode):
        with Path(path).open("wb") as file:  # a folder raises here
            yield file
        return
    target = Path(os.path.realpath(path))
    if found is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, "this file may not be written", name)
    yield from _replacing(target, found)


def _standard_output() -> Iterator[IO[bytes]]:
    if sys.stdout is None:
        raise ValueError("standard output is closed, so nothing can be written to '-'")
    sys.stdout.flush()
    held: Any = sys.stdout
    yield held.buffer
    held.buffer.flush()


def _replacing(target: Path, found: os.stat_result | None) -> Iterator[IO[bytes]]:
    beginning = f".{target.name[:SHOWN]}."
    partial = target.with_name(beginning + token_hex(8))
    # Until the file has the mode of the existing one, nobody else may read it.
    mode = 0o666 if found is None else 0o600
    try:  # a signal that becomes an exception may come as soon as the file is there
        try:
            opened = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        except OSError as error:  # the user knows the target, not the temporary name
            raise type(error)(error.errno, error.strerror, os.fspath(target)) from None
        with os.fdopen(opened, "wb") as file:
            _hold(opened)
            _remove_abandoned(target.parent, beginning)
            yield file
            file.flush()
            if found is not None:
                _keep(opened, found)
            os.fsync(opened)  # else the new name could reach the disk before the content, and the power fail in between
        partial.replace(target)
    finally:
        with suppress(OSError):  # where it could not be made it cannot be removed, which is no news
            partial.unlink()


def _hold(opened: int) -> bool:
    """Lock an open file until it is closed; return whether no other process holds it."""
    if sys.platform == "win32":
        return True  # where a file that is open cannot be removed
    import fcntl  # noqa: PLC0415  (not on Windows)

    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held by another process, or the file system knows no locks
        return False
    return True


def _remove_abandoned(folder: Path, beginning: str) -> None:
    """Remove the temporary files of one target whose writers were killed."""
    name = re.compile(re.escape(beginning) + "[0-9a-f]{16}")
    with suppress(OSError), os.scandir(folder) as entries:  # another process may be removing the same ones
        for entry in entries:
            if name.fullmatch(entry.name) and time.time() - entry.stat(follow_symlinks=False).st_mtime > ABANDONED:
                with open(entry.path, "rb") as file:  # noqa: PTH123  (the entry has a path, and no Path)
                    abandoned = _hold(file.fileno())
                if abandoned:
                    os.unlink(entry.path)  # noqa: PTH108  (as above)


def _keep(opened: int, found: os.stat_result) -> None:
    """Give an open file the owner and the mode of the file that it replaces."""
    now = os.fstat(opened)
    if (now.st_uid, now.st_gid) != (found.st_uid, found.st_gid):
        with suppress(PermissionError, AttributeError):  # only the superuser can change the owner; Windows has none
            os.fchown(opened, found.st_uid, found.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(opened, stat.S_IMODE(found.st_mode))
