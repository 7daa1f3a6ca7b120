"""Evaluate datasets of Ray: shuffle the rows so that those of a query are together, and score block by block."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import compute as pc

import retrieval_metrics as rm
from ray_retrieval_metrics.cluster import count_processors
from ray_retrieval_metrics.datasets import SINGLE_TASK, map_blocks, require_dataset
from ray_retrieval_metrics.judgment_rows import read_judgments
from ray_retrieval_metrics.shuffled_rows import (
    RowKind,
    drop_unjudged_rows,
    find_id_types,
    read_run_columns,
    require_same_id_types,
    select_rows,
)
from retrieval_metrics.integration_api import warn
from retrieval_metrics.integration_api.async_support import positive_integer
from retrieval_metrics.integration_api.batches import BlockScorer, as_exclusion, format_excluded_relevant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ray.data import Dataset

    from ray_retrieval_metrics.judgment_rows import JudgmentRows, JudgmentSource
    from retrieval_metrics.integration_api.batches import Exclusion, RowColumns
    from retrieval_metrics.types import Exclude

# How many rows of a run one partition holds: about 50 MB before scoring, and 300 MB during it.
ROWS_PER_PARTITION = 1_000_000

# The number of queries that an error in a block names.
MAX_NAMED_QUERIES = 3


def evaluate_dataset(
    qrels: JudgmentSource,
    run: Dataset,
    metrics: str | rm.Metric | Iterable[str | rm.Metric] = rm.DEFAULT_METRICS,
    *,
    rules: str | rm.Rules = "standard",
    ties: str | None = None,
    qrels_columns: Mapping[str, str | None] | None = None,
    run_columns: Mapping[str, str | None] | None = None,
    partitions: int | None = None,
    allow: str | Collection[str] = (),
    exclude: Exclude | None = None,
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
        exclude: Documents to leave out of the rankings before they are scored, as in `rm.evaluate`: `"query_id"`, or
            `{query: ids}`.

    Returns:
        A Dataset with one row per query: its id, `is_judged`, `is_scored` (it enters the means), `is_tied`,
        `n_retrieved`, `n_relevant`, `n_found`, `n_duplicates`, `n_excluded`, `n_missing` (relevant, but not found among
        results), and a column for each metric, NaN if it is undefined.
        Further columns are for `to_evaluation`: ids that nearly match, the values of ideal rankings, residuals, and the
        range over the orders of ties.

    Raises:
        TypeError: If the run is not a Dataset, ids are text on one side and whole numbers on the other, judgments are
            pieces, or `exclude` has another shape.
        ValueError: If a column is not found, something is empty, or a metric or a rule set is unknown. Errors in rows,
            such as two documents with the same rank, are raised when they are read or scored, with their query.

    Warns:
        RetrievalWarning: If there are ranks beside the scores, and the first rows contradict them; if judgments in
            memory hold relevant documents that are left out; or if `exclude` leaves nothing out of the first rows,
            which hold another form of an id in it.
    """
    scorer = BlockScorer.create(metrics, rules, ties)
    exclusion = as_exclusion(exclude)
    require_dataset(run, "the run")
    if partitions is not None:
        positive_integer(partitions, "partitions", or_none=True)
    judgments = read_judgments(qrels, qrels_columns, allow)
    columns = read_run_columns(run, run_columns, allow)
    require_same_id_types(judgments.id_types, find_id_types(run, columns))
    if exclusion is not None:
        _check_exclusion(exclusion, judgments)
        columns.warn_about_unused_exclusion(run.take, exclusion, judgments.qrels)
    if scorer.rules.ties == "input" and columns.kind == "score":
        raise ValueError(
            f'{scorer.rules.name} keeps the order of documents with equal scores (ties="input"), but the rows of a '
            'Dataset have no order; pass ties="docid" or ties="expected", or a run with ranks'
        )
    columns.warn_about_ranks(run.take)
    max_grade = judgments.read_max_grade() if scorer.needs_max_grade else None
    scorer = replace(scorer, number_kind=columns.kind, max_grade=max_grade, allow=allow, exclusion=exclusion)
    rows = shuffle_by_query(judgments, run, columns, _count_partitions(run, partitions))
    return map_blocks(rows, score_block, scorer=scorer)


def _check_exclusion(exclusion: Exclusion, judgments: JudgmentRows) -> None:
    """Raise if documents to leave out cannot belong to the judgments, and warn if some of them are relevant."""
    exclusion.require_fitting_types(judgments.id_types.query, judgments.id_types.document)
    if judgments.qrels is None:
        return
    exclusion.require_fitting_ids(judgments.qrels)
    excluded_relevant = exclusion.find_relevant(judgments.qrels)
    if excluded_relevant:
        warn(format_excluded_relevant(excluded_relevant))


def shuffle_by_query(judgments: JudgmentRows, run: Dataset, columns: RowColumns, partitions: int) -> Dataset:
    """Return the rows of run and judgments in `partitions` blocks, with all rows of a query in one."""
    rows = map_blocks(
        run,
        select_rows,
        SINGLE_TASK,
        columns=columns,
        row_kind=RowKind.RETRIEVED,
        qrels_types=judgments.id_types,
        with_groups=judgments.with_groups,
    )
    if judgments.judged_queries is not None:
        import ray

        judged_queries = ray.put(judgments.judged_queries)
        rows = map_blocks(rows, drop_unjudged_rows, SINGLE_TASK, judged_queries=judged_queries)
    return rows.union(judgments.rows).repartition(partitions, keys=["query"])


def _count_partitions(run: Dataset, requested: int | None) -> int:
    """Return the number of blocks for the queries of a run."""
    n_rows: int = run.count() if requested is None else len(run.take(1))
    if not n_rows:
        raise ValueError("the run is empty: it has no rows")
    if requested is not None:
        return requested
    return max(count_processors(), math.ceil(n_rows / ROWS_PER_PARTITION))


def score_block(rows: pa.Table, scorer: BlockScorer) -> pa.Table:
    """Return a row for each query of a block."""
    # A task of Ray has one processor, but polars, which reads this once, starts a thread per processor of the machine.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    try:
        columns = scorer.score(
            _select_kind(rows, RowKind.RETRIEVED),
            _select_kind(rows, RowKind.JUDGED),
            unjudged_queries=_select_kind(rows, RowKind.UNJUDGED_QUERY)["query"].to_pylist(),
            empty_queries=_select_kind(rows, RowKind.EMPTY_QUERY)["query"].to_pylist(),
        )
    except (TypeError, ValueError) as error:
        queries = pc.unique(rows["query"])
        examples = ", ".join(map(repr, queries[:MAX_NAMED_QUERIES].to_pylist()))
        raise type(error)(
            f"{error}; this happened in a block of {len(queries):,} queries, among them {examples}"
        ) from error
    columns["query"] = pa.array(columns["query"], type=rows.schema.field("query").type)
    columns["near_misses"] = pa.array(columns["near_misses"], type=pa.string())
    return pa.table(columns)


def _select_kind(rows: pa.Table, kind: RowKind) -> pa.Table:
    return rows.filter(pc.equal(rows["kind"], kind.value))
