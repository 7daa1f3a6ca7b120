"""Several systems side by side: their values on the same queries, in one table each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.aliases import FloatArray, IntArray, QueryId
    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.results.scores import Scores


@dataclass(frozen=True, slots=True)
class Aligned:
    """The values of systems in metrics, query by query.

    Attributes:
        queries: Every query that any system has, in the order of the first system that has it.
        metrics: The place of each metric among the columns.
        values: For each system, shape (queries, metrics); NaN if it has no value for a query.
    """

    queries: Sequence[QueryId]
    metrics: Mapping[Metric, int]
    values: Mapping[str, FloatArray]

    @classmethod
    def of(cls, systems: Mapping[str, Scores], metrics: Sequence[Metric]) -> Aligned:
        """Align systems."""
        first, *others = systems.values()
        queries: Sequence[QueryId] = first.queries
        if not all(other.queries == queries for other in others):
            queries = list(dict.fromkeys(query for scores in systems.values() for query in scores.queries))
        place = {query: at for at, query in enumerate(queries)}
        values = {}
        for name, scores in systems.items():
            values[name] = np.full((len(queries), len(metrics)), np.nan)
            rows = [place[query] for query in scores.queries]
            values[name][rows] = scores.values[:, [scores.metrics.index(metric) for metric in metrics]]
        return cls(queries, {metric: at for at, metric in enumerate(metrics)}, values)

    def column(self, metric: Metric, system: str) -> FloatArray:
        """Return the values of one system in one metric, shape (queries,)."""
        return self.values[system][:, self.metrics[metric]]

    def queries_at(self, rows: IntArray) -> list[QueryId]:
        """Return the queries at some places."""
        return [self.queries[row] for row in rows.tolist()]

    def shared(self, metric: Metric, systems: Sequence[str] | None = None) -> tuple[IntArray, FloatArray]:
        """Return the places of the queries that have a value in all systems, and the values, shape (places, systems).

        Args:
            metric: The metric.
            systems: Only these systems; None means all.
        """
        values = np.column_stack([self.column(metric, name) for name in systems or self.values])
        rows = np.flatnonzero(~np.isnan(values).any(axis=1))
        return rows, values[rows]
