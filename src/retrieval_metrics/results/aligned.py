"""Several systems side by side: the values of one metric on the queries that all of them have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.aliases import FloatArray, QueryId
    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.results.scores import Scores


def aligned(systems: Sequence[Scores], metric: Metric) -> tuple[list[QueryId], FloatArray]:
    """Return the queries for which the metric is defined in all systems, and its values, shape (queries, systems)."""
    first, *others = systems
    queries: Sequence[QueryId] = first.queries
    if all(other.queries == queries for other in others):
        columns = [_column(scores, metric) for scores in systems]
    else:
        places = [{query: at for at, query in enumerate(scores.queries)} for scores in systems]
        queries = [query for query in queries if all(query in place for place in places)]
        columns = [
            _column(scores, metric)[[place[query] for query in queries]]
            for scores, place in zip(systems, places, strict=True)
        ]
    values = np.column_stack(columns)
    defined = ~np.isnan(values).any(axis=1)
    return [queries[at] for at in np.flatnonzero(defined).tolist()], values[defined]


def on_all_queries(
    systems: Mapping[str, Scores], metrics: Sequence[Metric]
) -> tuple[Sequence[QueryId], dict[str, FloatArray]]:
    """Return the queries that any system has, and the values of each system, shape (queries, metrics); NaN for none."""
    first, *others = systems.values()
    queries: Sequence[QueryId] = first.queries
    if not all(other.queries == queries for other in others):
        queries = list(dict.fromkeys(query for scores in systems.values() for query in scores.queries))
    place = {query: at for at, query in enumerate(queries)}
    found = {}
    for name, scores in systems.items():
        values = np.full((len(queries), len(metrics)), np.nan)
        rows = [place[query] for query in scores.queries]
        values[rows] = np.column_stack([_column(scores, metric) for metric in metrics])
        found[name] = values
    return queries, found


def _column(scores: Scores, metric: Metric) -> FloatArray:
    return scores.values[:, scores.metrics.index(metric)]
