"""The texts of a folder of files, or of one file that holds a corpus."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval_metrics.checks import RetrievalWarning
from retrieval_metrics.files.text_files import read_corpus
from retrieval_metrics.presentation.numbers import count

if TYPE_CHECKING:
    from os import PathLike

    from retrieval_metrics.files.limits import Limits

TEXT_FILES = frozenset({".adoc", ".markdown", ".md", ".mdx", ".org", ".rst", ".text", ".tex", ".txt"})
"""The extensions of files that are read as text."""


def texts_at(path: str | PathLike[str], limits: Limits | None = None) -> dict[str, str]:
    """Return the texts of a folder of text files by path, or those of a file that `read_corpus` reads by id.

    Raises:
        ValueError: If it holds no text, or something else than texts.
        OSError: If it cannot be read.

    Warns:
        RetrievalWarning: If the folder has files that are not read.
    """
    place = Path(path)
    return read_folder(place) if place.is_dir() else read_corpus(place, limits=limits)


def read_folder(folder: Path) -> dict[str, str]:
    """Return the text of each text file in a folder and its subfolders, by path within the folder.

    Hidden files and folders are left out.

    Raises:
        ValueError: If there is no text file, or one is not UTF-8.
        OSError: If a file cannot be read.

    Warns:
        RetrievalWarning: If there are other files, which are not read.
    """
    texts: dict[str, str] = {}
    others = []
    for path in sorted(folder.rglob("*")):
        within = path.relative_to(folder)
        if any(part.startswith(".") for part in within.parts) or not path.is_file():
            continue
        if path.suffix.lower() not in TEXT_FILES:
            others.append(within.as_posix())
            continue
        try:
            texts[within.as_posix()] = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8: {error}; convert it, or give the texts by id") from error
    known = ", ".join(sorted(TEXT_FILES))
    if not texts:
        said = f"; it has {count(len(others), 'other')}, such as {others[0]}" if others else ""
        raise ValueError(f"{folder} has no text file ({known}){said}")
    if others:
        warnings.warn(
            f"{folder}: {count(len(others), 'file')} not read, because the extension is not one of {known}: "
            f"{', '.join(others[:3])}{' ...' if len(others) > 3 else ''}",  # noqa: PLR2004  (so many are named)
            RetrievalWarning,
            stacklevel=4,
        )
    return texts
