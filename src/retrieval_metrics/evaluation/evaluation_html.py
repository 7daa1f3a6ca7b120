"""The display of evaluations in notebooks, without a server, a script or a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.evaluation.data_warnings import system_wide_warnings
from retrieval_metrics.evaluation.explanation import worst
from retrieval_metrics.evaluation.summary import plain_summary_table
from retrieval_metrics.metrics.base.metric import Metric, choose_leading_metric
from retrieval_metrics.reports import numbers, page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.scores import Scores, Totals


# The display of evaluations and comparisons in notebooks, without a server, a script or a plot.

LOWEST = 5
"""The number of queries with the lowest values that are shown."""
MOST = 2_000
"""The largest number of queries for which a notebook shows the worst unasked; for more it takes a moment."""


def evaluation_html(record: Scores | Totals) -> str:
    """Return the means in plain words, and the worst queries with their results, if these are kept."""
    worst = (
        worst_queries_html(record.per_query_scores, choose_leading_metric(record.metrics), {}) if record.origin else ""
    )
    said = system_wide_warnings({"": record.per_query_scores}) if record.origin else []
    return "".join(map(page.paragraph, said)) + plain_summary_table(record).html() + worst


def worst_queries_html(scores: Scores, metric: Metric, corpus: Mapping[Any, str], of_system: str = "") -> str:
    """Return the folded queries with the lowest values; nothing where no ranking is known or there are too many."""
    if scores.origin is None or len(scores.queries) > MOST:
        return ""
    lowest = worst(scores, metric, LOWEST, None, corpus)
    folded = (
        page.folded(
            f"{numbers.value(each.values[lowest.metric])}  {each.query} {each.text}".rstrip(),
            *(table._replace(title="").html() for table in each.tables),
        )
        for each in lowest
    )
    title = f"the {metric.definition.worst} {metric}{of_system}: {lowest.summary}"
    return page.folded(title, *folded)
