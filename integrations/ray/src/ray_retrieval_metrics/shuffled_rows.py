"""The table that is shuffled: retrieved documents and judgments, so that all rows of a query are in one block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from retrieval_metrics.adapting.distributed import OF_JUDGMENTS, allowances, find_columns, same_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from ray import ObjectRef
    from ray.data import Dataset

IdKinds: TypeAlias = "list[type[str | int] | None]"
"""The types of query ids and of document ids: text, whole numbers, or None if it is unknown."""

RETRIEVED, JUDGED, NOT_JUDGED, JUDGED_NOTHING = range(4)
"""The kinds of rows: a retrieved document, a judgment, an unjudged query of the run, or a judged query without a
document."""


class RowColumns(NamedTuple):
    """The columns of a dataset by role.

    Attributes:
        query: The id of the query.
        document: The id of the document.
        number: Its score, rank or grade; None if every document has grade 1.
        kind: What the number is: `score`, `rank` or `grade`.
        group: The label that alternatives share; None if there are no groups.
        rank: The rank beside a score, which orders the run; None if there is none.
    """

    query: str
    document: str
    number: str | None
    kind: str
    group: str | None = None
    rank: str | None = None


def columns_of_run(
    run: Dataset, columns: Mapping[str, str | None] | None, allow: str | Collection[str] = ()
) -> RowColumns:
    """Return the columns of a run.

    Raises:
        ValueError: If a column is not found or ambiguous, or there is neither a score nor a rank.
    """
    wanted, names = {"query": True, "document": True, "score": False, "rank": False}, _names(run, "the run")
    found = find_columns(names, wanted, columns, "the run", allowances(allow))
    kind = "score" if "score" in found else "rank"
    if kind not in found:
        raise ValueError(
            f"the run has the columns {', '.join(map(repr, names))}, none of them named like a score "
            "or a rank, and the rows of a Dataset have no order; name the column with run_columns={'score': ...}"
        )
    return RowColumns(
        found["query"], found["document"], found[kind], kind, rank=found.get("rank") if kind == "score" else None
    )


def columns_of_qrels(
    qrels: Dataset, columns: Mapping[str, str | None] | None, allow: str | Collection[str] = ()
) -> RowColumns:
    """Return the columns of judgments.

    Raises:
        ValueError: If a column is not found or ambiguous, or an unknown column could be the grade.
    """
    found = find_columns(_names(qrels, "the qrels"), OF_JUDGMENTS, columns, "the qrels", allowances(allow))
    return RowColumns(found["query"], found["document"], found.get("grade"), "grade", found.get("group"))


def _names(dataset: Dataset, what: str) -> list[str]:
    try:
        names = dataset.columns()
    except pa.ArrowTypeError as error:
        raise TypeError(
            f"the blocks of {what} have columns of different types ({str(error).partition(chr(10))[0]}); convert them "
            "before they come together: ids are all text or all whole numbers, scores and grades are numbers"
        ) from None
    if not names:
        raise ValueError(f"{what} is empty: it has no rows")
    return list(names)


def need_dataset(given: Any, what: str) -> None:
    """Raise if something is not a Dataset.

    Raises:
        TypeError: If it is not; the message says how to create one.
    """
    from ray.data import Dataset  # noqa: PLC0415  (imports Ray, which is loaded if there is a Dataset)

    if not isinstance(given, Dataset):
        raise TypeError(
            f"{what} must be a Ray Dataset, got {type(given).__name__}; create one with ray.data.read_parquet, "
            "ray.data.from_pandas or the like, or pass data that fit into memory to rm.evaluate"
        )


def id_kinds(dataset: Dataset, columns: RowColumns) -> IdKinds:
    """Return whether the ids of queries and of documents are text or whole numbers; None if it is unknown."""
    schema = dataset.schema()
    if schema is None:
        return [None, None]
    return [_kind(schema.types[schema.names.index(name)]) for name in (columns.query, columns.document)]


def _kind(column_type: Any) -> type[str | int] | None:
    """Return the kind of ids of a column type of Arrow or pandas."""
    values = column_type.value_type if isinstance(column_type, pa.DictionaryType) else column_type
    name = str(values).lower()
    return int if name.startswith(("int", "uint")) else str if "string" in name or "binary" in name else None


ON_ITS_OWN = 0.999
"""Processors of a stage that Ray must not fuse with those before it; Ray fuses stages of equal numbers.

A fused stage passes on a block emptied by a filter unchanged, with columns that the shuffle does not expect.
"""


def blockwise(dataset: Dataset, function: Callable[..., Any], num_cpus: float | None = None, **options: Any) -> Dataset:
    """Return a dataset with a function applied to each whole block."""
    mapped = dataset.map_batches(
        function,
        batch_size=None,
        batch_format="pyarrow",
        zero_copy_batch=True,
        fn_kwargs=options,
        num_cpus=num_cpus,
    )
    mapped.context.raise_original_map_exception = True  # else Ray's own error takes the place of ours
    return mapped


def to_rows(
    table: pa.Table, columns: RowColumns, says: int, kinds: IdKinds | None = None, *, with_groups: bool = False
) -> pa.Table:
    """Return the needed columns under common names, ids as text or whole numbers, numbers as float64.

    Args:
        table: The rows of a block.
        columns: The columns by role.
        says: The kind of the rows.
        kinds: The kinds of ids on the other side, for rows of a run. If it is unknown, ids are read as text.
        with_groups: Whether any row has a group, so that all need a column for it.

    Raises:
        TypeError: If a column holds anything else, or ids cannot equal those on the other side.
        ValueError: If a query is missing, or a number is invalid; the message has the row.
    """
    what = "the run" if says == RETRIEVED else "the qrels"
    for name in (columns.query, columns.document, columns.number, columns.group):
        if name is not None and name not in table.column_names:
            raise ValueError(
                f"a block of {what} has no column {name!r}, which other blocks have; it has "
                f"{', '.join(map(repr, table.column_names))}: the files or tables it was made of have different columns"
            )
    sides = kinds or [None, None]
    query, document = (
        _ids(table[name], kind, what) for name, kind in zip((columns.query, columns.document), sides, strict=True)
    )
    if kinds is not None:
        for role, kind, ids in zip(("query", "document"), kinds, (query, document), strict=True):
            same_kind(kind, f"{role} ids in the qrels", _kind(ids.type), "those in the run")
        if kinds[1] is None:
            document = _as_text(document)
    if query.null_count:
        _refuse(table, columns, query.is_null().index(True).as_py(), what, "has no query")
    rows = {
        "query": query,
        "document": document,
        "number": _numbers(table, columns, what),
        "says": pa.repeat(pa.scalar(says, pa.int8()), len(table)),
    }
    if columns.group is not None:
        rows["group"] = _as_text(table[columns.group])
    elif with_groups:
        rows["group"] = pa.nulls(len(table), pa.large_string())
    return pa.table(rows)


def _ids(column: pa.ChunkedArray, other: type[str | int] | None, what: str) -> pa.ChunkedArray:
    """Return ids as text or whole numbers; if all are missing, with the type of the other side."""
    kind = other if pa.types.is_null(column.type) else _kind(column.type)
    if kind is None and not pa.types.is_null(column.type):
        held = "values of several types" if "pickled_object" in str(column.type) else str(column.type)
        raise TypeError(
            f"ids in {what} must be text or whole numbers, and a column holds {held}; convert it, for example "
            "with Dataset.map_batches"
        )
    if kind is not int:
        return _as_text(column)
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise ValueError(f"ids in {what} must fit into 64 bits; pass them as text: {error}") from error


def _as_text(ids: pa.ChunkedArray) -> pa.ChunkedArray:
    return ids.cast(pa.large_string())


def _numbers(table: pa.Table, columns: RowColumns, what: str) -> pa.Array | pa.ChunkedArray:
    """Return the numbers of rows as float64, parsed if they are text."""
    if columns.number is None:
        return pa.repeat(pa.scalar(1.0), len(table))
    column = table[columns.number]
    try:
        # Whole numbers beyond 2**53 become the nearest float, as in the core.
        return column.cast(pa.float64(), safe=False)
    except pa.ArrowNotImplementedError as error:
        raise TypeError(f"column {columns.number!r} of {what} must hold numbers, not {column.type}") from error
    except pa.ArrowInvalid:
        for row, text in enumerate(column.to_pylist()):
            try:
                pa.scalar(text, pa.string()).cast(pa.float64())
            except pa.ArrowInvalid:
                _refuse(table, columns, row, what, f"has {text!r} as {columns.kind}, which is not a finite number")
        raise


def _refuse(table: pa.Table, columns: RowColumns, row: int, what: str, complaint: str) -> NoReturn:
    names = [name for name in (columns.query, columns.document, columns.number) if name is not None]
    raise ValueError(f"a row of {what} {complaint}: {table.select(names).slice(row, 1).to_pylist()[0]}")


def without_unjudged(rows: pa.Table, judged: ObjectRef[Any]) -> pa.Table:
    """Return rows of a run with a single row, without a document, for each unjudged query."""
    import ray  # noqa: PLC0415  (as above)

    known = pc.is_in(rows["query"], value_set=ray.get(judged))
    unjudged = pc.unique(rows["query"].filter(pc.invert(known)))
    return with_said_of(rows.filter(known), unjudged, NOT_JUDGED)


def with_said_of(rows: pa.Table, queries: pa.Array, says: int) -> pa.Table:
    """Return rows with further rows about whole queries."""
    n = len(queries)
    nothing = pa.nulls(n, rows.schema.field("document").type), pa.nulls(n, pa.float64())
    group = [pa.nulls(n, pa.large_string())] if "group" in rows.column_names else []
    more = pa.table([queries, *nothing, pa.repeat(pa.scalar(says, pa.int8()), n), *group], schema=rows.schema)
    return pa.concat_tables([rows, more])
