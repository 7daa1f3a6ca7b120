"""Draw the figures of evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.evaluation.evaluation_charts import (
    cutoff_lines,
    evaluation_mean_charts,
    failures_chart,
    precision_recall_points,
    stage_means_chart,
)
from retrieval_metrics.metrics.base.metric import as_metric
from retrieval_metrics.reports.line_panels import cutoffs_panel, points_panel
from retrieval_metrics.reports.plots import figure
from retrieval_metrics.reports.row_panels import rows_panel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.evaluation.outcomes import Outcome
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.evaluation.totals import Record, Totals
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.reports.plots import Plot


def evaluation_figure(record: Scores | Totals, kind: str, metric: str | Metric | None, across: int | None) -> Plot:
    """Draw an evaluation; see `Evaluation.plot`."""
    require_plot_kind(kind, "intervals", "cutoffs", "precision_recall")
    if kind == "precision_recall":
        return figure([points_panel(precision_recall_points({"": record.per_query_scores}))], across)
    metrics_over_k = [as_metric(metric)] if metric else metrics_with_cutoff(record)
    if kind == "cutoffs" and not metrics_over_k:
        raise ValueError(f"none of {', '.join(map(str, record.metrics))} has a cutoff; name a metric, such as 'ndcg'")
    panels = []
    if kind != "cutoffs":
        panels += [rows_panel(chart) for chart in evaluation_mean_charts(record)]
    if kind == "cutoffs" or (kind == "overview" and record.origin):
        systems = {"": record.per_query_scores}
        is_small = len(metrics_over_k) > 1
        for metric_over_k in metrics_over_k:
            panels.append(cutoffs_panel(cutoff_lines(systems, metric_over_k), small=is_small))
    return figure(panels, across)


def failures_figure(failures: Mapping[Outcome, int], title: str) -> Plot:
    """Draw how many relevant documents have each outcome; see `Worst.plot`."""
    return figure([rows_panel(failures_chart(failures, title))], None)


def stages_figure(evaluations: Mapping[str, Evaluation], metric: Metric) -> Plot:
    """Draw the mean of a metric after each stage; see `Stages.plot`."""
    return figure([rows_panel(stage_means_chart(evaluations, metric))], None)


def metrics_with_cutoff(record: Record) -> list[Metric]:
    """Return the first metric with a cutoff of each name, in the order of the last metrics of these names."""
    metric_by_name: dict[str, Metric] = {}
    for metric in reversed(record.metrics):
        if metric.k is not None:
            metric_by_name[metric.name] = metric
    return list(reversed(metric_by_name.values()))


def require_plot_kind(kind: str, *kinds: str) -> None:
    """Raise if there is no plot of that kind."""
    if kind not in {"overview", *kinds}:
        to_file = f"; to write a file: .plot().savefig({kind!r})" if "." in kind else ""
        raise ValueError(f"there is no plot {kind!r}; the plots are overview, {', '.join(kinds)}{to_file}")
