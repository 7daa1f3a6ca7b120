"""Read judgments and runs from files and DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.files.encodings import name_file_in_errors
from retrieval_metrics.files.entry_tables import read_entries_frame
from retrieval_metrics.files.formats import FORMATS, POSITIONAL_FORMATS, RANX_FORMAT, detect_format
from retrieval_metrics.files.json_parsing import convert_array_to_lines, read_json_file
from retrieval_metrics.files.json_queries import read_queries_per_line
from retrieval_metrics.files.json_row_keys import refuse_rows_under_key
from retrieval_metrics.files.json_rows import read_document_rows
from retrieval_metrics.files.json_runs import read_json_run, select_mteb_rankings
from retrieval_metrics.files.opening import open_source
from retrieval_metrics.files.positional_formats import read_positional_table
from retrieval_metrics.files.ranx_runs import read_ranx_run
from retrieval_metrics.files.tabular_rows import read_table
from retrieval_metrics.files.trec import read_trec_qrels, read_trec_run
from retrieval_metrics.inputs.allowances import parse_allowances
from retrieval_metrics.inputs.column_detection import JUDGMENT_ROLES, RUN_ROLES
from retrieval_metrics.inputs.dataframes import LongTable
from retrieval_metrics.inputs.frame_columns import is_dataframe
from retrieval_metrics.inputs.json_codec import decode_judgments
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from retrieval_metrics.files.opening import Limits, Reader, Source
    from retrieval_metrics.files.tabular_rows import FileTable
    from retrieval_metrics.inputs.column_detection import Columns, Requirement
    from retrieval_metrics.inputs.frame_columns import Frame
    from retrieval_metrics.inputs.retrieved_run import RetrievedRun


def read_qrels(
    source: Source | Frame,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    header: bool = True,
    allow: str | Collection[str] = (),
    limits: Limits | None = None,
) -> Qrels:
    r"""Read relevance judgments.

    Args:
        source: A path, `"-"` for standard input, an open file, or a DataFrame (pandas, polars, Arrow) with one row per
            judged document. Files and pipes are opened once and read from the start. The formats are

            - TREC: `query iteration document grade`, separated by blanks or tabs;
            - CSV, TSV (such as BEIR's `qrels/*.tsv`), Parquet and Arrow (Feather), with columns found by name;
              documents of a query with the same `group` are alternatives; a grade of yes or true is 1, of no or false
              0; if there are only queries and documents, every grade is 1;
            - JSON: `{"q1": {"d1": 2}}`; JSONL, or a JSON array: one row per line (`{"query": "q1", "document": "d1",
              "grade": 2}`), or one query per line (`{"query": "q1", "documents": ["d1", "d7"]}`); also groups, and
              pieces such as quotes, as `write_qrels` writes them.

            Any of them can be compressed (`.gz`, `.zst`, `.bz2`, `.xz`, or a `.zip` with one file).
        format: `"trec"`, `"csv"`, `"tsv"`, `"json"`, `"jsonl"`, `"parquet"` or `"arrow"`, if neither the extension
            nor the content shows it; `"ntcir"` for lines `query document L2`.
        columns: The names of the columns `query`, `document`, `grade` and `group`, if they differ from the usual ones;
            None for a missing column: with `{"grade": None}` every document has grade 1.
        header: Whether the first line of a CSV or TSV file holds names. Without them, `columns` holds positions from 1:
            `{"query": 1, "document": 2, "grade": 3}`.
        allow: What to accept that is refused otherwise: `"blanks"`, ids that begin or end with a blank; `"repeated"`,
            columns or keys with the same name, of which the first counts, and judgments that stand twice with the same
            grade.
        limits: How well a file may be compressed, and how long a line may be; see `Limits`.

    Raises:
        ValueError: If something in it is wrong; the message names the file and the line, and quotes the line.
        OSError: If it cannot be opened.
        ImportError: If polars is not installed, which all but TREC files need.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "small.qrels"
        >>> _ = path.write_text("q1 0 d7 1\nq1 0 d3 2\nq2 0 d1 1\n")
        >>> read_qrels(path)
        <Qrels: 2 queries, 3 judgments, 3 groups>
    """
    if is_dataframe(source):
        _require_header_of_table(header=header)
        return Qrels.from_frame(source, columns=columns, allow=allow)
    with open_source(source, limits) as reader, name_file_in_errors(reader.name):
        detected = _require_format(reader, format, columns, header=header)
        allowed = parse_allowances(allow)
        if detected == "trec":
            return read_trec_qrels(reader, allowed)
        if detected == RANX_FORMAT:
            raise ValueError(f"{reader.name} is a run of ranx, which read_run reads")
        content: dict[str, Any] | FileTable
        if detected in POSITIONAL_FORMATS:
            content = read_positional_table(reader, detected, "qrels")
        else:
            content = _read_content(reader, detected, JUDGMENT_ROLES, columns, allowed, header=header)
        if isinstance(content, dict):
            return _read_json_qrels(content, reader.name, allowed)
        table = _as_long_table(content, JUDGMENT_ROLES, columns, _table_name(reader, detected), allowed)
        return Qrels.from_table(table.judgments())


def _require_header_of_table(*, header: bool) -> None:
    if not header:
        raise ValueError("header=False is for CSV and TSV files; a table always has names of columns")


def _table_name(source: Reader, format: str) -> str:
    """Return the name of a table, for messages."""
    if format == "arrow":
        return f"{source.name}, an Arrow table"
    return source.name


def _as_long_table(
    content: FileTable, roles: Mapping[str, Requirement], columns: Columns | None, name: str, allow: frozenset[str]
) -> LongTable:
    return LongTable(content.frame, roles, columns, name, content.locate_row, allow=allow, names=content.names)


def _require_format(source: Reader, format: str | None, columns: Columns | None, *, header: bool) -> str:
    """Return the format of a source."""
    detected = detect_format(source, format)
    if not header and detected in {"json", "jsonl"}:
        raise ValueError(f"{source.name} is read as {detected}, which has no header; leave header=False out")
    has_names = detected in FORMATS and FORMATS[detected].has_names
    if not has_names and not header:
        raise ValueError(f"{source.name} is read as {detected}, which never has a header; leave header=False out")
    if columns and not has_names:
        raise ValueError(
            f"{source.name} is read as {detected}, which has no column names; pass format= if it has another"
        )
    return detected


def _read_content(
    source: Reader,
    format: str,
    roles: Mapping[str, Requirement],
    columns: Columns | None,
    allow: frozenset[str],
    *,
    header: bool,
) -> dict[str, Any] | FileTable:
    """Return the content of a file other than TREC: an entry per query, or a table with a row per document."""
    import_optional("polars", f"reading {format.upper()}")
    if format == "json":
        content = read_json_file(source, allow)
        if isinstance(content, dict):
            refuse_rows_under_key(content, source.name)
            if columns:
                raise ValueError(f"{source.name} is a JSON object, without columns that columns= could name")
            return content
        return _read_lines(convert_array_to_lines(content, source), roles, columns, allow)
    if format == "jsonl":
        return _read_lines(source, roles, columns, allow)
    table = read_table(source, format, columns, header=header)
    entries = read_entries_frame(table, source.name, allow)
    if entries is None:
        return table
    return entries


def _read_lines(
    source: Reader, roles: Mapping[str, Requirement], columns: Columns | None, allow: frozenset[str]
) -> dict[str, Any] | FileTable:
    entries = read_queries_per_line(source, allow, columns, is_judged="grade" in roles)
    if entries is None:
        return read_document_rows(source, roles, columns, allow)
    return entries


def _read_json_qrels(content: dict[str, Any], name: str, allow: frozenset[str]) -> Qrels:
    judgments = {query: decode_judgments(entry, f"{name}, query {query!r}") for query, entry in content.items()}
    qrels = Qrels(judgments, allow=allow)
    if "blanks" not in allow:
        for query in qrels.queries:
            _require_no_blanks(query, "query", name)
    return qrels


def _require_no_blanks(text_id: Any, role: str, name: str) -> None:
    if isinstance(text_id, str) and text_id != text_id.strip():
        raise ValueError(f"{name}: the {role}, {text_id!r}, begins or ends with whitespace (allow='blanks' keeps it)")


def read_run(
    source: Source | Frame,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    header: bool = True,
    memory: int | None = None,
    show_progress: bool = False,
    allow: str | Collection[str] = (),
    limits: Limits | None = None,
    subset: str | None = None,
    split: str | None = None,
) -> Run | RetrievedRun:
    r"""Read a run into columns, without a dict of dicts in between.

    Args:
        source: A path, `"-"` for standard input, an open file, or a DataFrame (pandas, polars, Arrow) with one row per
            retrieved document. Files and pipes are opened once and read from the start. The formats are

            - TREC: `query Q0 document rank score tag`, separated by blanks or tabs; ranked by score, as in trec_eval;
            - CSV, TSV, Parquet and Arrow (Feather), with columns found by name: ranked by `score` if there is one, else
              by `rank`; if there are only queries and documents, in the order of the rows;
            - JSON: `{"q1": {"d1": 12.5}}` or `{"q1": ["d1", "d7"]}`; JSONL, or a JSON array: one row per line, or one
              query per line (`{"query": "q1", "documents": ["d1", "d7"]}` or `{"query": "q1", "results": [{"doc_id":
              "d1", "score": 12.5}]}`); also `Retrieved` items, as `write_run` writes them, and predictions of
              sentence-transformers and MTEB.

            Any of them can be compressed (`.gz`, `.zst`, `.bz2`, `.xz`, `.lz4`, or a `.zip` with one file). The `.lz4`
            of ranx is read, too.
        format: `"trec"`, `"csv"`, `"tsv"`, `"json"`, `"jsonl"`, `"parquet"` or `"arrow"`, if neither the extension
            nor the content shows it. For lines without a header: `"msmarco"` (`query document rank`), `"tevatron"`
            (`query document score`) or `"colbert"` (`query document rank score`).
        columns: The names of the columns `query`, `document`, `score` and `rank`, if they differ from the usual ones;
            None for a missing column: with `{"score": None}` the rows of a query are in rank order.
        header: Whether the first line of a CSV or TSV file holds names. Without them, `columns` holds positions from 1:
            `{"query": 1, "document": 2, "score": 3}`.
        memory: How many bytes the columns of a TREC run may take; by default a quarter of the machine's memory. A
            larger run is checked and then read again at every use (`StreamedRun`), a few thousand lines at a time. It
            must be a regular file in which the lines of each query are consecutive.
        show_progress: Show a progress bar on stderr, if rich is installed.
        allow: What to accept that is refused otherwise: `"blanks"`, ids that begin or end with a blank; `"repeated"`,
            columns or keys with the same name, of which the first counts.
        limits: How well a file may be compressed, and how long a line may be; see `Limits`.
        subset: The subset to read of MTEB's predictions, if there are several.
        split: The split to read of them, if there are several.

    Returns:
        The run in columns; a `RetrievedRun` if the file holds `Retrieved` items rather than ids, or without polars.

    Raises:
        ValueError: If something in it is wrong, such as a document that appears twice in a scored query; the message
            names the file and the line, and quotes the line.
        OSError: If it cannot be opened.
        ImportError: If polars is not installed, which all but TREC files need.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "small.run"
        >>> _ = path.write_text("q1 Q0 d7 1 9.5 bm25\nq1 Q0 d3 2 8.25 bm25\n")
        >>> run = read_run(path)
        >>> run, run["q1"]
        (<Run: 1 queries, 2 documents>, {'d7': 9.5, 'd3': 8.25})
    """
    if is_dataframe(source):
        _require_header_of_table(header=header)
        return Run.from_frame(source, columns=columns, allow=allow)
    with open_source(source, limits) as reader, name_file_in_errors(reader.name):
        detected = _require_format(reader, format, columns, header=header)
        allowed = parse_allowances(allow)
        if detected != "json" and (subset is not None or split is not None):
            raise ValueError(f"subset= and split= select from MTEB predictions, which are JSON, not {detected}")
        if detected == "trec":
            return read_trec_run(source, reader, memory, show_progress=show_progress)
        if detected == RANX_FORMAT:
            return read_json_run(read_ranx_run(reader), reader.name, allowed)
        content: dict[str, Any] | FileTable
        if detected in POSITIONAL_FORMATS:
            content = read_positional_table(reader, detected, "run")
        else:
            content = _read_content(reader, detected, RUN_ROLES, columns, allowed, header=header)
        if isinstance(content, dict):
            rankings: Mapping[str, Any] = content
            if detected == "json":
                rankings = select_mteb_rankings(content, reader.name, subset, split)
            if "blanks" not in allowed:
                for query in rankings:
                    _require_no_blanks(query, "query", reader.name)
            return read_json_run(rankings, reader.name, allowed)
        table = _as_long_table(content, RUN_ROLES, columns, _table_name(reader, detected), allowed)
        if detected in POSITIONAL_FORMATS:
            table.require_no_ranks_as_scores("pass format='msmarco' if the lines are 'query document rank'")
        elif not header:
            table.require_no_ranks_as_scores()
        return Run([table.rankings()])
