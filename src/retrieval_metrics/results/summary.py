"""Means and intervals from sums over the queries, and the table in which they are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.by_metric import ByMetric
from retrieval_metrics.results.clustered import said_of_clusters
from retrieval_metrics.results.counts import describe
from retrieval_metrics.results.room import said_of_budgets
from retrieval_metrics.results.tie_range import TieRange
from retrieval_metrics.scoring import score as ideal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.results.record import Record
    from retrieval_metrics.scoring.metric import Metric
    from retrieval_metrics.statistics import Interval
    from retrieval_metrics.statistics.means import Sums

SMALL = 4
"""Queries; intervals of fewer are printed with a warning."""
LEVEL = 0.95
"""The confidence level of printed intervals."""


def means(record: Record) -> ByMetric[float]:
    """Return the mean of each metric over the queries for which it is defined; NaN if there is none."""
    return ByMetric({str(metric): record.sums_of_values(metric).mean for metric in record.metrics})


def numbers_of_queries(record: Record) -> ByMetric[int]:
    """Return the number of queries for which each metric is defined."""
    return ByMetric({str(metric): int(record.sums_of_values(metric).count) for metric in record.metrics})


def residuals(record: Record) -> ByMetric[float]:
    """Return how much unjudged and unseen documents could add to the mean, for metrics with a residual."""
    sums = {str(metric): record.sums("residual", metric) for metric in record.metrics}
    return ByMetric({name: one.mean for name, one in sums.items() if one is not None and one.count})


def intervals(record: Record, level: float) -> ByMetric[Interval]:
    """Return the confidence interval of each mean."""
    return ByMetric(
        {str(metric): interval_of(record, metric, record.independent_sums(metric), level) for metric in record.metrics}
    )


def interval_of(record: Record, metric: Metric, sums: Sums, level: float) -> Interval:
    """Return the interval of the mean of a metric, given the sums of its values over queries."""
    from retrieval_metrics.statistics import interval_from_sums  # noqa: PLC0415  (only means that are printed need it)

    bounds = bounds_of(record, metric, sums)
    return interval_from_sums(sums, level=level, binary=ideal.is_binary(metric, sums), bounds=bounds)


def bounds_of(record: Record, metric: Metric, sums: Sums) -> tuple[float, float]:
    """Return the smallest and the largest value that a metric can have on queries, given the sums of its values."""
    best = record.sums("ideal", metric)
    return ideal.bounds(metric, sums.smallest, sums.largest, best.largest if best is not None and best.count else None)


def said_of_given(metrics: Sequence[Metric]) -> list[str]:
    """Return in which metrics lower is better, and which have no bounds, in words."""
    lower = [str(metric) for metric in metrics if not metric.definition.higher_is_better]
    of = [metric for metric in metrics if metric.definition.given]
    unbounded = [str(metric) for metric in of if not np.isfinite(metric.definition.bounds).all()]
    said = [f"lower is better in {', '.join(lower)}"] if lower else []
    if unbounded:
        said.append(
            f"without bounds: {', '.join(unbounded)}; what was seen stands in for them, so a rare larger value could "
            "shift the mean further than is said here"
        )
    return said


def summary_table(record: Record) -> Table:
    """Return the means with their intervals, and the issues in the data."""
    rows, residual_notes, small = [], [], False
    for metric in record.metrics:
        name, sums, residual = str(metric), record.sums_of_values(metric), record.sums("residual", metric)
        interval = numbers.interval(interval_of(record, metric, record.independent_sums(metric), LEVEL))
        rows.append([name, numbers.value(sums.mean), interval, str(sums.count)])
        small |= 0 < sums.count < SMALL
        if residual is not None and residual.count:
            residual_notes.append(
                f"{name}: residual {numbers.value(residual.mean)}, "
                "what unjudged and unseen documents could add to the mean"
            )
    notes = describe(record.counts, record.rules) + said_of_clusters(record) + said_of_budgets(record)
    if small:
        notes.append(f"n too small: an interval of fewer than {SMALL} queries says little")
    if tie_range := TieRange.of(record):
        notes += tie_range.notes()
    notes += [*residual_notes, *said_of_given(record.metrics)]
    return Table(["metric", "mean", numbers.level_name(LEVEL), "n"], rows, notes)


def summary_in_words(record: Record) -> Table:
    """Return the table of the means with what each metric says."""
    header, rows, notes, *_ = summary_table(record)
    said = [[*row, metric.in_words] for row, metric in zip(rows, record.metrics, strict=True)]
    return Table([*header, "what it says"], said, notes, words=(0, len(header)))
