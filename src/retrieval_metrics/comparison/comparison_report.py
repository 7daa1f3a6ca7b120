"""Reports of comparisons as HTML pages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from retrieval_metrics.comparison.comparison_charts import (
    drawn_systems_notes,
    main_pair_changes,
    select_drawn_systems,
    star_notes,
    system_mean_charts,
)
from retrieval_metrics.comparison.comparison_tables import (
    GLOSSARY,
    design_effect_notes,
    means_table,
    method_notes,
    retrieval_tables,
)
from retrieval_metrics.comparison.conclusion_wording import MAX_NAMES
from retrieval_metrics.comparison.system_ranking import choose_main_pair, rank_systems, systems_in_order
from retrieval_metrics.evaluation.about_section import format_about_section
from retrieval_metrics.evaluation.evaluation_report import (
    cutoff_chart,
    outcomes_table,
    queries_section,
    unjudged_sentences,
)
from retrieval_metrics.evaluation.query_report import QueryData
from retrieval_metrics.evaluation.value_counts import values_table
from retrieval_metrics.metrics.base.metric import choose_leading_metric
from retrieval_metrics.reports import charts as draw
from retrieval_metrics.reports import numbers, page
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from retrieval_metrics.comparison.system_ranking import ComparisonRecord
    from retrieval_metrics.evaluation.query_report import ReportOptions


SENTENCES = 8
"""The largest number of sentences of a verdict that are shown; more are folded, and the ranking comes first."""


def comparison_report(
    comparison: ComparisonRecord, path: str | PathLike[str], title: str, shown: ReportOptions
) -> None:
    """Write the report of a comparison; see `Comparison.report`."""
    main = choose_leading_metric(comparison.metrics)
    pair = choose_main_pair(comparison, main)
    by_pair = comparison.differences.tables
    sentences = comparison.conclusions.sentences
    leads = len(sentences) <= SENTENCES
    said = sentences if leads else [*comparison.conclusions.caveats, *rank_systems(comparison).sentences]
    order = systems_in_order(comparison, main)
    key = draw.NameKey(comparison.systems)  # the same in every picture
    charts = system_mean_charts(comparison, comparison.metrics, select_drawn_systems(comparison, order))
    means = [draw.rows(key(chart)) for chart in charts]
    main_means = means.pop(comparison.metrics.index(main))
    words, changes = page.sentences(key(said)), draw.changes(key(main_pair_changes(comparison, main)))
    unjudged = [page.paragraph(key(sentence)) for sentence in unjudged_sentences(comparison.scores)]
    told = all(scores.origin is not None for scores in comparison.scores.values())
    data = QueryData(comparison.scores, comparison.metrics, main, pair, shown) if told else None
    failures = "" if data is None else page.table(key(outcomes_table(data)))
    values = "" if data is None else page.table(key(values_table(comparison.scores, main)))
    fewer = [*drawn_systems_notes(comparison), *star_notes(comparison)]
    names = [page.sentences([*key.lines, *fewer])] if key.lines or fewer else []  # once all of the page is keyed
    first = page.beside(words, draw.grid(main_means, *names, changes), picture_leads=not leads)
    timed = retrieval_tables(comparison)
    ranking = (
        replace(rank_systems(comparison), seconds={}) if timed else rank_systems(comparison)
    )  # the times stand below
    rest = [
        page.section("Ranking", *map(page.table, ranking.tables), *unjudged),
        draw.grid(*means),
        page.section("How sure", *_pairs(by_pair, comparison.pairs.index(pair))),
        *([] if leads else [page.folded("Every pair in a sentence", page.sentences(sentences))]),
        page.folded("All means with their intervals", page.table(means_table(comparison))),
        page.table(Table((), (), [*method_notes(comparison), *design_effect_notes(comparison)])),
        *map(page.table, timed),
    ]
    if data is None:
        page.write(
            path, title or _title(comparison), [first, *rest, *format_about_section(comparison.scores, GLOSSARY, None)]
        )
        return
    held, length = data.data()
    parts = [
        first,
        page.section(f"What went wrong, for {main}", failures),
        *rest,
        page.folded(
            f"{main} by query and over the cut-off",
            values,
            cutoff_chart(comparison.scores, main),
        ),
        queries_section(data, held),
        *format_about_section(comparison.scores, GLOSSARY, length),
    ]
    page.write(path, title or _title(comparison), parts, held)


def _title(comparison: ComparisonRecord) -> str:
    names = list(comparison.systems)
    short = len(names) <= MAX_NAMES and not draw.NameKey(names).numbers
    return f"Comparison of {numbers.join_names(names) if short else f'{len(names):,} systems'}"


def _pairs(tables: Sequence[Table], shown: int) -> list[str]:
    """Return the differences of the main pair, and the folded differences of all others."""
    others = [table for at, table in enumerate(tables) if at != shown]
    folded = [page.folded(table.title, page.table(table._replace(title=""))) for table in others]
    return [
        page.table(tables[shown]),
        *([page.folded(f"{numbers.format_count(len(folded), 'other pair')}", *folded)] if folded else []),
    ]
