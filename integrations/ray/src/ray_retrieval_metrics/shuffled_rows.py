"""Make the rows that are shuffled: retrieved documents, judgments, and rows about whole queries."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import pyarrow as pa
from pyarrow import compute as pc

from ray_retrieval_metrics.datasets import column_names
from retrieval_metrics.integration_api.batches import RowColumns, require_same_id_type

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ray import ObjectRef
    from ray.data import Dataset

# The type of ids: text, whole numbers, or None if it is unknown.
IdType: TypeAlias = "type[str | int] | None"

# The columns of the result of `select_rows`.
SELECTED_COLUMNS = RowColumns("query", "document", "number", "grade")


class RowKind(IntEnum):
    """The kind of a shuffled row."""

    RETRIEVED = 0
    """A retrieved document."""
    JUDGED = 1
    """A judgment."""
    UNJUDGED_QUERY = 2
    """A query of the run that is not judged."""
    EMPTY_QUERY = 3
    """A judged query without a judged document."""


@dataclass(frozen=True, slots=True)
class IdTypes:
    """The types of the ids of queries and of documents."""

    query: IdType = None
    document: IdType = None


def read_run_columns(
    run: Dataset, columns: Mapping[str, str | None] | None, allow: str | Collection[str] = ()
) -> RowColumns:
    """Return the columns of a run.

    Raises:
        ValueError: If a column is not found, or there is neither a score nor a rank.
    """
    names = column_names(run, "the run")
    run_columns = RowColumns.find_in_run(names, columns, allow)
    if run_columns is None:
        raise ValueError(
            f"the run has the columns {', '.join(map(repr, names))}, none of them named like a score "
            "or a rank, and the rows of a Dataset have no order; name the column with run_columns={'score': ...}"
        )
    return run_columns


def find_id_types(dataset: Dataset, columns: RowColumns) -> IdTypes:
    """Return whether the ids of queries and of documents are text or whole numbers; None if it is unknown."""
    schema = dataset.schema()
    if schema is None:
        return IdTypes()
    query_type = schema.types[schema.names.index(columns.query)]
    document_type = schema.types[schema.names.index(columns.document)]
    return IdTypes(_id_type(query_type), _id_type(document_type))


def _id_type(column_type: Any) -> IdType:
    """Return the type of ids in a column of a type of Arrow or pandas."""
    value_type = column_type.value_type if isinstance(column_type, pa.DictionaryType) else column_type
    name = str(value_type).lower()
    if name.startswith(("int", "uint")):
        return int
    if "string" in name or "binary" in name:
        return str
    return None


def require_same_id_types(qrels_types: IdTypes, run_types: IdTypes) -> None:
    """Raise if ids are text on one side and whole numbers on the other."""
    require_same_id_type(qrels_types.query, "query IDs in the qrels", run_types.query, "those in the run")
    require_same_id_type(qrels_types.document, "document IDs in the qrels", run_types.document, "those in the run")


def select_rows(
    table: pa.Table,
    columns: RowColumns,
    row_kind: RowKind,
    qrels_types: IdTypes | None = None,
    *,
    with_groups: bool = False,
) -> pa.Table:
    """Return the needed columns under common names, ids as text or whole numbers, numbers as float64.

    Args:
        table: A block of a run or of judgments.
        columns: Its columns.
        row_kind: What its rows are.
        qrels_types: For a run, the types of the ids in the judgments.
        with_groups: Whether judgments have groups, so that every row needs the column.

    Raises:
        ValueError: If a column is missing, or a row has no query or no number.
        TypeError: If a column has another type, or another than the judgments.
    """
    source = "the run" if row_kind == RowKind.RETRIEVED else "the qrels"
    _require_columns(table, columns, source)
    expected_types = qrels_types or IdTypes()
    query = _convert_ids(table[columns.query], expected_types.query, source)
    document = _convert_ids(table[columns.document], expected_types.document, source)
    if qrels_types is not None:
        require_same_id_types(qrels_types, IdTypes(_id_type(query.type), _id_type(document.type)))
        if qrels_types.document is None:
            document = _as_text(document)
    if query.null_count:
        first_without_query = query.is_null().index(True).as_py()
        _refuse_row(table, columns, first_without_query, source, "has no query")
    rows = {
        "query": query,
        "document": document,
        "number": _read_numbers(table, columns, source),
        "kind": pa.repeat(pa.scalar(row_kind.value, pa.int8()), len(table)),
    }
    if columns.group is not None:
        rows["group"] = _as_text(table[columns.group])
    elif with_groups:
        rows["group"] = pa.nulls(len(table), pa.large_string())
    return pa.table(rows)


def _require_columns(table: pa.Table, columns: RowColumns, source: str) -> None:
    for name in (columns.query, columns.document, columns.number, columns.group):
        if name is not None and name not in table.column_names:
            raise ValueError(
                f"a block of {source} has no column {name!r}, which other blocks have; it has "
                f"{', '.join(map(repr, table.column_names))}: the files or tables it was made of have different columns"
            )


def _convert_ids(column: pa.ChunkedArray, expected_type: IdType, source: str) -> pa.ChunkedArray:
    """Return ids as text or whole numbers; a column without any id gets the expected type."""
    if pa.types.is_null(column.type):
        id_type = expected_type
    else:
        id_type = _id_type(column.type)
        if id_type is None:
            # Ray stores values of several types in one column as pickled objects.
            is_mixed = "pickled_object" in str(column.type)
            held_types = "values of several types" if is_mixed else str(column.type)
            raise TypeError(
                f"the IDs in {source} must be text or whole numbers, and a column holds {held_types}; convert it, for "
                "example with Dataset.map_batches"
            )
    if id_type is not int:
        return _as_text(column)
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise ValueError(f"the IDs in {source} must fit into 64 bits; pass them as text: {error}") from error


def _as_text(ids: pa.ChunkedArray) -> pa.ChunkedArray:
    return ids.cast(pa.large_string())


def _read_numbers(table: pa.Table, columns: RowColumns, source: str) -> pa.Array | pa.ChunkedArray:
    """Return the numbers of rows as float64, parsed if they are text."""
    if columns.number is None:
        return pa.repeat(pa.scalar(1.0), len(table))
    column = table[columns.number]
    try:
        # Whole numbers beyond 2**53 become the nearest float, as in the core.
        return column.cast(pa.float64(), safe=False)
    except pa.ArrowNotImplementedError as error:
        raise TypeError(f"column {columns.number!r} of {source} must hold numbers, not {column.type}") from error
    except pa.ArrowInvalid:
        for row, text in enumerate(column.to_pylist()):
            try:
                pa.scalar(text, pa.string()).cast(pa.float64())
            except pa.ArrowInvalid:
                complaint = f"has {text!r} as {columns.kind}, which is not a finite number"
                _refuse_row(table, columns, row, source, complaint)
        raise


def _refuse_row(table: pa.Table, columns: RowColumns, row: int, source: str, complaint: str) -> NoReturn:
    """Raise an error that shows a row, by its position in the table."""
    names = [name for name in (columns.query, columns.document, columns.number) if name is not None]
    raise ValueError(f"a row of {source} {complaint}: {table.select(names).slice(row, 1).to_pylist()[0]}")


def drop_unjudged_rows(rows: pa.Table, judged_queries: ObjectRef[Any]) -> pa.Table:
    """Return the rows of a run in which a single row without a document replaces those of each unjudged query."""
    import ray

    is_judged = pc.is_in(rows["query"], value_set=ray.get(judged_queries))
    unjudged_queries = pc.unique(rows["query"].filter(pc.invert(is_judged)))
    return append_query_rows(rows.filter(is_judged), unjudged_queries, RowKind.UNJUDGED_QUERY)


def append_query_rows(rows: pa.Table, queries: pa.Array, row_kind: RowKind) -> pa.Table:
    """Return rows with further rows about whole queries."""
    n_queries = len(queries)
    columns = {
        "query": queries,
        "document": pa.nulls(n_queries, rows.schema.field("document").type),
        "number": pa.nulls(n_queries, pa.float64()),
        "kind": pa.repeat(pa.scalar(row_kind.value, pa.int8()), n_queries),
    }
    if "group" in rows.column_names:
        columns["group"] = pa.nulls(n_queries, pa.large_string())
    return pa.concat_tables([rows, pa.table(columns, schema=rows.schema)])
