"""The texts of queries and documents: BEIR's JSONL, and tables of id and text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.files.encodings import at_line
from retrieval_metrics.files.formats import format_by_name
from retrieval_metrics.files.json_files import numbered_lines, objects, whole
from retrieval_metrics.files.named_columns import collected, read_table
from retrieval_metrics.files.opening import opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics.files.limits import Limits
    from retrieval_metrics.files.opening import Reader, Source

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
    with opened(path, limits) as source:
        return _texts(source)


def _texts(source: Reader) -> dict[str, str]:
    texts: dict[str, str] = {}
    for where, query, text in _entries(source):
        if query in texts:
            raise ValueError(f"{where}: query {query!r} appears twice")
        texts[query] = text
    if not texts:
        raise ValueError(f"{source.name} is empty")
    return texts


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
    with opened(path, limits) as source:
        if _kind(source) != "jsonl":
            return _texts(source)
        texts: dict[str, str] = {}
        for number, line, row in objects(source):
            where = at_line(source.name, number, line)
            document, text = _id_and_text(row, where)
            if document in texts:
                raise ValueError(f"{where}: document {document!r} appears twice")
            texts[document] = f"{row['title']} {text}" if row.get("title") else text
        return texts


def _kind(source: Reader) -> str:
    known = format_by_name(source.file_name)
    if known in {"csv", "json", "jsonl", "parquet"}:
        return known
    if source.beginning().lstrip().startswith(b"{"):
        return "jsonl"
    return "tsv"


def _entries(source: Reader) -> Iterator[tuple[str, str, str]]:
    kind = _kind(source)
    if kind == "jsonl":
        for number, line, row in objects(source):
            where = at_line(source.name, number, line)
            yield where, *_id_and_text(row, where)
    elif kind == "json":
        for query, text in whole(source).items():
            yield f"{source.name}, query {query!r}", query, _text(text, f"{source.name}, query {query!r}")
    elif kind == "tsv":
        yield from _tab_separated(source)
    else:
        for number, row in enumerate(collected(read_table(source, kind), source).iter_rows(named=True), start=1):
            where = f"{source.name}, row {number}: {row}"
            yield where, *_id_and_text(row, where)


def _tab_separated(source: Reader) -> Iterator[tuple[str, str, str]]:
    header: list[str] | None = None
    for count, (number, line) in enumerate(numbered_lines(source)):
        fields = line.split("\t")
        where = at_line(source.name, number, line)
        if count == 0 and any(name.strip().lower() in IDS for name in fields):
            header = [name.strip() for name in fields]
        elif header is not None:
            if len(fields) != len(header):
                raise ValueError(f"{where}: {len(fields)} columns where the header has {len(header)}")
            yield where, *_id_and_text(dict(zip(header, fields, strict=True)), where)
        elif len(fields) != 2:  # noqa: PLR2004  (id and text)
            raise ValueError(
                f"{where}: {len(fields)} columns where there should be 2: the id and the text, separated by a tab"
            )
        else:
            yield where, fields[0], _text(fields[1], where)


def _id_and_text(row: dict[str, Any], where: str) -> tuple[str, str]:
    key, text = _one_of(IDS, row, where), _one_of(TEXTS, row, where)
    if row[key] is None or row[key] == "":
        raise ValueError(f"{where}: there is no id")
    return str(row[key]), _text(row[text], where)


def _one_of(names: Sequence[str], row: dict[str, Any], where: str) -> str:
    present = [name for name in row if name.strip().lower() in names]
    if len(present) != 1:
        said = f"both {present[0]!r} and {present[1]!r}" if present else f"none of {', '.join(names)}"
        raise ValueError(f"{where}: there is {said}")
    return present[0]


def _text(text: Any, where: str) -> str:
    if not isinstance(text, str):
        raise ValueError(f"{where}: the text must be a string, got {text!r}")  # noqa: TRY004  (the file is wrong, not the call)
    return text
