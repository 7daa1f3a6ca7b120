"""Write a file, compressed if its extension is that of a compressed file."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from retrieval_metrics.checks import require
from retrieval_metrics.files.opening import ZSTD_PACKAGE
from retrieval_metrics.saving import saving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike


@contextmanager
def saving_compressed(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a file that is saved once it is complete, compressed if its extension says so."""
    suffix = Path(path).suffix
    zstd = require(ZSTD_PACKAGE, "writing a .zst file") if suffix == ".zst" else None
    with saving(path) as file:
        if suffix == ".gz":
            import gzip

            # Without name and time, so that equal data give equal files.
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as text:
                yield text  # type: ignore[misc]  # it has all of IO[bytes] that is used
        elif suffix == ".bz2":
            import bz2

            with bz2.BZ2File(file, "w") as text:
                yield text
        elif suffix == ".xz":
            import lzma

            with lzma.LZMAFile(file, "w") as text:
                yield text
        elif suffix == ".zip":
            import zipfile

            # `ZipInfo` has a fixed time, so that equal data give equal files here too.
            member = zipfile.ZipInfo(Path(path).stem)
            member.compress_type = zipfile.ZIP_DEFLATED
            with zipfile.ZipFile(file, "w") as archive, archive.open(member, "w", force_zip64=True) as text:
                yield text
        elif zstd is not None:
            with zstd.ZstdFile(file, "w", options={zstd.CompressionParameter.checksum_flag: 1}) as text:
                yield text
        else:
            yield file
