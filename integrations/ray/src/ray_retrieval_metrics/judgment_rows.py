"""Make the rows of judgments that are shuffled with a run, from datasets and from memory."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pyarrow as pa
from pyarrow import compute as pc

import retrieval_metrics as rm
from ray_retrieval_metrics.datasets import SINGLE_TASK, column_names, map_blocks
from ray_retrieval_metrics.shuffled_rows import (
    SELECTED_COLUMNS,
    RowKind,
    append_query_rows,
    find_id_types,
    select_rows,
)
from retrieval_metrics.integration_api import resolve_judgments
from retrieval_metrics.integration_api.batches import RowColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from os import PathLike

    import pandas as pd
    import polars as pl
    from ray.data import Dataset

    from ray_retrieval_metrics.shuffled_rows import IdTypes
    from retrieval_metrics.types import QrelsMapping

# Judgments in any form: a dataset, what `rm.evaluate` takes, a DataFrame, or a path.
JudgmentSource: TypeAlias = (
    "Dataset | QrelsMapping | rm.Qrels | pa.Table | pd.DataFrame | pl.DataFrame | str | PathLike[str]"
)

# The largest number of judgments held by the driver, about 50 MB.
MAX_JUDGMENTS_IN_MEMORY = 1_000_000

# The smallest positive number that does not fit into 64 bits with a sign.
BEYOND_64_BITS = 2**63


@dataclass(frozen=True, slots=True)
class JudgmentRows:
    """Judgments ready to be shuffled with a run.

    Attributes:
        rows: A row for each judgment.
        id_types: The types of their ids.
        judged_queries: The judged queries; None if there are too many judgments to collect them first.
        read_max_grade: Returns the largest grade, for which it may have to read the rows.
        with_groups: Whether they have groups.
        qrels: The judgments as the core holds them; None if they come from a dataset.
    """

    rows: Dataset
    id_types: IdTypes
    judged_queries: pa.Array | None
    read_max_grade: Callable[[], float]
    with_groups: bool
    qrels: rm.Qrels | None = None


def read_judgments(
    qrels: JudgmentSource, columns: Mapping[str, str | None] | None, allow: str | Collection[str] = ()
) -> JudgmentRows:
    """Return judgments from a Dataset, or from anything that `rm.evaluate` or `rm.read_qrels` takes."""
    from ray.data import Dataset

    if not isinstance(qrels, Dataset):
        judgments = _read_in_memory(qrels, columns, allow)
        return replace(_prepare_in_memory(_qrels_as_rows(judgments)), qrels=judgments)
    qrels_columns = RowColumns.find_in_qrels(column_names(qrels, "the qrels"), columns, allow)
    table = _collect_if_few(qrels, MAX_JUDGMENTS_IN_MEMORY + 1)
    if table is not None:
        return _prepare_in_memory(select_rows(table, qrels_columns, RowKind.JUDGED))
    rows = map_blocks(qrels, select_rows, SINGLE_TASK, columns=qrels_columns, row_kind=RowKind.JUDGED)

    def read_max_grade() -> float:
        # The rows hold parsed numbers. The given judgments may hold texts, of which "9" is larger than "10".
        if qrels_columns.number is None:
            return 1.0
        return max(float(cast("float", rows.max("number"))), 0.0)

    return JudgmentRows(
        rows,
        find_id_types(rows, SELECTED_COLUMNS),
        judged_queries=None,
        read_max_grade=read_max_grade,
        with_groups=qrels_columns.group is not None,
    )


def _prepare_in_memory(rows: pa.Table) -> JudgmentRows:
    """Return judgments whose rows are in memory."""
    import ray

    dataset = ray.data.from_arrow(rows)
    id_types = find_id_types(dataset, SELECTED_COLUMNS)
    if rows["document"].null_count == len(rows):  # no query has a judged document, so the type of ids is unknown
        id_types = replace(id_types, document=None)
    return JudgmentRows(
        dataset,
        id_types,
        judged_queries=pc.unique(rows["query"]),
        read_max_grade=lambda: max(pc.max(rows["number"]).as_py() or 0.0, 0.0),
        with_groups="group" in rows.column_names,
    )


def _read_in_memory(
    qrels: JudgmentSource, columns: Mapping[str, str | None] | None, allow: str | Collection[str]
) -> rm.Qrels:
    """Return judgments from a path, a file, a table or a mapping; raise if they are judged by pieces."""
    is_path_or_file = isinstance(qrels, (str, bytes, os.PathLike)) or callable(getattr(qrels, "read", None))
    is_table = hasattr(qrels, "columns") or hasattr(qrels, "column_names")
    is_path = isinstance(qrels, (str, os.PathLike))
    if is_path and columns is None and not allow:
        judgments = rm.Qrels(resolve_judgments(cast("str | PathLike[str]", qrels)))
    elif is_path_or_file:
        judgments = rm.read_qrels(cast("str | PathLike[str]", qrels), columns=columns, allow=allow)
    elif is_table:
        judgments = rm.Qrels.from_frame(
            cast("pa.Table | pd.DataFrame | pl.DataFrame", qrels), columns=columns, allow=allow
        )
    else:
        judgments = rm.Qrels(cast("QrelsMapping | rm.Qrels", qrels))
    if judgments.has_pieces:
        raise TypeError(
            "these qrels hold pieces such as quotes, but the rows of a Dataset have only IDs; evaluate them in parts "
            "with rm.evaluate and combine these with rm.merge"
        )
    return judgments


def _qrels_as_rows(qrels: rm.Qrels) -> pa.Table:
    """Return a row for each judgment, and one for each query without judged documents."""
    _require_64_bits("query", qrels.query_kind, qrels.queries)
    _require_64_bits("document", qrels.document_kind, qrels.documents)
    queries = pa.array(list(qrels.queries))
    # Without any document the type of ids is unknown, so one must be chosen.
    documents = pa.array(list(qrels.documents), type=None if qrels.documents else pa.large_string())
    member_document = pa.array(qrels.member_document)
    columns = {
        "query": queries.take(pa.array(qrels.document_query)).take(member_document),
        "document": documents.take(member_document),
        "grade": pa.array(qrels.member_grade),
        "group": pa.array(qrels.member_group),
    }
    names = RowColumns("query", "document", "grade", "grade", None if qrels.is_flat else "group")
    rows = select_rows(pa.table(columns), names, RowKind.JUDGED)
    empty_positions = np.flatnonzero(np.diff(np.array(qrels.bounds)) == 0)
    empty_queries = queries.take(pa.array(empty_positions)).cast(rows.schema.field("query").type)
    return append_query_rows(rows, empty_queries, RowKind.EMPTY_QUERY)


def _require_64_bits(role: str, id_type: type | None, ids: Collection[Any]) -> None:
    """Raise if an id is a whole number that no column of a dataset can hold."""
    if id_type is not int:
        return
    for number in ids:
        if not -BEYOND_64_BITS <= number < BEYOND_64_BITS:
            raise ValueError(f"{role} {number} of the qrels is beyond 64 bits; use text as IDs, here and in the run")


def _collect_if_few(dataset: Dataset, limit: int) -> pa.Table | None:
    """Return all rows of a dataset if there are fewer than a limit; otherwise None, without reading all of them."""
    tables = list(dataset.limit(limit).iter_batches(batch_size=None, batch_format="pyarrow"))
    n_rows = sum(map(len, tables))
    if not n_rows:
        raise ValueError("the qrels are empty: they have no rows")
    if n_rows >= limit:
        return None
    return pa.concat_tables(tables, promote_options="default")
