"""Summarise the values of queries: means, confidence intervals, and everything else that is printed."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.evaluation.by_metric import ByMetric
from retrieval_metrics.evaluation.scores import Scores
from retrieval_metrics.evaluation.tie_range import TieRange
from retrieval_metrics.metrics.base import value_bounds
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray
    from retrieval_metrics.evaluation.budget_coverage import BudgetFill
    from retrieval_metrics.evaluation.counts import Counts
    from retrieval_metrics.evaluation.totals import Record
    from retrieval_metrics.evaluation.unused_exclusion import UnusedExclusion
    from retrieval_metrics.inputs.clusters import Clusters
    from retrieval_metrics.matching.budget import Budget
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules
    from retrieval_metrics.statistics import Interval


# The confidence level of printed intervals.
LEVEL = 0.95


class MetricSummary(NamedTuple):
    """The printed numbers of one metric.

    Attributes:
        metric: The metric.
        name: Its name, as it is printed.
        mean: The mean over the queries for which it is defined; NaN if there is none.
        n_queries: The number of these queries.
        interval: The confidence interval of the mean, at `LEVEL`.
        residual: How much unjudged and unseen documents could add to the mean; None if the metric has no residual.
    """

    metric: Metric
    name: str
    mean: float
    n_queries: int
    interval: Interval
    residual: float | None


class ClusterSummary(NamedTuple):
    """The clusters of the queries.

    Attributes:
        clusters: The clusters.
        design_effects: The variance of each mean relative to that of independent queries, where it is defined.
    """

    clusters: Clusters
    design_effects: Mapping[Metric, float]


class Summary(NamedTuple):
    """Everything that is printed of an evaluation.

    Attributes:
        metrics: The metrics, in the order of the call.
        counts: The numbers of issues in the data.
        rules: The rule set.
        clusters: The clusters of the queries; None if queries are independent.
        budget_fills: How the rankings fill each budget of the metrics, as far as that is known.
        tie_range: The range of the means over all orders of equal scores; None if it was not computed.
        unused_exclusion: Why `exclude=` left nothing out; None if nothing looks wrong, or it is not known.
    """

    metrics: tuple[MetricSummary, ...]
    counts: Counts
    rules: Rules
    clusters: ClusterSummary | None
    budget_fills: Mapping[Budget, BudgetFill]
    tie_range: TieRange | None
    unused_exclusion: UnusedExclusion | None = None


def summarize(record: Record) -> Summary:
    """Return the summary of an evaluation; cached if it holds scores of single queries.

    It is computed when it is first needed: code that only reads means never needs it, and for few queries the intervals
    take longer than the scores.
    """
    if not isinstance(record, Scores):
        return _compute_summary(record)
    cache = record.cache
    if cache.summary is None:
        cache.summary = _compute_summary(record)
    return cache.summary


def _compute_summary(record: Record) -> Summary:
    interval_by_metric = intervals(record, LEVEL)
    metric_summaries = []
    for metric in record.metrics:
        name = str(metric)
        sums = _value_sums(record, metric)
        metric_summaries.append(
            MetricSummary(
                metric=metric,
                name=name,
                mean=sums.mean,
                n_queries=int(sums.count),
                interval=interval_by_metric[name],
                residual=_residual(record, metric),
            )
        )
    unused_exclusion = None
    if isinstance(record, Scores):
        unused_exclusion = record.unused_exclusion
    return Summary(
        metrics=tuple(metric_summaries),
        counts=record.counts,
        rules=record.rules,
        clusters=_summarize_clusters(record),
        budget_fills=_measure_budgets(record),
        tie_range=TieRange.from_record(record),
        unused_exclusion=unused_exclusion,
    )


def means(record: Record) -> ByMetric[float]:
    """Return the mean of each metric over the queries for which it is defined; NaN if there is none."""
    return ByMetric({str(metric): _value_sums(record, metric).mean for metric in record.metrics})


def n_queries_by_metric(record: Record) -> ByMetric[int]:
    """Return the number of queries for which each metric is defined."""
    return ByMetric({str(metric): int(_value_sums(record, metric).count) for metric in record.metrics})


def residuals(record: Record) -> ByMetric[float]:
    """Return how much unjudged and unseen documents could add to the mean, for metrics with a residual."""
    residual_by_metric = {}
    for metric in record.metrics:
        residual = _residual(record, metric)
        if residual is not None:
            residual_by_metric[str(metric)] = residual
    return ByMetric(residual_by_metric)


def _residual(record: Record, metric: Metric) -> float | None:
    sums = record.sums("residual", metric)
    if sums is None or not sums.count:
        return None
    return sums.mean


def intervals(record: Record, level: float) -> ByMetric[Interval]:
    """Return the confidence interval of each mean; cached by level if the record holds scores of single queries."""
    if not isinstance(record, Scores):
        return _compute_intervals(record, level)
    intervals_by_level = record.cache.intervals_by_level
    if level not in intervals_by_level:
        intervals_by_level[level] = _compute_intervals(record, level)
    return intervals_by_level[level]


def _compute_intervals(record: Record, level: float) -> ByMetric[Interval]:
    interval_by_metric = {}
    for metric in record.metrics:
        sums = independent_sums(record, metric)
        interval_by_metric[str(metric)] = mean_interval_of_sums(record, metric, sums, level)
    return ByMetric(interval_by_metric)


def _value_sums(record: Record, metric: Metric) -> Sums:
    """Return the sums of a metric over the queries for which it is defined."""
    return record.sums("value", metric) or Sums.empty()


def independent_sums(record: Record, metric: Metric) -> Sums:
    """Return the sums of a metric; for clustered queries, those of the effective number of independent queries."""
    if not isinstance(record, Scores) or record.labels is None:
        return _value_sums(record, metric)
    return sum_clustered_values(record.column(metric), record.labels)


def mean_interval_of_sums(record: Record, metric: Metric, sums: Sums, level: float) -> Interval:
    """Return the interval of the mean of a metric, given the sums of its values over queries."""
    # Imported here because what has no intervals, such as a single row, needs no statistics.
    from retrieval_metrics.statistics import interval_from_sums

    binary = value_bounds.share_binary(metric, sums, record.sums("two_valued", metric))
    return interval_from_sums(sums, level=level, binary=binary, bounds=metric_bounds(record, metric, sums))


def metric_bounds(record: Record, metric: Metric, sums: Sums) -> tuple[float, float]:
    """Return the smallest and the largest value that a metric can have on queries, given the sums of its values."""
    ideal_sums = record.sums("ideal", metric)
    largest_ideal = ideal_sums.largest if ideal_sums is not None and ideal_sums.count else None
    return value_bounds.bounds(metric, sums.smallest, sums.largest, largest_ideal)


def sum_clustered_values(values: FloatArray, labels: IntArray) -> Sums:
    """Return the sums of the defined values of clustered queries, for the effective number of independent queries."""
    # Imported here because what has no intervals, such as a single row, needs no statistics.
    from retrieval_metrics.statistics import effective_sums

    is_defined = ~np.isnan(values)
    return effective_sums(values[is_defined], labels[is_defined])


def _measure_budgets(record: Record) -> Mapping[Budget, BudgetFill]:
    if not isinstance(record, Scores) or not record.budgets:
        return {}
    # Imported here because few metrics have a budget.
    from retrieval_metrics.evaluation.budget_coverage import measure_budget_fills

    return measure_budget_fills(record)


def _summarize_clusters(record: Record) -> ClusterSummary | None:
    if not isinstance(record, Scores) or record.clusters is None or record.labels is None:
        return None
    # Imported here because few queries have clusters.
    from retrieval_metrics.statistics.clustered_values import Units

    design_effects = {}
    for metric in record.metrics:
        values = record.column(metric)
        is_defined = ~np.isnan(values)
        if is_defined.any():
            design_effect = Units.from_values(values[is_defined], record.labels[is_defined]).design_effect
            if not isnan(design_effect):
                design_effects[metric] = design_effect
    return ClusterSummary(record.clusters, design_effects)
