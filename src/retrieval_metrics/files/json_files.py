"""JSON and JSONL: a mapping of queries in one file, or one row or one query per line."""

from __future__ import annotations

import json
from functools import partial
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.checks import argument, in_python
from retrieval_metrics.files.encodings import RETURN_ALONE, at_line, decoded
from retrieval_metrics.files.formats import MANY
from retrieval_metrics.files.named_columns import FileTable
from retrieval_metrics.inputs.columns import DOCUMENT, QUERY, find_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    import polars as pl

    from retrieval_metrics.files.opening import Reader
    from retrieval_metrics.inputs.columns import Columns, Role


class _Repeated(dict[Any, Any]):
    """An object in which a key appears twice; the first counts."""

    key: str


class _Objects:
    """Makes the objects of a JSON text, and knows whether any of them repeats a key."""

    repeat = False

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        plain = dict(pairs)
        if len(plain) == len(pairs):
            return plain
        self.repeat = True
        repeated, seen = _Repeated(), set()
        for key, value in pairs:
            repeated.setdefault(key, value)
            if key in seen:
                repeated.key = key
            seen.add(key)
        return repeated


def parsed(text: str | bytes, where: Callable[[str], str], allow: Collection[str]) -> Any:
    """Return the value of a JSON text.

    Args:
        text: The text.
        where: Returns a message with the name of the place it is about.
        allow: With `"repeated"`, the first of repeated keys counts.

    Raises:
        ValueError: If it is not JSON, is nested too deeply, or repeats a key.
    """
    objects_of = _Objects()
    try:
        value = json.loads(text, object_pairs_hook=objects_of)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and "\r" in error.doc[: error.pos]:  # which can only stand between values
            raise ValueError(where(RETURN_ALONE)) from error
        raise ValueError(
            where(f"this is not JSON: {error.msg} at line {error.lineno}, column {error.colno}")
        ) from error
    except RecursionError:
        raise ValueError(where("it is nested too deeply to hold judgments or a run")) from None
    except ValueError as error:  # a number with too many digits for Python
        raise ValueError(where(f"this cannot be read as JSON: {error}")) from error
    if objects_of.repeat and "repeated" not in allow and (found := _repeated(value, "")):
        raise ValueError(
            where(f"{found}; remove one of them, or pass {argument('allow', 'repeated')}, with which the first counts")
        )
    return value


def _repeated(value: Any, inside: str) -> str:
    if isinstance(value, _Repeated):
        return f"key {value.key!r} appears twice{inside}"
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return next((found for key, each in children if (found := _repeated(each, f" in {key!r}"))), "")


def objects(source: Reader, allow: Collection[str] = ()) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Return the objects of a JSONL file, each with the number and the text of its line.

    Raises:
        ValueError: If a line is not a JSON object, naming it.
    """
    for number, line in numbered_lines(source):
        row = parsed(line, partial("{}: {}".format, at_line(source.name, number, line)), allow)
        if not isinstance(row, dict):
            raise ValueError(  # noqa: TRY004  (anything wrong in a file is a ValueError)
                f"{at_line(source.name, number, line)}: a line must be an object, such as "
                "{'query': ..., 'document': ...}"
            )
        yield number, line, row


def numbered_lines(source: Reader) -> Iterator[tuple[int, str]]:
    """Return the lines of a text that are not blank, numbered from 1.

    Raises:
        ValueError: If a line is not UTF-8.
    """
    number = 0
    for piece in source.pieces():
        for line in BytesIO(piece):  # one by one, because often only the first is asked for
            number += 1
            if line.strip():
                yield number, decoded(line.removesuffix(b"\n").removesuffix(b"\r"), source.name, number)


def whole(source: Reader, allow: Collection[str] = ()) -> dict[str, Any]:
    """Return the one object of a JSON file.

    Raises:
        ValueError: If the file is not a JSON object.
    """

    def where(said: str) -> str:
        hint = f"; if it has one object per line, pass {argument('format', 'jsonl')}" if "not JSON" in said else ""
        return f"{source.name} cannot be read as JSON: {said}{hint}"

    content = parsed(source.whole_text().decode(), where, allow)
    if not isinstance(content, dict):
        raise ValueError(  # noqa: TRY004  (anything wrong in a file is a ValueError)
            f"{source.name} must hold one object that maps each query to its documents, got {type(content).__name__}"
        )
    return content


def per_query(source: Reader, allow: Collection[str] = (), columns: Columns | None = None) -> dict[str, Any] | None:
    """Return the documents of each query of a JSONL file with one line per query; None if it has one per document.

    Raises:
        ValueError: If a line has no documents, or a query appears twice.
    """
    found: dict[Any, Any] = {}
    for number, line, row in objects(source, allow):
        many = [key for key in MANY if isinstance(row.get(key), (list, dict))]
        where = at_line(source.name, number, line)
        if not many:
            document = (columns or {}).get("document")
            if not found and any(key.strip().lower() in DOCUMENT or key == document for key in row):
                return None
            texts = in_python("; to read texts, use read_queries or read_corpus") if "text" in row else ""
            raise ValueError(f"{where}: there is no list of documents ({', '.join(MANY)}){texts}")
        # Beside the id of a query, "query" is its text, as in the predictions of sentence-transformers.
        names = [key for key in QUERY if key in row and key != "query"] or QUERY
        query = row[_only(row, names, where)]
        if not isinstance(query, (str, int)) or isinstance(query, bool):
            raise ValueError(  # noqa: TRY004  (anything wrong in a file is a ValueError)
                f"{where}: the id of the query must be text or a whole number, got {query!r}"
            )
        if query in found:
            raise ValueError(f"{where}: query {query!r} appears twice")
        documents = row[_only(row, many, where)]
        if isinstance(documents, list) and isinstance(row.get("scores"), list):
            documents = {"documents": documents, "scores": row["scores"]}
        found[query] = documents
    if not found:
        raise ValueError(f"{source.name} is empty")
    return found


def _only(row: Mapping[str, Any], keys: Collection[str], where: str) -> str:
    present = [key for key in keys if key in row]
    if len(present) != 1:
        said = f"both {present[0]!r} and {present[1]!r}" if present else f"none of {', '.join(keys)}"
        raise ValueError(f"{where}: there is {said}")
    return present[0]


def rows(source: Reader, wanted: Mapping[str, Role], columns: Columns | None, allow: Collection[str]) -> FileTable:
    """Return a JSONL file with one line per document as a table.

    Raises:
        ValueError: If a line lacks a needed key that the first line has.
    """

    def line_of(row: int) -> str:
        number, text = next(islice(numbered_lines(source), row, None))
        return at_line(source.name, number, text)

    *_, first = next(objects(source, allow))
    roles = find_columns(list(first), wanted, columns, source.name, allow)
    if (plain := _plain_rows(source, first, roles)) is not None:
        return FileTable(plain, plain.columns, line_of)
    found: dict[str, list[Any]] = {key: [] for key in roles.values()}
    for number, line, row in objects(source, allow):
        for key, column in found.items():
            if key not in row:
                raise ValueError(
                    f"{at_line(source.name, number, line)}: there is no {key!r}, which the lines before it have"
                )
            column.append(row[key])
    return FileTable(found, list(found), line_of)


def _regular_lines(piece: bytes, keys: int, quotes: int) -> int | None:
    """Return the number of lines, if they have so many keys and quotes on average; None if any is blank or escaped.

    A key with a blank before its colon would not be counted, so it is irregular too. The bytes are compared with numpy,
    because `bytes.count` takes longer for two bytes than polars for all.
    """
    if b"\\" in piece or b"\r" in piece:
        return None
    each = np.frombuffer(piece, np.uint8)
    quote, newline = each == ord('"'), each == ord("\n")
    n = int(np.count_nonzero(newline))
    before_colons = each[np.flatnonzero(each == ord(":")) - 1]
    ends_of_keys = int(np.count_nonzero(before_colons == ord('"')))
    blank = bool((newline[:-1] & newline[1:]).any() or (before_colons <= ord(" ")).any())
    regular = ends_of_keys == n * keys and np.count_nonzero(quote) == n * quotes and not blank
    return n if regular else None


def _plain_rows(source: Reader, row: dict[str, Any], roles: Mapping[str, str]) -> pl.DataFrame | None:
    """Return the columns of rows that all have the keys of the first, each once; None if anything is irregular.

    polars is ten times as fast as the json module, but takes the last of repeated keys, makes text of numbers beside
    text, and a blank of half a surrogate pair. Where nothing is escaped, a quote before a colon can only end a key; so
    no line repeats a key if there are as many keys as in lines like the first, and none lacks one. No number stands for
    a text if there are as many quotes.
    """
    import polars as pl

    if not {type(value) for value in row.values()} <= {str, int, float}:
        return None
    ids = {roles.get(role) for role in ("query", "document", "group")}
    types = {
        key: pl.String if isinstance(value, str) else pl.Int64 if key in ids else pl.Float64
        for key, value in row.items()
    }
    quotes = 2 * len(row) + 2 * sum(isinstance(value, str) for value in row.values())
    frames = []
    for piece in source.pieces():
        if (n := _regular_lines(piece, len(row), quotes)) is None:
            return None
        try:
            frame = pl.read_ndjson(piece, schema=types)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None
        if len(frame) != n or any(column.null_count() for column in frame):
            return None
        frames.append(frame)
    return pl.concat(frames)
