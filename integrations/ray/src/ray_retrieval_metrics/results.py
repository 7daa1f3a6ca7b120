"""Compute means, intervals and counts from the rows of queries, which stay in the cluster."""

from __future__ import annotations

import pickle
import re
from typing import TYPE_CHECKING, Any

import numpy as np

import retrieval_metrics as rm
from ray_retrieval_metrics.cluster import count_processors
from ray_retrieval_metrics.datasets import map_blocks, require_dataset
from ray_retrieval_metrics.repeated_queries import (
    N_REPEATED,
    PART,
    REPEATED_NOTE,
    SUMMARY,
    count_repeated_queries,
    split_into_parts,
)
from retrieval_metrics.integration_api.batches import BlockSummary, as_rules, defined_metrics

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from ray.data import Dataset

    from retrieval_metrics.types import ClustersBy, Scores


def to_evaluation(
    results: Dataset,
    *,
    rules: str | rm.Rules = "standard",
    ties: str | None = None,
    clusters: ClustersBy = "source",
) -> rm.Evaluation:
    """Return the means of the values of single queries, with intervals and counts.

    Every block is summed in its worker, without rounding, and only these sums are collected. The workers exchange
    sixteen bytes per query to find repeated queries. The result equals that of `rm.evaluate` on all rows, to the last
    bit, for any partition into blocks. It has no values of single queries; those are in the dataset. With `clusters`,
    the values are collected too, eight bytes for each query, metric and column, and the result has them.

    Args:
        results: The result of `evaluate_dataset`, or some of its rows, for the evaluation of a slice. A dataset that is
            not materialized or written is computed now, and again at every further use.
        rules: The rules under which it was evaluated.
        ties: The `ties` with which it was evaluated, if any.
        clusters: The clusters of the queries, for the intervals, as in `rm.evaluate`: a mapping of query ids to
            clusters, or a function of the query id. `"source"` and None treat every query as independent, because
            judgments by id do not have the sources of questions.

    Raises:
        TypeError: If it is not a Dataset, or the clusters have another type.
        ValueError: If the clusters have none of the queries or put all into one; if it is not a result of
            `evaluate_dataset`, has no rows, has a query twice, or was made under other rules; if run and judgments have
            no query in common; and for errors in rows, if they are scored only now.

    Warns:
        RetrievalWarning: If no retrieved document is judged anywhere, or relevant ones were retrieved under nearly
            their ids.
    """
    import ray

    rules = as_rules(rules, ties)
    require_dataset(results, "results")
    is_independent = clusters is None or (isinstance(clusters, str) and clusters == "source")
    # Rows of a pipeline that has not run have no known columns; asking for them would run it once more.
    names = results.columns(fetch_if_missing=False)
    if names is not None:
        BlockSummary.require_columns(names)
    n_parts = count_processors()
    block_rows = map_blocks(
        results,
        summarize_block,
        rules=rules,
        packed_metrics=_pack_user_metrics(),
        n_parts=n_parts,
        with_values=not is_independent,
    )
    part_rows = map_blocks(block_rows.repartition(n_parts, keys=[PART]), count_repeated_queries)
    try:
        summaries = _collect_summaries(part_rows)
    except ray.exceptions.RayTaskError as error:
        # Ray's error shows about fifty lines of the worker's stack before the message, so only the message is raised.
        if type(error.cause) in {TypeError, ValueError}:
            raise type(error.cause)(str(error.cause).partition("\n")[0]) from None
        raise
    evaluation = BlockSummary.merge(summaries)
    return evaluation if is_independent else _cluster_in_order(evaluation.scores, clusters)


def _collect_summaries(part_rows: Dataset) -> list[BlockSummary]:
    """Return the summaries of all blocks.

    Raises:
        ValueError: If there are none, or a query is in two blocks.
    """
    summaries: list[BlockSummary] = []
    n_repeated = 0
    for row in part_rows.iter_rows():
        n_repeated += row[N_REPEATED]
        if row[SUMMARY]:
            summaries.append(pickle.loads(row[SUMMARY]))  # noqa: S301  (written by summarize_block in the same job)
    if not summaries:
        raise ValueError("these results are empty: they have no rows")
    if n_repeated:
        n_rows = sum(summary.n_rows for summary in summaries)
        raise ValueError(f"{n_repeated:,} of {n_rows:,} rows belong to a query that {REPEATED_NOTE}")
    return summaries


def _cluster_in_order(scores: Scores, clusters: ClustersBy) -> rm.Evaluation:
    """Return the evaluation of scores whose queries are in clusters, in the order of their ids."""
    order = np.array(sorted(range(len(scores.queries)), key=scores.queries.__getitem__))
    return rm.Evaluation(scores.select(order, scores.counts).clustered(clusters))


def _pack_user_metrics() -> dict[str, bytes]:
    """Return the user-defined metrics, each packed separately; a worker opens those whose columns it finds."""
    from ray import cloudpickle

    packed_metrics: dict[str, bytes] = {}
    for metric in defined_metrics():
        packed_metrics[metric.name] = cloudpickle.dumps(metric)  # type: ignore[no-untyped-call]  # Ray has not typed it
    return packed_metrics


def summarize_block(
    rows: pa.Table, rules: rm.Rules, packed_metrics: Mapping[str, bytes], n_parts: int = 1, *, with_values: bool = False
) -> pa.Table:
    """Return the summary of one block, packed, with the digests of its queries."""
    from ray import cloudpickle

    metric_names = {re.split(r"[(@]", column)[0] for column in rows.column_names}
    for name in metric_names & packed_metrics.keys():
        pickle.loads(packed_metrics[name])  # noqa: S301  (packed by the same job; it makes the metric known here)
    columns: dict[str, Any] = {}
    for name in rows.column_names:
        is_text = name in {"query", "near_misses"}
        columns[name] = rows[name].to_pylist() if is_text else rows[name].to_numpy()
    summary = BlockSummary.read(columns, rules, with_values=with_values)
    packed_summary: bytes = cloudpickle.dumps(summary)  # type: ignore[no-untyped-call]  # Ray has not typed it
    return split_into_parts(rows["query"], n_parts, packed_summary)
