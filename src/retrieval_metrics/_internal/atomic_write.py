"""Write files atomically: into a temporary file beside the target, which replaces the target once it is complete."""

from __future__ import annotations

import errno
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

# The names of files that are already open. They are written to directly, because opening them again would empty them.
OPEN_FILE_PATH = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
STANDARD_FILE_NUMBERS = {"/dev/stdout": 1, "/dev/stderr": 2}

# File systems limit the length of names.
MAX_TARGET_CHARACTERS_IN_NAME = 80

# Errors of a write, which knows only the number of its file: a full disk, a full quota, a size limit, a broken device.
UNNAMED_WRITE_ERRORS = {errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}

# The random bytes in the name of a temporary file, written as two hexadecimal digits each.
TEMPORARY_NAME_BYTES = 8

# A temporary file that is at least this old and that no process has locked was left behind by a killed process.
ABANDONED_AFTER_SECONDS = 60.0


def save_text(path: str | PathLike[str], text: str) -> None:
    """Write a text to a file as UTF-8; see `open_atomically`."""
    with open_atomically(path) as file:
        file.write(text.encode())


@contextmanager
def open_atomically(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a file to write to, which replaces the target once it is complete.

    Raises:
        OSError: If it cannot be written, as on a full disk; it names the target.
    """
    if not os.fspath(path):
        raise FileNotFoundError(errno.ENOENT, "the name of the file is empty", "")
    try:
        yield from _open_target(path)
    except OSError as error:
        if error.filename is None and error.errno in UNNAMED_WRITE_ERRORS:
            error.filename = os.fspath(path)
        raise


def _open_target(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    if os.fspath(path) == STANDARD_OUTPUT:
        yield from _open_standard_output()
        return
    name = os.fspath(path)
    file_number = _open_file_number(name)
    if file_number is not None:
        sys.stdout.flush()
        with os.fdopen(os.dup(file_number), "wb") as file:
            yield file
        return
    existing = _get_status(path)
    if existing is not None and not stat.S_ISREG(existing.st_mode):
        with Path(path).open("wb") as file:  # a folder raises here
            yield file
        return
    target = Path(os.path.realpath(path))
    if existing is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "this file may not be written", name)
    yield from _write_beside(target, existing)


def _open_file_number(name: str) -> int | None:
    """Return the number of the open file with this name; None if the name is that of any other file."""
    path = OPEN_FILE_PATH.fullmatch(name)
    if path is not None:
        return int(path[1])
    return STANDARD_FILE_NUMBERS.get(name)


def _get_status(path: str | PathLike[str]) -> os.stat_result | None:
    """Return the status of the file at a path, following links; None if there is no file."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _open_standard_output() -> Iterator[IO[bytes]]:
    if sys.stdout is None:
        raise ValueError("standard output is closed, so nothing can be written to '-'")
    sys.stdout.flush()
    output: Any = sys.stdout
    yield output.buffer
    output.buffer.flush()


def _write_beside(target: Path, existing: os.stat_result | None) -> Iterator[IO[bytes]]:
    """Yield a temporary file beside the target, then move it into place; an exception removes it."""
    prefix = f".{target.name[:MAX_TARGET_CHARACTERS_IN_NAME]}."
    temporary_path = target.with_name(prefix + token_hex(TEMPORARY_NAME_BYTES))
    # Until the file has the mode of the existing one, nobody else may read it.
    mode = 0o666 if existing is None else 0o600
    try:  # a signal that becomes an exception may come as soon as the file is there
        try:
            descriptor = os.open(
                temporary_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode
            )
        except OSError as error:  # the user knows the target, not the temporary name
            raise type(error)(error.errno, error.strerror, os.fspath(target)) from None
        with os.fdopen(descriptor, "wb") as file:
            _try_to_lock(descriptor)  # so that no other process takes it for an abandoned file
            _remove_abandoned(target.parent, prefix)
            yield file
            file.flush()
            if existing is not None:
                _copy_owner_and_mode(existing, descriptor)
            # Without it, a power failure could leave the new name on the disk and not yet the content.
            os.fsync(descriptor)
        temporary_path.replace(target)
    finally:
        with suppress(OSError):  # the file is gone if it replaced the target, or if it could not be created
            temporary_path.unlink()


def _try_to_lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; return whether no other process holds it."""
    if sys.platform == "win32":
        return True  # Windows refuses to remove a file that is open, so no lock is needed
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held by another process, or the file system knows no locks
        return False
    return True


def _remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove the temporary files of one target whose writers were killed."""
    temporary_name = re.compile(re.escape(prefix) + f"[0-9a-f]{{{2 * TEMPORARY_NAME_BYTES}}}")
    with suppress(OSError), os.scandir(folder) as entries:  # another process may be removing the same ones
        for entry in entries:
            if not temporary_name.fullmatch(entry.name):
                continue
            age = time.time() - entry.stat(follow_symlinks=False).st_mtime
            if age > ABANDONED_AFTER_SECONDS:
                temporary_path = Path(entry.path)
                with temporary_path.open("rb") as file:
                    is_abandoned = _try_to_lock(file.fileno())
                if is_abandoned:
                    temporary_path.unlink()


def _copy_owner_and_mode(existing: os.stat_result, descriptor: int) -> None:
    """Give an open file the owner and the mode of the file that it replaces."""
    status = os.fstat(descriptor)
    if (status.st_uid, status.st_gid) != (existing.st_uid, existing.st_gid):
        with suppress(PermissionError, AttributeError):  # only the superuser can change the owner; Windows has none
            os.fchown(descriptor, existing.st_uid, existing.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(existing.st_mode))
