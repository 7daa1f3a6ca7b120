"""Score one metric on a judged run under a rule set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.rules import Rules
    from retrieval_metrics.metrics.definition import Definition
    from retrieval_metrics.metrics.metric import Metric
    from retrieval_metrics.types import Cut, FloatArray, IntArray


def score_metric(judged: JudgedRun, metric: Metric, rules: Rules) -> FloatArray:
    """Return the metric of every query, shape (queries,); NaN where it is undefined."""
    parameters = {**rules.parameters.get(metric.name, {}), **dict(metric.parameters)}
    return score_values(metric.definition, judged, judged.first(metric.k), parameters, rules)


def score_values(
    definition: Definition, judged: JudgedRun, k: Cut, parameters: Mapping[str, Any], rules: Rules
) -> FloatArray:
    """Return the values of a definition; a query without a relevant document is treated here, for all metrics alike."""
    values = definition.score(judged, k=k, **parameters)
    if not definition.needs_relevant:
        return values
    values = np.where(judged.n_relevant(parameters.get("rel")) > 0, values, np.nan)
    return np.nan_to_num(values, nan=0.0) if rules.no_relevant == "zero" else values


def mean_residual(judged: JudgedRun, metric: Metric, queries: IntArray) -> float | None:
    """Return by how much unjudged and unseen documents could raise the mean at most; None if the metric cannot say."""
    if metric.definition.residual is None or not len(queries):
        return None
    return float(
        np.mean(metric.definition.residual(judged, k=judged.first(metric.k), **dict(metric.parameters))[queries])
    )
