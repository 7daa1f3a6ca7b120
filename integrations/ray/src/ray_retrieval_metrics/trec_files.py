"""Read files of TREC text as datasets of Ray, each file by one task."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from ray_retrieval_metrics.cluster import start
from ray_retrieval_metrics.datasets import map_blocks
from retrieval_metrics.integration_api.batches import find_format_by_name, read_trec_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from ray.data import Dataset

    Paths = str | PathLike[str] | Sequence[str | PathLike[str]]

# The functions of Ray that read other formats; all the others are forms of JSON.
RAY_READERS = {"parquet": "read_parquet", "csv": "read_csv", "tsv": "read_csv"}


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
    return _read_files(paths, "run")


def read_qrels(paths: Paths) -> Dataset:
    """Read judgments from TREC text, plain, `.gz` or `.zst`: `query iteration document grade`.

    Args:
        paths: One path or several, as in `read_run`.

    Returns:
        A Dataset with the columns `query`, `document` and `grade`.

    Raises:
        ValueError: As in `read_run`.
    """
    return _read_files(paths, "qrels")


def _read_files(paths: Paths, kind: Literal["run", "qrels"]) -> Dataset:
    path_list = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    file_names = [os.fspath(path) for path in path_list]
    if not file_names:
        raise ValueError("there is nothing to read: pass at least one path")
    for file_name in file_names:
        _require_trec_name(file_name)
    import ray

    if not ray.is_initialized():
        start()
    dataset = ray.data.from_items([{"path": name} for name in file_names], override_num_blocks=len(file_names))
    return map_blocks(dataset, read_trec_tables, kind=kind)


def _require_trec_name(path: str) -> None:
    """Raise if the name of a file is that of another format."""
    file_format = find_format_by_name(path) or "trec"
    if file_format != "trec":
        reader = RAY_READERS.get(file_format, "read_json")
        raise ValueError(f"{path} is named like {file_format}, not like TREC text; read it with ray.data.{reader}")


def read_trec_tables(files: pa.Table, kind: Literal["run", "qrels"]) -> Iterator[pa.Table]:
    """Yield the rows of files in tables of a few megabytes."""
    for path in files["path"].to_pylist():
        for columns in read_trec_blocks(path, kind):
            arrow_columns = {}
            for name, column in columns.items():
                arrow_columns[name] = column.to_arrow() if hasattr(column, "to_arrow") else column
            yield pa.table(arrow_columns)
