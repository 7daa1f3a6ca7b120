"""Read judgments: few are held by the driver and sent to every worker, many stay a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import retrieval_metrics as rm
from ray_retrieval_metrics.shuffled_rows import (
    JUDGED,
    JUDGED_NOTHING,
    ON_ITS_OWN,
    RowColumns,
    blockwise,
    columns_of_qrels,
    id_kinds,
    to_rows,
    with_said_of,
)
from retrieval_metrics.adapting.distributed import is_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from ray.data import Dataset

FEW = 1_000_000
"""The largest number of judgments held by the driver, about 50 MB."""

_OF_ROWS = RowColumns("query", "document", "number", "grade")
"""The columns of the result of `to_rows`."""


class JudgmentRows(NamedTuple):
    """Judgments ready to be shuffled with a run.

    Attributes:
        rows: One row per judgment, from `to_rows`.
        id_kinds: Whether the ids of queries and of documents are text or whole numbers.
        judged: The ids of the judged queries, if they are few; None if they are many.
        largest_grade: Returns the largest grade of all.
        with_groups: Whether some documents are alternatives.
    """

    rows: Dataset
    id_kinds: list[type[str | int] | None]
    judged: pa.Array | None
    largest_grade: Callable[[], float]
    with_groups: bool


def read_judgments(
    qrels: Any, columns: Mapping[str, str | None] | None, allow: str | Collection[str] = ()
) -> JudgmentRows:
    """Return judgments from a Dataset, or from anything that `rm.evaluate` or `rm.read_qrels` takes.

    Raises:
        TypeError: If they hold pieces, or are not judgments.
        ValueError: If they are empty or malformed.
    """
    from ray.data import Dataset  # noqa: PLC0415  (imports Ray, which is loaded if there is a Dataset)

    if not isinstance(qrels, Dataset):
        return _few(_rows_of(_in_memory(qrels, columns, allow)))
    found = columns_of_qrels(qrels, columns, allow)
    if (held := _collected(qrels, FEW + 1)) is not None:
        return _few(to_rows(held, found, JUDGED))

    rows = blockwise(qrels, to_rows, ON_ITS_OWN, columns=found, says=JUDGED)

    def largest_grade() -> float:
        # From the rows, not from the judgments as given: among texts "9" would be larger than "10".
        return 1.0 if found.number is None else max(float(cast("float", rows.max("number"))), 0.0)

    return JudgmentRows(rows, id_kinds(rows, _OF_ROWS), None, largest_grade, found.group is not None)


def _few(rows: pa.Table) -> JudgmentRows:
    import ray  # noqa: PLC0415  (as above)

    dataset = ray.data.from_arrow(rows)
    kinds = id_kinds(dataset, _OF_ROWS)
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
    if is_frame(qrels) and (hasattr(qrels, "columns") or hasattr(qrels, "column_names")):
        return rm.Qrels.from_frame(qrels, columns=columns, allow=allow)
    read = rm.read_qrels(qrels, columns=columns, allow=allow) if not is_frame(qrels) else rm.Qrels(qrels)
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
    rows = to_rows(pa.table(columns), named, JUDGED)
    empty = np.flatnonzero(np.diff(np.array(qrels.bounds)) == 0)
    return with_said_of(rows, query.take(pa.array(empty)).cast(rows.schema.field("query").type), JUDGED_NOTHING)


def _check_size(qrels: rm.Qrels) -> None:
    """Raise if an id is a whole number that no column of a dataset can hold."""
    for role, kind, ids in (
        ("query", qrels.query_kind, qrels.queries),
        ("document", qrels.document_kind, qrels.documents),
    ):
        if kind is int and (beyond := [one for one in ids if not -(2**63) <= cast("int", one) < 2**63]):
            raise ValueError(f"{role} {beyond[0]} of the qrels is beyond 64 bits; use text as ids, here and in the run")


def _collected(dataset: Dataset, most: int) -> pa.Table | None:
    """Return all rows of a dataset if there are at most `most`; otherwise None, after reading little more than that.

    Raises:
        ValueError: If there are none.
    """
    parts = list(dataset.limit(most).iter_batches(batch_size=None, batch_format="pyarrow"))
    if not sum(map(len, parts)):
        raise ValueError("the qrels are empty: they have no rows")
    return pa.concat_tables(parts, promote_options="default") if sum(map(len, parts)) < most else None
