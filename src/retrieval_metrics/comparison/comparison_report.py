"""Write reports of comparisons as HTML pages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from retrieval_metrics.comparison.comparison_charts import (
    drawn_systems_notes,
    main_pair_changes,
    select_drawn_systems,
    star_notes,
    system_mean_charts,
)
from retrieval_metrics.comparison.comparison_tables import means_table, retrieval_tables
from retrieval_metrics.comparison.comparison_wording import format_shown_pairs
from retrieval_metrics.comparison.conclusion_wording import MAX_NAMES
from retrieval_metrics.comparison.method_wording import GLOSSARY, design_effect_notes, method_notes
from retrieval_metrics.comparison.system_ranking import choose_main_pair, systems_in_order
from retrieval_metrics.evaluation.about_section import format_about_section
from retrieval_metrics.evaluation.query_report import QueryData
from retrieval_metrics.evaluation.report_sections import (
    cutoff_chart,
    outcomes_table,
    queries_section,
    unjudged_sentences,
)
from retrieval_metrics.evaluation.value_counts import values_table
from retrieval_metrics.metrics.base.metric import choose_leading_metric
from retrieval_metrics.reports import numbers, page, svg_charts
from retrieval_metrics.reports.name_key import NameKey
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from os import PathLike

    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.evaluation.query_report import ReportOptions
    from retrieval_metrics.metrics.base.metric import Metric


# Of more systems the page shows the pairs and queries of those that are drawn: pairs grow with the square.
MAX_SHOWN_SYSTEMS = 25

# The largest number of sentences that are shown; if there are more, they are folded and the ranking comes first.
MAX_SENTENCES = 8


def write_comparison_report(
    comparison: ComparisonRecord, path: str | PathLike[str], title: str, options: ReportOptions
) -> None:
    """Write the report of a comparison; see `Comparison.report`."""
    main = choose_leading_metric(comparison.metrics)
    pair = choose_main_pair(comparison, main)
    title = title or _title(comparison)
    shown = _select_shown_systems(comparison, main, pair)
    # The page has one key, so that a name has the same number in every chart.
    key = NameKey(comparison.systems)
    knows_runs = all(scores.origin is not None for scores in comparison.scores.values())
    if not knows_runs:
        parts = _sections_without_queries(comparison, main, pair, shown, key, options.queries)
        page.write(path, title, [*parts, *format_about_section(comparison.scores, GLOSSARY, None)])
        return
    shown_scores = {system: comparison.scores[system] for system in shown}
    data = QueryData(shown_scores, comparison.metrics, main, pair, options)
    outcomes = page.section(f"Failures: {main}", page.table(key(outcomes_table(data))))
    values = page.table(key(values_table(shown_scores, main)))
    answer, *other_sections = _sections_without_queries(comparison, main, pair, shown, key, options.queries)
    page_data = data.page_data()
    parts = [
        answer,
        outcomes,
        *other_sections,
        page.folded(f"{main} by query and over the cutoff", values, cutoff_chart(shown_scores, main)),
        queries_section(data, page_data),
        *format_about_section(comparison.scores, GLOSSARY, page_data.text_length),
    ]
    page.write(path, title, parts, page_data.as_json())


def _select_shown_systems(comparison: ComparisonRecord, main: Metric, pair: tuple[str, str]) -> list[str]:
    """Return the systems whose pairs and queries are shown: all, or of very many those drawn and the main pair."""
    systems = list(comparison.systems)
    if len(systems) <= MAX_SHOWN_SYSTEMS:
        return systems
    shown = {*select_drawn_systems(comparison, systems_in_order(comparison, main)), *pair}
    return [system for system in systems if system in shown]


def _sections_without_queries(
    comparison: ComparisonRecord,
    main: Metric,
    pair: tuple[str, str],
    shown: Sequence[str],
    key: NameKey,
    query_texts: Mapping[Any, str],
) -> list[str]:
    """Return the sections that show no single queries: the answer, the ranking, the means and the differences.

    Call this after the other sections are made, because the answer shows the key, to which they add names.
    """
    order = systems_in_order(comparison, main)
    means = []
    for chart in system_mean_charts(comparison, comparison.metrics, select_drawn_systems(comparison, order)):
        means.append(svg_charts.draw_rows(key(chart)))
    main_means = means.pop(comparison.metrics.index(main))
    unjudged = [page.paragraph(key(sentence)) for sentence in unjudged_sentences(comparison.scores)]
    answer = _answer(comparison, main, main_means, key)
    times = retrieval_tables(comparison)
    ranking = comparison.ranking
    if times:
        # The times stand in their own table.
        ranking = replace(ranking, seconds={})
    parts = [
        answer,
        page.section("Ranking", *map(page.table, ranking.tables), *unjudged),
        svg_charts.arrange_charts(*means),
        page.section("Statistical details", *_difference_tables(comparison, pair, shown, query_texts)),
    ]
    if len(shown) < len(comparison.systems):
        parts.append(page.paragraph(format_shown_pairs(comparison, shown)))
    else:
        sentences = comparison.conclusions.sentences
        if len(sentences) > MAX_SENTENCES:
            parts.append(page.folded("All pairs", page.sentences(sentences)))
    parts.append(page.folded("All means with their CIs", page.table(means_table(comparison))))
    notes = [*method_notes(comparison), *design_effect_notes(comparison)]
    parts.append(page.table(Table((), (), notes)))
    parts += [page.table(table) for table in times]
    return parts


def _answer(comparison: ComparisonRecord, main: Metric, main_means: str, key: NameKey) -> str:
    """Return which system is better in words, beside the charts; the charts come first if there are many sentences."""
    sentences: list[str] = []
    # Every pair has a sentence, so those of many pairs need not be written to be counted.
    has_few_sentences = len(comparison.pairs) <= MAX_SENTENCES
    if has_few_sentences:
        sentences = comparison.conclusions.sentences
        has_few_sentences = len(sentences) <= MAX_SENTENCES
    if not has_few_sentences:
        sentences = [*comparison.conclusions.caveats, *comparison.ranking.sentences]
    words = page.sentences(key(sentences))
    changes = main_pair_changes(comparison, main)
    # Drawn before the key is shown, to which it adds names.
    changes_chart = ""
    if changes is not None:
        changes_chart = svg_charts.draw_changes(key(changes))
    drawn = [main_means]
    key_lines = [*key.lines, *drawn_systems_notes(comparison), *star_notes(comparison)]
    if key_lines:
        drawn.append(page.sentences(key_lines))
    if changes_chart:
        drawn.append(changes_chart)
    return page.side_by_side(words, svg_charts.arrange_charts(*drawn), picture_leads=not has_few_sentences)


def _title(comparison: ComparisonRecord) -> str:
    names = list(comparison.systems)
    are_short = not NameKey(names).numbers
    if len(names) <= MAX_NAMES and are_short:
        return f"Comparison of {numbers.join_names(names)}"
    return f"Comparison of {len(names):,} systems"


def _difference_tables(
    comparison: ComparisonRecord, pair: tuple[str, str], shown: Collection[str], query_texts: Mapping[Any, str]
) -> list[str]:
    """Return the differences of the main pair, and the folded differences of all other pairs of the shown systems."""
    differences_by_pair = comparison.differences.by_pair
    shown_systems = frozenset(shown)
    folded = []
    for other_pair, differences in differences_by_pair.items():
        if other_pair != pair and shown_systems.issuperset(other_pair):
            table = differences.table(whole=True, texts=query_texts)
            folded.append(page.folded(table.title, page.table(table._replace(title=""))))
    parts = [page.table(differences_by_pair[pair].table(whole=True, texts=query_texts))]
    if folded:
        parts.append(page.folded(numbers.format_count(len(folded), "other pair"), *folded))
    return parts
