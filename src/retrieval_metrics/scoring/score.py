"""Score one metric on a judged run under a rule set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.definition.definition import Definition
    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.scoring.rules import Rules
    from retrieval_metrics.types import Cut, FloatArray


def score_metric(judged: JudgedRun, metric: Metric, rules: Rules) -> FloatArray:
    """Return the metric of every query, shape (queries,); NaN where it is undefined."""
    k = judged.first(metric.k)
    return score_values(metric.definition, judged, k, parameters_of(metric, rules), rules.of(metric.name))


def parameters_of(metric: Metric, rules: Rules) -> dict[str, Any]:
    """Return the parameters of a metric: what its name says, and else what the rules say."""
    return {**rules.parameters.get(metric.name, {}), **dict(metric.parameters)}


def score_values(
    definition: Definition, judged: JudgedRun, k: Cut, parameters: Mapping[str, Any], rules: Rules
) -> FloatArray:
    """Return the values of a definition.

    A query without a relevant document, or for which nothing was retrieved, is treated here, for all metrics alike.
    What the rules refuse is undefined; whoever wants an error looks for it before.
    """
    judged = judged.with_repeats(rules.repeats)
    values = definition.score(judged, k=k, **parameters)
    if definition.needs_relevant:
        values = np.where(judged.n_relevant(parameters.get("rel")) > 0, values, np.nan)
        if rules.no_relevant == "zero":
            values = np.nan_to_num(values, nan=0.0)
        elif rules.no_relevant == "match":
            values = np.where(np.isnan(values), judged.n_retrieved == 0, values)
    return values if rules.empty == "zero" else np.where(judged.n_retrieved > 0, values, np.nan)


def residual_values(judged: JudgedRun, metric: Metric) -> FloatArray | None:
    """Return by how much unjudged and unseen documents could raise each value; None if the metric cannot say."""
    if metric.definition.residual is None:
        return None
    return metric.definition.residual(judged, k=judged.first(metric.k), **dict(metric.parameters))
