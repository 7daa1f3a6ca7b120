"""The ways in which files are compressed: what each begins with, how it is read and how it is written."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.checks import require
from retrieval_metrics.journal import saving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from os import PathLike

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
    """Return the one file of a zip archive, without what macOS adds.

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
    return require(ZSTD_PACKAGE, "a .zst file")


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
        lambda file, _: lzma.LZMAFile(file, "w"),  # noqa: SIM115  (closed by `saving_compressed`)
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
def saving_compressed(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a file that is saved once it is complete, compressed if its extension says so."""
    compression = COMPRESSIONS.get(Path(path).suffix)
    with saving(path) as file:
        if compression is None:
            yield file
        else:
            with compression.writing(file, Path(path)) as text:
                yield text
