"""Write a file beside its target and move it into place once it is complete."""

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
OPEN_FILE = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
"""Names of files that are already open. They are written to directly; opening them again would empty them."""
SHOWN = 80
"""Characters of the target's name used in the temporary name; file systems limit the length of names."""
ABANDONED = 60.0
"""Seconds after which a temporary file that no process holds was left behind by a killed one."""


def save_text(path: str | PathLike[str], text: str) -> None:
    """Write a text to a file as UTF-8; see `saving`.

    Raises:
        OSError: If it cannot be written; a file that was there stays as it was.
    """
    with saving(path) as file:
        file.write(text.encode())


@contextmanager
def saving(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a file to write to, which replaces the target once it is complete.

    A new file is written beside the target, brought to the disk, and then moved over the target. If anything fails in
    between, the existing file stays as it was, and no temporary file is left; one that a killed process left behind is
    removed by the next that writes the same target. Links are followed, and the mode of an existing file is kept.
    Devices, pipes and standard output, `"-"`, are written to directly.

    Args:
        path: The target.

    Raises:
        OSError: If it cannot be written.
    """
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
    try:
        opened = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    except OSError as error:  # the user knows the target, not the temporary name
        raise type(error)(error.errno, error.strerror, os.fspath(target)) from None
    try:
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
        partial.unlink(missing_ok=True)


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
