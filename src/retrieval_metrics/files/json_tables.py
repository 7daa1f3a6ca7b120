"""Parquet files of retrieved items and judged pieces, which are stored as JSON text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.entries import item_of, judged_of, of_item, of_judged
from retrieval_metrics.inputs.retrieved_run import RetrievedRun

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from retrieval_metrics.files.named_columns import FileTable
    from retrieval_metrics.files.opening import Reader
    from retrieval_metrics.inputs.qrels import Qrels

ITEM, PIECE = "retrieved_json", "judged_json"
"""The columns that hold JSON text; only this package uses these names, so no other table is mistaken for one."""


def table_of_items(rankings: Mapping[Any, Any]) -> pl.DataFrame:
    """Return retrieved items, one row each."""
    import polars as pl

    rows = [
        (query, rank, _json(of_item(item, f"query {query!r}")))
        for query, ranking in rankings.items()
        for rank, item in enumerate(ranking, start=1)
    ]
    return pl.DataFrame(dict(zip(("query", "rank", ITEM), map(list, zip(*rows, strict=True)), strict=True)))


def items_of_table(table: FileTable, source: Reader) -> RetrievedRun | None:
    """Return the items of a table; None if it holds ids.

    Raises:
        ValueError: If a row is malformed.
    """
    if ITEM not in table.names:
        return None
    rankings: dict[Any, list[Any]] = {}
    for number, row in enumerate(table.frame.collect().sort("rank", maintain_order=True).iter_rows(named=True), 1):
        where = f"{source.name}, row {number}, query {row['query']!r}"
        rankings.setdefault(row["query"], []).append(item_of(_object(row[ITEM], where), where))
    return RetrievedRun(rankings)


def table_of_judgments(qrels: Qrels) -> pl.DataFrame:
    """Return pieces and ids, one row each, with their groups unless all groups have one member."""
    import polars as pl

    columns: dict[str, list[Any]] = {"query": [], "group": [], PIECE: [], "grade": []}
    for query, groups in qrels.groups().items():
        for number, group in enumerate(groups):
            for judged, grade in group.items():
                row = (query, number, _json(of_judged(judged, f"query {query!r}")), grade)
                for column, value in zip(columns.values(), row, strict=True):
                    column.append(value)
    if qrels.is_flat:
        del columns["group"]
    return pl.DataFrame(columns)


def judgments_of_table(table: FileTable, source: Reader) -> dict[Any, Any] | None:
    """Return the judgments of such a table; None if it holds ids.

    Raises:
        ValueError: If a row is malformed, or something is judged twice.
    """
    if PIECE not in table.names:
        return None
    groups: dict[Any, dict[Any, dict[Any, float]]] = {}
    for number, row in enumerate(table.frame.collect().iter_rows(named=True), start=1):
        where = f"{source.name}, row {number}, query {row['query']!r}"
        judged = judged_of(_object(row[PIECE], where), where)
        group = groups.setdefault(row["query"], {}).setdefault(row.get("group"), {})
        if judged in group:
            raise ValueError(f"{where}: {judged!r} is judged twice")
        group[judged] = row["grade"]
    if "group" not in table.names:
        return {query: flat[None] for query, flat in groups.items()}
    return {query: list(of_query.values()) for query, of_query in groups.items()}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _object(text: Any, where: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{where}: {text!r} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{where}: {text!r} is not an object")  # noqa: TRY004  (the file is wrong, not the call)
    return value
