"""Evaluate datasets: bring the rows of a query together, and score block by block."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from ray_retrieval_metrics.judgments import read_judgments
from ray_retrieval_metrics.scoring import score_block
from ray_retrieval_metrics.shuffled_rows import (
    ON_ITS_OWN,
    RETRIEVED,
    blockwise,
    columns_of_run,
    id_kinds,
    need_dataset,
    to_rows,
    without_unjudged,
)
from retrieval_metrics.adapting import (
    allowances,
    as_metrics,
    as_rules,
    divides_by_largest_grade,
    positive_integer,
    same_kind,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ray.data import Dataset

    from ray_retrieval_metrics.judgments import Judgments
    from ray_retrieval_metrics.shuffled_rows import Columns
    from retrieval_metrics.adapting import QrelsMapping

ROWS_IN_A_PARTITION = 1_000_000
"""About 50 MB before, and 300 MB while it is scored."""


def evaluate_dataset(
    qrels: Dataset | QrelsMapping | rm.Qrels | Any,
    run: Dataset,
    metrics: str | rm.Metric | Iterable[str | rm.Metric] = rm.DEFAULT_METRICS,
    *,
    semantics: str | rm.Rules = "standard",
    ties: str | None = None,
    qrels_columns: Mapping[str, str | None] | None = None,
    run_columns: Mapping[str, str | None] | None = None,
    partitions: int | None = None,
    allow: str | Collection[str] = (),
) -> Dataset:
    """Score a run of any size, query by query.

    The rows of run and judgments are brought together by a hash of their query, wherever they stood, and every block is
    scored by one call of the core. Where the judgments are few (up to a million), the documents of queries that nobody
    judged are dropped before; else the judgments are shuffled with the run. Nothing is collected: like every
    transformation of a Dataset it is computed when its rows are asked for, written, or given to `to_evaluation`.

    Args:
        qrels: A Dataset with a row per judged document, or judgments as `rm.evaluate` takes them, or a DataFrame, or a
            path that `rm.read_qrels` reads. Documents of a query with the same `group` are alternatives.
        run: A Dataset with a row per retrieved document, with a score or a rank.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        semantics: The rules for what libraries treat differently, as `rm.evaluate` takes them.
        ties: How equal scores are ordered, as `rm.evaluate` takes it, except `"input"`: rows stand in no order.
        qrels_columns: The names of the columns `query`, `document`, `grade` and `group`, where they are not found by
            their usual names (`query_id`, `doc_id`, `relevance` and the like); None for one that is not there.
        run_columns: Likewise of `query`, `document`, and `score` or `rank`.
        partitions: Into how many blocks the queries are cut; a worker holds one at a time. None takes one for every
            million rows, and at least one for each processor: for that the rows of the run are counted, which Parquet
            tells at once and text has to be read for.
        allow: What is refused unless it is allowed: `"blanks"`, ids that begin or end with one; `"repeated"`, columns
            of the same name, of which the first counts.

    Returns:
        A Dataset with a row per query: its id, `is_judged`, `is_scored` (it enters the means), `is_tied`,
        `n_retrieved`, `n_relevant`, `n_found`, `n_duplicates`, and a column for each metric, NaN where it is undefined.
        What `to_evaluation` needs beyond that follows: what an ideal ranking reaches, residuals, and the range over
        the orders of ties.

    Raises:
        TypeError: If the run is no Dataset, ids are text on one side and whole numbers on the other, or judgments are
            pieces.
        ValueError: If a column is not found, something is empty, or a metric or a rule set is unknown. What is wrong
            with a row is raised where it is read or scored, naming its query: two documents of one rank too, which
            nothing could order.
    """
    rules, chosen = as_rules(semantics, ties), as_metrics(metrics)
    need_dataset(run, "the run")
    if partitions is not None:
        positive_integer(partitions, "partitions", or_none=True)
    judgments = read_judgments(qrels, qrels_columns, allow)
    in_run = columns_of_run(run, run_columns, allow)
    for role, ours, theirs in zip(("query", "document"), judgments.id_kinds, id_kinds(run, in_run), strict=True):
        same_kind(ours, f"{role} ids in the qrels", theirs, "those in the run")
    if rules.ties == "input" and in_run.kind == "score":
        raise ValueError(
            f'{rules.name} leaves equal scores in the order in which they were given (ties="input"), and the rows of a '
            'Dataset stand in no order; pass ties="docid" or ties="expected", or a run with ranks'
        )
    scale = judgments.largest_grade() if any(map(divides_by_largest_grade, chosen)) else None
    rows = by_query(judgments, run, in_run, _partitions(run, partitions))
    return blockwise(
        rows, score_block, metrics=chosen, rules=rules, by=in_run.kind, scale=scale, allow=allowances(allow)
    )


def by_query(judgments: Judgments, run: Dataset, columns: Columns, partitions: int) -> Dataset:
    """Return the rows of run and judgments in so many blocks, all those of a query in one."""
    rows = blockwise(
        run,
        to_rows,
        ON_ITS_OWN,
        columns=columns,
        says=RETRIEVED,
        kinds=judgments.id_kinds,
        with_groups=judgments.with_groups,
    )
    if judgments.judged is not None:
        import ray  # noqa: PLC0415  (whoever has a Dataset has it)

        rows = blockwise(rows, without_unjudged, ON_ITS_OWN, judged=ray.put(judgments.judged))
    return rows.union(judgments.rows).repartition(partitions, keys=["query"])


def _partitions(run: Dataset, wanted: int | None) -> int:
    """Return into how many blocks to cut the queries of a run.

    Raises:
        ValueError: If it has no rows, however they were lost.
    """
    import ray  # noqa: PLC0415  (whoever has a Dataset has it)

    rows: int = run.count() if wanted is None else len(run.take(1))
    if not rows:
        raise ValueError("the run is empty: it has no rows")
    if wanted is not None:
        return wanted
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]  # Ray has not typed it
    return max(int(resources.get("CPU", 1)), math.ceil(rows / ROWS_IN_A_PARTITION))
