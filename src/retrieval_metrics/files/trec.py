"""TREC files: qrels of four columns, runs of six, in memory or read again, with polars or without."""

from __future__ import annotations

import math
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from retrieval_metrics._internal.validation import format_argument, import_optional, python_or_cli_text
from retrieval_metrics.files.encodings import decode_line, format_line_location, name_file_in_errors
from retrieval_metrics.files.opening import open_source
from retrieval_metrics.inputs.batch import find_first_duplicate, regroup_by_query, split_by_query
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run, StreamedRun
from retrieval_metrics.inputs.score_checks import warn_about_score_direction
from retrieval_metrics.reports.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from retrieval_metrics._internal.validation import FloatArray
    from retrieval_metrics.files.opening import Limits, Reader
    from retrieval_metrics.inputs.batch import Batch

    Part = tuple[pl.Series, pl.Series, FloatArray]


BLANK = 32
LETTERS = bytes(range(BLANK + 1, 256))
"""The bytes in columns; all other bytes separate columns."""
COMMENT = re.compile(rb"^[ \t]*#[^\n]*", re.MULTILINE)
"""A line that is skipped, as trec_eval skips it."""


@dataclass(frozen=True, slots=True)
class TrecLayout:
    """The columns of a file.

    Attributes:
        name: The beginning of a message that lists the columns of such a file.
        fields: The names of all columns.
        value: The name of the numeric column: the score or the grade.
    """

    name: str
    fields: tuple[str, ...]
    value: str

    @property
    def used(self) -> list[int]:
        """The positions of query, document and value."""
        return [self.fields.index(name) for name in ("query", "document", self.value)]


RUN_LAYOUT = TrecLayout(
    "a TREC run has",
    ("query", "Q0", "document", "rank", "score", "tag"),
    "score",
)
QRELS = TrecLayout(
    "TREC qrels have",
    ("query", "iteration", "document", "grade"),
    "grade",
)


def parts_of_file(path: str, layout: TrecLayout) -> Iterator[Part]:
    """Open a file and return its `parts`: for adapters, whose workers open their files themselves."""
    with open_source(path) as source:
        yield from parts(source, layout)


def parts(source: Reader, layout: TrecLayout, advance: Callable[[int], None] | None = None) -> Iterator[Part]:
    """Yield query, document and value of successive rows."""
    line, rows = 1, 0
    for piece in _pieces(source, advance):
        part = _parse_regular(piece, layout)
        if part is not None:
            lines = len(part[0])
        else:
            lines = piece.count(b"\n")
            text = _tidied(piece)
            if text:
                part = _parse_regular(text, layout) or _parse_line_by_line(piece, layout, source, line)
        line += lines
        if part is not None:
            rows += len(part[0])
            yield part
    if not rows:
        _refuse_empty(source)


def _pieces(source: Reader, advance: Callable[[int], None] | None = None) -> Iterator[bytes]:
    """Yield the text in pieces of whole lines, with comments as empty lines."""
    for piece in source.pieces(advance):
        yield COMMENT.sub(b"", piece) if b"#" in piece else piece


def _refuse_empty(source: Reader) -> NoReturn:
    raise ValueError(f"{source.name} is empty: it contains only blanks or comments")


def _tidied(piece: bytes) -> bytes:
    """Return lines with one blank between columns, none at the ends, and without empty lines."""
    text = piece.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n").removeprefix(b" ")
    while b"\n\n" in text:
        text = text.replace(b"\n\n", b"\n")
    return text.removeprefix(b"\n")


def _parse_regular(text: bytes, layout: TrecLayout) -> Part | None:
    """Return the columns of lines whose columns are all separated by one blank; None if anything is irregular."""
    import polars as pl

    separates = np.frombuffer(text, np.uint8) <= BLANK
    if not len(separates) or separates[0] or (separates[1:] & separates[:-1]).any():
        return None
    line = b" " * (len(layout.fields) - 1) + b"\n"
    separators = text.translate(None, delete=LETTERS)
    if separators != line * (len(separators) // len(line)):
        return None
    schema = {name: pl.Float64 if name == layout.value else pl.String for name in layout.fields}
    try:
        frame = pl.read_csv(text, has_header=False, separator=" ", quote_char=None, schema=schema, columns=layout.used)
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        return None
    values = frame[layout.value]
    if values.null_count() or not np.isfinite(numbers := values.to_numpy()).all():
        return None
    return frame["query"], frame["document"], numbers


def _parse_line_by_line(piece: bytes, layout: TrecLayout, source: Reader, line: int) -> Part:
    """Read irregular lines."""
    import polars as pl

    queries, documents, values = zip(*_rows(piece, layout, source, line), strict=True)
    return pl.Series(queries, dtype=pl.String), pl.Series(documents, dtype=pl.String), np.array(values)


def _rows(piece: bytes, layout: TrecLayout, source: Reader, line: int) -> Iterator[tuple[str, str, float]]:
    """Yield query, document and value of each line, and raise at the first that is wrong."""
    name = source.name
    cut = line + piece.count(b"\n") - 1 if source.is_line_unfinished else None
    query, document, value = layout.used
    for number, raw in enumerate(piece.split(b"\n"), line):
        words = raw.split()
        if not words:
            continue
        decode_line(raw, name, number)
        if len(words) != len(layout.fields):
            _refuse_columns(raw, len(words), layout, name, number, cut=number == cut)
        fields = [word.decode() for word in words]
        yield fields[query], fields[document], _number(fields[value], layout, raw, name, number)


def _number(field: str, layout: TrecLayout, raw: bytes, name: str, line: int) -> float:
    try:
        number = float(field) if "_" not in field else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        where = format_line_location(name, line, raw.decode(errors="replace").rstrip("\r"))
        raise ValueError(
            f"{where}: the {layout.value} {field!r} is not a finite number; {layout.name} {_columns(layout)}"
        )
    return number


def _refuse_columns(raw: bytes, found: int, layout: TrecLayout, name: str, line: int, *, cut: bool) -> NoReturn:
    if b"\x00" in raw:
        raise ValueError(f"{name} is not a text file; {layout.name} {_columns(layout)}")
    where = format_line_location(name, line, raw.decode(errors="replace").rstrip("\r"))
    columns = f"{found} column" if found == 1 else f"{found} columns"
    why = _what_has(found, layout) if line == 1 else ""
    if cut and line > 1 and found < len(layout.fields):
        why = "; this is the last line and has no line end, so the file seems to be cut short"
    raise ValueError(f"{where}: {columns} where {layout.name} {_columns(layout)}{why}")


def _what_has(columns: int, layout: TrecLayout) -> str:
    """Return what a file of so many columns seems to be."""
    if layout is RUN_LAYOUT and columns == len(QRELS.fields):
        return "; four columns are TREC qrels, which " + python_or_cli_text("read_qrels reads", "come before the run")
    if layout is QRELS and columns == len(RUN_LAYOUT.fields):
        return "; six columns are a TREC run, which " + python_or_cli_text(
            "read_run reads", "comes after the judgments"
        )
    if columns != len(layout.used):
        return ""
    if layout is QRELS:
        return f"; for BEIR qrels pass {format_argument('format', 'tsv')}"
    header = f"separate them by commas, put query,document,score above, pass {format_argument('format', 'csv')}"
    return python_or_cli_text(
        "; read three columns without a header with polars or pandas, and the DataFrame with Run.from_frame",
        f"; three columns need a header: {header}",
    )


def _columns(layout: TrecLayout) -> str:
    return f"{len(layout.fields)}: {' '.join(layout.fields)}"


def ranks_and_scores(beginning: bytes) -> Iterator[tuple[bytes, float, float]]:
    """Yield the query, the rank and the score of the lines of a run that can be read, but for the last, cut one."""
    rank, score = RUN_LAYOUT.fields.index("rank"), RUN_LAYOUT.fields.index("score")
    for line in COMMENT.sub(b"", beginning).split(b"\n")[:-1]:
        words = line.split()
        if len(words) == len(RUN_LAYOUT.fields):
            with suppress(ValueError):
                yield words[0], float(words[rank]), float(words[score])


def line_of_repeat(source: Reader, layout: TrecLayout, query: Any, document: Any) -> tuple[int, str]:
    """Return number and text of the second line with this query and document, which must exist."""
    wanted = str(document).encode()
    query_at, document_at, _ = layout.used
    seen, line = 0, 1
    for piece in _pieces(source):
        if wanted in piece:
            for number, raw in enumerate(piece.split(b"\n"), line):
                if wanted in raw and (fields := raw.split())[document_at] == wanted:
                    seen += fields[query_at] == str(query).encode()
                    if seen == 2:
                        return number, raw.decode().rstrip("\r")
        line += piece.count(b"\n")
    raise ValueError(f"{source.name} changed while it was read")


# Read judgments and runs from TREC files: into memory, or again at every use.

DEFAULT_MEMORY = 2 * 1024**3
SHARE_OF_MEMORY = 4
"""By default a run takes at most a quarter of the machine's memory."""


def read_trec_qrels(source: Reader) -> Qrels:
    """Return the judgments of a TREC file."""
    if not has_polars():
        return Qrels(_by_query(source, QRELS))
    batch = regroup_by_query(split_by_query(parts(source, QRELS)))
    if (row := find_first_duplicate(batch)) is not None:
        _refuse_repeat(source, QRELS, batch.row_queries(row), batch.documents[row])
    return Qrels.from_batch(batch)


def read_trec_run(given: Any, source: Reader, memory: int | None, *, show_progress: bool) -> Run | RetrievedRun:
    """Return the run of a TREC file, streamed if its columns take more memory than allowed."""
    if memory is None and not has_polars():
        warn_about_score_direction(ranks_and_scores(source.beginning()), source.name)
        return RetrievedRun(_by_query(source, RUN_LAYOUT))
    import_optional("polars", "a run that is read within a limit of memory")
    memory = _budget() if memory is None else memory
    kept: list[Batch] = []
    index: dict[Any, tuple[int, int]] = {}
    documents = taken = 0
    torn: Any = None
    label = f"reading {os.path.basename(source.name)}"  # noqa: PTH119  (a name for messages, which need not be a path)
    was = source.fingerprint() if source.is_regular else ()
    warn_about_score_direction(ranks_and_scores(source.beginning()), source.name)
    with progress(label, source.size, enabled=show_progress, in_bytes=True) as advance:
        for number, batch in enumerate(split_by_query(parts(source, RUN_LAYOUT, advance if show_progress else None))):
            for at, query in enumerate(batch.queries):
                if index.setdefault(query, (number, at)) != (number, at) and torn is None:
                    torn = query
            if torn is None and (row := find_first_duplicate(batch)) is not None:
                _refuse_repeat(source, RUN_LAYOUT, batch.row_queries(row), batch.documents[row])
            documents += len(batch.documents)
            taken += int(batch.documents.estimated_size()) + 8 * len(batch.documents)
            if taken <= memory:
                kept.append(batch)
            else:
                kept.clear()
                _refuse_streaming(source, torn, memory)
    if taken > memory:
        return StreamedRun(given, partial(_batches, given, source.limits, was), index, documents)
    if torn is None:
        return Run(kept)
    whole = regroup_by_query(kept)
    if (row := find_first_duplicate(whole)) is not None:
        _refuse_repeat(source, RUN_LAYOUT, whole.row_queries(row), whole.documents[row])
    return Run([whole])


def has_polars() -> bool:
    """Return whether polars is installed, without which TREC files are read and written by Python alone."""
    if find_spec("polars") is None:
        return False
    import_optional("polars", "reading or writing a file")
    return True


def _by_query(source: Reader, layout: TrecLayout) -> dict[Any, Any]:
    """Return the values of the documents of each query, without polars."""
    found: dict[str, dict[str, float]] = {}
    line = 1
    for piece in _pieces(source):
        for query, document, value in _rows(piece, layout, source, line):
            if document in found.setdefault(query, {}):
                _refuse_repeat(source, layout, query, document)
            found[query][document] = value
        line += piece.count(b"\n")
    if not found:
        _refuse_empty(source)
    return found


def _batches(path: Any, limits: Limits, was: tuple[int, ...]) -> Iterator[Batch]:
    """Read a file again, and raise if it has changed."""
    import_optional("polars", "reading a streamed run again")
    with open_source(path, limits) as source, name_file_in_errors(source.name):
        if source.fingerprint() != was:
            _refuse_change(source.name)
        yield from split_by_query(parts(source, RUN_LAYOUT))
        if source.fingerprint() != was:  # while it was read
            _refuse_change(source.name)


def _refuse_change(name: str) -> NoReturn:
    raise ValueError(
        f"{name} has changed since it was read; {python_or_cli_text('read it again with read_run', 'run the command again')}"
    )


def _budget() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // SHARE_OF_MEMORY
    except (AttributeError, ValueError, OSError):  # some systems do not tell how much memory they have
        return DEFAULT_MEMORY


def _refuse_streaming(source: Reader, torn: Any, memory: int) -> None:
    too_much = f"{source.name} takes more than the {memory:,} bytes that {format_argument('memory')} allows, and "
    if torn is not None:
        raise ValueError(
            f"{too_much}the lines of query {torn!r} are not consecutive, so it cannot be streamed; allow more, or sort "
            "the file by query (sort -s -k 1,1)"
        )
    if not source.is_regular:
        raise ValueError(f"{too_much}only a regular file can be streamed; allow more, or save it to a file")


def _refuse_repeat(source: Reader, layout: TrecLayout, query: Any, document: Any) -> NoReturn:
    number, line = line_of_repeat(source, layout, query, document)
    raise ValueError(
        f"{format_line_location(source.name, number, line)}: document {document!r} appears twice for query {query!r}"
    )
