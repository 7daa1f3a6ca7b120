"""Parquet files of retrieved items and judged pieces: a row per query, with what a line of JSONL holds as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from retrieval_metrics.files.json_files import parsed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import polars as pl

    from retrieval_metrics.files.named_columns import FileTable

CONTENT = "documents_json"
"""The column that holds the text; only this package uses the name, so no other table is mistaken for one."""


def table_of_entries(entries: Iterable[tuple[Any, Any]]) -> pl.DataFrame:
    """Return queries and what JSON holds for each, one row per query."""
    import polars as pl

    rows = [(query, json.dumps(entry, ensure_ascii=False, allow_nan=False)) for query, entry in entries]
    return pl.DataFrame({"query": [query for query, _ in rows], CONTENT: [text for _, text in rows]})


def entries_of_table(table: FileTable, name: str, allow: Collection[str]) -> dict[Any, Any] | None:
    """Return what such a table holds for each query; None if it has a row per document.

    Raises:
        ValueError: If a text is not JSON, or a query appears twice.
    """
    if CONTENT not in table.names:
        return None
    found: dict[Any, Any] = {}
    for number, (query, text) in enumerate(table.frame.select("query", CONTENT).collect().iter_rows(), start=1):
        where = f"{name}, row {number}, query {query!r}"
        if query in found:
            raise ValueError(f"{where}: the query appears twice")
        found[query] = parsed(text or "", f"{where}: {{}}".format, allow)
    return found
