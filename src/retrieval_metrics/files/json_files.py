"""JSON and JSONL: a mapping of queries in one file, or a row or a query per line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from retrieval_metrics.files.opening import at_line, numbered_lines, opened
from retrieval_metrics.inputs.columns import DOCUMENT, GRADE, QUERY, RANK, SCORE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

MANY = ("documents", "ranking", "relevant", "relevant_docs", "doc_ids")
"""The keys under which a line has all documents of its query."""


def objects(path: str | PathLike[str]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Return the objects of a JSONL file, each after the number and the text of its line.

    Raises:
        ValueError: If a line is not a JSON object, naming it.
    """
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"{at_line(path, number, line)}: this is not JSON: {error.msg} at column {error.colno}"
            ) from error
        if not isinstance(row, dict):
            raise ValueError(  # noqa: TRY004  (anything wrong in a file is a ValueError)
                f"{at_line(path, number, line)}: a line must be an object, such as {{'query': ..., 'document': ...}}"
            )
        yield number, line, row


def whole(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the one object of a JSON file.

    Raises:
        ValueError: If the file is not a JSON object.
    """
    with opened(path) as (text, _):
        try:
            content = json.load(text)
        except ValueError as error:
            raise ValueError(
                f"{path} cannot be read as JSON: {error}; if it has an object per line, say format='jsonl'"
            ) from error
    if not isinstance(content, dict):
        raise ValueError(  # noqa: TRY004  (anything wrong in a file is a ValueError)
            f"{path} must hold one object that maps each query to its documents, got {type(content).__name__}"
        )
    return content


def per_query(path: str | PathLike[str]) -> dict[str, Any] | None:
    """Return the documents of each query of a JSONL file with a line per query; None if it has a line per document.

    Raises:
        ValueError: If a line has no documents, or a query appears twice.
    """
    found: dict[str, Any] = {}
    for number, line, row in objects(path):
        many = [key for key in MANY if isinstance(row.get(key), (list, dict))]
        if not many:
            if not found and any(key in row for key in DOCUMENT):
                return None
            texts = "; texts are read by read_queries and read_corpus" if "text" in row else ""
            raise ValueError(f"{at_line(path, number, line)}: there is no list of documents ({', '.join(MANY)}){texts}")
        query = _only(row, QUERY, path, number, line)
        if query in found:
            raise ValueError(f"{at_line(path, number, line)}: query {query!r} appears twice")
        found[query] = row[many[0]]
    if not found:
        raise ValueError(f"{path} is empty")
    return found


def _only(row: Mapping[str, Any], keys: tuple[str, ...], path: str | PathLike[str], number: int, line: str) -> Any:
    present = [key for key in keys if key in row]
    if len(present) != 1:
        said = f"both {present[0]!r} and {present[1]!r}" if present else f"none of {', '.join(keys)}"
        raise ValueError(f"{at_line(path, number, line)}: there is {said}")
    return row[present[0]]


def rows(path: str | PathLike[str]) -> dict[str, list[Any]]:
    """Return a JSONL file with a line per document as columns, named as in its first line.

    Raises:
        ValueError: If a line lacks a key that the first line has.
    """
    usual = {*QUERY, *DOCUMENT, *SCORE, *RANK, *GRADE}
    columns: dict[str, list[Any]] = {}
    for number, line, row in objects(path):
        if not columns:
            columns = {key: [] for key in row if key.strip().lower() in usual}
        for key, column in columns.items():
            if key not in row:
                raise ValueError(f"{at_line(path, number, line)}: there is no {key!r}, which the lines before it have")
            column.append(row[key])
    return columns
