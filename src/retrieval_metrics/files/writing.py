"""Write runs and judgments to files, in every format that can be read."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import format_argument, import_optional
from retrieval_metrics.files.formats import FORMATS, find_format_by_name, require_known_format
from retrieval_metrics.files.opening import open_for_saving
from retrieval_metrics.files.reading import has_items, read_run_mapping
from retrieval_metrics.files.tabular_rows import (
    JSON_HINT,
    entries_to_frame,
    format_qrels_lines,
    format_run_lines,
    qrels_to_frame,
    require_single_word,
    require_text_id,
    run_to_frame,
    run_to_trec_frame,
)
from retrieval_metrics.inputs.json_codec import encode_item, encode_judgments
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    import polars as pl

    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels


BINARY = ("parquet", "arrow")


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
    kind = _format_to_write(path, format)
    if not isinstance(run, Run) and has_items(run, "the run"):
        _write_items(run, path, kind)
        return
    if kind == "trec" and not isinstance(run, Run):  # by Python alone, which is also faster
        _write_lines(path, format_run_lines(run, tag, path))
        return
    import_optional("polars", f"writing {kind.upper()}")
    columns = run if isinstance(run, Run) else read_run_mapping(run, "the run")
    if kind in {"json", "jsonl"}:
        _write_entries(path, kind, ((query, _scored(held)) for query, held in columns.rankings()))
        return
    frame_of = partial(run_to_frame, kind=kind)
    if kind == "trec":
        require_single_word([tag], "the tag", path)
        frame_of = partial(run_to_trec_frame, tag=tag, path=path)
    # A run may be too large to hold all its frames at once, so each is made twice: to check it, and to write it.
    _require_alike(map(frame_of, columns.batches()), kind, path)
    _write_frames(path, kind, map(frame_of, columns.batches()))


def _require_alike(frames: Iterator[pl.DataFrame], kind: str, path: str | PathLike[str]) -> None:
    """Raise before anything is written if a part of a run cannot be written."""
    header = None
    for frame in frames:
        if header is not None and frame.columns != header:
            raise ValueError(
                f"a {kind} file has scores for all queries or for none; write .json or .jsonl, or give all scores"
            )
        require_text_id(frame, kind, path)
        header = frame.columns


def _scored(ranking: Any) -> Any:
    """Return a ranking for JSON: whole-number ids cannot be keys, so they are in a list beside that of the scores."""
    if isinstance(ranking, dict) and any(not isinstance(document, str) for document in ranking):
        return {"documents": list(ranking), "scores": list(ranking.values())}
    return ranking


def _write_items(run: Any, path: str | PathLike[str], kind: str) -> None:
    if kind not in {"json", "jsonl", *BINARY}:
        raise ValueError(f"a {kind} file cannot hold Retrieved items, only ids; write .json, .jsonl or .parquet")
    rankings = {query: [encode_item(item, f"query {query!r}") for item in ranking] for query, ranking in run.items()}
    _write_entries(path, kind, rankings.items())


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
    kind, truth = _format_to_write(path, format), as_qrels(qrels)
    if kind in {"json", "jsonl"} or (kind in BINARY and truth.has_pieces):
        judged = ((query, encode_judgments(one, f"query {query!r}")) for query, one in truth.as_dict().items())
        _write_entries(path, kind, list(judged))
        return
    bare = np.flatnonzero(np.diff(np.array(truth.bounds)) == 0)
    if len(bare):
        query = truth.queries[int(bare[0])]
        raise ValueError(f"{kind} files cannot hold a query without judgments, such as {query!r}; {JSON_HINT}")
    if truth.has_pieces:
        raise ValueError(f"{kind} files cannot hold pieces such as quotes; write .json, .jsonl or .parquet")
    if kind == "trec" and not truth.is_flat:
        raise ValueError(f"{kind} files cannot hold groups of documents; write .csv, .json, .jsonl or .parquet")
    if kind == "trec":
        _write_lines(path, format_qrels_lines(truth, path))
        return
    import_optional("polars", f"writing {kind.upper()}")
    frame = qrels_to_frame(truth, kind)
    require_text_id(frame, kind, path)
    _write_frames(path, kind, iter([frame]))


def _format_to_write(path: str | PathLike[str], given: str | None) -> str:
    kind = require_known_format(given) if given is not None else find_format_by_name(path)
    if kind is None:
        raise ValueError(
            f"the name of {path} does not show the format to write; pass {format_argument('format', 'trec')} or another"
        )
    return kind


def _write_frames(path: str | PathLike[str], kind: str, frames: Iterator[pl.DataFrame]) -> None:
    import polars as pl

    if kind in BINARY:
        whole = pl.concat(list(frames), how="vertical")
        with open_for_saving(path) as file:
            (whole.write_parquet if kind == "parquet" else whole.write_ipc)(file)
        return
    with open_for_saving(path) as file:
        for number, frame in enumerate(frames):
            text = frame.write_csv(
                separator=FORMATS[kind].separator,
                include_header=FORMATS[kind].has_names and not number,
                quote_style="never" if FORMATS[kind].quote is None else "necessary",
            )
            file.write(text.encode())


def _write_lines(path: str | PathLike[str], lines: Iterator[str]) -> None:
    text = "".join(lines).encode()  # as a whole, so that what is refused is refused before
    with open_for_saving(path) as file:
        file.write(text)


def _write_entries(path: str | PathLike[str], kind: str, entries: Iterable[tuple[Any, Any]]) -> None:
    if kind == "json":
        content = dict(entries)
        if numbers := [query for query in content if not isinstance(query, str)]:
            raise ValueError(
                f"the keys of a JSON object are text, so query {numbers[0]!r} would become text; write .jsonl or "
                ".parquet, or convert the ids with str"
            )
        text = json.dumps(content, ensure_ascii=False, indent=1).encode() + b"\n"
        with open_for_saving(path) as file:
            file.write(text)
        return
    if kind in BINARY:
        _write_frames(path, kind, iter([entries_to_frame(entries)]))
        return
    with open_for_saving(path) as file:
        for query, documents in entries:
            beside = isinstance(documents, dict) and isinstance(documents.get("scores"), list)
            line = json.dumps(
                {"query": query, **(documents if beside else {"documents": documents})}, ensure_ascii=False
            )
            file.write(line.encode() + b"\n")
