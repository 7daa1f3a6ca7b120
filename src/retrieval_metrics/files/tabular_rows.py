"""Runs and judgments in CSV, TSV, Parquet, Arrow, JSON and JSONL."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from functools import partial
from io import BytesIO, StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from retrieval_metrics._internal.validation import format_argument, import_optional, python_or_cli_text
from retrieval_metrics.files.encodings import (
    LONE_CARRIAGE_RETURN,
    decode_line,
    format_line_location,
    require_closed_quotes,
    require_line_feeds,
    require_utf8,
)
from retrieval_metrics.files.formats import DOCUMENT_LIST_KEYS, FORMATS
from retrieval_metrics.files.opening import Reader
from retrieval_metrics.inputs.batch import find_first_duplicate
from retrieval_metrics.inputs.column_detection import DOCUMENT_COLUMNS, QUERY_COLUMNS, find_columns
from retrieval_metrics.inputs.json_codec import FORBIDDEN_KEY
from retrieval_metrics.inputs.ranking_checks import as_list, require_finite_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from os import PathLike

    import polars as pl

    from retrieval_metrics._internal.validation import IntArray
    from retrieval_metrics.files.formats import Format
    from retrieval_metrics.inputs.batch import Batch
    from retrieval_metrics.inputs.column_detection import Columns, Role
    from retrieval_metrics.inputs.qrels import Qrels


JSON_HINT = "write .json or .jsonl"


def qrels_to_frame(truth: Qrels, kind: str) -> pl.DataFrame:
    """Return flat or grouped judgments as the rows of a file."""
    import polars as pl

    order = np.argsort(truth.member_group, kind="stable")
    at = truth.member_document[order]
    query = pl.Series(list(truth.queries)).gather(truth.document_query[at])
    document = pl.Series(list(truth.documents)).gather(at)
    grade = pl.Series(truth.member_grade[order])
    if not (truth.member_grade % 1).any():
        grade = grade.cast(pl.Int64)
    names = ("query-id", "corpus-id", "score") if kind == "tsv" else ("query", "document", "grade")
    frame = pl.DataFrame(dict(zip(names, (query, document, grade), strict=True)))
    if not truth.is_flat:
        frame.insert_column(1, pl.Series("group", truth.member_group[order]))
    return frame


def run_to_trec_frame(batch: Batch, tag: str, path: str | PathLike[str]) -> pl.DataFrame:
    """Return rankings as the lines of a TREC file, in the order of trec_eval."""
    import polars as pl

    sizes = _sizes(batch, "TREC")
    if batch.scores is None and (row := find_first_duplicate(batch)) is not None:
        _refuse_repeated(batch.documents[row])
    number = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(number)) - batch.bounds[number]
    scores = sizes[number] - place if batch.scores is None else batch.scores
    frame = pl.DataFrame({"number": number, "document": batch.documents.cast(pl.String), "score": scores})
    if batch.scores is not None:
        frame = frame.sort("number", "score", "document", descending=[False, True, True])
    queries = pl.Series(batch.queries, dtype=None).cast(pl.String).gather(number)
    require_queries(batch.queries, path)
    if (blank := frame["document"].str.contains(r"\s") | (frame["document"] == "")).any():
        require_single_word(frame["document"].filter(blank).to_list(), "an id", path)
    return pl.DataFrame(
        {
            "query": queries,
            "Q0": pl.repeat("Q0", len(frame), eager=True),
            "document": frame["document"],
            "rank": place + 1,
            "score": frame["score"],
            "tag": pl.repeat(tag, len(frame), eager=True),
        }
    )


def format_run_lines(run: Mapping[Any, Any], tag: str, path: str | PathLike[str]) -> Iterator[str]:
    """Yield the lines of a TREC file of rankings in memory, in the order of trec_eval, without polars."""
    require_single_word([tag], "the tag", path)
    require_queries(run, path)
    for query, ranking in run.items():
        if isinstance(ranking, Mapping):
            require_finite_scores(ranking, query)
            scored = sorted(((float(score), str(document)) for document, score in ranking.items()), reverse=True)
        else:
            listed = as_list(ranking, query)
            if len(set(listed)) < len(listed):
                _refuse_repeated(next(each for each in listed if listed.count(each) > 1))
            scored = [(len(listed) - at, str(document)) for at, document in enumerate(listed)]
        if not scored:
            _refuse_empty_ranking("TREC", query)
        require_single_word([document for _, document in scored], "an id", path)
        for rank, (score, document) in enumerate(scored, start=1):
            yield f"{query} Q0 {document} {rank} {score!r} {tag}\n"


def format_qrels_lines(truth: Qrels, path: str | PathLike[str]) -> Iterator[str]:
    """Yield the lines of a TREC file of flat judgments, without polars."""
    require_queries(truth.queries, path)
    require_single_word(truth.documents, "an id", path)
    whole = not (truth.document_grade % 1).any()
    for query, judged in truth.as_dict().items():
        for document, grade in judged.items():
            yield f"{query} 0 {document} {int(grade) if whole else grade!r}\n"


def run_to_frame(batch: Batch, kind: str) -> pl.DataFrame:
    """Return rankings as the rows of a table."""
    import polars as pl

    sizes = _sizes(batch, kind)
    number = np.repeat(np.arange(len(sizes)), sizes)
    columns: dict[str, Any] = {"query": pl.Series(batch.queries).gather(number), "document": batch.documents}
    if batch.scores is None:
        columns["rank"] = np.arange(len(number)) - batch.bounds[number] + 1
    else:
        columns["score"] = batch.scores
    return pl.DataFrame(columns)


def _sizes(batch: Batch, kind: str) -> IntArray:
    """Return how many documents each ranking has."""
    sizes = np.diff(batch.bounds)
    if not sizes.all():
        _refuse_empty_ranking(kind, batch.queries[int(sizes.argmin())])
    return sizes


def _refuse_repeated(document: Any) -> NoReturn:
    raise ValueError(f"a TREC file cannot hold a document twice in a query, such as {document!r}")


def _refuse_empty_ranking(kind: str, query: Any) -> NoReturn:
    raise ValueError(f"a {kind} file cannot hold an empty ranking, such as that of query {query!r}; {JSON_HINT}")


def require_single_word(words: Iterable[Any], what: str, path: str | PathLike[str]) -> None:
    """Raise if something is not one word."""
    for word in words:
        if len(str(word).split()) != 1 or str(word).split()[0] != str(word):
            raise ValueError(
                f"{what} in {path} must be one word, because blanks separate the columns of a TREC file, got {word!r}"
            )


def require_queries(queries: Iterable[Any], path: str | PathLike[str]) -> None:
    """Raise if the id of a query is not one word, or would make a comment of its line in a TREC file."""
    for query in queries:
        require_single_word([query], "an id", path)
        if str(query).startswith("#"):
            raise ValueError(
                f"the id of a query in {path} must not begin with #, because such a line is a comment in a TREC file, "
                f"got {query!r}"
            )


def require_text_id(frame: pl.DataFrame, kind: str, path: str | PathLike[str]) -> None:
    """Raise if a text file of this format cannot hold an id."""
    import polars as pl

    form = FORMATS[kind]
    if not (form.separator and form.has_names):
        return
    for column in frame.iter_columns():
        if column.dtype != pl.String:
            continue
        if (column == "").any():
            raise ValueError(f"an id in {path} must not be empty")
        if form.quote is None and (wrong := column.str.contains(r"[\t\r\n]")).any():
            raise ValueError(f"an id in {path} must not contain a tab or a line break, got {column.filter(wrong)[0]!r}")


# JSON and JSONL: a mapping of queries in one file, or one row or one query per line.


class _RepeatedKey(dict[Any, Any]):
    """An object in which a key appears twice; the first counts."""

    key: str


class _ObjectReader:
    """Makes the objects of a JSON text, and knows whether any of them repeats a key."""

    repeat = False

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        plain = dict(pairs)
        if len(plain) == len(pairs):
            return plain
        self.repeat = True
        repeated, seen = _RepeatedKey(), set()
        for key, value in pairs:
            repeated.setdefault(key, value)
            if key in seen:
                repeated.key = key
            seen.add(key)
        return repeated


def parsed(text: str | bytes, where: Callable[[str], str], allow: Collection[str]) -> Any:
    """Return the value of a JSON text."""
    objects_of = _ObjectReader()
    try:
        value = json.loads(text, object_pairs_hook=objects_of)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and "\r" in error.doc[: error.pos]:  # which can only stand between values
            raise ValueError(where(LONE_CARRIAGE_RETURN)) from error
        raise ValueError(
            where(f"this is not JSON: {error.msg} at line {error.lineno}, column {error.colno}")
        ) from error
    except RecursionError:
        raise ValueError(where("it is nested too deeply to hold judgments or a run")) from None
    except ValueError as error:  # a number with too many digits for Python
        raise ValueError(where(f"this cannot be read as JSON: {error}")) from error
    if objects_of.repeat and "repeated" not in allow and (found := _repeated(value, "")):
        raise ValueError(
            where(
                f"{found}; remove one of them, or pass {format_argument('allow', 'repeated')}, with which the first counts"
            )
        )
    return value


def _repeated(value: Any, inside: str) -> str:
    if isinstance(value, _RepeatedKey):
        return f"key {value.key!r} appears twice{inside}"
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return next((found for key, each in children if (found := _repeated(each, f" in {key!r}"))), "")


def read_jsonl_objects(source: Reader, allow: Collection[str] = ()) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Return the objects of a JSONL file, each with the number and the text of its line."""
    for number, line in numbered_lines(source):
        row = parsed(line, partial("{}: {}".format, format_line_location(source.name, number, line)), allow)
        if not isinstance(row, dict):
            raise ValueError(  # noqa: TRY004  (anything wrong in a file is a ValueError)
                f"{format_line_location(source.name, number, line)}: a line must be an object, such as "
                "{'query': ..., 'document': ...}"
            )
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

    def where(said: str) -> str:
        hint = (
            f"; if it has one object per line, pass {format_argument('format', 'jsonl')}" if "not JSON" in said else ""
        )
        return f"{source.name} cannot be read as JSON: {said}{hint}"

    content = parsed(source.whole_text().decode(), where, allow)
    if isinstance(content, list) and content and all(isinstance(one, dict) for one in content):
        return content
    if not isinstance(content, dict):
        inside = f" of {type(content[0]).__name__}" if content and isinstance(content, list) else ""
        raise ValueError(  # noqa: TRY004  (anything wrong in a file is a ValueError)
            f"{source.name} must hold one object that maps each query to its documents, or an array of objects such as "
            f"{{'query': ..., 'document': ...}}, got {type(content).__name__}{inside}"
        )
    return content


def as_lines(content: list[dict[str, Any]], source: Reader) -> Reader:
    """Return the objects of a JSON array as the lines of a JSONL file."""
    text = "\n".join(json.dumps(one, ensure_ascii=False) for one in content)
    name = f"{source.name}, a JSON array read as lines"
    return Reader(name, BytesIO(text.encode()), source.limits, is_regular=False)


def per_query(source: Reader, allow: Collection[str] = (), columns: Columns | None = None) -> dict[str, Any] | None:
    """Return the documents of each query of a JSONL file with one line per query; None if it has one per document."""
    found: dict[Any, Any] = {}
    for number, line, row in read_jsonl_objects(source, allow):
        many = [key for key in DOCUMENT_LIST_KEYS if isinstance(row.get(key), (list, dict))]
        where = format_line_location(source.name, number, line)
        if not many:
            document = (columns or {}).get("document")
            if not found and any(key.strip().lower() in DOCUMENT_COLUMNS or key == document for key in row):
                return None
            texts = python_or_cli_text("; to read texts, use read_queries or read_corpus") if "text" in row else ""
            raise ValueError(f"{where}: there is no list of documents ({', '.join(DOCUMENT_LIST_KEYS)}){texts}")
        # Beside the id of a query, "query" is its text, as in the predictions of sentence-transformers.
        names = [key for key in QUERY_COLUMNS if key in row and key != "query"] or QUERY_COLUMNS
        query = row[_only(row, names, where)]
        if not isinstance(query, (str, int)) or isinstance(query, bool):
            raise ValueError(  # noqa: TRY004  (anything wrong in a file is a ValueError)
                f"{where}: the id of the query must be text or a whole number, got {query!r}"
            )
        if query in found:
            raise ValueError(f"{where}: query {query!r} appears twice")
        documents = row[_only(row, many, where)]
        if isinstance(row.get(FORBIDDEN_KEY), list):
            documents = {"relevant": documents, FORBIDDEN_KEY: row[FORBIDDEN_KEY]}
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
    """Return a JSONL file with one line per document as a table."""

    def line_of(row: int) -> str:
        number, text = next(islice(numbered_lines(source), row, None))
        return format_line_location(source.name, number, text)

    *_, first = next(read_jsonl_objects(source, allow))
    roles = find_columns(list(first), wanted, columns, source.name, allow)
    if (plain := _plain_rows(source, first, roles)) is not None:
        return FileTable(plain, plain.columns, line_of)
    found: dict[str, list[Any]] = {key: [] for key in roles.values()}
    for number, line, row in read_jsonl_objects(source, allow):
        for key, column in found.items():
            if key not in row:
                raise ValueError(
                    f"{format_line_location(source.name, number, line)}: there is no {key!r}, which the lines before it have"
                )
            column.append(row[key])
    return FileTable(found, list(found), line_of)


def _regular_lines(piece: bytes, keys: int, quotes: int) -> int | None:
    """Return the number of lines, if they have so many keys and quotes on average; None if any is blank or escaped."""
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
    """Return the columns of rows that all have the keys of the first, each once; None if anything is irregular."""
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


# Parquet files of retrieved items and judged pieces: a row per query, with what a line of JSONL holds as text.

CONTENT = "documents_json"
"""The column that holds the text; only this package uses the name, so no other table is mistaken for one."""


def entries_to_frame(entries: Iterable[tuple[Any, Any]]) -> pl.DataFrame:
    """Return queries and what JSON holds for each, one row per query."""
    import_optional("polars", "writing a table")
    import polars as pl

    rows = [(query, json.dumps(entry, ensure_ascii=False, allow_nan=False)) for query, entry in entries]
    return pl.DataFrame({"query": [query for query, _ in rows], CONTENT: [text for _, text in rows]})


def read_entries_frame(table: FileTable, name: str, allow: Collection[str]) -> dict[Any, Any] | None:
    """Return what such a table holds for each query; None if it has a row per document."""
    if CONTENT not in table.names:
        return None
    found: dict[Any, Any] = {}
    for number, (query, text) in enumerate(table.frame.select("query", CONTENT).collect().iter_rows(), start=1):
        where = f"{name}, row {number}, query {query!r}"
        if query in found:
            raise ValueError(f"{where}: the query appears twice")
        found[query] = parsed(text or "", f"{where}: {{}}".format, allow)
    return found


# Files with named columns: CSV, TSV, Parquet and Arrow.


STREAM = b"\xff" * 4
"""What the streaming format of Arrow begins with."""


class FileTable(NamedTuple):
    """A table from a file.

    Attributes:
        frame: Its rows, as a lazy frame or as columns by name; every column of CSV and TSV is text.
        names: The names of its columns as in the file; polars would number repeated ones.
        line: Returns the name of a row's line for errors, counted from 0 without the header; None if there are none.
    """

    frame: Any
    names: list[str]
    line: Callable[[int], str] | None


def read_table(source: Reader, kind: str) -> FileTable:
    """Read a file with a header."""
    import_optional("polars", "reading a table")
    import polars as pl

    if kind == "parquet":
        # From bytes rather than the path, in which polars would read [1] as a pattern.
        content = BytesIO(source.content())
        names = list(pl.read_parquet_schema(content))
        content.seek(0)
        return FileTable(pl.scan_parquet(content), names, None)
    if kind == "arrow":
        stream = source.beginning(4) == STREAM
        frame = (pl.read_ipc_stream if stream else pl.read_ipc)(BytesIO(source.content()))
        return FileTable(frame.lazy(), frame.columns, None)
    lines = _TextTable(b"".join(source.pieces()), source, FORMATS[kind])
    return FileTable(lines.frame().lazy(), lines.header, lines.named)


class _TextTable:
    """The text of a file with a header."""

    def __init__(self, text: bytes, source: Reader, form: Format) -> None:
        require_utf8(text, source.name)
        if not text.strip():
            raise ValueError(f"{source.name} is empty")
        if form.quote is not None:
            require_closed_quotes(text, form.separator, source.name)
        # polars drops a carriage return before a separator, which ends the line for the csv module.
        require_line_feeds(text, source.name, quoted=form.quote is not None)
        self._text, self._source, self._form = text, source, form
        self.header = next(self._lines())[1]

    def frame(self) -> pl.DataFrame:
        """Return the rows."""
        import polars as pl

        try:
            frame = pl.read_csv(
                self._text, separator=self._form.separator, quote_char=self._form.quote, infer_schema=False
            )
        except pl.exceptions.PolarsError:
            self._refuse_uneven_line()
            raise
        if frame.to_series(-1).null_count():  # the last columns of a line are missing, or just its last value
            self._refuse_uneven_line()
        empty = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
        if not empty.any():
            return frame
        for number, line in self._lines():
            if not any(line):
                raise ValueError(f"{self._where(number, line)}: the line has only separators")
        return frame.filter(~empty)  # an empty line is not a row

    def named(self, row: int) -> str:
        """Return the name of a row's line, for errors."""
        found = next(islice(self._lines(), row + 1, None), None)
        return f"{self._source.name}, row {row + 1}" if found is None else self._where(*found)

    def _where(self, number: int, line: list[str]) -> str:
        return format_line_location(self._source.name, number, self._form.separator.join(line))

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the values of every line that is not empty, including the header, with the number of its first line."""
        lines = csv.reader(
            StringIO(self._text.decode(), newline=""),
            delimiter=self._form.separator,
            quoting=csv.QUOTE_MINIMAL if self._form.quote else csv.QUOTE_NONE,
        )
        usual = csv.field_size_limit(max(csv.field_size_limit(), len(self._text)))
        number = 1
        try:
            for line in lines:
                if line:
                    yield number, line
                number = lines.line_num + 1
        except csv.Error as error:
            raise ValueError(f"{self._source.name}, line {lines.line_num}: {error}") from error
        finally:
            csv.field_size_limit(usual)

    def _refuse_uneven_line(self) -> None:
        for number, line in self._lines():
            if len(line) != len(self.header):
                raise ValueError(
                    f"{self._where(number, line)}: {len(line)} columns where the header has {len(self.header)}: "
                    f"{' '.join(self.header)}"
                )
