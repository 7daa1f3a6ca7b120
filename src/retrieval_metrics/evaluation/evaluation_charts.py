"""Compute what the charts of evaluations show, for figures and reports."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

from retrieval_metrics.evaluation.cutoffs import (
    choose_cutoffs,
    cutoff_size,
    cutoff_unit,
    mean_by_cutoff,
    means_and_intervals,
)
from retrieval_metrics.evaluation.evaluation_wording import OUTCOME_LABELS
from retrieval_metrics.evaluation.summary import LEVEL, intervals, means, n_queries_by_metric
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.charts import (
    ChartRow,
    ChartRows,
    CutoffLines,
    Line,
    Point,
    PointLine,
    PointLines,
)
from retrieval_metrics.statistics.mean_intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.evaluation.outcomes import Outcome
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.evaluation.totals import Record


# The cutoffs named on a curve of precision and recall.
NAMED_CUTOFFS = (1, 3, 5, 10, 20, 50, 100)


def evaluation_mean_charts(record: Record) -> list[ChartRows]:
    """Return the charts of all means; given scores on other scales than 0 to 1 have a chart of their own."""
    on_other_scales: list[Metric] = []
    from_0_to_1: list[Metric] = []
    for metric in record.metrics:
        has_other_scale = metric.definition.is_given and metric.definition.bounds != (0, 1)
        if has_other_scale:
            on_other_scales.append(metric)
        else:
            from_0_to_1.append(metric)
    n_queries = max(n_queries_by_metric(record).values(), default=0)
    title = f"means over {numbers.format_query_count(n_queries)}"
    charts = []
    if on_other_scales:
        charts.append(_means_chart(record, on_other_scales, title, min_top=0.0))
        title = "means from 0 to 1"
    if from_0_to_1:
        charts.append(_means_chart(record, from_0_to_1, title, min_top=1.0))
    return charts


def _means_chart(record: Record, metrics: Sequence[Metric], title: str, *, min_top: float) -> ChartRows:
    mean_by_metric = means(record)
    interval_by_metric = intervals(record, LEVEL)
    rows = []
    for metric in metrics:
        mean = mean_by_metric[metric]
        rows.append(ChartRow(str(metric), mean, interval_by_metric[metric], numbers.format_value(mean)))
    return ChartRows.scaled(title, mean_axis_label(LEVEL), rows, min_top)


def failures_chart(failures: Mapping[Outcome, int], title: str) -> ChartRows:
    """Return the chart of the failures by outcome."""
    no_interval = Interval(nan, nan)
    rows = []
    for outcome, count in failures.items():
        rows.append(ChartRow(OUTCOME_LABELS[outcome], float(count), no_interval, f"{count:,}"))
    return ChartRows.scaled(title, "relevant documents that were not found", rows)


def stage_means_chart(evaluations: Mapping[str, Evaluation], metric: Metric) -> ChartRows:
    """Return the chart of the mean of a metric after each stage."""
    rows = []
    for name, evaluation in evaluations.items():
        mean = evaluation.means[metric]
        rows.append(ChartRow(name, mean, evaluation.intervals(LEVEL)[metric], numbers.format_value(mean)))
    return ChartRows.scaled(f"{metric} after each stage", mean_axis_label(LEVEL), rows, 1.0)


def mean_axis_label(level: float) -> str:
    """Return the label of an axis of means with their intervals."""
    return f"mean, with its {numbers.level_name(level)}"


def cutoff_lines(systems: Mapping[str, Scores], metric: Metric) -> CutoffLines:
    """Return a metric over its cutoff, a line for each system."""
    cutoffs = choose_cutoffs(list(systems.values()), metric)
    lines = [Line(name, *means_and_intervals(scores, metric, cutoffs)) for name, scores in systems.items()]
    unit = cutoff_unit(metric)
    marked_cutoff = cutoff_size(metric)
    if marked_cutoff is not None and marked_cutoff > cutoffs[-1]:
        marked_cutoff = None
    without_cutoff = Metric(metric.name, None, **dict(metric.parameters))
    return CutoffLines(f"{without_cutoff} over {unit}", lines, marked_cutoff, unit)


def precision_recall_points(systems: Mapping[str, Scores]) -> PointLines:
    """Return mean precision against mean recall, a point for each cutoff."""
    precision = Metric("precision")
    cutoffs = choose_cutoffs(list(systems.values()), precision)
    lines = []
    for name, scores in systems.items():
        precisions, precision_intervals = means_and_intervals(scores, precision, cutoffs)
        recalls = mean_by_cutoff(scores, Metric("recall"), cutoffs)
        points = []
        for k in cutoffs:
            label = str(k) if k in NAMED_CUTOFFS else ""
            points.append(Point(label, recalls[k], precisions[k], precision_intervals[k]))
        lines.append(PointLine(name, points))
    labels = ("mean recall@k", "mean precision@k")
    return PointLines("precision against recall", lines, labels, "the numbers are k")
