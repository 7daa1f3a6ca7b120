"""JSON and JSONL: a mapping of queries in one file, or one row or one query per line."""

from __future__ import annotations

import json
from functools import partial
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.files.csv_checks import LONE_CARRIAGE_RETURN
from retrieval_metrics.files.encodings import decode_line, format_line_location
from retrieval_metrics.files.formats import DOCUMENT_LIST_KEYS
from retrieval_metrics.files.opening import Reader
from retrieval_metrics.files.tabular_rows import FileTable
from retrieval_metrics.inputs.column_detection import DOCUMENT_COLUMNS, QUERY_COLUMNS, find_columns
from retrieval_metrics.inputs.json_codec import FORBIDDEN_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    import polars as pl

    from retrieval_metrics.inputs.column_detection import Columns, Requirement

# The roles whose columns hold ids.
ID_ROLES = ("query", "document", "group")


class _RepeatedKey(dict[Any, Any]):
    """An object in which a key appears twice; the first counts."""

    key: str


class _ObjectReader:
    """Makes the objects of a JSON text, and knows whether any of them repeats a key."""

    has_repeated_key = False

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        plain = dict(pairs)
        if len(plain) == len(pairs):
            return plain
        self.has_repeated_key = True
        repeated = _RepeatedKey()
        for key, value in pairs:
            if key in repeated:
                repeated.key = key
            else:
                repeated[key] = value
        return repeated


def parse_json(text: str | bytes, locate: Callable[[str], str], allow: Collection[str]) -> Any:
    """Return the value of a JSON text.

    Args:
        text: The text.
        locate: Returns a message with the place of the text.
        allow: `"repeated"` allows repeated keys, of which the first counts.
    """
    read_object = _ObjectReader()
    try:
        value = json.loads(text, object_pairs_hook=read_object)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and "\r" in error.doc[: error.pos]:  # which can only stand between values
            raise ValueError(locate(LONE_CARRIAGE_RETURN)) from error
        raise ValueError(
            locate(f"this is not JSON: {error.msg} at line {error.lineno}, column {error.colno}")
        ) from error
    except RecursionError:
        raise ValueError(locate("it is nested too deeply to hold judgments or a run")) from None
    except ValueError as error:  # a number with too many digits for Python
        raise ValueError(locate(f"this cannot be read as JSON: {error}")) from error
    if read_object.has_repeated_key and "repeated" not in allow:
        note = _repeated_key_note(value, "")
        if note:
            raise ValueError(
                locate(f"{note}; remove one of them, or pass allow='repeated', with which the first counts")
            )
    return value


def _repeated_key_note(value: Any, inside: str) -> str:
    """Return which key appears twice and where, or nothing."""
    if isinstance(value, _RepeatedKey):
        return f"key {value.key!r} appears twice{inside}"
    children: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        children = list(value.items())
    elif isinstance(value, list):
        children = list(enumerate(value))
    for key, child in children:
        note = _repeated_key_note(child, f" in {key!r}")
        if note:
            return note
    return ""


def read_jsonl_objects(source: Reader, allow: Collection[str] = ()) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Return the objects of a JSONL file, each with the number and the text of its line."""
    for number, line in numbered_lines(source):
        where = format_line_location(source.name, number, line)
        row = parse_json(line, partial("{}: {}".format, where), allow)
        if not isinstance(row, dict):
            raise ValueError(f"{where}: a line must be an object, such as {{'query': ..., 'document': ...}}")
        yield number, line, row


def numbered_lines(source: Reader) -> Iterator[tuple[int, str]]:
    """Return the lines of a text that are not blank, numbered from 1."""
    number = 0
    for piece in source.pieces():
        for line in BytesIO(piece):  # one by one, because often only the first is asked for
            number += 1
            if line.strip():
                yield number, decode_line(line.removesuffix(b"\n").removesuffix(b"\r"), source.name, number)


def read_json_file(source: Reader, allow: Collection[str] = ()) -> dict[str, Any] | list[dict[str, Any]]:
    """Return the one object of a JSON file, or its array of objects."""

    def locate(message: str) -> str:
        hint = ""
        if "not JSON" in message:
            hint = "; if it has one object per line, pass format='jsonl'"
        return f"{source.name} cannot be read as JSON: {message}{hint}"

    content = parse_json(source.read_text().decode(), locate, allow)
    if isinstance(content, dict):
        return content
    element_note = ""
    if isinstance(content, list) and content:
        if all(isinstance(element, dict) for element in content):
            return content
        element_note = f" of {type(content[0]).__name__}"
    raise ValueError(
        f"{source.name} must hold one object that maps each query to its documents, or an array of objects such as "
        f"{{'query': ..., 'document': ...}}, got {type(content).__name__}{element_note}"
    )


def as_lines(content: list[dict[str, Any]], source: Reader) -> Reader:
    """Return the objects of a JSON array as the lines of a JSONL file."""
    text = "\n".join(json.dumps(element, ensure_ascii=False) for element in content)
    name = f"{source.name}, a JSON array read as lines"
    return Reader(name, BytesIO(text.encode()), source.limits, is_regular=False)


# Lines with one query each.


def read_queries_per_line(
    source: Reader, allow: Collection[str] = (), columns: Columns | None = None
) -> dict[str, Any] | None:
    """Return the documents of each query of a JSONL file with one line per query; None if it has one per document."""
    documents_by_query: dict[Any, Any] = {}
    for number, line, row in read_jsonl_objects(source, allow):
        list_keys = [key for key in DOCUMENT_LIST_KEYS if isinstance(row.get(key), (list, dict))]
        where = format_line_location(source.name, number, line)
        if not list_keys:
            if not documents_by_query and _has_document(row, columns):
                return None
            hint = "; to read texts, use read_queries or read_corpus" if "text" in row else ""
            raise ValueError(f"{where}: there is no list of documents ({', '.join(DOCUMENT_LIST_KEYS)}){hint}")
        query = _read_query(row, where)
        if query in documents_by_query:
            raise ValueError(f"{where}: query {query!r} appears twice")
        documents_by_query[query] = _read_documents(row, list_keys, where)
    if not documents_by_query:
        raise ValueError(f"{source.name} is empty")
    return documents_by_query


def _has_document(row: Mapping[str, Any], columns: Columns | None) -> bool:
    """Return whether a row holds one document."""
    document_column = (columns or {}).get("document")
    return any(key.strip().lower() in DOCUMENT_COLUMNS or key == document_column for key in row)


def _read_query(row: Mapping[str, Any], where: str) -> str | int:
    # Beside the id of a query, "query" is its text, as in the predictions of sentence-transformers.
    id_keys = [key for key in QUERY_COLUMNS if key in row and key != "query"]
    query = row[_find_only_key(row, id_keys or QUERY_COLUMNS, where)]
    if not isinstance(query, (str, int)) or isinstance(query, bool):
        raise ValueError(f"{where}: the id of the query must be text or a whole number, got {query!r}")
    return query


def _read_documents(row: Mapping[str, Any], list_keys: Collection[str], where: str) -> Any:
    documents = row[_find_only_key(row, list_keys, where)]
    if isinstance(row.get(FORBIDDEN_KEY), list):
        return {"relevant": documents, FORBIDDEN_KEY: row[FORBIDDEN_KEY]}
    if isinstance(documents, list) and isinstance(row.get("scores"), list):
        return {"documents": documents, "scores": row["scores"]}
    return documents


def _find_only_key(row: Mapping[str, Any], keys: Collection[str], where: str) -> str:
    present = [key for key in keys if key in row]
    if not present:
        raise ValueError(f"{where}: there is none of {', '.join(keys)}")
    if len(present) > 1:
        raise ValueError(f"{where}: there is both {present[0]!r} and {present[1]!r}")
    return present[0]


# Lines with one document each.


def read_document_rows(
    source: Reader, roles: Mapping[str, Requirement], columns: Columns | None, allow: Collection[str]
) -> FileTable:
    """Return a JSONL file with one line per document as a table."""

    def locate_row(row: int) -> str:
        number, line = next(islice(numbered_lines(source), row, None))
        return format_line_location(source.name, number, line)

    _, _, first_row = next(read_jsonl_objects(source, allow))
    column_by_role = find_columns(list(first_row), roles, columns, source.name, allow)
    frame = _read_plain_rows(source, first_row, column_by_role)
    if frame is not None:
        return FileTable(frame, frame.columns, locate_row)
    values_by_column: dict[str, list[Any]] = {column: [] for column in column_by_role.values()}
    for number, line, row in read_jsonl_objects(source, allow):
        for column, values in values_by_column.items():
            if column not in row:
                where = format_line_location(source.name, number, line)
                raise ValueError(f"{where}: there is no {column!r}, which the lines before it have")
            values.append(row[column])
    return FileTable(values_by_column, list(values_by_column), locate_row)


def _read_plain_rows(
    source: Reader, first_row: dict[str, Any], column_by_role: Mapping[str, str]
) -> pl.DataFrame | None:
    """Return the columns of rows that all have the keys of the first, each once; None if anything is irregular."""
    import polars as pl

    if not {type(value) for value in first_row.values()} <= {str, int, float}:
        return None
    id_columns = {column_by_role.get(role) for role in ID_ROLES}
    schema: dict[str, Any] = {}
    n_quotes = 2 * len(first_row)
    for key, value in first_row.items():
        if isinstance(value, str):
            schema[key] = pl.String
            n_quotes += 2
        elif key in id_columns:
            schema[key] = pl.Int64
        else:
            schema[key] = pl.Float64
    frames = []
    for piece in source.pieces():
        n_lines = _count_regular_lines(piece, len(first_row), n_quotes)
        if n_lines is None:
            return None
        try:
            frame = pl.read_ndjson(piece, schema=schema)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None
        if len(frame) != n_lines or any(column.null_count() for column in frame):
            return None
        frames.append(frame)
    return pl.concat(frames)


def _count_regular_lines(piece: bytes, n_keys: int, n_quotes: int) -> int | None:
    """Return the number of lines, if they have so many keys and quotes on average; None if any is blank or escaped."""
    if b"\\" in piece or b"\r" in piece:
        return None
    characters = np.frombuffer(piece, np.uint8)
    is_newline = characters == ord("\n")
    n_lines = int(np.count_nonzero(is_newline))
    before_colons = characters[np.flatnonzero(characters == ord(":")) - 1]
    has_blank_lines = (is_newline[:-1] & is_newline[1:]).any()
    has_blanks_before_colons = (before_colons <= ord(" ")).any()
    if has_blank_lines or has_blanks_before_colons:
        return None
    n_key_ends = np.count_nonzero(before_colons == ord('"'))
    if n_key_ends != n_lines * n_keys:
        return None
    if np.count_nonzero(characters == ord('"')) != n_lines * n_quotes:
        return None
    return n_lines
