"""Means and intervals from sums over the queries, and the table they are printed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.by_metric import ByMetric
from retrieval_metrics.results.counts import describe
from retrieval_metrics.results.tie_range import TieRange
from retrieval_metrics.scoring import ideal
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.results.counts import Counts
    from retrieval_metrics.results.scores import Column
    from retrieval_metrics.scoring.rules import Rules
    from retrieval_metrics.statistics import Interval

LEVEL = 0.95
"""The confidence level of what is printed."""


class Summed(Protocol):
    """What can be summed up: the scores of single queries, or the totals of very many."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics."""

    @property
    def counts(self) -> Counts:
        """What was met."""

    @property
    def rules(self) -> Rules:
        """The rule set."""

    def sums(self, column: Column, metric: Metric) -> Sums | None:
        """Return the sums over the queries of one column, or None if it is not known."""


def sums_of_values(record: Summed, metric: Metric) -> Sums:
    """Return the sums of a metric over the queries for which it is defined."""
    return record.sums("value", metric) or Sums.of_nothing()


def means(record: Summed) -> ByMetric[float]:
    """Return the mean of each metric over the queries for which it is defined; NaN if there is none."""
    return ByMetric({str(metric): sums_of_values(record, metric).mean for metric in record.metrics})


def numbers_of_queries(record: Summed) -> ByMetric[int]:
    """Return for how many queries each metric is defined."""
    return ByMetric({str(metric): sums_of_values(record, metric).count for metric in record.metrics})


def residuals(record: Summed) -> ByMetric[float]:
    """Return, for metrics that know it, by how much unjudged and unseen documents could raise the mean."""
    sums = {str(metric): record.sums("residual", metric) for metric in record.metrics}
    return ByMetric({name: one.mean for name, one in sums.items() if one is not None and one.count})


def intervals(record: Summed, level: float) -> ByMetric[Interval]:
    """Return the confidence interval of each mean."""
    return ByMetric(
        {str(metric): interval_of(record, metric, sums_of_values(record, metric), level) for metric in record.metrics}
    )


def interval_of(record: Summed, metric: Metric, sums: Sums, level: float) -> Interval:
    """Return the interval of the mean of a metric over some of the queries, given the sums of its values."""
    from retrieval_metrics.statistics import interval_from_sums  # noqa: PLC0415  (only means that are printed need it)

    bounds = bounds_of(record, metric, sums)
    return interval_from_sums(sums, level=level, binary=ideal.is_binary(metric, sums), bounds=bounds)


def bounds_of(record: Summed, metric: Metric, sums: Sums) -> tuple[float, float]:
    """Return the least and the largest value that a metric can have on these queries, given some that it has."""
    best = record.sums("ideal", metric)
    return ideal.bounds(metric, sums.smallest, sums.largest, best.largest if best is not None and best.count else None)


def summary_table(record: Summed) -> Table:
    """Return the means with their intervals, and what was met."""
    rows, residual_notes = [], []
    for metric in record.metrics:
        name, sums, residual = str(metric), sums_of_values(record, metric), record.sums("residual", metric)
        interval = numbers.interval(interval_of(record, metric, sums, LEVEL))
        rows.append([name, f"{sums.mean:.4f}", interval, str(sums.count)])
        if residual is not None and residual.count:
            residual_notes.append(
                f"{name}: residual {residual.mean:.4f}, what unjudged and unseen documents could add to the mean"
            )
    tie_range = TieRange.of(record.metrics, record.sums)
    notes = [*describe(record.counts, record.rules), *(tie_range.notes() if tie_range else ()), *residual_notes]
    return Table(["metric", "mean", numbers.level_name(LEVEL), "n"], rows, notes)
