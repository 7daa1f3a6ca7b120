"""Files that are written beside their target, and moved into place once they are complete."""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike


STANDARD_OUTPUT = "-"

# Names of files that are already open. They are written to directly; opening them again would empty them.
OPEN_FILE_PATH = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
STANDARD_FILE_NUMBERS = {"/dev/stdout": 1, "/dev/stderr": 2}

# File systems limit the length of names.
MAX_TARGET_CHARACTERS_IN_NAME = 80

# A temporary file this old that no process has locked was left behind by a killed one.
ABANDONED_AFTER_SECONDS = 60.0


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
    file_number = _open_file_number(name)
    if file_number is not None:
        sys.stdout.flush()
        with os.fdopen(os.dup(file_number), "wb") as file:
            yield file
        return
    existing = _find_existing(path)
    if existing is not None and not stat.S_ISREG(existing.st_mode):
        with Path(path).open("wb") as file:  # a folder raises here
            yield file
        return
    target = Path(os.path.realpath(path))
    if existing is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, "this file may not be written", name)
    yield from _write_beside(target, existing)


def _open_file_number(name: str) -> int | None:
    """Return the number of the open file with this name; None if the name is that of any other file."""
    path = OPEN_FILE_PATH.fullmatch(name)
    if path is not None:
        return int(path[1])
    return STANDARD_FILE_NUMBERS.get(name)


def _find_existing(path: str | PathLike[str]) -> os.stat_result | None:
    """Return the state of the file that a path leads to, through links; None if there is none."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _standard_output() -> Iterator[IO[bytes]]:
    if sys.stdout is None:
        raise ValueError("standard output is closed, so nothing can be written to '-'")
    sys.stdout.flush()
    output: Any = sys.stdout
    yield output.buffer
    output.buffer.flush()


def _write_beside(target: Path, existing: os.stat_result | None) -> Iterator[IO[bytes]]:
    prefix = f".{target.name[:MAX_TARGET_CHARACTERS_IN_NAME]}."
    partial = target.with_name(prefix + token_hex(8))
    # Until the file has the mode of the existing one, nobody else may read it.
    mode = 0o666 if existing is None else 0o600
    try:  # a signal that becomes an exception may come as soon as the file is there
        try:
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        except OSError as error:  # the user knows the target, not the temporary name
            raise type(error)(error.errno, error.strerror, os.fspath(target)) from None
        with os.fdopen(descriptor, "wb") as file:
            _try_to_lock(descriptor)
            _remove_abandoned(target.parent, prefix)
            yield file
            file.flush()
            if existing is not None:
                _copy_owner_and_mode(existing, descriptor)
            # Else the new name could reach the disk before the content, and the power fail in between.
            os.fsync(descriptor)
        partial.replace(target)
    finally:
        with suppress(OSError):  # where it could not be made it cannot be removed, which is no news
            partial.unlink()


def _try_to_lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; return whether no other process holds it."""
    if sys.platform == "win32":
        return True  # where a file that is open cannot be removed
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held by another process, or the file system knows no locks
        return False
    return True


def _remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove the temporary files of one target whose writers were killed."""
    name = re.compile(re.escape(prefix) + "[0-9a-f]{16}")
    with suppress(OSError), os.scandir(folder) as entries:  # another process may be removing the same ones
        for entry in entries:
            if not name.fullmatch(entry.name):
                continue
            age = time.time() - entry.stat(follow_symlinks=False).st_mtime
            if age > ABANDONED_AFTER_SECONDS:
                partial = Path(entry.path)
                with partial.open("rb") as file:
                    is_abandoned = _try_to_lock(file.fileno())
                if is_abandoned:
                    partial.unlink()


def _copy_owner_and_mode(existing: os.stat_result, descriptor: int) -> None:
    """Give an open file the owner and the mode of the file that it replaces."""
    state = os.fstat(descriptor)
    if (state.st_uid, state.st_gid) != (existing.st_uid, existing.st_gid):
        with suppress(PermissionError, AttributeError):  # only the superuser can change the owner; Windows has none
            os.fchown(descriptor, existing.st_uid, existing.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(existing.st_mode))
