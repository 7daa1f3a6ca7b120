"""Read the texts of a corpus: those of a folder of text files, or those of one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from retrieval_metrics._internal.warn import warn
from retrieval_metrics.files.text_files import read_corpus
from retrieval_metrics.reports.numbers import format_count

if TYPE_CHECKING:
    from os import PathLike

    from retrieval_metrics.files.opening import Limits


# The extensions of files that are read as text.
TEXT_FILE_EXTENSIONS = frozenset({".adoc", ".markdown", ".md", ".mdx", ".org", ".rst", ".text", ".tex", ".txt"})


# How many files that were not read a message names.
MAX_SHOWN_FILES = 3


def read_texts(path: str | PathLike[str], limits: Limits | None = None) -> dict[str, str]:
    """Return the texts of a folder of text files by path, or those of a file that `read_corpus` reads by id."""
    folder_or_file = Path(path)
    if folder_or_file.is_dir():
        return read_folder(folder_or_file)
    return read_corpus(folder_or_file, limits=limits)


def read_folder(folder: Path) -> dict[str, str]:
    """Return the text of each text file in a folder and its subfolders, by path within the folder."""
    texts: dict[str, str] = {}
    other_files = []
    for path in sorted(folder.rglob("*")):
        relative_path = path.relative_to(folder)
        if any(part.startswith(".") for part in relative_path.parts) or not path.is_file():
            continue
        if path.suffix.lower() not in TEXT_FILE_EXTENSIONS:
            other_files.append(relative_path.as_posix())
            continue
        try:
            texts[relative_path.as_posix()] = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8: {error}; convert it, or give the texts by ID") from error
    extensions = ", ".join(sorted(TEXT_FILE_EXTENSIONS))
    if not texts:
        note = ""
        if other_files:
            note = f"; it has {format_count(len(other_files), 'other')}, such as {other_files[0]}"
        raise ValueError(f"{folder} has no text file ({extensions}){note}")
    if other_files:
        names = ", ".join(other_files[:MAX_SHOWN_FILES])
        if len(other_files) > MAX_SHOWN_FILES:
            names += " ..."
        warn(
            f"{folder}: {format_count(len(other_files), 'file')} not read, because the extension is not one of "
            f"{extensions}: {names}",
        )
    return texts
