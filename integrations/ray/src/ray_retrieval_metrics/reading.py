"""Read TREC text into datasets, file by file and piece by piece; Ray reads other formats itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pyarrow as pa

from ray_retrieval_metrics.shuffled_rows import blockwise
from ray_retrieval_metrics.starting import start
from retrieval_metrics.adapting.distributed import format_by_name, trec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from ray.data import Dataset

    Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


def read_run(paths: Paths) -> Dataset:
    """Read runs from TREC text, plain, `.gz` or `.zst`: `query Q0 document rank score tag`.

    Each file is read by one task, a few megabytes at a time, so several files are read at once and none has to fit into
    memory. The lines of a query may be spread over files. Read other formats with Ray: `ray.data.read_parquet`,
    `read_csv`, `read_json`.

    Args:
        paths: One path or several; every machine of the cluster must be able to open them.

    Returns:
        A Dataset with the columns `query`, `document` and `score`.

    Raises:
        ValueError: If a name is that of another format, or there is no path. Errors in a file are raised when it is
            read, with the file, the number of the line, and the line.
    """
    return _read(paths, trec.RUN)


def read_qrels(paths: Paths) -> Dataset:
    """Read judgments from TREC text, plain, `.gz` or `.zst`: `query iteration document grade`.

    Args:
        paths: One path or several, as in `read_run`.

    Returns:
        A Dataset with the columns `query`, `document` and `grade`.

    Raises:
        ValueError: As in `read_run`.
    """
    return _read(paths, trec.QRELS)


def _read(paths: Paths, layout: trec.Layout) -> Dataset:
    files = [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    if not files:
        raise ValueError("there is nothing to read: pass at least one path")
    for path in files:
        kind = format_by_name(path) or "trec"
        if kind != "trec":
            reader = {"parquet": "read_parquet", "csv": "read_csv", "tsv": "read_csv"}.get(kind, "read_json")
            raise ValueError(f"{path} is named like {kind}, not like TREC text; read it with ray.data.{reader}")
    import ray  # noqa: PLC0415  (takes seconds)

    if not ray.is_initialized():
        start()
    listed = ray.data.from_items([{"path": path} for path in files], override_num_blocks=len(files))
    return blockwise(listed, read_trec, layout=layout)


def read_trec(files: pa.Table, layout: trec.Layout) -> Iterator[pa.Table]:
    """Yield the rows of files in pieces."""
    for path in files["path"].to_pylist():
        for query, document, value in trec.parts_of_file(path, layout):
            yield pa.table({"query": query.to_arrow(), "document": document.to_arrow(), layout.value: value})
