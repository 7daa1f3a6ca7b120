"""What is shuffled: retrieved documents and judgments, read from datasets and files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias, cast

import numpy as np
import pyarrow as pa
from pyarrow import compute as pc

import retrieval_metrics as rm
from retrieval_metrics.integration_api.batches import (
    JUDGMENT_ROLES,
    find_columns,
    find_format_by_name,
    is_dataframe,
    parse_allowances,
    require_same_id_type,
    trec_lines,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from os import PathLike

    from ray import ObjectRef
    from ray._private.worker import BaseContext
    from ray.data import Dataset

    Paths = str | PathLike[str] | Sequence[str | PathLike[str]]

IdKinds: TypeAlias = "list[type[str | int] | None]"
"""The types of query ids and of document ids: text, whole numbers, or None if it is unknown."""
RETRIEVED_ROW, JUDGED_ROW, UNJUDGED_ROW, EMPTY_JUDGMENTS_ROW = range(4)
"""The kinds of rows: a retrieved document, a judgment, an unjudged query of the run, or a judged query without a
document."""
_SWITCHES = {
    "RAY_USAGE_STATS_ENABLED": "0",  # no usage reports
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",  # otherwise every start under `uv run` builds the environment again
    # A worker takes seconds to start and would be ended after one idle second, before the next stage needs it.
    "RAY_idle_worker_killing_time_threshold_ms": "60000",
}


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
    return _read(paths, trec_lines.RUN_LAYOUT)


def read_qrels(paths: Paths) -> Dataset:
    """Read judgments from TREC text, plain, `.gz` or `.zst`: `query iteration document grade`.

    Args:
        paths: One path or several, as in `read_run`.

    Returns:
        A Dataset with the columns `query`, `document` and `grade`.

    Raises:
        ValueError: As in `read_run`.
    """
    return _read(paths, trec_lines.QRELS_LAYOUT)


def start(address: str | None = None, **options: Any) -> BaseContext:
    """Start Ray on this machine, or join a cluster, with its usage reports off.

    You do not need it if Ray is already running. It keeps environment variables that are set, and a running Ray. Call
    it before Ray is imported, because Ray reads its environment variables then.

    Args:
        address: The address of a cluster (`"auto"` for the one of this machine). None takes the environment variable
            `RAY_ADDRESS`, or starts Ray on this machine, in child processes that end with this one.
        options: Other arguments of `ray.init`, such as `num_cpus` or `object_store_memory`.

    Returns:
        The context of Ray: `with start(): ...` shuts it down again.
    """
    for name, value in _SWITCHES.items():
        os.environ.setdefault(name, value)
    import ray  # noqa: PLC0415  (it reads the switches when it is imported, and takes seconds)

    # Without an address, Ray would join whatever cluster somebody happens to have started on this machine.
    where = address or os.environ.get("RAY_ADDRESS") or "local"
    return ray.init(address=where, **{"include_dashboard": False, "ignore_reinit_error": True, **options})


def _read(paths: Paths, layout: trec_lines.TrecLayout) -> Dataset:
    files = [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    if not files:
        raise ValueError("there is nothing to read: pass at least one path")
    for path in files:
        kind = find_format_by_name(path) or "trec"
        if kind != "trec":
            reader = {"parquet": "read_parquet", "csv": "read_csv", "tsv": "read_csv"}.get(kind, "read_json")
            raise ValueError(f"{path} is named like {kind}, not like TREC text; read it with ray.data.{reader}")
    import ray  # noqa: PLC0415  (takes seconds)

    if not ray.is_initialized():
        start()
    listed = ray.data.from_items([{"path": path} for path in files], override_num_blocks=len(files))
    return map_blocks(listed, read_trec, layout=layout)


def read_trec(files: pa.Table, layout: trec_lines.TrecLayout) -> Iterator[pa.Table]:
    """Yield the rows of files in pieces."""
    for path in files["path"].to_pylist():
        for query, document, value in trec_lines.parts_of_file(path, layout):
            yield pa.table({"query": query.to_arrow(), "document": document.to_arrow(), layout.value: value})


class RowColumns(NamedTuple):
    """The columns of a dataset by role."""

    query: str
    document: str
    number: str | None
    kind: str
    group: str | None = None
    rank: str | None = None


def read_run_columns(
    run: Dataset, columns: Mapping[str, str | None] | None, allow: str | Collection[str] = ()
) -> RowColumns:
    """Return the columns of a run."""
    wanted, names = {"query": True, "document": True, "score": False, "rank": False}, _names(run, "the run")
    found = find_columns(names, wanted, columns, "the run", parse_allowances(allow))
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
    """Return the columns of judgments."""
    found = find_columns(_names(qrels, "the qrels"), JUDGMENT_ROLES, columns, "the qrels", parse_allowances(allow))
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


def require_dataset(given: Any, what: str) -> None:
    """Raise if something is not a Dataset."""
    from ray.data import Dataset  # noqa: PLC0415  (imports Ray, which is loaded if there is a Dataset)

    if not isinstance(given, Dataset):
        raise TypeError(
            f"{what} must be a Ray Dataset, got {type(given).__name__}; create one with ray.data.read_parquet, "
            "ray.data.from_pandas or the like, or pass data that fit into memory to rm.evaluate"
        )


def find_id_kinds(dataset: Dataset, columns: RowColumns) -> IdKinds:
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


SINGLE_TASK = 0.999
"""Processors of a stage that Ray must not fuse with those before it; Ray fuses stages of equal numbers.

A fused stage passes on a block emptied by a filter unchanged, with columns that the shuffle does not expect.
"""


def map_blocks(
    dataset: Dataset, function: Callable[..., Any], num_cpus: float | None = None, **options: Any
) -> Dataset:
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


def select_rows(
    table: pa.Table, columns: RowColumns, says: int, kinds: IdKinds | None = None, *, with_groups: bool = False
) -> pa.Table:
    """Return the needed columns under common names, ids as text or whole numbers, numbers as float64."""
    what = "the run" if says == RETRIEVED_ROW else "the qrels"
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
            require_same_id_type(kind, f"{role} ids in the qrels", _kind(ids.type), "those in the run")
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


def drop_unjudged_rows(rows: pa.Table, judged: ObjectRef[Any]) -> pa.Table:
    """Return rows of a run with a single row, without a document, for each unjudged query."""
    import ray  # noqa: PLC0415  (as above)

    known = pc.is_in(rows["query"], value_set=ray.get(judged))
    unjudged = pc.unique(rows["query"].filter(pc.invert(known)))
    return with_said_of(rows.filter(known), unjudged, UNJUDGED_ROW)


def with_said_of(rows: pa.Table, queries: pa.Array, says: int) -> pa.Table:
    """Return rows with further rows about whole queries."""
    n = len(queries)
    nothing = pa.nulls(n, rows.schema.field("document").type), pa.nulls(n, pa.float64())
    group = [pa.nulls(n, pa.large_string())] if "group" in rows.column_names else []
    more = pa.table([queries, *nothing, pa.repeat(pa.scalar(says, pa.int8()), n), *group], schema=rows.schema)
    return pa.concat_tables([rows, more])


FEW = 1_000_000
"""The largest number of judgments held by the driver, about 50 MB."""
_OF_ROWS = RowColumns("query", "document", "number", "grade")
"""The columns of the result of `select_rows`."""


class JudgmentRows(NamedTuple):
    """Judgments ready to be shuffled with a run."""

    rows: Dataset
    id_kinds: list[type[str | int] | None]
    judged: pa.Array | None
    largest_grade: Callable[[], float]
    with_groups: bool


def read_judgments(
    qrels: Any, columns: Mapping[str, str | None] | None, allow: str | Collection[str] = ()
) -> JudgmentRows:
    """Return judgments from a Dataset, or from anything that `rm.evaluate` or `rm.read_qrels` takes."""
    from ray.data import Dataset  # noqa: PLC0415  (imports Ray, which is loaded if there is a Dataset)

    if not isinstance(qrels, Dataset):
        return _few(_rows_of(_in_memory(qrels, columns, allow)))
    found = columns_of_qrels(qrels, columns, allow)
    if (held := _collected(qrels, FEW + 1)) is not None:
        return _few(select_rows(held, found, JUDGED_ROW))

    rows = map_blocks(qrels, select_rows, SINGLE_TASK, columns=found, says=JUDGED_ROW)

    def largest_grade() -> float:
        # From the rows, not from the judgments as given: among texts "9" would be larger than "10".
        return 1.0 if found.number is None else max(float(cast("float", rows.max("number"))), 0.0)

    return JudgmentRows(rows, find_id_kinds(rows, _OF_ROWS), None, largest_grade, found.group is not None)


def _few(rows: pa.Table) -> JudgmentRows:
    import ray  # noqa: PLC0415  (as above)

    dataset = ray.data.from_arrow(rows)
    kinds = find_id_kinds(dataset, _OF_ROWS)
    if rows["document"].null_count == len(rows):  # every query is judged, and nothing is judged for it
        kinds[1] = None
    return JudgmentRows(
        dataset,
        kinds,
        pc.unique(rows["query"]),
        lambda: max(pc.max(rows["number"]).as_py() or 0.0, 0.0),
        "group" in rows.column_names,
    )


def _in_memory(qrels: Any, columns: Mapping[str, str | None] | None, allow: str | Collection[str]) -> rm.Qrels:
    if is_dataframe(qrels) and (hasattr(qrels, "columns") or hasattr(qrels, "column_names")):
        return rm.Qrels.from_frame(qrels, columns=columns, allow=allow)
    read = rm.read_qrels(qrels, columns=columns, allow=allow) if not is_dataframe(qrels) else rm.Qrels(qrels)
    if read.has_pieces:
        raise TypeError(
            "these qrels hold pieces such as quotes, but the rows of a Dataset have only ids; evaluate them in parts "
            "with rm.evaluate and combine these with rm.merge"
        )
    return read


def _rows_of(qrels: rm.Qrels) -> pa.Table:
    _check_size(qrels)
    query = pa.array(list(qrels.queries))
    # Without any document the type of ids is unknown, so one must be chosen.
    document = pa.array(list(qrels.documents), type=None if qrels.documents else pa.large_string())
    at = pa.array(qrels.member_document)
    columns = {
        "query": query.take(pa.array(qrels.document_query)).take(at),
        "document": document.take(at),
        "grade": pa.array(qrels.member_grade),
        "group": pa.array(qrels.member_group),
    }
    named = RowColumns("query", "document", "grade", "grade", None if qrels.is_flat else "group")
    rows = select_rows(pa.table(columns), named, JUDGED_ROW)
    empty = np.flatnonzero(np.diff(np.array(qrels.bounds)) == 0)
    return with_said_of(rows, query.take(pa.array(empty)).cast(rows.schema.field("query").type), EMPTY_JUDGMENTS_ROW)


def _check_size(qrels: rm.Qrels) -> None:
    """Raise if an id is a whole number that no column of a dataset can hold."""
    for role, kind, ids in (
        ("query", qrels.query_kind, qrels.queries),
        ("document", qrels.document_kind, qrels.documents),
    ):
        if kind is int and (beyond := [one for one in ids if not -(2**63) <= cast("int", one) < 2**63]):
            raise ValueError(f"{role} {beyond[0]} of the qrels is beyond 64 bits; use text as ids, here and in the run")


def _collected(dataset: Dataset, most: int) -> pa.Table | None:
    """Return all rows of a dataset if there are at most `most`; otherwise None, after reading little more than that."""
    parts = list(dataset.limit(most).iter_batches(batch_size=None, batch_format="pyarrow"))
    if not sum(map(len, parts)):
        raise ValueError("the qrels are empty: they have no rows")
    return pa.concat_tables(parts, promote_options="default") if sum(map(len, parts)) < most else None
