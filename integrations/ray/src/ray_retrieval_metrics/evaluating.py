"""Evaluate datasets: bring the rows of a query together, and score block by block."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import compute as pc

import retrieval_metrics as rm
from ray_retrieval_metrics.results import find_value_columns, score_rows, unjudged_rows, value_columns
from ray_retrieval_metrics.shuffled_rows import (
    EMPTY_JUDGMENTS_ROW,
    JUDGED_ROW,
    RETRIEVED_ROW,
    SINGLE_TASK,
    UNJUDGED_ROW,
    drop_unjudged_rows,
    find_id_kinds,
    map_blocks,
    read_judgments,
    read_run_columns,
    require_dataset,
    select_rows,
)
from retrieval_metrics import Qrels, Run
from retrieval_metrics.integration_api.async_support import positive_integer
from retrieval_metrics.integration_api.batches import (
    JUDGMENT_ROLES,
    ROWS_FOR_DOUBT,
    RUN_ROLES,
    LongTable,
    as_metrics,
    as_rules,
    divides_by_largest_grade,
    parse_allowances,
    require_same_id_type,
    score_run,
    warn_about_score_direction,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ray.data import Dataset

    from ray_retrieval_metrics.shuffled_rows import JudgmentRows, RowColumns
    from retrieval_metrics.types import QrelsMapping


ROWS_IN_A_PARTITION = 1_000_000
"""About 50 MB before scoring, and 300 MB during it."""


def evaluate_dataset(
    qrels: Dataset | QrelsMapping | rm.Qrels | Any,
    run: Dataset,
    metrics: str | rm.Metric | Iterable[str | rm.Metric] = rm.DEFAULT_METRICS,
    *,
    rules: str | rm.Rules = "standard",
    ties: str | None = None,
    qrels_columns: Mapping[str, str | None] | None = None,
    run_columns: Mapping[str, str | None] | None = None,
    partitions: int | None = None,
    allow: str | Collection[str] = (),
) -> Dataset:
    """Score a run of any size, query by query.

    The rows of the run and the judgments are brought together by a hash of their query, in any order, and every block
    is scored by one call of the core. If there are at most a million judgments, the documents of unjudged queries are
    dropped first; otherwise the judgments are shuffled with the run. Nothing is collected: like every transformation of
    a Dataset, it is computed when its rows are read, written, or passed to `to_evaluation`.

    Args:
        qrels: A Dataset with one row per judged document, or judgments as in `rm.evaluate`, or a DataFrame, or a path
            that `rm.read_qrels` reads. Documents of a query with the same `group` are alternatives.
        run: A Dataset with one row per retrieved document, with a score or a rank.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        rules: The rules for cases that libraries treat differently, as in `rm.evaluate`.
        ties: How equal scores are ordered, as in `rm.evaluate`, except `"input"`, because rows have no order.
        qrels_columns: The names of the columns `query`, `document`, `grade` and `group`, if they differ from the usual
            ones (`query_id`, `doc_id`, `relevance` and the like); None for a missing column.
        run_columns: Likewise for `query`, `document`, and `score` or `rank`.
        partitions: The number of blocks of queries; a worker holds one at a time. None takes one for every million
            rows, and at least one per processor. For that, the rows of the run are counted, which is immediate for
            Parquet but reads text.
        allow: What to accept that is refused otherwise: `"blanks"`, ids that begin or end with a blank; `"repeated"`,
            columns with the same name, of which the first counts.

    Returns:
        A Dataset with one row per query: its id, `is_judged`, `is_scored` (it enters the means), `is_tied`,
        `n_retrieved`, `n_relevant`, `n_found`, `n_duplicates`, and a column for each metric, NaN if it is undefined.
        Further columns are for `to_evaluation`: the values of ideal rankings, residuals, and the range over the orders
        of ties.

    Raises:
        TypeError: If the run is not a Dataset, ids are text on one side and whole numbers on the other, or judgments
            are pieces.
        ValueError: If a column is not found, something is empty, or a metric or a rule set is unknown. Errors in rows,
            such as two documents with the same rank, are raised when they are read or scored, with their query.

    Warns:
        RetrievalWarning: If there are ranks beside the scores, and the first rows contradict them.
    """
    rules, chosen = as_rules(rules, ties), as_metrics(metrics)
    require_dataset(run, "the run")
    if partitions is not None:
        positive_integer(partitions, "partitions", or_none=True)
    judgments = read_judgments(qrels, qrels_columns, allow)
    in_run = read_run_columns(run, run_columns, allow)
    for role, ours, theirs in zip(("query", "document"), judgments.id_kinds, find_id_kinds(run, in_run), strict=True):
        require_same_id_type(ours, f"{role} ids in the qrels", theirs, "those in the run")
    if rules.ties == "input" and in_run.kind == "score":
        raise ValueError(
            f'{rules.name} keeps the order of documents with equal scores (ties="input"), but the rows of a Dataset '
            'have no order; pass ties="docid" or ties="expected", or a run with ranks'
        )
    _warn_of_doubt(run, in_run)
    scale = judgments.largest_grade() if any(map(divides_by_largest_grade, chosen)) else None
    rows = by_query(judgments, run, in_run, _partitions(run, partitions))
    return map_blocks(
        rows, score_block, metrics=chosen, rules=rules, by=in_run.kind, scale=scale, allow=parse_allowances(allow)
    )


def _warn_of_doubt(run: Dataset, columns: RowColumns) -> None:
    """Warn if the ranks at the beginning of a run speak against the scores, by which it is ordered."""
    if columns.rank is None:
        return
    rows = []
    for row in run.take(ROWS_FOR_DOUBT):
        try:
            rows.append((row[columns.query], float(row[columns.rank]), float(row[columns.number or ""])))
        except (KeyError, TypeError, ValueError):
            continue  # said with the row when it is scored
    warn_about_score_direction(rows, "the run")


def by_query(judgments: JudgmentRows, run: Dataset, columns: RowColumns, partitions: int) -> Dataset:
    """Return the rows of run and judgments in `partitions` blocks, with all rows of a query in one."""
    rows = map_blocks(
        run,
        select_rows,
        SINGLE_TASK,
        columns=columns,
        says=RETRIEVED_ROW,
        kinds=judgments.id_kinds,
        with_groups=judgments.with_groups,
    )
    if judgments.judged is not None:
        import ray  # noqa: PLC0415  (loaded if there is a Dataset)

        rows = map_blocks(rows, drop_unjudged_rows, SINGLE_TASK, judged=ray.put(judgments.judged))
    return rows.union(judgments.rows).repartition(partitions, keys=["query"])


def _partitions(run: Dataset, wanted: int | None) -> int:
    """Return the number of blocks for the queries of a run."""
    import ray  # noqa: PLC0415  (loaded if there is a Dataset)

    rows: int = run.count() if wanted is None else len(run.take(1))
    if not rows:
        raise ValueError("the run is empty: it has no rows")
    if wanted is not None:
        return wanted
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]  # Ray has not typed it
    return max(int(resources.get("CPU", 1)), math.ceil(rows / ROWS_IN_A_PARTITION))


def score_block(
    rows: pa.Table,
    metrics: Sequence[rm.Metric],
    rules: rm.Rules,
    by: str,
    scale: float | None,
    allow: Collection[str] = (),
) -> pa.Table:
    """Return a row for each query of a block."""
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


def _score(
    rows: pa.Table,
    metrics: Sequence[rm.Metric],
    rules: rm.Rules,
    by: str,
    scale: float | None,
    allow: Collection[str],
) -> pa.Table:
    said = {
        says: rows.filter(pc.equal(rows["says"], says))
        for says in (RETRIEVED_ROW, JUDGED_ROW, UNJUDGED_ROW, EMPTY_JUDGMENTS_ROW)
    }
    run = _run(said[RETRIEVED_ROW], by, allow)
    qrels = _qrels(said[JUDGED_ROW], said[EMPTY_JUDGMENTS_ROW]["query"].to_pylist(), allow)
    judged = set() if qrels is None else set(qrels.queries)
    unjudged = {*said[UNJUDGED_ROW]["query"].to_pylist(), *run} - judged
    id_type = rows.schema.field("query").type
    columns = value_columns(metrics, rules)
    tables = []
    if qrels is not None:
        tables.append(score_rows(score_run(qrels, run, metrics, rules, scale=scale), id_type, scale))
        columns = find_value_columns(tables[0])  # judgments in groups have more of them
    if unjudged or qrels is None:
        tables.append(unjudged_rows(sorted(unjudged, key=str), id_type, columns, scale))
    return pa.concat_tables(tables)


def _run(rows: pa.Table, by: str, allow: Collection[str]) -> Run:
    if not len(rows):
        return Run(())
    columns = {"query": "query", "document": "document", by: "number"}
    return Run([LongTable(rows, RUN_ROLES, columns, "a block of the run", allow=allow).rankings()])


def _qrels(rows: pa.Table, of_nothing: list[str | int], allow: Collection[str]) -> Qrels | None:
    columns = {"query": "query", "document": "document", "grade": "number"}
    if "group" in rows.column_names:
        columns["group"] = "group"
    qrels = None
    if len(rows):
        qrels = Qrels.from_table(
            LongTable(rows, JUDGMENT_ROLES, columns, "a block of the qrels", allow=allow).judgments()
        )
    if not of_nothing:
        return qrels
    judgments = {} if qrels is None else qrels.as_dict()
    return Qrels({**judgments, **{query: [] for query in of_nothing if query not in judgments}})
