"""A zip archive is read if it holds one file."""

from __future__ import annotations

import zipfile
from typing import IO, Any

ZIP = b"PK\x03\x04"
ENCRYPTED = 1
"""The bit of `ZipInfo.flag_bits` that says so."""
SHOWN = 3


def member_of(file: Any, name: str) -> zipfile.ZipInfo:
    """Return the one file of an archive, without what macOS adds.

    Raises:
        ValueError: If the archive is damaged, or holds no file, several, or one that needs a password.
    """
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


def open_member(file: Any, name: str) -> IO[bytes]:
    """Open the one file of an archive.

    Raises:
        ValueError: If there is not exactly one, or it is compressed in a way that Python does not know.
    """
    member = member_of(file, name)
    try:
        return zipfile.ZipFile(file).open(member)
    except NotImplementedError as error:
        raise ValueError(f"{name} cannot be unpacked ({error}); unpack it: unzip FILE") from error
