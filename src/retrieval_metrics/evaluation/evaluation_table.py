"""Format the table of an evaluation: the means with their intervals, and notes below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.evaluation.summary import LEVEL, summarize
from retrieval_metrics.evaluation.summary_wording import summary_notes
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.display_text import terminal_width
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from retrieval_metrics.evaluation.totals import Record


# The columns of the table of the means: metric, mean, interval and n.
N_SUMMARY_COLUMNS = 4


def summary_table(record: Record, *, has_warnings: bool = True) -> Table:
    """Return the means with their intervals, and the issues in the data.

    Args:
        record: The scores or totals.
        has_warnings: Whether the issues include the warnings that the caller may show above the table.
    """
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
    return Table(
        ["metric", "mean", numbers.level_name(LEVEL), "n"], rows, summary_notes(summary, has_warnings=has_warnings)
    )


def plain_summary_table(record: Record) -> Table:
    """Return the table of the means with a column that explains each metric, to be shown below the data warnings."""
    return _with_meanings(summary_table(record, has_warnings=False), record)


def _with_meanings(table: Table, record: Record) -> Table:
    rows = [[*row, metric.in_words] for row, metric in zip(table.rows, record.metrics, strict=True)]
    return Table([*table.header, "meaning"], rows, table.notes, words=(0, len(table.header)))


def widen_for_terminal(table: Table, record: Record) -> Table:
    """Return the table of the means with what each metric means, if stdout is a terminal that is wide enough.

    Of scores that were computed elsewhere, nothing is known.
    """
    width = terminal_width()
    is_of_means = len(table.header) == N_SUMMARY_COLUMNS and len(table.rows) == len(record.metrics)
    is_given = all(metric.definition.is_given for metric in record.metrics)
    if width is None or not is_of_means or is_given:
        return table
    wide_table = _with_meanings(table, record)
    return wide_table if wide_table.width <= width else table
