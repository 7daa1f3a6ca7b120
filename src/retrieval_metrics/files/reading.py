"""Read judgments and runs from files and DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import format_argument, import_optional
from retrieval_metrics.files import tabular_rows as json_files
from retrieval_metrics.files.encodings import name_file_in_errors
from retrieval_metrics.files.formats import FORMATS, detect_format
from retrieval_metrics.files.opening import open_source
from retrieval_metrics.files.tabular_rows import read_entries_frame, read_table
from retrieval_metrics.files.trec import read_trec_qrels, read_trec_run
from retrieval_metrics.inputs.batch import Batch
from retrieval_metrics.inputs.column_detection import (
    DOCUMENT_COLUMNS,
    JUDGMENT_ROLES,
    RUN_ROLES,
    SCORE_COLUMNS,
    parse_allowances,
)
from retrieval_metrics.inputs.dataframes import LongTable
from retrieval_metrics.inputs.frame_columns import is_dataframe
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.json_codec import decode_item, decode_judgments
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from collections.abc import Collection

    from retrieval_metrics.files.opening import Limits, Reader, Source
    from retrieval_metrics.files.tabular_rows import FileTable
    from retrieval_metrics.inputs.column_detection import Columns, Role


def read_qrels(
    source: Source | Any,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    allow: str | Collection[str] = (),
    limits: Limits | None = None,
) -> Qrels:
    r"""Read relevance judgments.

    Args:
        source: A path, `"-"` for standard input, an open file, or a DataFrame (pandas, polars, Arrow) with one row per
            judged document. Files and pipes are opened once and read from the start. The formats are

            - TREC: `query iteration document grade`, separated by blanks or tabs;
            - CSV, TSV (such as BEIR's `qrels/*.tsv`), Parquet and Arrow (Feather), with columns found by name;
              documents of a query with the same `group` are alternatives; if there are only queries and documents,
              every grade is 1;
            - JSON: `{"q1": {"d1": 2}}`; JSONL, or a JSON array: one row per line (`{"query": "q1", "document": "d1",
              "grade": 2}`), or one query per line (`{"query": "q1", "documents": ["d1", "d7"]}`); also groups, and
              pieces such as quotes, as `write_qrels` writes them.

            Any of them can be compressed (`.gz`, `.zst`, `.bz2`, `.xz`, or a `.zip` with one file).
        format: `"trec"`, `"csv"`, `"tsv"`, `"json"`, `"jsonl"`, `"parquet"` or `"arrow"`, if neither the extension
            nor the content shows it.
        columns: The names of the columns `query`, `document`, `grade` and `group`, if they differ from the usual ones;
            None for a missing column: with `{"grade": None}` every document has grade 1.
        allow: What to accept that is refused otherwise: `"blanks"`, ids that begin or end with a blank; `"repeated"`,
            columns or keys with the same name, of which the first counts.
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
        return Qrels.from_frame(source, columns=columns, allow=allow)
    with open_source(source, limits) as file, name_file_in_errors(file.name):
        return _qrels(file, _kind(file, format, columns), columns, parse_allowances(allow))


def _qrels(source: Reader, kind: str, columns: Columns | None, allow: frozenset[str]) -> Qrels:
    if kind == "trec":
        return read_trec_qrels(source)
    content = _content(source, kind, JUDGMENT_ROLES, columns, allow)
    if isinstance(content, dict):
        return _qrels_of_json(content, source.name, allow)
    name = source.name + AS_ARROW * (kind == "arrow")
    return Qrels.from_table(_long_table(content, JUDGMENT_ROLES, columns, name, allow).judgments())


AS_ARROW = ", an Arrow table"
"""What messages add to the name of a file."""


def _long_table(
    content: FileTable, wanted: Mapping[str, Role], columns: Columns | None, name: str, allow: frozenset[str]
) -> LongTable:
    return LongTable(content.frame, wanted, columns, name, content.line, allow=allow, names=content.names)


def _kind(source: Reader, given: str | None, columns: Columns | None) -> str:
    """Return the format of a source."""
    kind = detect_format(source, given)
    if columns and not FORMATS[kind].has_names:
        raise ValueError(
            f"{source.name} is read as {kind}, which has no column names; pass {format_argument('format')} if it has another"
        )
    return kind


def _content(
    source: Reader, kind: str, wanted: Mapping[str, Role], columns: Columns | None, allow: frozenset[str]
) -> dict[str, Any] | FileTable:
    """Return what a file holds that is not TREC: an entry per query, or a table with a row per document."""
    import_optional("polars", f"reading {kind.upper()}")
    if kind == "json":
        held = json_files.read_json_file(source, allow)
        if isinstance(held, dict):
            if columns:
                raise ValueError(
                    f"{source.name} is a JSON object, without columns that {format_argument('columns')} could name"
                )
            return held
        source, kind = json_files.as_lines(held, source), "jsonl"
    if kind == "jsonl":
        entries = json_files.per_query(source, allow, columns)
        return json_files.rows(source, wanted, columns, allow) if entries is None else entries
    table = read_table(source, kind)
    entries = read_entries_frame(table, source.name, allow)
    return table if entries is None else entries


def _qrels_of_json(content: dict[str, Any], name: str, allow: frozenset[str]) -> Qrels:
    qrels = Qrels({query: decode_judgments(value, f"{name}, query {query!r}") for query, value in content.items()})
    if "blanks" not in allow:
        for at, document in enumerate(qrels.documents):
            _refuse_blanks(document, f"document judged for query {qrels.queries[qrels.document_query[at]]!r}", name)
        for query in qrels.queries:
            _refuse_blanks(query, "query", name)
    return qrels


def _refuse_blanks(found: Any, what: str, name: str) -> None:
    if isinstance(found, str) and found != found.strip():
        raise ValueError(
            f"{name}: the {what}, {found!r}, begins or ends with a blank ({format_argument('allow', 'blanks')} keeps it)"
        )


def read_run(
    source: Source | Any,
    *,
    format: str | None = None,
    columns: Columns | None = None,
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

            Any of them can be compressed (`.gz`, `.zst`, `.bz2`, `.xz`, or a `.zip` with one file).
        format: `"trec"`, `"csv"`, `"tsv"`, `"json"`, `"jsonl"`, `"parquet"` or `"arrow"`, if neither the extension
            nor the content shows it.
        columns: The names of the columns `query`, `document`, `score` and `rank`, if they differ from the usual ones;
            None for a missing column: with `{"score": None}` the rows of a query are in rank order.
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
        return Run.from_frame(source, columns=columns, allow=allow)
    with open_source(source, limits) as file, name_file_in_errors(file.name):
        kind, allowed = _kind(file, format, columns), parse_allowances(allow)
        if kind != "json" and (subset, split) != (None, None):
            raise ValueError(
                f"{format_argument('subset')} and {format_argument('split')} choose of the predictions of MTEB, which are JSON, "
                f"not {kind}"
            )
        if kind == "trec":
            return read_trec_run(source, file, memory, show_progress=show_progress)
        content = _content(file, kind, RUN_ROLES, columns, allowed)
        if isinstance(content, dict):
            rankings = of_mteb(content, file.name, subset, split) if kind == "json" else content
            return _run_of_json(rankings, file.name, allowed)
        name = file.name + AS_ARROW * (kind == "arrow")
        return Run([_long_table(content, RUN_ROLES, columns, name, allowed).rankings()])


def _run_of_json(rankings: Mapping[str, Any], name: str, allow: frozenset[str]) -> Run | RetrievedRun:
    if "blanks" not in allow:
        for query in rankings:
            _refuse_blanks(query, "query", name)
    return run_of_json(rankings, name, allow)


# Runs in JSON files: a mapping of queries to rankings.

OF_MTEB = "mteb_model_meta"
"""The key beside the predictions of MTEB."""


def of_mteb(
    content: Mapping[str, Any], source: str, subset: str | None = None, split: str | None = None
) -> Mapping[str, Any]:
    """Return the rankings of a file of predictions of MTEB; any other content as it is."""
    if OF_MTEB not in content:
        if (subset, split) != (None, None):
            raise ValueError(f"{source} holds no predictions of MTEB, so it has no subset and no split to choose")
        return content
    chosen = _chosen({name: part for name, part in content.items() if name != OF_MTEB}, source, "subset", subset)
    return _chosen(chosen, source, "split", split)


def _chosen(parts: Mapping[str, Any], source: str, what: str, name: str | None) -> Mapping[str, Any]:
    if name is None and len(parts) != 1:
        raise ValueError(f"{source} holds {len(parts)} {what}s, {', '.join(parts)}; choose one with {what}=")
    if name is not None and name not in parts:
        raise ValueError(f"{source} holds no {what} {name!r}; it holds {', '.join(parts)}")
    found = parts[next(iter(parts)) if name is None else name]
    if not isinstance(found, Mapping):
        raise ValueError(f"{source}: a {what} must be an object, got {found!r}")  # noqa: TRY004  (of a file)
    return found


def read_run_mapping(rankings: Mapping[Any, Any], source: str, allow: Collection[str] = ("blanks",)) -> Run:
    """Return the run in a mapping of queries to documents with scores, or to documents best first."""
    scored, listed = {}, {}
    for query, ranking in rankings.items():
        if isinstance(ranking, Mapping):
            scored[query] = ranking
        elif isinstance(ranking, (list, tuple)):
            listed[query] = ranking
        else:
            raise ValueError(  # noqa: TRY004  (anything wrong in a file is a ValueError)
                f"{source}, query {query!r}: a ranking must be a list of documents, best first, or an object of "
                f"documents with scores, got {ranking!r}"
            )
    return Run(_batch(part, source, allow, scores=part is scored) for part in (scored, listed) if part)


def _batch(rankings: Mapping[Any, Any], source: str, allow: Collection[str], *, scores: bool) -> Batch:
    import polars as pl

    documents = [document for ranking in rankings.values() for document in ranking]
    columns: dict[str, Any] = {"document": documents or pl.Series([], dtype=pl.String)}
    if scores:
        columns["score"] = [score for ranking in rankings.values() for score in ranking.values()]
    table = LongTable(columns, dict.fromkeys(columns, True), None, source, allow=allow)
    bounds = np.cumsum([0, *map(len, rankings.values())])
    return Batch(list(rankings), bounds, table.ids("document"), table.numbers("score") if scores else None)


def run_of_json(content: Mapping[str, Any], source: str, allow: Collection[str]) -> Run | RetrievedRun:
    """Return the run of a JSON file, whose rankings can also be items as objects, or lists of documents and scores."""
    rankings: dict[Any, Any] = {
        query: _ranking(ranking, f"{source}, query {query!r}") for query, ranking in content.items()
    }
    if has_items(rankings, source):
        return RetrievedRun(rankings)
    return read_run_mapping(rankings, source, allow)


def _ranking(ranking: Any, where: str) -> Any:
    if isinstance(ranking, list) and any(isinstance(entry, dict) for entry in ranking):
        if stray := [entry for entry in ranking if not isinstance(entry, dict)]:
            raise ValueError(f"{where}: {stray[0]!r} is among objects; a ranking must hold either ids or objects")
        names = {name for name in ranking[0] if name in DOCUMENT_COLUMNS} if "id" not in ranking[0] else set()
        scores = [name for name in ranking[0] if name in SCORE_COLUMNS]
        if len(names) == 1 and scores and all(entry.keys() == {*names, scores[0]} for entry in ranking):
            columns = ("documents", *names), ("scores", scores[0])
            return _ranking({key: [entry[each] for entry in ranking] for key, each in columns}, where)
        return [
            decode_item({"id" if key in names else key: held for key, held in entry.items()}, where)
            for entry in ranking
        ]
    if isinstance(ranking, dict) and isinstance(ranking.get("documents"), list):
        documents, given = ranking["documents"], ranking.get("scores")
        if not isinstance(given, list) or len(given) != len(documents) or len(ranking) > 2:
            raise ValueError(f"{where}: there must be as many 'scores' as 'documents', and nothing else")
        if len(set(map(repr, documents))) < len(documents):
            raise ValueError(f"{where}: a document appears twice, with a score each time")
        return dict(zip(documents, given, strict=True))
    return ranking


def has_items(rankings: Mapping[Any, Any], source: str) -> bool:
    """Return whether the rankings hold retrieved items rather than ids."""
    with_items = None
    for query, ranking in rankings.items():
        if isinstance(ranking, (list, tuple)) and not ranking:
            continue
        has = isinstance(ranking, (list, tuple)) and isinstance(ranking[0], Retrieved)
        if with_items is None:
            with_items = has
        if has != with_items or (has and not all(isinstance(item, Retrieved) for item in ranking)):
            raise ValueError(f"{source}, query {query!r}: rankings must hold either ids or retrieved items, not both")
    return bool(with_items)
