"""Write runs and judgments to files, in every format that can be read."""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.files.compressions import open_for_saving
from retrieval_metrics.files.entry_tables import entries_to_frame
from retrieval_metrics.files.formats import FORMATS, find_format_by_name, require_known_format
from retrieval_metrics.files.json_runs import has_items, read_run_mapping
from retrieval_metrics.files.output_rows import (
    JSON_HINT,
    format_qrels_lines,
    format_run_lines,
    qrels_to_frame,
    require_single_word,
    require_text_id,
    run_to_frame,
    run_to_trec_frame,
)
from retrieval_metrics.inputs.half_characters import refuse_half_characters
from retrieval_metrics.inputs.json_codec import encode_item, encode_judgments
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    import polars as pl

    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels


BINARY_FORMATS = ("parquet", "arrow")
JSON_FORMATS = ("json", "jsonl")


def write_run(
    run: RunMapping | Run, path: str | PathLike[str], *, format: str | None = None, tag: str = "retrieval-metrics"
) -> None:
    r"""Write a run, so that every score is read back to the last bit.

    Args:
        run: A run, as for `evaluate`: per query documents with scores, documents best first, or lists of `Retrieved`;
            or a `Run`.
        path: The file; a further `.gz` or `.zst` compresses it. It is written beside the target and moved into place
            once it is complete. Links are followed, and the mode of an existing file is kept. Devices, pipes and `"-"`,
            standard output, are written to directly.
        format: `"trec"`, `"csv"`, `"tsv"`, `"json"`, `"jsonl"`, `"parquet"` or `"arrow"`, if the extension does not
            show it. TREC files are in the order of trec_eval, with scores n, n - 1, ..., 1 for a ranking without
            scores; CSV, TSV, Parquet and Arrow have a column `score` or `rank`. In TREC, CSV and TSV, whole-number ids
            become text.
        tag: The name of the run, the last column of a TREC file.

    Raises:
        TypeError: If a ranking is none, or a score is not a number.
        ValueError: If the format is unknown or cannot hold the run; nothing is written then. A TREC file cannot hold
            ids with blanks or repeated documents; a table has scores for all queries or for none; only JSON and JSONL
            hold empty rankings of ids; only these and Parquet hold `Retrieved` items; JSON cannot hold whole numbers as
            query ids.
        OSError: If the file cannot be written; an existing file stays as it was.
        ImportError: If polars is not installed, which all but TREC files need.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "small.run"
        >>> write_run({"q1": {"d3": 8.25, "d7": 9.5}}, path, tag="bm25")
        >>> print(path.read_text(), end="")
        q1 Q0 d7 1 9.5 bm25
        q1 Q0 d3 2 8.25 bm25
    """
    written_format = _require_format(path, format)
    if not isinstance(run, Run) and has_items(run, "the run"):
        _write_items(run, path, written_format)
        return
    if written_format == "trec" and not isinstance(run, Run):  # by Python alone, which is also faster
        _write_lines(path, format_run_lines(run, tag, path))
        return
    import_optional("polars", f"writing {written_format.upper()}")
    columns = run if isinstance(run, Run) else read_run_mapping(run, "the run")
    if written_format in JSON_FORMATS:
        entries = ((query, _as_json_ranking(ranking)) for query, ranking in columns.rankings())
        _write_entries(path, written_format, entries)
        return
    if written_format == "trec":
        require_single_word([tag], "the tag", path)
        make_frame = partial(run_to_trec_frame, tag=tag, path=path)
    else:
        make_frame = partial(run_to_frame, format=written_format)
    # A run may be too large to hold all its frames at once, so each is made twice: to check it, and to write it.
    with _naming_half_characters(columns, path):
        _require_equal_columns(map(make_frame, columns.batches()), written_format, path)
    _write_frames(path, written_format, map(make_frame, columns.batches()))


@contextmanager
def _naming_half_characters(ids: Iterable[Any], path: str | PathLike[str]) -> Iterator[None]:
    """Name the id that cannot be written, where polars only names a byte."""
    try:
        yield
    except UnicodeEncodeError:
        for text_id in ids:
            refuse_half_characters(str(text_id), str(path))
        raise


def _require_equal_columns(frames: Iterator[pl.DataFrame], format: str, path: str | PathLike[str]) -> None:
    """Raise before anything is written if a part of a run cannot be written."""
    header = None
    for frame in frames:
        if header is not None and frame.columns != header:
            raise ValueError(
                f"a {format} file has scores for all queries or for none; write .json or .jsonl, or give all scores"
            )
        require_text_id(frame, format, path)
        header = frame.columns


def _as_json_ranking(ranking: Any) -> Any:
    """Return a ranking as JSON values; ids that are numbers cannot be keys, so they get a list beside their scores."""
    if isinstance(ranking, dict) and any(not isinstance(document, str) for document in ranking):
        return {"documents": list(ranking), "scores": list(ranking.values())}
    return ranking


def _write_items(run: Any, path: str | PathLike[str], format: str) -> None:
    if format not in {*JSON_FORMATS, *BINARY_FORMATS}:
        raise ValueError(f"a {format} file cannot hold Retrieved items, only IDs; write .json, .jsonl or .parquet")
    rankings = {}
    for query, ranking in run.items():
        rankings[query] = [encode_item(item, f"query {query!r}") for item in ranking]
    _write_entries(path, format, rankings.items())


def write_qrels(qrels: QuestionsOrQrels, path: str | PathLike[str], *, format: str | None = None) -> None:
    r"""Write judgments.

    Args:
        qrels: Judgments, as for `evaluate`.
        path: The file, as in `write_run`.
        format: `"trec"`, `"csv"`, `"tsv"`, `"json"`, `"jsonl"` or `"parquet"`, if the extension does not show it. TSV
            files have the columns of BEIR: `query-id`, `corpus-id`, `score`. Groups are a column `group` in CSV, TSV
            and Parquet; pieces such as `Quote` are objects in JSON and JSONL, and JSON text in a column of Parquet. In
            TREC, CSV and TSV, whole-number ids become text.

    Raises:
        ValueError: If the format is unknown or cannot hold the judgments; nothing is written then. A TREC file cannot
            hold groups or ids with blanks, only JSON, JSONL and Parquet hold pieces, only JSON and JSONL hold queries
            without judgments, and JSON cannot hold whole numbers as query ids.
        OSError: If the file cannot be written; an existing file stays as it was.
        ImportError: If polars is not installed, which all but TREC files need.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "small.qrels"
        >>> write_qrels({"q1": {"d3": 2, "d7": 1}}, path)
        >>> print(path.read_text(), end="")
        q1 0 d3 2
        q1 0 d7 1
    """
    written_format = _require_format(path, format)
    columns = as_qrels(qrels)
    if written_format in JSON_FORMATS or (written_format in BINARY_FORMATS and columns.has_pieces):
        entries = []
        for query, judgments in columns.as_dict().items():
            entries.append((query, encode_judgments(judgments, f"query {query!r}")))
        _write_entries(path, written_format, entries)
        return
    unjudged_queries = np.flatnonzero(np.diff(np.array(columns.bounds)) == 0)
    if len(unjudged_queries):
        query = columns.queries[int(unjudged_queries[0])]
        raise ValueError(
            f"{written_format} files cannot hold a query without judgments, such as {query!r}; {JSON_HINT}"
        )
    if columns.has_pieces:
        raise ValueError(f"{written_format} files cannot hold pieces such as quotes; write .json, .jsonl or .parquet")
    if written_format == "trec":
        if not columns.is_flat:
            raise ValueError("trec files cannot hold groups of documents; write .csv, .json, .jsonl or .parquet")
        _write_lines(path, format_qrels_lines(columns, path))
        return
    import_optional("polars", f"writing {written_format.upper()}")
    with _naming_half_characters([*columns.queries, *columns.documents], path):
        frame = qrels_to_frame(columns, written_format)
    require_text_id(frame, written_format, path)
    _write_frames(path, written_format, iter([frame]))


def _require_format(path: str | PathLike[str], format: str | None) -> str:
    """Return the format that the user passed, else that of the extension."""
    if format is not None:
        return require_known_format(format)
    format_of_extension = find_format_by_name(path)
    if format_of_extension is None:
        raise ValueError(f"the name of {path} does not show the format to write; pass format='trec' or another")
    return format_of_extension


def _write_frames(path: str | PathLike[str], format: str, frames: Iterator[pl.DataFrame]) -> None:
    import polars as pl

    if format in BINARY_FORMATS:
        frame = pl.concat(list(frames), how="vertical")
        with open_for_saving(path) as file:
            try:
                if format == "parquet":
                    frame.write_parquet(file)
                else:
                    frame.write_ipc(file)
            except pl.exceptions.PolarsError as error:  # polars has the errors of the disk in its own classes
                raise OSError(f"{path} cannot be written: {error}") from error
        return
    layout = FORMATS[format]
    with open_for_saving(path) as file:
        for number, frame in enumerate(frames):
            text = frame.write_csv(
                separator=layout.separator,
                include_header=layout.has_names and not number,
                quote_style="never" if layout.quote is None else "necessary",
            )
            file.write(text.encode())


def _write_lines(path: str | PathLike[str], lines: Iterator[str]) -> None:
    # All lines are made before the file is opened, so that an error leaves no file behind.
    written_lines = list(lines)
    try:
        text = "".join(written_lines).encode()
    except UnicodeEncodeError:
        for line in written_lines:
            refuse_half_characters(line.strip(), str(path))
        raise
    with open_for_saving(path) as file:
        file.write(text)


def _write_entries(path: str | PathLike[str], format: str, entries: Iterable[tuple[Any, Any]]) -> None:
    if format == "json":
        _write_json(path, dict(entries))
    elif format in BINARY_FORMATS:
        _write_frames(path, format, iter([entries_to_frame(entries)]))
    else:
        with open_for_saving(path) as file:
            for query, documents in entries:
                file.write(_format_line(query, documents) + b"\n")


def _write_json(path: str | PathLike[str], content: dict[Any, Any]) -> None:
    for query in content:
        if not isinstance(query, str):
            raise ValueError(
                f"the keys of a JSON object are text, so query {query!r} would become text; write .jsonl or "
                ".parquet, or convert the IDs with str"
            )
    text = _encode_json(content, indent=1) + b"\n"
    with open_for_saving(path) as file:
        file.write(text)


def _format_line(query: Any, documents: Any) -> bytes:
    """Return a query with its documents as a line of JSONL."""
    row = {"query": query}
    if isinstance(documents, dict) and isinstance(documents.get("scores"), list):
        row.update(documents)
    else:
        row["documents"] = documents
    return _encode_json(row)


def _encode_json(content: Any, indent: int | None = None) -> bytes:
    """Return JSON with letters as they are; half a character, as in a cut emoji, is written as an escape sequence."""
    try:
        return json.dumps(content, ensure_ascii=False, indent=indent).encode()
    except UnicodeEncodeError:
        return json.dumps(content, indent=indent).encode()
