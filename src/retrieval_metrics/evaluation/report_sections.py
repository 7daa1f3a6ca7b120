"""Format the sections that reports of evaluations and of comparisons share."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from retrieval_metrics.evaluation.cutoffs import mean_by_cutoff
from retrieval_metrics.evaluation.evaluation_charts import cutoff_lines
from retrieval_metrics.evaluation.evaluation_wording import (
    OUTCOME_LABELS,
    format_left_out_queries,
    format_missing_details,
    format_unjudged,
)
from retrieval_metrics.evaluation.static_queries import format_static_queries
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports import page, svg_charts
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.outcomes import Outcome
    from retrieval_metrics.evaluation.page_data import PageData
    from retrieval_metrics.evaluation.query_report import QueryData
    from retrieval_metrics.evaluation.scores import Scores


# The number of results whose judgments are counted if no metric has a cutoff.
DEFAULT_JUDGED_DEPTH = 10

# From this judged share on, the unjudged share would be printed as 0%.
_NEARLY_ALL = 0.9995


def cutoff_chart(systems: Mapping[str, Scores], metric: Metric) -> str:
    """Return the chart of a metric over its cutoff; empty if it has none or a run is unknown."""
    has_unknown_run = any(scores.origin is None for scores in systems.values())
    if has_unknown_run or not metric.definition.takes_cutoff:
        return ""
    return svg_charts.arrange_charts(svg_charts.draw_cutoffs(cutoff_lines(systems, metric)))


def queries_section(data: QueryData, page_data: PageData) -> str:
    """Return the section with every query, and what it leaves out."""
    notes = [format_missing_details(data.n_detailed, data.n)]
    if data.n < data.n_all:
        notes.insert(0, format_left_out_queries(data.n, data.n_all))
    paragraphs = [page.paragraph(note) for note in notes if note]
    return page.section("The queries", *paragraphs, page.queries(format_static_queries(page_data, data.order)))


def outcomes_table(data: QueryData, heading: str = "") -> Table:
    """Return the number of needed documents with each outcome, one column per system.

    A heading replaces the names of the systems if there is only one.
    """
    systems = list(data.n_needed)
    totals: Counter[Outcome] = Counter()
    for failures in data.failures.values():
        totals.update(failures)
    n_without_room = [data.n_needed[name] - data.n_found[name] - data.failures[name].total() for name in systems]
    rows = [[OUTCOME_LABELS["found"], *(f"{data.n_found[name]:,}" for name in systems)]]
    if any(n_without_room):
        rows.append([OUTCOME_LABELS["cutoff_full"], *(f"{count:,}" for count in n_without_room)])
    for kind, _ in totals.most_common():
        rows.append([OUTCOME_LABELS[kind], *(f"{data.failures[name][kind]:,}" for name in systems)])
    column_headings = [heading] if heading else systems
    return Table([f"relevant {data.unit}s", *column_headings], rows)


def unjudged_sentences(systems: Mapping[str, Scores]) -> list[str]:
    """Return a sentence on how many results of each system are unjudged, if ids are judged and some are not."""
    judged_systems = {name: scores for name, scores in systems.items() if _judges_ids(scores)}
    k = _largest_cutoff(judged_systems)
    unjudged_shares = {}
    for name, scores in judged_systems.items():
        judged_share = mean_by_cutoff(scores, Metric("judged"), [k])[k]
        if judged_share < _NEARLY_ALL:
            unjudged_shares[name] = 1 - judged_share
    if not unjudged_shares:
        return []
    is_condensed = any(scores.rules.unjudged == "condensed" for scores in judged_systems.values())
    return [format_unjudged(unjudged_shares, k, is_condensed=is_condensed)]


def _judges_ids(scores: Scores) -> bool:
    return scores.origin is not None and not scores.origin.judged.qrels.has_pieces


def _largest_cutoff(systems: Mapping[str, Scores]) -> int:
    """Return the largest number of results at which a metric is cut."""
    cutoffs = []
    for scores in systems.values():
        cutoffs += [metric.k for metric in scores.metrics if isinstance(metric.k, int)]
    return max(cutoffs, default=DEFAULT_JUDGED_DEPTH)
