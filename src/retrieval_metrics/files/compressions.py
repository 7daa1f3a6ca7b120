"""Read and write compressed files, and recognise each compression by the first bytes of a file."""

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

from retrieval_metrics._internal.atomic_write import open_atomically
from retrieval_metrics._internal.optional_packages import import_optional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from os import PathLike


ZSTD_PACKAGE = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
# The first bytes of a text that LZ4 compressed.
LZ4_MAGIC = b"\x04\x22\x4d\x18"
# The number of files of an archive that a message names.
MAX_SHOWN_FILES = 3
# A file that every Excel workbook holds.
EXCEL_MEMBER = "xl/workbook.xml"
# The bit of `ZipInfo.flag_bits` of a file that is encrypted.
ENCRYPTED_FLAG = 1


class Compression(NamedTuple):
    """A way to compress a file.

    Attributes:
        magic: The first bytes of such a file.
        open_reader: Takes an open compressed file and its name, which messages need; returns a file that decompresses
            it.
        open_writer: Takes an open file and its path, from which an archive names its member; returns a file that
            compresses into it.
        damage_errors: Returns the exceptions that reading raises if the file is damaged or cut short.
    """

    magic: bytes
    open_reader: Callable[[Any, str], Any]
    open_writer: Callable[[Any, Path], AbstractContextManager[Any]]
    damage_errors: Callable[[], tuple[type[Exception], ...]]


def find_member(file: Any, name: str) -> zipfile.ZipInfo:
    """Return the only file of a zip archive, ignoring folders and the files that macOS adds."""
    try:
        members = zipfile.ZipFile(file).infolist()
    except (zipfile.BadZipFile, ValueError) as error:
        raise ValueError(f"{name} is damaged or cut short: it cannot be read as a zip archive ({error})") from error
    files = [member for member in members if not _is_folder_or_macos_file(member)]
    if any(file.filename == EXCEL_MEMBER for file in files):
        raise ValueError(
            f"{name} is an Excel workbook; save it as CSV UTF-8, or pass pandas.read_excel(path, dtype=str)"
        )
    if len(files) != 1:
        raise ValueError(
            f"{name} is a zip archive with {_describe_files(files)}, and is read if it holds exactly one; unpack it: "
            "unzip FILE"
        )
    if files[0].flag_bits & ENCRYPTED_FLAG:
        raise ValueError(f"{name} needs a password; unpack it: unzip FILE")
    return files[0]


def _is_folder_or_macos_file(member: zipfile.ZipInfo) -> bool:
    return member.is_dir() or member.filename.startswith("__MACOSX/")


def _describe_files(files: list[zipfile.ZipInfo]) -> str:
    if not files:
        return "no file"
    names = ", ".join(file.filename for file in files[:MAX_SHOWN_FILES])
    if len(files) > MAX_SHOWN_FILES:
        names += ", ..."
    return f"{len(files)} files, {names}"


def _open_member(file: Any, name: str) -> IO[bytes]:
    member = find_member(file, name)
    try:
        return zipfile.ZipFile(file).open(member)
    except NotImplementedError as error:  # a compression that Python does not know
        raise ValueError(f"{name} cannot be unpacked ({error}); unpack it: unzip FILE") from error


@contextmanager
def _create_member(file: Any, path: Path) -> Iterator[Any]:
    # `ZipInfo` has a fixed time, so that equal data give equal files.
    member = zipfile.ZipInfo(path.stem)
    member.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(file, "w") as archive, archive.open(member, "w", force_zip64=True) as text:
        yield text


def _create_gzip(file: Any, _: Path) -> Any:
    # Without name and time, so that equal data give equal files.
    return gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)


def _import_zstd() -> Any:
    return import_optional(ZSTD_PACKAGE, "a .zst file")


def _create_zstd(file: Any, _: Path) -> Any:
    zstd = _import_zstd()
    return zstd.ZstdFile(file, "w", options={zstd.CompressionParameter.checksum_flag: 1})


def _open_lz4(file: Any, mode: str) -> Any:
    return import_optional("lz4.frame", "a .lz4 file").LZ4FrameFile(file, mode)


# How a zip archive without files begins.
EMPTY_ARCHIVE_MAGIC = b"PK\x05\x06"
# The compressions, by the extension of their files.
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
        _create_gzip,
        lambda: (EOFError, zlib.error, gzip.BadGzipFile),
    ),
    ".lz4": Compression(
        LZ4_MAGIC,
        lambda file, _: _open_lz4(file, "rb"),
        lambda file, _: _open_lz4(file, "wb"),
        lambda: (EOFError, RuntimeError),
    ),
    ".xz": Compression(
        b"\xfd7zXZ\x00",
        lambda file, _: lzma.LZMAFile(file),  # noqa: SIM115  (closed with the source)
        lambda file, _: lzma.LZMAFile(file, "w"),  # noqa: SIM115  (closed by `open_for_saving`)
        lambda: (EOFError, lzma.LZMAError),
    ),
    ".zip": Compression(
        b"PK\x03\x04",
        _open_member,
        _create_member,
        lambda: (EOFError, zlib.error, zipfile.BadZipFile),
    ),
    ".zst": Compression(
        b"\x28\xb5\x2f\xfd",
        lambda file, _: _import_zstd().ZstdFile(file),
        _create_zstd,
        lambda: (EOFError, _import_zstd().ZstdError),
    ),
}
MAX_MAGIC_LENGTH = max(len(compression.magic) for compression in COMPRESSIONS.values())


def find_compression(start: bytes) -> Compression | None:
    """Return how a file is compressed, by its beginning; None if it is not."""
    for compression in COMPRESSIONS.values():
        if start.startswith(compression.magic):
            return compression
    return COMPRESSIONS[".zip"] if start.startswith(EMPTY_ARCHIVE_MAGIC) else None


@contextmanager
def open_for_saving(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a file that replaces `path` once it is complete, compressed if the extension of `path` says so."""
    compression = COMPRESSIONS.get(Path(path).suffix)
    with open_atomically(path) as file:
        if compression is None:
            yield file
        else:
            with compression.open_writer(file, Path(path)) as text:
                yield text
