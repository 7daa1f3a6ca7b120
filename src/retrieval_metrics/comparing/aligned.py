"""Several evaluations side by side: the values of one metric on the queries that all of them have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.types import FloatArray, QueryId


def aligned(evaluations: Sequence[Evaluation], metric: Metric) -> tuple[list[QueryId], FloatArray]:
    """Return the queries for which all evaluations define the metric, and its values, shape (queries, evaluations)."""
    first, *others = evaluations
    queries: Sequence[QueryId] = first.queries
    if all(other.queries == queries for other in others):
        columns = [_column(evaluation, metric) for evaluation in evaluations]
    else:
        places = [{query: at for at, query in enumerate(evaluation.queries)} for evaluation in evaluations]
        queries = [query for query in queries if all(query in place for place in places)]
        columns = [
            _column(evaluation, metric)[[place[query] for query in queries]]
            for evaluation, place in zip(evaluations, places, strict=True)
        ]
    values = np.column_stack(columns)
    defined = ~np.isnan(values).any(axis=1)
    return [queries[at] for at in np.flatnonzero(defined).tolist()], values[defined]


def _column(evaluation: Evaluation, metric: Metric) -> FloatArray:
    return evaluation.values[:, evaluation.metrics.index(metric)]
