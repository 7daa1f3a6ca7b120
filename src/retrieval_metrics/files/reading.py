"""Read judgments and runs from files and DataFrames."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval_metrics.checks import require
from retrieval_metrics.files import formats, json_files, tables
from retrieval_metrics.files.opening import at_line
from retrieval_metrics.files.rankings import run_of_mapping
from retrieval_metrics.files.trec import QRELS, RUN, line_of_repeat, parts
from retrieval_metrics.inputs.frame_columns import is_frame
from retrieval_metrics.inputs.frames import qrels_batch, run_batch
from retrieval_metrics.inputs.grouping import first_repeat, regrouped, whole_queries
from retrieval_metrics.inputs.progress import progress
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.run import Run, StreamedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from os import PathLike

    from retrieval_metrics.files.trec import Layout
    from retrieval_metrics.inputs.batch import Batch

    Advance = Callable[[int], None]

DEFAULT_MEMORY = 2 * 1024**3
SHARE_OF_MEMORY = 4
"""By default a run takes at most a quarter of the machine's memory."""


def read_qrels(
    source: str | PathLike[str] | Any, *, format: str | None = None, columns: Mapping[str, str] | None = None
) -> Qrels:
    r"""Read relevance judgments.

    Args:
        source: The path of a file, or a DataFrame (pandas, polars, Arrow) with a row per judged document. Files are

            - TREC: `query iteration document grade`, separated by blanks or tabs;
            - CSV, TSV (BEIR's `qrels/*.tsv` among them) and Parquet, with columns found by name; without a column of
              grades every document has grade 1;
            - JSON: `{"q1": {"d1": 2}}`; JSONL: a row per line (`{"query": "q1", "document": "d1", "grade": 2}`), or a
              query per line (`{"query": "q1", "documents": ["d1", "d7"]}`).

            Any of them may be compressed (`.gz`, `.zst`).
        format: `"trec"`, `"csv"`, `"tsv"`, `"json"`, `"jsonl"` or `"parquet"`, if neither the extension nor the
            content tells it.
        columns: The names of the columns `query`, `document` and `grade`, if they differ from the usual ones.

    Raises:
        ValueError: If something in it is wrong; the message names the file and the line, and quotes it.
        ImportError: If polars is not installed.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "small.qrels"
        >>> _ = path.write_text("q1 0 d7 1\nq1 0 d3 2\nq2 0 d1 1\n")
        >>> read_qrels(path)
        <Qrels: 2 queries, 3 judgments, 3 groups>
    """
    require("polars", "reading a file or DataFrame")
    if is_frame(source):
        return Qrels.from_frame(source, columns=columns)
    kind = formats.format_of(source, format)
    _refuse_columns(kind, columns, source)
    if kind == "trec":
        return _trec_qrels(source)
    if kind == "json":
        return Qrels(json_files.whole(source))
    if kind == "jsonl":
        judgments = json_files.per_query(source)
        if judgments is not None:
            return Qrels(judgments)
        return Qrels.from_batch(qrels_batch(json_files.rows(source), columns, str(source)))
    return Qrels.from_batch(qrels_batch(tables.read_table(source, kind), columns, str(source), _line(source, kind)))


def read_run(
    source: str | PathLike[str] | Any,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    memory: int | None = None,
    show_progress: bool = False,
) -> Run:
    r"""Read a run into columns, without a dict of dicts in between.

    Args:
        source: The path of a file, or a DataFrame (pandas, polars, Arrow) with a row per retrieved document. Files are

            - TREC: `query Q0 document rank score tag`, separated by blanks or tabs; ranked by score, as trec_eval does;
            - CSV, TSV and Parquet, with columns found by name: ranked by `score` if there is one, else by `rank`, else
              in the order of the rows;
            - JSON: `{"q1": {"d1": 12.5}}` or `{"q1": ["d1", "d7"]}`; JSONL: a row per line, or a query per line
              (`{"query": "q1", "documents": ["d1", "d7"]}`).

            Any of them may be compressed (`.gz`, `.zst`).
        format: `"trec"`, `"csv"`, `"tsv"`, `"json"`, `"jsonl"` or `"parquet"`, if neither the extension nor the
            content tells it.
        columns: The names of the columns `query`, `document`, `score` and `rank`, if they differ from the usual ones.
        memory: How many bytes the columns of a TREC run may take; by default a quarter of the machine's memory. A
            larger run is checked and then read again at every use (`StreamedRun`), a few thousand lines at a time; the
            lines of each query must be consecutive in it.
        show_progress: Show a progress bar on stderr; needs rich.

    Raises:
        ValueError: If something in it is wrong, such as a document that appears twice in a scored query; the message
            names the file and the line, and quotes it.
        ImportError: If polars is not installed, or a progress bar is wanted and rich is not.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "small.run"
        >>> _ = path.write_text("q1 Q0 d7 1 9.5 bm25\nq1 Q0 d3 2 8.25 bm25\n")
        >>> run = read_run(path)
        >>> run, run["q1"]
        (<Run: 1 queries, 2 documents>, {'d7': 9.5, 'd3': 8.25})
    """
    require("polars", "reading a file or DataFrame")
    if is_frame(source):
        return Run.from_frame(source, columns=columns)
    kind = formats.format_of(source, format)
    _refuse_columns(kind, columns, source)
    if kind == "trec":
        return _trec_run(source, _budget() if memory is None else memory, show_progress=show_progress)
    if kind == "json":
        return run_of_mapping(json_files.whole(source), str(source))
    if kind == "jsonl":
        rankings = json_files.per_query(source)
        if rankings is not None:
            return run_of_mapping(rankings, str(source))
        return Run([run_batch(json_files.rows(source), columns, str(source))])
    return Run([run_batch(tables.read_table(source, kind), columns, str(source), _line(source, kind))])


def _line(path: str | PathLike[str], kind: str) -> Callable[[int], str] | None:
    """Return the function that names the line of a row, for files that have lines."""
    return partial(tables.line_at, path, kind) if kind in tables.SEPARATORS else None


def _refuse_columns(kind: str, columns: Mapping[str, str] | None, source: Any) -> None:
    if columns and kind in {"trec", "json"}:
        raise ValueError(f"{source} is read as {kind}, which has no column names; say format= if it is something else")


def _trec_qrels(path: str | PathLike[str]) -> Qrels:
    batch = regrouped(whole_queries(parts(path, QRELS)))
    if (row := first_repeat(batch)) is not None:
        _refuse_repeat(path, QRELS, batch, row)
    return Qrels.from_batch(batch)


def _trec_run(path: str | PathLike[str], memory: int, *, show_progress: bool) -> Run:
    kept: list[Batch] = []
    index: dict[Any, tuple[int, int]] = {}
    documents = taken = 0
    torn: Any = None
    label = f"reading {Path(path).name}"
    with progress(label, Path(path).stat().st_size, enabled=show_progress, in_bytes=True) as advance:
        # A pipe cannot tell its position, so it is only asked when a bar is shown.
        for number, batch in enumerate(_batches(path, advance if show_progress else None)):
            for at, query in enumerate(batch.queries):
                if index.setdefault(query, (number, at)) != (number, at) and torn is None:
                    torn = query
            if torn is None and (row := first_repeat(batch)) is not None:
                _refuse_repeat(path, RUN, batch, row)
            documents += len(batch.documents)
            taken += int(batch.documents.estimated_size()) + 8 * len(batch.documents)
            if taken <= memory:
                kept.append(batch)
            else:
                kept.clear()
                if torn is not None:
                    _refuse_torn(path, torn, memory)
    if taken > memory:
        return StreamedRun(path, partial(_batches, path), index, documents)
    if torn is None:
        return Run(kept)
    whole = regrouped(kept)
    if (row := first_repeat(whole)) is not None:
        _refuse_repeat(path, RUN, whole, row)
    return Run([whole])


def _batches(path: str | PathLike[str], advance: Advance | None = None) -> Iterator[Batch]:
    return whole_queries(parts(path, RUN, advance))


def _budget() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // SHARE_OF_MEMORY
    except (AttributeError, ValueError, OSError):  # systems that do not tell how much memory they have
        return DEFAULT_MEMORY


def _refuse_torn(path: str | PathLike[str], query: Any, memory: int) -> NoReturn:
    raise ValueError(
        f"{path} takes more than the {memory:,} bytes that memory= allows, and the lines of query {query!r} are not "
        "consecutive, so it cannot be streamed; allow more, or sort the file by query (sort -s -k 1,1)"
    )


def _refuse_repeat(path: str | PathLike[str], layout: Layout, batch: Batch, row: int) -> NoReturn:
    query = batch.query_of(row)
    number, line = line_of_repeat(path, layout, query, batch.documents[row])
    raise ValueError(
        f"{at_line(path, number, line)}: document {batch.documents[row]!r} appears twice for query {query!r}"
    )
