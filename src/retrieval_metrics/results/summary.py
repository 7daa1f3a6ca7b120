"""Means and intervals from sums over the queries, and the table in which they are printed."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Protocol

import numpy as np

from retrieval_metrics.argument_names import argument
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.by_metric import ByMetric
from retrieval_metrics.results.counts import describe
from retrieval_metrics.results.room import said_of_budgets
from retrieval_metrics.results.scores import Scores
from retrieval_metrics.results.tie_range import TieRange
from retrieval_metrics.scoring import ideal
from retrieval_metrics.statistics.clusters import Units
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.aliases import FloatArray, IntArray
    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.inputs.question_clusters import Clusters
    from retrieval_metrics.results.counts import Counts
    from retrieval_metrics.results.scores import Column
    from retrieval_metrics.scoring.rules import Rules
    from retrieval_metrics.statistics import Interval

FEW_CLUSTERS = 20
SMALL = 4
"""Queries; intervals of fewer are printed with a warning."""
LEVEL = 0.95
"""The confidence level of printed intervals."""


class Summed(Protocol):
    """What can be summarised: the scores of single queries, or the totals of very many."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics."""

    @property
    def counts(self) -> Counts:
        """The numbers of issues in the data."""

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
    """Return the number of queries for which each metric is defined."""
    return ByMetric({str(metric): int(sums_of_values(record, metric).count) for metric in record.metrics})


def residuals(record: Summed) -> ByMetric[float]:
    """Return how much unjudged and unseen documents could add to the mean, for metrics with a residual."""
    sums = {str(metric): record.sums("residual", metric) for metric in record.metrics}
    return ByMetric({name: one.mean for name, one in sums.items() if one is not None and one.count})


def intervals(record: Summed, level: float) -> ByMetric[Interval]:
    """Return the confidence interval of each mean."""
    return ByMetric(
        {
            str(metric): interval_of(record, metric, sums_for_interval(record, metric), level)
            for metric in record.metrics
        }
    )


def sums_for_interval(record: Summed, metric: Metric) -> Sums:
    """Return the sums of a metric; for clustered queries, those of the independent queries they are worth."""
    if not isinstance(record, Scores) or record.labels is None:
        return sums_of_values(record, metric)
    return clustered_sums(record.of_metric(metric), record.labels)


def clustered_sums(values: FloatArray, labels: IntArray) -> Sums:
    """Return the sums of as many independent queries as the defined values of clustered ones are worth."""
    from retrieval_metrics.statistics import effective_sums  # noqa: PLC0415  (only means that are printed need it)

    defined = ~np.isnan(values)
    return effective_sums(values[defined], labels[defined])


def said_of_clusters(record: Summed) -> list[str]:
    """Return in words how the queries are clustered and the design effect; nothing if they are not."""
    if not isinstance(record, Scores) or record.clusters is None or record.labels is None:
        return []
    effects = []
    for metric in record.metrics:
        column = record.of_metric(metric)
        if (defined := ~np.isnan(column)).any():
            effect = Units.of(column[defined], record.labels[defined]).design_effect
            effects += [] if isnan(effect) else [f"{metric} {effect:.1f}"]
    notes = [f"intervals by cluster: {said_of_count(record.clusters)}"]
    notes += [f"design effect (variance relative to independent queries): {', '.join(effects)}"] if effects else []
    return notes + said_of_few(record.clusters)


def said_of_count(clusters: Clusters) -> str:
    """Return how many clusters there are, and where they come from."""
    off = argument("clusters", None)
    why = f"by the source of their judgments ({off} turns that off)" if clusters.by_source else "as given"
    return f"{numbers.count(clusters.count, 'cluster')}, {why}"


def said_of_few(clusters: Clusters) -> list[str]:
    """Return the warning that there are too few clusters, if there are."""
    if clusters.count >= FEW_CLUSTERS:
        return []
    few = numbers.count(clusters.count, "cluster")
    return [f"{few} are few: intervals from fewer than {FEW_CLUSTERS} are rough"]


def interval_of(record: Summed, metric: Metric, sums: Sums, level: float) -> Interval:
    """Return the interval of the mean of a metric, given the sums of its values over queries."""
    from retrieval_metrics.statistics import interval_from_sums  # noqa: PLC0415  (only means that are printed need it)

    bounds = bounds_of(record, metric, sums)
    return interval_from_sums(sums, level=level, binary=ideal.is_binary(metric, sums), bounds=bounds)


def bounds_of(record: Summed, metric: Metric, sums: Sums) -> tuple[float, float]:
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


def summary_table(record: Summed) -> Table:
    """Return the means with their intervals, and the issues in the data."""
    rows, residual_notes, small = [], [], False
    for metric in record.metrics:
        name, sums, residual = str(metric), sums_of_values(record, metric), record.sums("residual", metric)
        interval = numbers.interval(interval_of(record, metric, sums_for_interval(record, metric), LEVEL))
        rows.append([name, numbers.value(sums.mean), interval, str(sums.count)])
        small |= 0 < sums.count < SMALL
        if residual is not None and residual.count:
            residual_notes.append(
                f"{name}: residual {numbers.value(residual.mean)}, "
                "what unjudged and unseen documents could add to the mean"
            )
    notes = describe(record.counts, record.rules) + said_of_clusters(record)
    notes += said_of_budgets(record) if isinstance(record, Scores) else []
    if small:
        notes.append(f"n too small: an interval of fewer than {SMALL} queries says little")
    if tie_range := TieRange.of(record.metrics, record.sums):
        notes += tie_range.notes()
    notes += [*residual_notes, *said_of_given(record.metrics)]
    return Table(["metric", "mean", numbers.level_name(LEVEL), "n"], rows, notes)


def summary_in_words(record: Summed) -> Table:
    """Return the table of the means with what each metric says."""
    header, rows, notes, *_ = summary_table(record)
    said = [[*row, metric.in_words] for row, metric in zip(rows, record.metrics, strict=True)]
    return Table([*header, "what it says"], said, notes, words=(0, len(header)))
