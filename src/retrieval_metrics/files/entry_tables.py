"""Tables with one row per query that hold retrieved items or judged pieces as JSON text in a column."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.files.json_parsing import parse_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import polars as pl

    from retrieval_metrics.files.tabular_rows import FileTable

# The column of the JSON text; only this package uses the name, so other tables are not mistaken for such a table.
CONTENT_COLUMN = "documents_json"


def entries_to_frame(entries: Iterable[tuple[Any, Any]]) -> pl.DataFrame:
    """Return a table with the query and the JSON text of each entry, one row per query."""
    polars = import_optional("polars", "writing a table")
    queries = []
    texts = []
    for query, entry in entries:
        queries.append(query)
        texts.append(json.dumps(entry, ensure_ascii=False, allow_nan=False))
    frame: pl.DataFrame = polars.DataFrame({"query": queries, CONTENT_COLUMN: texts})
    return frame


def read_entries_frame(table: FileTable, name: str, allow: Collection[str]) -> dict[Any, Any] | None:
    """Return the entry of each query in such a table; None if the table has a row per document instead."""
    if CONTENT_COLUMN not in table.names:
        return None
    entry_by_query: dict[Any, Any] = {}
    rows = table.frame.select("query", CONTENT_COLUMN).collect().iter_rows()
    for number, (query, text) in enumerate(rows, start=1):
        where = f"{name}, row {number}, query {query!r}"
        if query in entry_by_query:
            raise ValueError(f"{where}: the query appears twice")
        entry_by_query[query] = parse_json(text or "", f"{where}: {{}}".format, allow)
    return entry_by_query
