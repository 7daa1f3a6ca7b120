"""Read the texts of queries and documents from files."""

from __future__ import annotations

from math import isnan
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from retrieval_metrics.files.encodings import format_line_location, name_file_in_errors
from retrieval_metrics.files.formats import find_format_by_name
from retrieval_metrics.files.json_parsing import iterate_numbered_lines, read_json_file, read_jsonl_objects
from retrieval_metrics.files.opening import open_source
from retrieval_metrics.files.tabular_rows import read_table
from retrieval_metrics.inputs.judgment_rows import number_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics.files.opening import Limits, Reader, Source


ID_COLUMNS = ("_id", "id", "query_id", "query-id", "qid", "doc_id", "docid", "docno", "corpus-id", "corpus_id")
TEXT_COLUMNS = ("text", "query", "question", "contents", "body")
# The columns of a TSV file without a header.
DEFAULT_COLUMNS = ["id", "text"]
# The formats with names of columns or keys; anything else is read as JSONL or TSV.
FORMATS_BY_NAME = {"arrow", "csv", "json", "jsonl", "parquet"}


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
    return _read_texts(path, limits, "query")


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
    return _read_texts(path, limits, "document")


class _Row(NamedTuple):
    """A row of a file with its location, for messages."""

    where: str
    values: dict[str, Any]


def _read_texts(path: Source, limits: Limits | None, kind: Literal["query", "document"]) -> dict[str, str]:
    texts: dict[str, str] = {}
    with open_source(path, limits) as source, name_file_in_errors(source.name):
        for where, values in _read_rows(source):
            id_column = _find_only_column(ID_COLUMNS, values, where, "id")
            text = values[_find_only_column(TEXT_COLUMNS, values, where, "text")]
            if not isinstance(text, str):
                raise ValueError(f"{where}: the text must be a string, got {text!r}")
            text_id = _read_text_id(values[id_column], where)
            if text_id in texts:
                raise ValueError(f"{where}: {kind} {text_id!r} appears twice")
            title = values.get("title")
            has_title = kind == "document" and title and not _is_nan(title)
            texts[text_id] = f"{title} {text}" if has_title else text
        if not texts:
            raise ValueError(f"{source.name} is empty")
    return texts


def _read_text_id(value: Any, where: str) -> str:
    """Return an id as text; raise unless it is text or a whole number."""
    if value is None or _is_nan(value) or (isinstance(value, str) and not value.strip()):
        raise ValueError(f"{where}: there is no ID")
    if isinstance(value, bool) or not isinstance(value, (str, Integral)):
        raise ValueError(f"{where}: the ID must be text or a whole number, got {value!r:.80} ({type(value).__name__})")
    return str(value)


def _is_nan(value: Any) -> bool:
    """Return whether a value is NaN, which pandas writes where nothing is."""
    return isinstance(value, float) and isnan(value)


def _read_rows(source: Reader) -> Iterator[_Row]:
    """Yield every row with an id and a text."""
    format_name = find_format_by_name(source.file_name)
    if format_name not in FORMATS_BY_NAME:
        is_json = source.beginning().lstrip().startswith(b"{")
        format_name = "jsonl" if is_json else "tsv"
    if format_name == "jsonl":
        for number, line, values in read_jsonl_objects(source):
            yield _Row(format_line_location(source.name, number, line), values)
    elif format_name == "json":
        content = read_json_file(source)
        if isinstance(content, list):
            for number, values in enumerate(content, start=1):
                yield _Row(f"{source.name}, record {number}", values)
            return
        for query, text in content.items():
            yield _Row(f"{source.name}, query {query!r}", {"id": query, "text": text})
    elif format_name == "tsv":
        yield from _read_tab_separated(source)
    else:
        table = read_table(source, format_name)
        for number, values in number_rows(table.frame.collect().iter_rows(named=True), table.row_numbers):
            yield _Row(f"{source.name}, row {number}: {values}", values)


def _read_tab_separated(source: Reader) -> Iterator[_Row]:
    header: list[str] | None = None
    is_first = True
    for number, line in iterate_numbered_lines(source):
        fields = line.split("\t")
        if is_first:
            is_first = False
            if any(name.strip().lower() in ID_COLUMNS for name in fields):
                header = [name.strip() for name in fields]
                continue
        where = format_line_location(source.name, number, line)
        columns = header or DEFAULT_COLUMNS
        if len(fields) != len(columns):
            if header:
                raise ValueError(f"{where}: {len(fields)} columns where the header has {len(columns)}")
            raise ValueError(
                f"{where}: {len(fields)} columns where there should be {len(columns)}: the ID and the text, separated "
                "by a tab"
            )
        yield _Row(where, dict(zip(columns, fields, strict=True)))


def _find_only_column(names: Sequence[str], values: dict[str, Any], where: str, content: str) -> str:
    present = [column for column in values if column.strip().lower() in names]
    if not present:
        raise ValueError(f"{where}: no {content}; expected a column or key named {', '.join(names)}")
    if len(present) > 1:
        raise ValueError(f"{where}: both {present[0]!r} and {present[1]!r} are present; keep one of them")
    return present[0]
