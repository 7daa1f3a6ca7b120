"""The texts of queries and documents, in files and in folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from retrieval_metrics._internal.validation import warn
from retrieval_metrics.files.encodings import format_line_location, name_file_in_errors
from retrieval_metrics.files.formats import find_format_by_name
from retrieval_metrics.files.opening import open_source
from retrieval_metrics.files.tabular_rows import numbered_lines, read_json_file, read_jsonl_objects, read_table
from retrieval_metrics.reports.numbers import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from retrieval_metrics.files.opening import Limits, Reader, Source


IDS = ("_id", "id", "query_id", "query-id", "qid", "doc_id", "docid", "docno", "corpus-id", "corpus_id")
TEXTS = ("text", "query", "question", "contents", "body")


def read_queries(path: Source, *, limits: Limits | None = None) -> dict[str, str]:
    r"""Read the texts of queries.

    Args:
        path: A path, `"-"` for standard input, or an open file: JSONL (such as BEIR's `queries.jsonl`:
            `{"_id": "q1", "text": "..."}`), JSON (`{"q1": "..."}`), CSV or Parquet with a column of ids and one of
            texts, or TSV with such a header or none, as in MS MARCO's `queries.tsv`, where the id comes before the tab.
            It can be compressed (`.gz`, `.zst`, `.bz2`, `.xz`, or a `.zip` with one file).
        limits: How well a file may be compressed, and how long a line may be; see `Limits`.

    Returns:
        The text of each query by its id, in the order of the file.

    Raises:
        ValueError: If an id is missing or appears twice, or a text is missing; the message names the file and the line.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "queries.jsonl"
        >>> _ = path.write_text('{"_id": "q1", "text": "what is a closure?"}\n')
        >>> read_queries(path)
        {'q1': 'what is a closure?'}
    """
    return _texts(path, limits, "query")


def read_corpus(path: Source, *, limits: Limits | None = None) -> dict[str, str]:
    r"""Read the texts of documents, each after its title.

    Args:
        path: JSONL (BEIR's `corpus.jsonl`: `{"_id": "d1", "title": "...", "text": "..."}`), or any file that
            `read_queries` reads.
        limits: How well a file may be compressed, and how long a line may be; see `Limits`.

    Returns:
        The text of each document by its id, with the title and a blank in front of it if there is a title.

    Raises:
        ValueError: As `read_queries`.
    """
    return _texts(path, limits, "document")


def _texts(path: Source, limits: Limits | None, what: Literal["query", "document"]) -> dict[str, str]:
    texts: dict[str, str] = {}
    with open_source(path, limits) as source, name_file_in_errors(source.name):
        for where, row in _rows(source):
            key, text = _one_of(IDS, row, where), row[_one_of(TEXTS, row, where)]
            if row[key] is None or row[key] == "":
                raise ValueError(f"{where}: there is no id")
            if not isinstance(text, str):
                raise ValueError(f"{where}: the text must be a string, got {text!r}")  # noqa: TRY004  (the file is wrong)
            if (id_ := str(row[key])) in texts:
                raise ValueError(f"{where}: {what} {id_!r} appears twice")
            texts[id_] = f"{row['title']} {text}" if what == "document" and row.get("title") else text
        if not texts:
            raise ValueError(f"{source.name} is empty")
    return texts


def _rows(source: Reader) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every row with an id and a text, and where it is."""
    kind = find_format_by_name(source.file_name)
    if kind not in {"arrow", "csv", "json", "jsonl", "parquet"}:
        kind = "jsonl" if source.beginning().lstrip().startswith(b"{") else "tsv"
    if kind == "jsonl":
        yield from (
            (format_line_location(source.name, number, line), row) for number, line, row in read_jsonl_objects(source)
        )
    elif kind == "json":
        content = read_json_file(source)
        if isinstance(content, list):
            yield from ((f"{source.name}, record {number}", row) for number, row in enumerate(content, start=1))
            return
        for query, text in content.items():
            yield f"{source.name}, query {query!r}", {"id": query, "text": text}
    elif kind == "tsv":
        yield from _tab_separated(source)
    else:
        for number, row in enumerate(read_table(source, kind).frame.collect().iter_rows(named=True), start=1):
            yield f"{source.name}, row {number}: {row}", row


def _tab_separated(source: Reader) -> Iterator[tuple[str, dict[str, Any]]]:
    header: list[str] | None = None
    for at, (number, line) in enumerate(numbered_lines(source)):
        fields = line.split("\t")
        where = format_line_location(source.name, number, line)
        if at == 0 and any(name.strip().lower() in IDS for name in fields):
            header = [name.strip() for name in fields]
            continue
        columns = header or ["id", "text"]
        if len(fields) != len(columns):
            should = "where the header has" if header else "where there should be"
            what = "" if header else ": the id and the text, separated by a tab"
            raise ValueError(f"{where}: {len(fields)} columns {should} {len(columns)}{what}")
        yield where, dict(zip(columns, fields, strict=True))


def _one_of(names: Sequence[str], row: dict[str, Any], where: str) -> str:
    present = [name for name in row if name.strip().lower() in names]
    if len(present) != 1:
        said = f"both {present[0]!r} and {present[1]!r}" if present else f"none of {', '.join(names)}"
        raise ValueError(f"{where}: there is {said}")
    return present[0]


# The texts of a folder of files, or of one file that holds a corpus.

TEXT_FILES = frozenset({".adoc", ".markdown", ".md", ".mdx", ".org", ".rst", ".text", ".tex", ".txt"})
"""The extensions of files that are read as text."""


def read_texts(path: str | PathLike[str], limits: Limits | None = None) -> dict[str, str]:
    """Return the texts of a folder of text files by path, or those of a file that `read_corpus` reads by id."""
    place = Path(path)
    return read_folder(place) if place.is_dir() else read_corpus(place, limits=limits)


def read_folder(folder: Path) -> dict[str, str]:
    """Return the text of each text file in a folder and its subfolders, by path within the folder."""
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
        said = f"; it has {format_count(len(others), 'other')}, such as {others[0]}" if others else ""
        raise ValueError(f"{folder} has no text file ({known}){said}")
    if others:
        warn(
            f"{folder}: {format_count(len(others), 'file')} not read, because the extension is not one of {known}: "
            f"{', '.join(others[:3])}{' ...' if len(others) > 3 else ''}",
        )
    return texts
