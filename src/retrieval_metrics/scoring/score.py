"""Compute values from a judged run, a metric and rules; every other part of the package calls this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.scoring.rules import Rules


class Scored(NamedTuple):
    """One metric of every query.

    Attributes:
        values: Shape (queries,); NaN where the metric is undefined.
        lowest: Shape (queries,), the smallest value over all orders of equal scores; None unless ties="expected".
        highest: Shape (queries,), the largest, likewise.
        residual: Shape (queries,), by how much unjudged and unseen documents could raise each value; None if the metric
            has no residual.
    """

    values: FloatArray
    lowest: FloatArray | None
    highest: FloatArray | None
    residual: FloatArray | None


def score(judged: JudgedRun, metric: Metric, rules: Rules) -> Scored:
    """Return a metric of every query under a rule set.

    Queries without a relevant document, or for which nothing was retrieved, are handled here, in the same way for all
    metrics. Refused queries become NaN; call `refuse` first to raise instead.

    Raises:
        ValueError: If a budget cannot be counted, a grade is not allowed, or ties="expected" leaves too many orders to
            try.
    """
    parameters, rules, k = parameters_of(metric, rules), rules.of(metric.name), judged.cutoff(metric.k)
    definition, judged = metric.definition, judged.with_repeats(rules.repeats)
    # The judged share is that of the rankings as retrieved.
    if rules.unjudged == "condensed" and definition.says_how_good:
        if isinstance(k, np.ndarray):
            raise ValueError(f"{metric}: a budget counts everything retrieved, so unjudged documents cannot be removed")
        judged = judged.condensed()
    values = _settled(definition.score(judged, k=k, **parameters), judged, metric, parameters, rules)
    residual = None if definition.residual is None else definition.residual(judged, k=k, **parameters)
    if rules.ties != "expected":
        return Scored(values, None, None, residual)
    return Scored(*_over_orders(judged, metric, parameters, values), residual)


def parameters_of(metric: Metric, rules: Rules) -> dict[str, Any]:
    """Return the parameters of a metric: those in its name, and otherwise those of the rules."""
    return {**rules.parameters.get(metric.name, {}), **dict(metric.parameters)}


def _settled(
    values: FloatArray, judged: JudgedRun, metric: Metric, parameters: Mapping[str, Any], rules: Rules
) -> FloatArray:
    if metric.definition.needs_relevant:
        if (lacking := judged.lacking(parameters.get("rel"))) is not None:
            values = np.where(lacking, np.nan, values)
        if rules.no_relevant == "zero":
            values = np.nan_to_num(values, nan=0.0)
        elif rules.no_relevant == "match":
            values = np.where(np.isnan(values), judged.n_retrieved == 0, values)
    return values if rules.empty == "zero" else np.where(judged.n_retrieved > 0, values, np.nan)


def _over_orders(
    judged: JudgedRun, metric: Metric, parameters: Mapping[str, Any], values: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, smallest and largest value; queries without ties keep their value, and NaN stays NaN."""
    expected = values.copy(), values.copy(), values.copy()
    tied = judged.tied_queries()
    defined = tied[~np.isnan(values[tied])]
    if len(defined):
        # Imported here because only ties need it.
        from retrieval_metrics.scoring.ties.over_orders import over_orders  # noqa: PLC0415

        found = over_orders(judged, defined, metric, parameters)
        for target, source in zip(expected, found, strict=True):
            target[defined] = source[defined]
    return expected
