"""Write reports of evaluations as HTML pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.evaluation.about_section import format_about_section
from retrieval_metrics.evaluation.chance import find_chance_if_not_better
from retrieval_metrics.evaluation.data_warnings import system_wide_warnings
from retrieval_metrics.evaluation.evaluation_table import plain_summary_table
from retrieval_metrics.evaluation.evaluation_wording import format_chance
from retrieval_metrics.evaluation.query_report import QueryData
from retrieval_metrics.evaluation.report_sections import (
    cutoff_chart,
    outcomes_table,
    queries_section,
    unjudged_sentences,
)
from retrieval_metrics.evaluation.stage_flow import find_stage_flow
from retrieval_metrics.evaluation.value_counts import format_value_counts, values_chart
from retrieval_metrics.metrics.base.metric import choose_leading_metric
from retrieval_metrics.reports import numbers, page, svg_charts
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from os import PathLike

    from retrieval_metrics.evaluation.query_report import ReportOptions
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric


# The name of the system in a report of one evaluation; sections take scores by system, and hide an empty name.
SINGLE_SYSTEM = ""

# The largest number of queries that a report lists if rankings are unknown.
MAX_LISTED_QUERIES = 50


def write_evaluation_report(scores: Scores, path: str | PathLike[str], title: str, options: ReportOptions) -> None:
    """Write the report of an evaluation; see `Evaluation.report`."""
    leading_metric = choose_leading_metric(scores.metrics)
    if scores.origin is None and leading_metric.definition.is_given:
        page.write(path, title or "Evaluation", _sections_without_rankings(scores, leading_metric, options))
        return
    data = QueryData({SINGLE_SYSTEM: scores}, scores.metrics, leading_metric, (SINGLE_SYSTEM, SINGLE_SYSTEM), options)
    page_data = data.page_data()
    stage_flow = find_stage_flow(scores, leading_metric)
    lead = page.paragraph(format_value_counts(scores, leading_metric), lead=True)
    unjudged = [page.paragraph(sentence) for sentence in unjudged_sentences({SINGLE_SYSTEM: scores})]
    sections = [page.paragraph(warning) for warning in system_wide_warnings({SINGLE_SYSTEM: scores})]
    chance = find_chance_if_not_better(scores, leading_metric)
    if chance is not None:
        sections.append(page.paragraph(format_chance(chance)))
    drawn_values = svg_charts.draw_value_counts(values_chart(scores, leading_metric))
    sections.append(page.side_by_side("".join([lead, *unjudged]), svg_charts.arrange_charts(drawn_values)))
    if stage_flow is not None:
        flow_chart = svg_charts.draw_stage_flow(stage_flow)
        sections.append(page.section(f"Losses by stage: {leading_metric}", flow_chart))
    sections += [
        page.section(f"Failures: {leading_metric}", page.table(outcomes_table(data, "number"))),
        page.section(
            "All metrics",
            page.table(plain_summary_table(scores)),
            cutoff_chart({SINGLE_SYSTEM: scores}, leading_metric),
        ),
        queries_section(data, page_data),
        *format_about_section({SINGLE_SYSTEM: scores}, {}, page_data.text_length),
    ]
    page.write(path, title or "Retrieval evaluation", sections, page_data.as_json())


def _sections_without_rankings(scores: Scores, leading_metric: Metric, options: ReportOptions) -> list[str]:
    """Return the sections of a report of scores that were given, without rankings."""
    value_charts = [svg_charts.draw_value_counts(values_chart(scores, metric)) for metric in scores.metrics]
    return [
        page.paragraph(format_value_counts(scores, leading_metric), lead=True),
        page.table(plain_summary_table(scores)),
        svg_charts.arrange_charts(*value_charts),
        page.section(
            f"The worst queries in {leading_metric}", page.table(_list_worst_queries(scores, leading_metric, options))
        ),
        *format_about_section({SINGLE_SYSTEM: scores}, {}, None),
    ]


def _list_worst_queries(scores: Scores, leading_metric: Metric, options: ReportOptions) -> Table:
    """Return a table of the worst queries of given scores, with their texts if these are known."""
    # Values with the sign that puts the worst first; NaN comes last.
    signed_values = leading_metric.definition.sign * scores.column(leading_metric)
    n_defined = int((~np.isnan(signed_values)).sum())
    worst_rows = np.argsort(signed_values, kind="stable")[: min(n_defined, MAX_LISTED_QUERIES)].tolist()
    texts = options.queries
    header = ["query"]
    if texts:
        header.append("text")
    header += [str(metric) for metric in scores.metrics]
    rows = []
    for row in worst_rows:
        query = scores.queries[row]
        cells = [str(query)]
        if texts:
            cells.append(str(texts.get(query, "")))
        cells += [numbers.format_three_digits(value) for value in scores.values[row]]
        rows.append(cells)
    return Table(header, rows, words=(0, 1) if texts else (0,))
