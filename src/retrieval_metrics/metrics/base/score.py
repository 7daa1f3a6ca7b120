"""Compute a metric of every query of a judged run under a rule set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.metrics.base.definition import TieOrderValues
from retrieval_metrics.metrics.base.rules import STANDARD

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.plain_ranking import PlainRanking
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules


class MetricValues(NamedTuple):
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


def score(judged: JudgedRun, metric: Metric, rules: Rules) -> MetricValues:
    """Return a metric of every query under a rule set."""
    parameters = parameters_of(metric, rules)
    rules = rules.for_metric(metric.name)
    k = judged.cutoff(metric.k)
    definition = metric.definition
    judged = judged.with_duplicate_rule(rules.duplicates)
    if rules.unjudged == "condensed" and not definition.keeps_unjudged_places:
        if isinstance(k, np.ndarray):
            raise ValueError(f"{metric}: a budget counts everything retrieved, so unjudged documents cannot be removed")
        judged = judged.condensed()
    formula_values = definition.score(judged, k=k, **parameters)
    values = _apply_rules_to_values(formula_values, judged, metric, parameters, rules)
    residual = None
    if definition.residual is not None:
        residual = definition.residual(judged, k=k, **parameters)
    if rules.ties != "expected":
        return MetricValues(values, None, None, residual)
    over_orders = _score_tied_queries(judged, metric, parameters, values)
    return MetricValues(over_orders.mean, over_orders.lowest, over_orders.highest, residual)


def takes_plain_rankings(metrics: Iterable[Metric], rules: Rules) -> bool:
    """Return whether each of the metrics can be computed by `score_plain_ranking` under these rules."""
    if rules is not STANDARD:
        return False
    for metric in metrics:
        if metric.definition.score_plain is None or metric.parameters or metric.has_budget:
            return False
    return True


def score_plain_ranking(metric: Metric, ranking: PlainRanking) -> float:
    """Return the value that `score` returns, to the bit, for one plain ranking; NaN if nothing is relevant.

    It takes a tenth of the time, because arrays take longer than numbers where there are few.
    """
    score_plain = metric.definition.score_plain
    if score_plain is None or not (metric.k is None or isinstance(metric.k, int)):
        raise TypeError(f"{metric} is not computed from a plain ranking; ask takes_plain_rankings before")
    return score_plain(ranking, metric.k) if ranking.ideal else math.nan


def parameters_of(metric: Metric, rules: Rules) -> dict[str, Any]:
    """Return the parameters of a metric: those in its name, and otherwise those of the rules."""
    return {**rules.parameters.get(metric.name, {}), **dict(metric.parameters)}


def _apply_rules_to_values(
    values: FloatArray, judged: JudgedRun, metric: Metric, parameters: Mapping[str, Any], rules: Rules
) -> FloatArray:
    """Return the values as the rules read them for queries without a relevant or a retrieved document."""
    if metric.definition.needs_relevant:
        without_relevant = judged.without_relevant(parameters.get("rel"))
        if without_relevant is not None:
            values = np.where(without_relevant, np.nan, values)
        if rules.no_relevant == "zero":
            values = undefined_as_zero(values)
        elif rules.no_relevant == "match":
            values = np.where(np.isnan(values), judged.n_retrieved == 0, values)
    if rules.empty == "zero":
        return values
    return np.where(judged.n_retrieved > 0, values, np.nan)


def undefined_as_zero(values: FloatArray) -> FloatArray:
    """Return values with 0 for NaN; `np.nan_to_num`, which looks for infinite values too, takes five times as long."""
    return np.where(np.isnan(values), 0.0, values)


def _score_tied_queries(
    judged: JudgedRun, metric: Metric, parameters: Mapping[str, Any], values: FloatArray
) -> TieOrderValues:
    """Return mean, smallest and largest value; queries without ties keep their value, and NaN stays NaN."""
    over_orders = TieOrderValues(values.copy(), values.copy(), values.copy())
    tied = judged.tied_queries()
    defined_tied = tied[~np.isnan(values[tied])]
    if not len(defined_tied):
        return over_orders
    # Imported here because only ties need it.
    from retrieval_metrics.metrics.ties.tie_orders import score_over_orders

    tied_values = score_over_orders(judged, defined_tied, metric, parameters)
    for column, tied_column in zip(over_orders, tied_values, strict=True):
        column[defined_tied] = tied_column[defined_tied]
    return over_orders


def apply_rules_to_qrels(qrels: Qrels, rules: Rules) -> Qrels:
    """Return the judgments as the rules read them."""
    if rules.negative == "unjudged":
        qrels = qrels.without_negative_grades()
    if rules.grades == "integer":
        qrels.require_integer_grades(rules.name)
    return qrels.flattened() if rules.groups == "flatten" else qrels
