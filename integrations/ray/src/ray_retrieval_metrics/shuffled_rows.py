"""The one table that is shuffled: retrieved documents and judgments, so that those of a query meet in one block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.inputs.files.columns import find_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa
    from ray import ObjectRef
    from ray.data import Dataset

RETRIEVED, JUDGED, NOT_JUDGED, JUDGED_NOTHING = range(4)
"""What a row says: a retrieved document, a judgment, that a query of the run is judged nowhere, or that a query is
judged and has no document."""


class Columns(NamedTuple):
    """Which columns of a dataset hold what.

    Attributes:
        query: The id of the query.
        document: The id of the document.
        number: Its score, rank or grade; None if every document has grade 1.
        kind: What the number is: `score`, `rank` or `grade`.
    """

    query: str
    document: str
    number: str | None
    kind: str


def columns_of_run(run: Dataset, columns: Mapping[str, str] | None) -> Columns:
    """Return the columns of a run.

    Raises:
        ValueError: If a column is not found, or two could be meant; if there is neither a score nor a rank.
    """
    wanted = {"query": True, "document": True, "score": False, "rank": False}
    found = find_columns(_names(run, "the run"), wanted, columns, "the run")
    kind = "score" if "score" in found else "rank"
    if kind not in found:
        msg = (
            f"the run has the columns {', '.join(map(repr, _names(run, 'the run')))}, none of them named like a score "
            "or a rank, and the rows of a Dataset stand in no order; say which it is with run_columns={'score': ...}"
        )
        raise ValueError(msg)
    return Columns(found["query"], found["document"], found[kind], kind)


def columns_of_qrels(qrels: Dataset, columns: Mapping[str, str] | None) -> Columns:
    """Return the columns of judgments.

    Raises:
        ValueError: If a column is not found, or two could be meant.
    """
    wanted = {"query": True, "document": True, "grade": False}
    found = find_columns(_names(qrels, "the qrels"), wanted, columns, "the qrels")
    return Columns(found["query"], found["document"], found.get("grade"), "grade")


def _names(dataset: Dataset, what: str) -> list[str]:
    names = dataset.columns()
    if not names:
        msg = f"{what} is empty: it has no rows"
        raise ValueError(msg)
    return list(names)


def id_kinds(dataset: Dataset, columns: Columns) -> list[type[str | int] | None]:
    """Return whether the ids of queries and of documents are text or whole numbers; None where no type tells."""
    schema = dataset.schema()
    if schema is None:
        return [None, None]
    types = [str(schema.types[schema.names.index(name)]) for name in (columns.query, columns.document)]
    return [int if kind.startswith(("int", "uint")) else str if "string" in kind else None for kind in types]


def blockwise(dataset: Dataset, function: Callable[..., Any], **options: Any) -> Dataset:
    """Return a dataset with each of its blocks transformed whole."""
    return dataset.map_batches(
        function, batch_size=None, batch_format="pyarrow", zero_copy_batch=True, fn_kwargs=options
    )


def to_rows(table: pa.Table, columns: Columns, says: int) -> pa.Table:
    """Return the columns that matter under common names, ids as text or whole numbers, numbers as float64."""
    import pyarrow as pa  # noqa: PLC0415  (whoever has blocks has it; the driver need not)

    number = pa.repeat(pa.scalar(1.0), len(table)) if columns.number is None else table[columns.number]
    return pa.table(
        {
            "query": _ids(table[columns.query]),
            "document": _ids(table[columns.document]),
            "number": number.cast(pa.float64()),
            "says": pa.repeat(pa.scalar(says, pa.int8()), len(table)),
        }
    )


def _ids(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa  # noqa: PLC0415  (as above)

    return column.cast(pa.int64() if pa.types.is_integer(column.type) else pa.large_string())


def without_unjudged(rows: pa.Table, judged: ObjectRef[Any]) -> pa.Table:
    """Return rows of a run with a single one, without a document, in place of all those of a query not judged."""
    import pyarrow.compute as pc  # noqa: PLC0415  (as above)
    import ray  # noqa: PLC0415  (as above)

    known = pc.is_in(rows["query"], value_set=ray.get(judged))
    unjudged = pc.unique(rows["query"].filter(pc.invert(known)))
    return with_said_of(rows.filter(known), unjudged, NOT_JUDGED)


def with_said_of(rows: pa.Table, queries: pa.Array, says: int) -> pa.Table:
    """Return rows with more rows that say something of whole queries."""
    import pyarrow as pa  # noqa: PLC0415  (as above)

    n = len(queries)
    nothing = pa.nulls(n, rows.schema.field("document").type), pa.nulls(n, pa.float64())
    more = pa.table([queries, *nothing, pa.repeat(pa.scalar(says, pa.int8()), n)], schema=rows.schema)
    return pa.concat_tables([rows, more])
