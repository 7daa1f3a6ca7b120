"""Parse the lines of TREC files, with fast paths for regular lines and clear errors for wrong ones."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from retrieval_metrics.files.encodings import decode_line, format_line_location
from retrieval_metrics.files.formats import blank_system_description
from retrieval_metrics.files.opening import open_source
from retrieval_metrics.inputs.grade_checks import describe_grade

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.files.opening import Reader


class TrecRows(NamedTuple):
    """Rows of a TREC file as columns; a value is a score or a grade."""

    queries: pl.Series
    documents: pl.Series
    values: FloatArray


BLANK = ord(" ")
# The bytes that columns consist of; all other bytes separate columns.
COLUMN_BYTES = bytes(range(BLANK + 1, 256))
# A line that is skipped, as trec_eval skips it.
COMMENT_PATTERN = re.compile(rb"^[ \t]*#[^\n]*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TrecLayout:
    """The columns of a file.

    Attributes:
        name: The beginning of a message that lists the columns, such as "a TREC run has".
        fields: The names of all columns, in order.
        value: The name of the numeric column: the score or the grade.
    """

    name: str
    fields: tuple[str, ...]
    value: str

    @property
    def used(self) -> list[int]:
        """The positions of the columns that are read: query, document and value."""
        return [self.fields.index(name) for name in ("query", "document", self.value)]


RUN_LAYOUT = TrecLayout(
    "a TREC run has",
    ("query", "Q0", "document", "rank", "score", "tag"),
    "score",
)
QRELS_LAYOUT = TrecLayout(
    "TREC qrels have",
    ("query", "iteration", "document", "grade"),
    "grade",
)


def iterate_file_rows(path: str, layout: TrecLayout) -> Iterator[TrecRows]:
    """Open a file and yield its rows, for adapters whose workers open their files themselves."""
    with open_source(path) as source:
        yield from iterate_rows(source, layout)


def iterate_rows(
    source: Reader, layout: TrecLayout, advance: Callable[[int], None] | None = None
) -> Iterator[TrecRows]:
    """Yield the rows of a file, those of one piece of its text at a time."""
    first_line = 1
    n_rows = 0
    for piece in iterate_pieces(source, advance):
        rows = _parse_regular(piece, layout)
        if rows is not None:
            # Every line of a regular piece is a row, so counting the lines again can be saved.
            first_line += len(rows.queries)
        else:
            tidied = _tidy_blanks(piece)
            if tidied:
                rows = _parse_regular(tidied, layout)
                if rows is None:
                    rows = _parse_line_by_line(piece, layout, source, first_line)
            first_line += piece.count(b"\n")
        if rows is not None:
            n_rows += len(rows.queries)
            yield rows
    if not n_rows:
        refuse_empty(source)


def iterate_pieces(source: Reader, advance: Callable[[int], None] | None = None) -> Iterator[bytes]:
    """Yield the text in pieces of whole lines, in which comments are replaced by empty lines."""
    is_first = True
    for source_piece in source.pieces(advance):
        piece = source_piece
        if is_first:
            piece = blank_system_description(piece)
            is_first = False
        if b"#" in piece:
            yield COMMENT_PATTERN.sub(b"", piece)
        else:
            yield piece


def refuse_empty(source: Reader) -> NoReturn:
    """Raise for a file without a row."""
    raise ValueError(f"{source.name} is empty: it contains only blanks or comments")


def _tidy_blanks(piece: bytes) -> bytes:
    """Return lines with one blank between columns, none at the ends, and without empty lines."""
    text = piece.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n").removeprefix(b" ")
    while b"\n\n" in text:
        text = text.replace(b"\n\n", b"\n")
    return text.removeprefix(b"\n")


def _parse_regular(text: bytes, layout: TrecLayout) -> TrecRows | None:
    """Return the rows of lines whose columns are all separated by one blank; None if a line is irregular."""
    import polars as pl

    is_separator = np.frombuffer(text, np.uint8) <= BLANK
    if not len(is_separator) or is_separator[0] or (is_separator[1:] & is_separator[:-1]).any():
        return None
    line_separators = b" " * (len(layout.fields) - 1) + b"\n"
    separators = text.translate(None, delete=COLUMN_BYTES)
    n_lines = len(separators) // len(line_separators)
    if separators != line_separators * n_lines:
        return None
    schema: dict[str, Any] = dict.fromkeys(layout.fields, pl.String)
    schema[layout.value] = pl.Float64
    try:
        frame = pl.read_csv(text, has_header=False, separator=" ", quote_char=None, schema=schema, columns=layout.used)
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        return None
    values = frame[layout.value]
    if values.null_count():
        return None
    numbers = values.to_numpy()
    if not np.isfinite(numbers).all():
        return None
    return TrecRows(frame["query"], frame["document"], numbers)


def _parse_line_by_line(piece: bytes, layout: TrecLayout, source: Reader, first_line: int) -> TrecRows:
    """Return the rows of irregular lines; raise at the first line that is wrong."""
    import polars as pl

    queries, documents, values = zip(*read_lines(piece, layout, source, first_line), strict=True)
    return TrecRows(pl.Series(queries, dtype=pl.String), pl.Series(documents, dtype=pl.String), np.array(values))


def read_lines(piece: bytes, layout: TrecLayout, source: Reader, first_line: int) -> Iterator[tuple[str, str, float]]:
    """Yield the query, the document and the value of each line; raise at the first line that is wrong."""
    name = source.name
    unfinished_line = None
    if source.is_line_unfinished:
        unfinished_line = first_line + piece.count(b"\n") - 1
    query_column, document_column, value_column = layout.used
    for number, line in enumerate(piece.split(b"\n"), first_line):
        words = line.split()
        if not words:
            continue
        decode_line(line, name, number)
        if len(words) != len(layout.fields):
            _refuse_columns(line, len(words), layout, name, number, is_unfinished=number == unfinished_line)
        fields = [word.decode() for word in words]
        value = _read_number(fields[value_column], layout, line, name, number)
        yield fields[query_column], fields[document_column], value


def _read_number(field: str, layout: TrecLayout, line: bytes, name: str, number: int) -> float:
    value = math.nan
    has_underscore = "_" in field  # which `float` allows between digits
    if not has_underscore:
        try:
            value = float(field)
        except ValueError:
            value = math.nan
    if not math.isfinite(value):
        columns = f"{layout.name} {_describe_columns(layout)}"
        if layout is QRELS_LAYOUT:
            columns = f"{describe_grade(field)}; {columns}"
        raise ValueError(
            f"{_locate(line, name, number)}: the {layout.value} {field!r} is not a finite number; {columns}"
        )
    return value


def _locate(line: bytes, name: str, number: int) -> str:
    return format_line_location(name, number, line.decode(errors="replace").rstrip("\r"))


def _refuse_columns(
    line: bytes, n_columns: int, layout: TrecLayout, name: str, number: int, *, is_unfinished: bool
) -> NoReturn:
    expected = f"{layout.name} {_describe_columns(layout)}"
    if b"\x00" in line:
        raise ValueError(f"{name} is not a text file; {expected}")
    columns = f"{n_columns} column" if n_columns == 1 else f"{n_columns} columns"
    hint = _layout_hint(n_columns, layout) if number == 1 else ""
    if is_unfinished and number > 1 and n_columns < len(layout.fields):
        hint = "; this is the last line and does not end with a newline, so the file seems to have been cut short"
    raise ValueError(f"{_locate(line, name, number)}: {columns} where {expected}{hint}")


def _layout_hint(n_columns: int, layout: TrecLayout) -> str:
    """Return a hint at what a file with another number of columns seems to be; empty if that is unclear."""
    if layout is RUN_LAYOUT and n_columns == len(QRELS_LAYOUT.fields):
        return (
            "; a line with four columns is from TREC qrels, which read_qrels reads; if the lines are "
            "'query document rank score', as written by ColBERT, pass format='colbert'"
        )
    if layout is QRELS_LAYOUT and n_columns == len(RUN_LAYOUT.fields):
        return "; a line with six columns is from a TREC run, which read_run reads"
    if n_columns != len(layout.used):
        return ""
    if layout is QRELS_LAYOUT:
        return "; for BEIR qrels, pass format='tsv'; if the lines are 'query document L2', as in NTCIR, format='ntcir'"
    return (
        "; if the lines are 'query document rank', as in MS MARCO, pass format='msmarco'; if they are 'query document "
        "score', as in Tevatron, format='tevatron'"
    )


def _describe_columns(layout: TrecLayout) -> str:
    return f"{len(layout.fields)} columns: {' '.join(layout.fields)}"


class TrecLine(NamedTuple):
    """A line with its number, its text and its score or grade."""

    number: int
    text: str
    value: float


def find_repeated_lines(source: Reader, layout: TrecLayout, query: Any, document: Any) -> tuple[TrecLine, TrecLine]:
    """Return the first line with this query and document, and the one that repeats it; both must exist.

    Of judgments, it is the first with another grade, if there is one: `allow="repeated"` accepts the others.
    """
    query_bytes = str(query).encode()
    document_bytes = str(document).encode()
    query_column, document_column, value_column = layout.used
    lines: list[TrecLine] = []
    first_line = 1
    for piece in iterate_pieces(source):
        if document_bytes in piece:
            for number, line in enumerate(piece.split(b"\n"), first_line):
                if document_bytes not in line:
                    continue
                fields = line.split()
                if fields[document_column] == document_bytes and fields[query_column] == query_bytes:
                    text = line.decode().rstrip("\r")
                    lines.append(TrecLine(number, text, float(fields[value_column])))
        first_line += piece.count(b"\n")
    for repeated in lines[1:]:
        if layout is QRELS_LAYOUT and repeated.value != lines[0].value:
            return lines[0], repeated
    if len(lines) > 1:
        return lines[0], lines[1]
    raise ValueError(f"{source.name} changed while it was read")
