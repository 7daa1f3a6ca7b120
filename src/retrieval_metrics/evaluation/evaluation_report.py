"""Reports of evaluations as HTML pages, and the sections that all reports share."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.evaluation.about_section import format_about_section
from retrieval_metrics.evaluation.data_warnings import system_wide_warnings
from retrieval_metrics.evaluation.evaluation_charts import cutoff_lines, find_stage_flow
from retrieval_metrics.evaluation.outcomes import OUTCOME_LABELS
from retrieval_metrics.evaluation.query_report import QueryData, format_static_queries, left_out_note
from retrieval_metrics.evaluation.summary import mean_by_cutoff, plain_summary_table
from retrieval_metrics.evaluation.value_counts import format_value_counts, values_chart
from retrieval_metrics.metrics.base.metric import Metric, choose_leading_metric
from retrieval_metrics.reports import charts as draw
from retrieval_metrics.reports import numbers, page
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from retrieval_metrics.evaluation.outcomes import Outcome
    from retrieval_metrics.evaluation.query_report import ReportOptions
    from retrieval_metrics.evaluation.scores import Scores
GIVEN = 50
"""The number of queries listed of scores whose rankings are unknown."""


def evaluation_report(scores: Scores, path: str | PathLike[str], title: str, shown: ReportOptions) -> None:
    """Write the report of an evaluation; see `Evaluation.report`."""
    main = choose_leading_metric(scores.metrics)
    if scores.origin is None and main.definition.is_given:
        page.write(path, title or "Evaluation", _given_parts(scores, main, shown))
        return
    data = QueryData({"": scores}, scores.metrics, main, ("", ""), shown)
    held, length = data.data()
    lost = find_stage_flow(scores, main)
    parts = [
        *map(page.paragraph, system_wide_warnings({"": scores})),
        page.beside(
            page.paragraph(format_value_counts(scores, main), lead=True)
            + "".join(map(page.paragraph, unjudged_sentences({"": scores}))),
            draw.grid(draw.counts(values_chart(scores, main))),
        ),
        *([] if lost is None else [page.section(f"Where it got lost, for {main}", draw.flow(lost))]),
        page.section(f"What went wrong, for {main}", page.table(outcomes_table(data, "number"))),
        page.section("All metrics", page.table(plain_summary_table(scores)), cutoff_chart({"": scores}, main)),
        queries_section(data, held),
        *format_about_section({"": scores}, {}, length),
    ]
    page.write(path, title or "Retrieval evaluation", parts, held)


def cutoff_chart(systems: Mapping[str, Scores], metric: Metric) -> str:
    """Return the chart of a metric over its cut-off; nothing where it has none or no run is known."""
    if not metric.definition.takes_cutoff or any(scores.origin is None for scores in systems.values()):
        return ""
    return draw.grid(draw.cutoffs(cutoff_lines(systems, metric)))


def _given_parts(scores: Scores, main: Metric, shown: ReportOptions) -> list[str]:
    """Return the report of scores that were given, of which no ranking is known."""
    column = main.definition.sign * scores.column(main)
    order = [at for at in np.argsort(column, kind="stable").tolist() if not np.isnan(column[at])][:GIVEN]
    texts: Mapping[Any, str] = shown.queries
    rows = [
        [
            str(scores.queries[at]),
            *([str(texts.get(scores.queries[at], ""))] if texts else []),
            *map(numbers.three, scores.values[at]),
        ]
        for at in order
    ]
    header = ["query", *(["text"] if texts else []), *map(str, scores.metrics)]
    return [
        page.paragraph(format_value_counts(scores, main), lead=True),
        page.table(plain_summary_table(scores)),
        draw.grid(*(draw.counts(values_chart(scores, metric)) for metric in scores.metrics)),
        page.section(f"The worst queries in {main}", page.table(Table(header, rows, words=(0, 1) if texts else (0,)))),
        *format_about_section({"": scores}, {}, None),
    ]


def queries_section(data: QueryData, held: Mapping[str, Any]) -> str:
    """Return the section with every query, and what it leaves out."""
    left_out = [left_out_note(data.detailed, data.n)] if data.n == data.of else []
    if data.n < data.of:
        left_out = [
            f"This page holds {data.n:,} of {data.of:,} queries: those with the lowest values, or that moved most.",
            left_out_note(data.detailed, data.n),
        ]
    said = [page.paragraph(sentence) for sentence in left_out if sentence]
    return page.section("The queries", *said, page.queries(format_static_queries(held, data.order)))


def outcomes_table(data: QueryData, called: str = "") -> Table:
    """Return the outcomes of everything that is needed, one column per system."""
    systems = list(data.needed)
    total: Counter[Outcome] = sum(data.failures.values(), Counter())
    rows = [["found", *(f"{data.found[name]:,}" for name in systems)]]
    no_room = [data.needed[name] - data.found[name] - data.failures[name].total() for name in systems]
    if any(no_room):
        rows.append(["no room among the first k", *(f"{number:,}" for number in no_room)])
    rows += [
        [OUTCOME_LABELS[kind], *(f"{data.failures[name][kind]:,}" for name in systems)]
        for kind, _ in total.most_common()
    ]
    return Table([f"needed {data.unit}s", *([called] if called else systems)], rows)


# The last section of a report: metrics and columns in words, rules, date and versions.

LOOKED_AT = 10
"""The number of results whose judgments are counted if no metric has a cut-off."""
NEARLY_ALL = 0.9995


def unjudged_sentences(systems: Mapping[str, Scores]) -> list[str]:
    """Return in a sentence how many results of each system are unjudged, if ids are judged and some are not."""
    known = {name: one for name, one in systems.items() if one.origin is not None}
    known = {name: one for name, one in known.items() if not one.require_origin("read").judged.qrels.has_pieces}
    cutoffs = [metric.k for one in known.values() for metric in one.metrics if isinstance(metric.k, int)]
    k = max(cutoffs, default=LOOKED_AT)
    judged = {name: mean_by_cutoff(one, Metric("judged"), [k])[k] for name, one in known.items()}
    unjudged = {name: f"{100 * (1 - share):.0f} %" for name, share in judged.items() if share < NEARLY_ALL}
    if not unjudged:
        return []
    results = f"the first {numbers.format_count(k, 'result')}"
    if list(unjudged) == [""]:
        said = f"{unjudged['']} of {results}"
    else:
        said = f"Of {results}, {numbers.join_names([f'{share} of {name}' for name, share in unjudged.items()])}"
    condensed = any(one.rules.unjudged == "condensed" for one in known.values())
    return [f"{said} are unjudged; they {'were taken out of the rankings' if condensed else 'count as not relevant'}."]
