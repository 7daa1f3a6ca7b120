"""Score the queries of one block: one call of the core for all of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ray_retrieval_metrics.query_rows import rows_of, rows_of_unjudged, value_columns, values_in
from ray_retrieval_metrics.shuffled_rows import JUDGED, JUDGED_NOTHING, NOT_JUDGED, RETRIEVED
from retrieval_metrics import Qrels, Run
from retrieval_metrics.adapting.distributed import OF_A_RUN, OF_JUDGMENTS, LongTable, scored_run

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import retrieval_metrics as rm


def score_block(  # noqa: PLR0917  (Ray gives them by name)
    rows: pa.Table,
    metrics: Sequence[rm.Metric],
    rules: rm.Rules,
    by: str,
    scale: float | None,
    allow: Collection[str] = (),
) -> pa.Table:
    """Return a row for each query of a block.

    Args:
        rows: All rows of some queries, from `to_rows`.
        metrics: The metrics.
        rules: The rule set.
        by: Whether the run ranks by `score` or by `rank`.
        scale: The largest grade of all judgments; None if no metric needs it.
        allow: What to accept in ids.

    Raises:
        ValueError: If something is wrong with the rows; the message names the query, the document, and others in the
            block.
        TypeError: Likewise.
    """
    # A task of Ray has one processor, but polars, which reads this once, starts a thread per processor of the machine.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    try:
        return _score(rows, metrics, rules, by, scale, allow)
    except (TypeError, ValueError) as error:
        queries = pc.unique(rows["query"])
        some = ", ".join(repr(query) for query in queries[:3].to_pylist())
        raise type(error)(
            f"{error}; this happened in a block of {len(queries):,} queries, among them {some}"
        ) from error


def _score(  # noqa: PLR0917  (what score_block was given)
    rows: pa.Table,
    metrics: Sequence[rm.Metric],
    rules: rm.Rules,
    by: str,
    scale: float | None,
    allow: Collection[str],
) -> pa.Table:
    said = {says: rows.filter(pc.equal(rows["says"], says)) for says in (RETRIEVED, JUDGED, NOT_JUDGED, JUDGED_NOTHING)}
    run = _run(said[RETRIEVED], by, allow)
    qrels = _qrels(said[JUDGED], said[JUDGED_NOTHING]["query"].to_pylist(), allow)
    judged = set() if qrels is None else set(qrels.queries)
    unjudged = {*said[NOT_JUDGED]["query"].to_pylist(), *run} - judged
    id_type = rows.schema.field("query").type
    columns = value_columns(metrics, rules)
    tables = []
    if qrels is not None:
        tables.append(rows_of(scored_run(qrels, run, metrics, rules, scale=scale), id_type, scale))
        columns = values_in(tables[0])  # judgments in groups have more of them
    if unjudged or qrels is None:
        tables.append(rows_of_unjudged(sorted(unjudged, key=str), id_type, columns, scale))
    return pa.concat_tables(tables)


def _run(rows: pa.Table, by: str, allow: Collection[str]) -> Run:
    if not len(rows):
        return Run(())
    columns = {"query": "query", "document": "document", by: "number"}
    return Run([LongTable(rows, OF_A_RUN, columns, "a block of the run", allow=allow).rankings()])


def _qrels(rows: pa.Table, of_nothing: list[str | int], allow: Collection[str]) -> Qrels | None:
    columns = {"query": "query", "document": "document", "grade": "number"}
    if "group" in rows.column_names:
        columns["group"] = "group"
    qrels = None
    if len(rows):
        qrels = Qrels.of_table(LongTable(rows, OF_JUDGMENTS, columns, "a block of the qrels", allow=allow).judgments())
    if not of_nothing:
        return qrels
    judgments = {} if qrels is None else qrels.as_dict()
    return Qrels({**judgments, **{query: [] for query in of_nothing if query not in judgments}})
