"""Several systems side by side: their values on the same queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.checks import FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.question_clusters import Clusters
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.scoring.metric import Metric


@dataclass(frozen=True, slots=True)
class Aligned:
    """The values of systems in metrics, query by query.

    Attributes:
        systems: The names of the systems.
        queries: Every query that any system has, in the order of the first system that has it.
        metrics: The place of each metric.
        values: Shape (systems, queries, metrics); NaN where a system has no value for a query.
        labels: Shape (queries,), the cluster of each query; None if queries are independent.
    """

    systems: tuple[str, ...]
    queries: Sequence[QueryId]
    metrics: Mapping[Metric, int]
    values: FloatArray
    labels: IntArray | None

    @classmethod
    def of(cls, scores: Mapping[str, Scores], metrics: Sequence[Metric], clusters: Clusters | None) -> Aligned:
        """Align the scores of systems."""
        first, *others = scores.values()
        queries: Sequence[QueryId] = first.queries
        if not all(other.queries == queries for other in others):
            queries = list(dict.fromkeys(query for one in scores.values() for query in one.queries))
        place = {query: at for at, query in enumerate(queries)}
        values = np.full((len(scores), len(queries), len(metrics)), np.nan)
        for of_system, one in zip(values, scores.values(), strict=True):
            rows = [place[query] for query in one.queries]
            of_system[rows] = one.values[:, [one.metrics.index(metric) for metric in metrics]]
        labels = None if clusters is None else clusters.of(queries).labels
        return cls(tuple(scores), queries, {metric: at for at, metric in enumerate(metrics)}, values, labels)

    def queries_at(self, rows: IntArray) -> Sequence[QueryId]:
        """Return the queries at some places."""
        return self.queries if len(rows) == len(self.queries) else [self.queries[row] for row in rows.tolist()]

    def labels_at(self, rows: IntArray) -> IntArray | None:
        """Return the clusters of the queries at some places."""
        return None if self.labels is None else self.labels[rows]

    def shared(self, metric: Metric, systems: Sequence[str] | None = None) -> tuple[IntArray, FloatArray]:
        """Return the places of the queries that have a value in all systems, and the values, shape (places, systems).

        Args:
            metric: The metric.
            systems: Only these systems; None means all.
        """
        chosen = slice(None) if systems is None else [self.systems.index(name) for name in systems]
        values = self.values[chosen, :, self.metrics[metric]].T
        rows = np.flatnonzero(~np.isnan(values).any(axis=1))
        return rows, values[rows]
