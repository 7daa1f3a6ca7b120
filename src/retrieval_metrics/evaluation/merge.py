"""Merge evaluations of different queries into one evaluation of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics._internal.validation import common_id_type
from retrieval_metrics.evaluation.evaluation import TOTALS_WITHOUT_CLUSTERS, Evaluation
from retrieval_metrics.evaluation.merged_findings import merge_findings
from retrieval_metrics.evaluation.scores import COLUMNS, Scores
from retrieval_metrics.evaluation.totals import Totals
from retrieval_metrics.inputs.clusters import Clusters
from retrieval_metrics.matching.budget import BudgetFills

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, QueryId
    from retrieval_metrics.evaluation.scores import Column
    from retrieval_metrics.matching.budget import Budget
    from retrieval_metrics.metrics.base.metric import Metric


def merge(parts: Iterable[Evaluation | Totals]) -> Evaluation:
    """Merge evaluations of different queries into one, equal to the last bit to evaluating them together.

    Means, intervals and counts come from sums that are rounded only after the last part is added, so the results do not
    depend on how the data is split. If every part is an `Evaluation`, the result holds the values of every query. If
    parts are `Totals`, it holds only sums, and raises an error for per-query values.

    What is wrong with the data of the parts, such as ids that nearly match, is known of the whole, which `compare`
    refuses like them. Parts that are `Totals` hold nothing of it.

    Args:
        parts: Evaluations of different queries, or their totals, with the same metrics and rules; read one by one.

    Raises:
        TypeError: If a part is neither, or query ids are str in one part and int in another.
        ValueError: If there is no part, parts differ in metrics or rules, a query is in two parts, a metric divides by
            the largest grade and that differs between parts, or the queries of a part are clustered and another part is
            totals, which hold no clusters.

    Example:
        >>> import retrieval_metrics as rm
        >>> monday = rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, "mrr")
        >>> tuesday = rm.evaluate({"q2": ["d1"]}, {"q2": ["d1"]}, "mrr")
        >>> both = rm.merge([monday, tuesday])
        >>> both.means["mrr"], both.per_query["mrr"]  # (1/2 + 1) / 2
        (0.75, {'q1': 0.5, 'q2': 1.0})
    """
    if isinstance(parts, (Mapping, Evaluation, Totals)):
        advice = "pass its values()" if isinstance(parts, Mapping) else "write a list"
        raise TypeError(f"parts must be several evaluations or totals, got one {type(parts).__name__}; {advice}")
    totals: Totals | None = None
    scores_of_parts: list[Scores] = []
    has_totals = False
    has_clusters = False
    for part in parts:
        if not isinstance(part, (Evaluation, Totals)):
            raise TypeError(f"parts must be evaluations or their totals, got {type(part).__name__}")
        record = part._record if isinstance(part, Evaluation) else part  # noqa: SLF001  (users have no use for it)
        totals = record.totals() if totals is None else totals.merged_with(record.totals())
        if record.labels is not None:
            has_clusters = True
        if isinstance(record, Totals):
            has_totals = True
            # The merged evaluation cannot hold values of single queries, and kept values may be large.
            scores_of_parts.clear()
        elif not has_totals:
            scores_of_parts.append(record)
    if totals is None:
        raise ValueError("there is nothing to merge: parts is empty")
    if not has_totals:
        return Evaluation(_merge_scores(scores_of_parts, totals))
    if has_clusters:
        raise ValueError(TOTALS_WITHOUT_CLUSTERS)
    return Evaluation(totals)


def _merge_scores(parts: Sequence[Scores], totals: Totals) -> Scores:
    clusters = _merge_clusters(parts)
    return Scores(
        metrics=totals.metrics,
        queries=tuple(_merge_queries(parts)),
        columns=_merge_columns(parts),
        counts=totals.counts,
        rules=totals.rules,
        scale=totals.scale,
        budget_fills=_merge_budget_fills(parts),
        clusters=clusters,
        findings=merge_findings(parts, clusters),
    )


def _merge_budget_fills(parts: Sequence[Scores]) -> dict[Budget, BudgetFills]:
    """Return how the queries fill each budget, for the budgets whose fills are known in every part."""
    fills_of_parts = [part.all_fills() for part in parts]
    merged = {}
    for budget in fills_of_parts[0]:
        if all(budget in fills for fills in fills_of_parts):
            merged[budget] = reduce(BudgetFills.merge, [fills[budget] for fills in fills_of_parts])
    return merged


def _merge_clusters(parts: Sequence[Scores]) -> Clusters | None:
    clusters_of_parts = [part.clusters for part in parts if part.clusters is not None]
    if not clusters_of_parts:
        return None
    if len(clusters_of_parts) < len(parts) and not all(clusters.by_source for clusters in clusters_of_parts):
        raise ValueError("some parts have clusters and others do not; evaluate all with clusters=, or all with None")
    queries: list[QueryId] = []
    for part in parts:
        queries += part.queries
    return reduce(Clusters.merge, clusters_of_parts).select(queries)


def _merge_queries(parts: Sequence[Scores]) -> list[QueryId]:
    queries: dict[QueryId, None] = {}
    for part in parts:
        shared = queries.keys() & part.queries
        if shared:
            raise ValueError(f"parts must not share queries; {min(shared, key=str)!r} occurs in two of them")
        queries |= dict.fromkeys(part.queries)
    common_id_type(set(map(type, queries)), "query IDs in the parts")
    return list(queries)


def _merge_columns(parts: Sequence[Scores]) -> dict[tuple[Column, Metric], FloatArray]:
    """Return the columns that every part has."""
    merged: dict[tuple[Column, Metric], FloatArray] = {}
    for column in COLUMNS:
        for metric in parts[0].metrics:
            values_of_parts = _collect_columns(parts, column, metric)
            if len(values_of_parts) == len(parts):
                merged[column, metric] = np.concatenate(values_of_parts)
    return merged


def _collect_columns(parts: Sequence[Scores], column: Column, metric: Metric) -> list[FloatArray]:
    values_of_parts = []
    for part in parts:
        values = part.per_query_column(column, metric)
        if values is not None:
            values_of_parts.append(values)
    return values_of_parts
