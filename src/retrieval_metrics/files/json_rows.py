"""Read JSONL files in which each line holds one document of a query."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.files.encodings import format_line_location
from retrieval_metrics.files.json_parsing import iterate_numbered_lines, read_jsonl_objects
from retrieval_metrics.files.tabular_rows import FileTable
from retrieval_metrics.inputs.column_detection import find_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import polars as pl

    from retrieval_metrics.files.opening import Reader
    from retrieval_metrics.inputs.column_detection import Columns, Requirement

# The roles whose columns hold ids.
ID_ROLES = ("query", "document", "group")


def read_document_rows(
    source: Reader, roles: Mapping[str, Requirement], columns: Columns | None, allow: Collection[str]
) -> FileTable:
    """Return a JSONL file with one line per document as a table."""

    def locate_row(row: int) -> str:
        number, line = next(islice(iterate_numbered_lines(source), row, None))
        return format_line_location(source.name, number, line)

    _, _, first_row = next(read_jsonl_objects(source, allow))
    column_by_role = find_columns(list(first_row), roles, columns, source.name, allow)
    frame = _read_plain_rows(source, first_row, column_by_role)
    if frame is not None:
        return FileTable(frame, frame.columns, locate_row)
    values_by_column: dict[str, list[Any]] = {column: [] for column in column_by_role.values()}
    kind_by_column: dict[str, str] = {}
    for number, line, row in read_jsonl_objects(source, allow):
        for column, values in values_by_column.items():
            if column not in row:
                where = format_line_location(source.name, number, line)
                raise ValueError(f"{where}: there is no {column!r}, which the lines before it have")
            kind = _find_kind(row[column])
            if kind and kind_by_column.setdefault(column, kind) != kind:
                where = format_line_location(source.name, number, line)
                raise ValueError(
                    f"{where}: {column!r} is {kind}, and {kind_by_column[column]} in a line before it; write all alike"
                )
            values.append(row[column])
    return FileTable(values_by_column, list(values_by_column), locate_row)


def _find_kind(value: Any) -> str:
    """Return what kind of value a column holds, of which it can hold only one; empty for null."""
    if value is None:
        return ""
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, int, float)):
        return "a number"
    return f"a {type(value).__name__}"


def _read_plain_rows(
    source: Reader, first_row: dict[str, Any], column_by_role: Mapping[str, str]
) -> pl.DataFrame | None:
    """Return the rows as a frame if each has the keys of the first row, each once; None if any row is irregular."""
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
