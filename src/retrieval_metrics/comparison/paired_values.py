"""Align the values of several systems query by query."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray, QueryId
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.clusters import Clusters
    from retrieval_metrics.metrics.base.metric import Metric


class SharedValues(NamedTuple):
    """The values of a metric for the queries that have one in all systems.

    Attributes:
        rows: Shape (queries,), the rows of these queries among all queries.
        values: Shape (queries, systems).
    """

    rows: IntArray
    values: FloatArray


class PairedValues(NamedTuple):
    """The values of systems in metrics, query by query.

    Attributes:
        systems: The names of the systems.
        queries: Every query that any system has, in the order of the first system that has it.
        metrics: The position of each metric.
        values: Shape (systems, queries, metrics); NaN where a system has no value for a query.
        labels: Shape (queries,), the cluster of each query; None if queries are independent.
    """

    systems: tuple[str, ...]
    queries: Sequence[QueryId]
    metrics: Mapping[Metric, int]
    values: FloatArray
    labels: IntArray | None

    @classmethod
    def from_scores(
        cls, scores: Mapping[str, Scores], metrics: Sequence[Metric], clusters: Clusters | None
    ) -> PairedValues:
        """Align the scores of systems."""
        queries = _merge_queries(list(scores.values()))
        row_by_query = {query: row for row, query in enumerate(queries)}
        values = np.full((len(scores), len(queries), len(metrics)), np.nan)
        for system_values, system_scores in zip(values, scores.values(), strict=True):
            rows = [row_by_query[query] for query in system_scores.queries]
            system_values[rows] = np.column_stack([system_scores.column(metric) for metric in metrics])
        labels = None
        if clusters is not None:
            labels = clusters.select(queries).labels
        return cls(
            systems=tuple(scores),
            queries=queries,
            metrics={metric: position for position, metric in enumerate(metrics)},
            values=values,
            labels=labels,
        )

    def shared_queries(self, rows: IntArray) -> Sequence[QueryId]:
        """Return the queries of these rows."""
        if len(rows) == len(self.queries):
            return self.queries
        return [self.queries[row] for row in rows.tolist()]

    def shared_labels(self, rows: IntArray) -> IntArray | None:
        """Return the clusters of the queries of these rows; None if queries are independent."""
        if self.labels is None:
            return None
        return self.labels[rows]

    def shared(self, metric: Metric, systems: Sequence[str] | None = None) -> SharedValues:
        """Return the values of a metric for the queries that have one in all systems; None takes every system."""
        positions: slice | list[int] = slice(None)
        if systems is not None:
            positions = [self.systems.index(system) for system in systems]
        columns = self.values[positions, :, self.metrics[metric]].T
        rows = np.flatnonzero(~np.isnan(columns).any(axis=1))
        return SharedValues(rows, columns[rows])


def _merge_queries(scores: Sequence[Scores]) -> Sequence[QueryId]:
    """Return the queries of all systems; the same object if all have the same in the same order."""
    queries: Sequence[QueryId] = scores[0].queries
    if all(system_scores.queries == queries for system_scores in scores[1:]):
        return queries
    merged: dict[QueryId, None] = {}
    for system_scores in scores:
        merged.update(dict.fromkeys(system_scores.queries))
    return list(merged)
