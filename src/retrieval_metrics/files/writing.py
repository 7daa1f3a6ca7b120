"""Write runs and judgments to files, in every format that can be read."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.checks import require
from retrieval_metrics.files.formats import format_by_name, known_format
from retrieval_metrics.files.opening import ZSTD_PACKAGE
from retrieval_metrics.files.rankings import run_of_mapping
from retrieval_metrics.files.tables import SEPARATORS
from retrieval_metrics.inputs.grouping import first_repeat
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    import polars as pl

    from retrieval_metrics.inputs.batch import Batch
    from retrieval_metrics.types import QuestionsOrQrels, RunMapping


def write_run(
    run: RunMapping | Run, path: str | PathLike[str], *, format: str | None = None, tag: str = "retrieval-metrics"
) -> None:
    r"""Write a run, so that reading it gives the same numbers to the last bit.

    Args:
        run: What `evaluate` takes: per query documents with scores, or documents best first; or a `Run`.
        path: The file; a further `.gz` or `.zst` compresses it.
        format: `"trec"`, `"csv"`, `"tsv"`, `"json"`, `"jsonl"` or `"parquet"`, if the extension does not tell it. TREC
            files are ordered as trec_eval orders them, and a ranking without scores gets n, n - 1, ..., 1 there; CSV,
            TSV and Parquet have a column `score` or `rank`.
        tag: The name of the run, the last column of a TREC file.

    Raises:
        ValueError: If the format is unknown, or the run cannot be written in it: a TREC file cannot have blanks in ids,
            repeated documents or empty rankings, and a table has scores for all queries or for none.
        ImportError: If polars is not installed.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "small.run"
        >>> write_run({"q1": {"d3": 8.25, "d7": 9.5}}, path, tag="bm25")
        >>> print(path.read_text(), end="")
        q1 Q0 d7 1 9.5 bm25
        q1 Q0 d3 2 8.25 bm25
    """
    require("polars", "writing a file")
    kind = _format_to_write(path, format)
    columns = run if isinstance(run, Run) else run_of_mapping(run, "the run")
    if kind in {"json", "jsonl"}:
        _write_json(path, kind, columns.rankings())
        return
    if kind == "trec":
        _require_words([tag], "the tag", path)
        frames = (_trec_frame(batch, tag, path) for batch in columns.batches())
    else:
        frames = (_table_frame(batch) for batch in columns.batches())
    _write_frames(path, kind, frames)


def write_qrels(qrels: QuestionsOrQrels, path: str | PathLike[str], *, format: str | None = None) -> None:
    r"""Write judgments.

    Args:
        qrels: What `evaluate` takes.
        path: The file; a further `.gz` or `.zst` compresses it.
        format: `"trec"`, `"csv"`, `"tsv"`, `"json"`, `"jsonl"` or `"parquet"`, if the extension does not tell it. TSV
            is BEIR's: `query-id`, `corpus-id`, `score`.

    Raises:
        ValueError: If the format is unknown, or the judgments cannot be written in it: only JSON and JSONL can have
            groups and queries without judgments, and a TREC file cannot have blanks in ids.
        ImportError: If polars is not installed.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "small.qrels"
        >>> write_qrels({"q1": {"d3": 2, "d7": 1}}, path)
        >>> print(path.read_text(), end="")
        q1 0 d3 2
        q1 0 d7 1
    """
    require("polars", "writing a file")
    kind, truth = _format_to_write(path, format), as_qrels(qrels)
    if kind in {"json", "jsonl"}:
        _write_json(path, kind, ((query, truth.judgments(at)) for at, query in enumerate(truth.queries)))
        return
    if not truth.is_flat:
        raise ValueError(f"{kind} files cannot have groups of documents; write .json or .jsonl")
    import polars as pl

    queries = [truth.queries[at] for at in truth.document_query.tolist()]
    if len(set(queries)) < len(truth.queries):
        bare = next(query for query in truth.queries if query not in set(queries))
        raise ValueError(f"{kind} files cannot have a query without judgments, such as {bare!r}; write .json or .jsonl")
    grades = pl.Series(truth.document_grade)
    if not (truth.document_grade % 1).any():
        grades = grades.cast(pl.Int64)
    if kind == "trec":
        _require_words([*truth.queries, *truth.documents], "an id", path)
        frame = pl.DataFrame({"query": queries, "iteration": ["0"] * len(queries), "document": truth.documents})
        frame = frame.with_columns(grade=grades)
    else:
        names = ("query-id", "corpus-id", "score") if kind == "tsv" else ("query", "document", "grade")
        frame = pl.DataFrame(dict(zip(names, (queries, truth.documents, grades), strict=True)))
    _write_frames(path, kind, iter([frame]))


def _format_to_write(path: str | PathLike[str], given: str | None) -> str:
    kind = known_format(given) if given is not None else format_by_name(path)
    if kind is None:
        raise ValueError(f"the name of {path} does not tell the format to write; say format='trec' or another")
    return kind


def _trec_frame(batch: Batch, tag: str, path: str | PathLike[str]) -> pl.DataFrame:
    import polars as pl

    sizes = np.diff(batch.bounds)
    if not sizes.all():
        raise ValueError(
            f"a TREC file cannot have an empty ranking, such as that of query {batch.queries[int(sizes.argmin())]!r}"
        )
    if batch.scores is None and (row := first_repeat(batch)) is not None:
        raise ValueError(f"a TREC file cannot have a document twice in a query, such as {batch.documents[row]!r}")
    number = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(number)) - batch.bounds[number]
    scores = sizes[number] - place if batch.scores is None else batch.scores
    frame = pl.DataFrame({"number": number, "document": batch.documents.cast(pl.String), "score": scores})
    if batch.scores is not None:
        frame = frame.sort("number", "score", "document", descending=[False, True, True])
    queries = pl.Series(batch.queries, dtype=None).cast(pl.String).gather(number)
    _require_words(batch.queries, "an id", path)
    if (blank := frame["document"].str.contains(r"\s") | (frame["document"] == "")).any():
        _require_words(frame["document"].filter(blank).to_list(), "an id", path)
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


def _table_frame(batch: Batch) -> pl.DataFrame:
    import polars as pl

    sizes = np.diff(batch.bounds)
    number = np.repeat(np.arange(len(sizes)), sizes)
    columns: dict[str, Any] = {"query": pl.Series(batch.queries).gather(number), "document": batch.documents}
    if batch.scores is None:
        columns["rank"] = np.arange(len(number)) - batch.bounds[number] + 1
    else:
        columns["score"] = batch.scores
    return pl.DataFrame(columns)


def _require_words(words: list[Any], what: str, path: str | PathLike[str]) -> None:
    for word in words:
        if len(str(word).split()) != 1 or str(word).split()[0] != str(word):
            raise ValueError(
                f"{what} in {path} must be one word, because blanks separate the columns of a TREC file, got {word!r}"
            )


def _require_no_tabs(frame: pl.DataFrame, path: str | PathLike[str]) -> None:
    import polars as pl

    for column in frame.iter_columns():
        if column.dtype == pl.String and (wrong := column.str.contains(r"[\t\r\n]")).any():
            raise ValueError(f"an id in {path} must not contain a tab or a line break, got {column.filter(wrong)[0]!r}")


def _write_frames(path: str | PathLike[str], kind: str, frames: Iterator[pl.DataFrame]) -> None:
    import polars as pl

    if kind == "parquet":
        with _writing(path) as file:
            pl.concat(list(frames), how="vertical").write_parquet(file)
        return
    header: list[str] | None = None
    with _writing(path) as file:
        for frame in frames:
            if header is not None and frame.columns != header:
                raise ValueError(
                    f"a {kind} file has scores for all queries or for none; write .json or .jsonl, or give all scores"
                )
            if kind == "tsv":
                _require_no_tabs(frame, path)
            text = frame.write_csv(
                separator=SEPARATORS.get(kind, " "),
                include_header=kind != "trec" and header is None,
                quote_style="necessary" if kind == "csv" else "never",
            )
            file.write(text.encode())
            header = frame.columns


def _write_json(path: str | PathLike[str], kind: str, entries: Iterator[tuple[Any, Any]]) -> None:
    with _writing(path) as file:
        if kind == "json":
            file.write(json.dumps(dict(entries), ensure_ascii=False, indent=1).encode() + b"\n")
            return
        for query, documents in entries:
            line = json.dumps({"query": query, "documents": documents}, ensure_ascii=False)
            file.write(line.encode() + b"\n")


@contextmanager
def _writing(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Write beside the final path, and move the file there once it is complete: a failure leaves the old file."""
    final = Path(path)
    partial = final.with_name(f".{final.name}.partial")
    try:
        with _compressed(partial, final.suffix) as file:
            yield file
        partial.replace(final)
    finally:
        partial.unlink(missing_ok=True)


def _compressed(path: Path, suffix: str) -> Any:
    if suffix == ".gz":
        import gzip

        return gzip.open(path, "wb")
    if suffix == ".zst":
        zstd = require(ZSTD_PACKAGE, "writing a .zst file")
        return zstd.ZstdFile(path, "w", options={zstd.CompressionParameter.checksum_flag: 1})
    return path.open("wb")
