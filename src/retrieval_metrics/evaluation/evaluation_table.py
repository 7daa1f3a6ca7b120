"""Format the table of an evaluation: the means with their intervals, and notes below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.evaluation.summary import LEVEL, summarize
from retrieval_metrics.evaluation.summary_wording import summary_notes
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.display_text import terminal_width
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from retrieval_metrics.evaluation.scores import Record


def summary_table(record: Record) -> Table:
    """Return the means with their intervals, and the issues in the data."""
    summary = summarize(record)
    rows = []
    for metric_summary in summary.metrics:
        row = [
            metric_summary.name,
            numbers.format_value(metric_summary.mean),
            numbers.format_interval(metric_summary.interval),
            str(metric_summary.n_queries),
        ]
        rows.append(row)
    return Table(["metric", "mean", numbers.level_name(LEVEL), "n"], rows, summary_notes(summary))


def plain_summary_table(record: Record) -> Table:
    """Return the table of the means with a column that explains each metric."""
    table = summary_table(record)
    rows = [[*row, metric.in_words] for row, metric in zip(table.rows, record.metrics, strict=True)]
    return Table([*table.header, "meaning"], rows, table.notes, words=(0, len(table.header)))


def terminal_summary_table(record: Record) -> Table:
    """Return the table of the means for stdout: with what each metric means on a terminal that is wide enough."""
    width = terminal_width()
    if width is not None:
        table = plain_summary_table(record)
        if table.width <= width:
            return table
    return summary_table(record)
