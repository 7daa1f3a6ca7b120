"""Format evaluations as HTML for notebooks, without a server, a script or a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.evaluation.data_warnings import system_wide_warnings
from retrieval_metrics.evaluation.evaluation_table import plain_summary_table
from retrieval_metrics.evaluation.explanation import worst
from retrieval_metrics.evaluation.totals import Totals
from retrieval_metrics.metrics.base.metric import choose_leading_metric
from retrieval_metrics.reports import numbers, page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric


# The number of queries with the lowest values that are shown.
N_WORST = 5

# Finding the worst of more queries takes a moment, so a notebook shows them only on request.
MAX_QUERIES_EXPLAINED = 2_000


def evaluation_html(record: Scores | Totals) -> str:
    """Return the means in plain words, and the worst queries with their results, if these are kept."""
    table = plain_summary_table(record).html()
    if isinstance(record, Totals):
        return table
    worst_queries = worst_queries_html(record, choose_leading_metric(record.metrics), {})
    warnings = [page.paragraph(warning) for warning in system_wide_warnings({"": record})]
    return "".join(warnings) + table + worst_queries


def worst_queries_html(scores: Scores, metric: Metric, corpus: Mapping[Any, str], suffix: str = "") -> str:
    """Return the folded queries with the lowest values; empty if rankings are unknown or there are too many queries.

    The suffix names the system in the title.
    """
    if scores.origin is None or len(scores.queries) > MAX_QUERIES_EXPLAINED:
        return ""
    lowest = worst(scores, metric, N_WORST, None, corpus)
    folded = []
    for explanation in lowest:
        value = numbers.format_value(explanation.values[lowest.metric])
        title = f"{value}  {explanation.query} {explanation.text}".rstrip()
        tables = [table._replace(title="").html() for table in explanation.tables]
        folded.append(page.folded(title, *tables))
    return page.folded(f"the {metric.definition.worst} {metric}{suffix}: {lowest.summary}", *folded)
