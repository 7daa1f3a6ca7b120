"""What the charts of evaluations show, in figures and reports alike."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.evaluation.explanation import target_of_metric
from retrieval_metrics.evaluation.stage_losses import (
    BELOW_CUTOFF,
    CUTOFF_FULL,
    DROPPED,
    FOUND,
    LOSS_LABELS,
    NOT_RETRIEVED,
    find_first_stages,
    judge_stages,
    loss_column,
    loss_shares,
)
from retrieval_metrics.evaluation.summary import (
    LEVEL,
    choose_cutoffs,
    cutoff_size,
    cutoff_unit,
    intervals,
    mean_by_cutoff,
    means,
    means_and_intervals,
    n_queries_by_metric,
)
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.charts import (
    ChartRow,
    ChartRows,
    CutoffLines,
    Flow,
    Line,
    Point,
    PointLines,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.scores import Record, Scores


# What the charts of evaluations and comparisons show, in figures and reports alike.

MARKED = (1, 3, 5, 10, 20, 50, 100)
"""The cut-offs named on a curve of precision and recall."""


def evaluation_mean_charts(record: Record) -> list[ChartRows]:
    """Return a chart of all means; of given scores on other scales than 0 to 1, a chart of their own."""
    found, ends = means(record), intervals(record, LEVEL)
    asked = numbers.format_query_count(max(n_queries_by_metric(record).values(), default=0))
    others = [one for one in record.metrics if one.definition.is_given and one.definition.bounds != (0, 1)]
    charts: list[ChartRows] = []
    for part, least in ((others, 0.0), ([one for one in record.metrics if one not in others], 1.0)):
        if part:
            rows = [ChartRow(str(one), found[one], ends[one], numbers.value(found[one])) for one in part]
            title = "means from 0 to 1" if charts else f"means over {asked}"
            charts.append(ChartRows.of(title, mean_axis_label(LEVEL), rows, least))
    return charts


def mean_axis_label(level: float) -> str:
    """Return the label of an axis of means with their intervals."""
    return f"mean, with its {numbers.level_name(level)}"


def cutoff_lines(systems: Mapping[str, Scores], metric: Metric) -> CutoffLines:
    """Return a metric over its cut-off, a line for each system."""
    ks = choose_cutoffs(list(systems.values()), metric)
    lines = [Line(name, *means_and_intervals(scores, metric, ks)) for name, scores in systems.items()]
    size, unit = cutoff_size(metric), cutoff_unit(metric)
    marked = size if size is not None and size <= ks[-1] else None
    return CutoffLines(f"{Metric(metric.name, None, **dict(metric.parameters))} over {unit}", lines, marked, unit)


def find_stage_flow(scores: Scores, metric: Metric) -> Flow | None:
    """Return what is left of what is needed after each step, for the cut-off of a metric; None without steps."""
    if not (steps := judge_stages(scores)):
        return None
    shares = {name: float(np.nanmean(column)) for name, column in loss_shares(scores, target_of_metric(metric)).items()}
    if isnan(found := shares[FOUND]):
        return None
    left = 1 - shares[NOT_RETRIEVED]
    parts = [(", ".join(find_first_stages(scores)), left, [(LOSS_LABELS[NOT_RETRIEVED], shares[NOT_RETRIEVED])])]
    for step in steps:
        fates = {
            LOSS_LABELS[fate].removesuffix(" by"): shares.get(loss_column(fate, step.name))
            for fate in (DROPPED, BELOW_CUTOFF)
        }
        lost = [(fate, share) for fate, share in fates.items() if share is not None]
        left -= sum(share for _, share in lost)
        parts += [(step.name, left, lost)] if lost else []
    if shares.get(CUTOFF_FULL):
        parts.append((f"the first {metric.k}", found, [(LOSS_LABELS[CUTOFF_FULL], shares[CUTOFF_FULL])]))
    return Flow(f"{100 * found:.1f} % of what is needed is found; what each step leaves of it, and loses", parts)


def precision_recall_points(systems: Mapping[str, Scores]) -> PointLines:
    """Return mean precision against mean recall, a point for each cut-off."""
    precision, recall = Metric("precision"), Metric("recall")
    ks = choose_cutoffs(list(systems.values()), precision)
    lines = []
    for name, scores in systems.items():
        heights, ends = means_and_intervals(scores, precision, ks)
        found = mean_by_cutoff(scores, recall, ks)
        lines.append((name, [Point(str(k) if k in MARKED else "", found[k], heights[k], ends[k]) for k in ks]))
    labels = "mean recall@k", "mean precision@k"
    return PointLines("precision against recall", lines, labels, "the numbers are k")
