"""Reports as HTML pages, and results in notebooks."""

from __future__ import annotations

import os
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.comparison.comparison_tables import (
    GLOSSARY,
    cutoff_lines,
    design_effect_notes,
    drawn_systems_notes,
    find_stage_flow,
    format_value_counts,
    main_pair_changes,
    means_table,
    method_notes,
    retrieval_tables,
    select_drawn_systems,
    star_notes,
    system_mean_charts,
    values_chart,
    values_table,
)
from retrieval_metrics.comparison.conclusion_wording import MAX_NAMES
from retrieval_metrics.comparison.system_ranking import choose_main_pair, systems_in_order
from retrieval_metrics.evaluation.cutoffs import mean_by_cutoff
from retrieval_metrics.evaluation.data_warnings import system_wide_warnings
from retrieval_metrics.evaluation.explanation import FallbackTexts, retrieved_texts, worst
from retrieval_metrics.evaluation.outcomes import OUTCOME_LABELS
from retrieval_metrics.evaluation.query_report import QueryData, format_static_queries, left_out_note
from retrieval_metrics.evaluation.summary_table import plain_summary_table
from retrieval_metrics.evaluation.summary_wording import describe_counts
from retrieval_metrics.metrics.base.metric import Metric, choose_leading_metric
from retrieval_metrics.reports import charts as draw
from retrieval_metrics.reports import numbers, page
from retrieval_metrics.reports.name_key import NameKey
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.evaluation.outcomes import Outcome
    from retrieval_metrics.evaluation.query_report import ReportOptions
    from retrieval_metrics.evaluation.scores import Scores, Totals


SENTENCES = 8
"""The largest number of sentences of a verdict that are shown; more are folded, and the ranking comes first."""
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
        page.side_by_side(
            page.paragraph(format_value_counts(scores, main), lead=True)
            + "".join(map(page.paragraph, not_judged({"": scores}))),
            draw.grid(draw.counts(values_chart(scores, main))),
        ),
        *([] if lost is None else [page.section(f"Where it got lost, for {main}", draw.flow(lost))]),
        page.section(f"What went wrong, for {main}", page.table(_failures(data, "number"))),
        page.section("All metrics", page.table(plain_summary_table(scores)), _over_the_cutoff({"": scores}, main)),
        _queries(data, held),
        *format_about_section({"": scores}, {}, length),
    ]
    page.write(path, title or "Retrieval evaluation", parts, held)


def _over_the_cutoff(systems: Mapping[str, Scores], metric: Metric) -> str:
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


def comparison_report(
    comparison: ComparisonRecord, path: str | PathLike[str], title: str, shown: ReportOptions
) -> None:
    """Write the report of a comparison; see `Comparison.report`."""
    main = choose_leading_metric(comparison.metrics)
    pair = choose_main_pair(comparison, main)
    by_pair = comparison.differences.tables
    sentences = comparison.conclusions.sentences
    leads = len(sentences) <= SENTENCES
    said = sentences if leads else [*comparison.conclusions.caveats, *comparison.ranking.sentences]
    order = systems_in_order(comparison, main)
    key = NameKey(comparison.systems)  # the same in every picture
    charts = system_mean_charts(comparison, comparison.metrics, select_drawn_systems(comparison, order))
    means = [draw.rows(key(chart)) for chart in charts]
    main_means = means.pop(comparison.metrics.index(main))
    words, changes = page.sentences(key(said)), draw.changes(key(main_pair_changes(comparison, main)))
    unjudged = [page.paragraph(key(sentence)) for sentence in not_judged(comparison.scores)]
    told = all(scores.origin is not None for scores in comparison.scores.values())
    data = QueryData(comparison.scores, comparison.metrics, main, pair, shown) if told else None
    failures = "" if data is None else page.table(key(_failures(data)))
    values = "" if data is None else page.table(key(values_table(comparison.scores, main)))
    fewer = [*drawn_systems_notes(comparison), *star_notes(comparison)]
    names = [page.sentences([*key.lines, *fewer])] if key.lines or fewer else []  # once all of the page is keyed
    first = page.side_by_side(words, draw.grid(main_means, *names, changes), picture_leads=not leads)
    timed = retrieval_tables(comparison)
    ranking = (
        replace(comparison.ranking, seconds={}) if timed else comparison.ranking
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
            _over_the_cutoff(comparison.scores, main),
        ),
        _queries(data, held),
        *format_about_section(comparison.scores, GLOSSARY, length),
    ]
    page.write(path, title or _title(comparison), parts, held)


def _title(comparison: ComparisonRecord) -> str:
    names = list(comparison.systems)
    short = len(names) <= MAX_NAMES and not NameKey(names).numbers
    return f"Comparison of {numbers.join_names(names) if short else f'{len(names):,} systems'}"


def _pairs(tables: Sequence[Table], shown: int) -> list[str]:
    """Return the differences of the main pair, and the folded differences of all others."""
    others = [table for at, table in enumerate(tables) if at != shown]
    folded = [page.folded(table.title, page.table(table._replace(title=""))) for table in others]
    return [
        page.table(tables[shown]),
        *([page.folded(f"{numbers.format_count(len(folded), 'other pair')}", *folded)] if folded else []),
    ]


def _queries(data: QueryData, held: Mapping[str, Any]) -> str:
    left_out = [left_out_note(data.detailed, data.n)] if data.n == data.of else []
    if data.n < data.of:
        left_out = [
            f"This page holds {data.n:,} of {data.of:,} queries: those with the lowest values, or that moved most.",
            left_out_note(data.detailed, data.n),
        ]
    said = [page.paragraph(sentence) for sentence in left_out if sentence]
    return page.section("The queries", *said, page.queries(format_static_queries(held, data.order)))


def _failures(data: QueryData, called: str = "") -> Table:
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
COLUMNS = {
    "mean": "the mean of the metric over all queries for which it is defined.",
    "n": "how many queries that is.",
    "found": "how much of what a query needs is among its first results.",
}


def format_about_section(systems: Mapping[str, Scores], glossary: Mapping[str, str], length: int | None) -> list[str]:
    """Return the folded last section of a report."""
    first = next(iter(systems.values()))
    metrics = Table(["metric", "what it says"], [[str(one), one.in_words] for one in first.metrics], words=(0, 1))
    columns = Table(["column", "meaning"], [list(item) for item in (COLUMNS | dict(glossary)).items()], words=(0, 1))
    facts = [
        f"Written on {_today()} by retrieval-metrics {_version()}, Python {'.'.join(map(str, sys.version_info[:3]))}.",
        f"Rules: {first.rules.name}.",
        *(
            f"{name}{': ' * bool(name)}{'; '.join(describe_counts(one.counts, one.rules, one.metrics))}."
            for name, one in systems.items()
        ),
    ]
    if length is not None:
        facts.append(
            f"Texts of more than {length:,} characters are shortened, around the needed words if there are any."
        )
    return [
        page.folded("What the metrics say", page.table(metrics)),
        page.folded("What the columns mean", page.table(columns)),
        page.folded("About this report", page.sentences(facts)),
    ]


def not_judged(systems: Mapping[str, Scores]) -> list[str]:
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


def _today() -> str:
    """Return the date, or that of SOURCE_DATE_EPOCH, which reproducible builds set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.now(UTC) if epoch is None else datetime.fromtimestamp(int(epoch), UTC)
    return now.date().isoformat()


def _version() -> str:
    try:
        return version("retrieval-metrics")
    except PackageNotFoundError:  # used without being installed
        return "of unknown version"


# The display of evaluations and comparisons in notebooks, without a server, a script or a plot.

LOWEST = 5
"""The number of queries with the lowest values that are shown."""
MOST = 2_000
"""The largest number of queries for which a notebook shows the worst unasked; for more it takes a moment."""
SENTENCES_NOTEBOOKS = 12
PAIRS = 12
"""The number of pairs of systems whose differences are shown; `comparison.differences` shows all."""


def evaluation_html(record: Scores | Totals) -> str:
    """Return the means in plain words, and the worst queries with their results, if these are kept."""
    worst = _worst(record.per_query_scores, choose_leading_metric(record.metrics), {}) if record.origin else ""
    said = system_wide_warnings({"": record.per_query_scores}) if record.origin else []
    return "".join(map(page.paragraph, said)) + plain_summary_table(record).html() + worst


def comparison_html(comparison: ComparisonRecord) -> str:
    """Return the verdict, the ranking, the folded differences, and the worst queries of the two best systems."""
    main = choose_leading_metric(comparison.metrics)
    sentences = comparison.conclusions.sentences
    ranking = comparison.ranking
    if len(sentences) > SENTENCES_NOTEBOOKS:
        sentences = [*comparison.conclusions.caveats, *ranking.sentences, *comparison.conclusions.selection_bias_notes]
    pairs = list(comparison.differences.by_pair.values())[:PAIRS]
    shown = [means_table(comparison), *(those.table() for those in pairs)]
    parts = [
        f"<ul>{''.join(f'<li>{escape(sentence.strip())}</li>' for sentence in sentences)}</ul>",
        *(table.html() for table in ranking.tables),
        page.folded("means and differences", *(table.html() for table in shown)),
    ]
    known = all(scores.origin is not None for scores in comparison.scores.values())
    corpus = FallbackTexts(*map(retrieved_texts, comparison.scores.values())) if known else {}
    best = choose_main_pair(comparison, main) if known else ()
    return "".join([*parts, *(_worst(comparison.scores[system], main, corpus, f", {system}") for system in best)])


def _worst(scores: Scores, metric: Metric, corpus: Mapping[Any, str], of_system: str = "") -> str:
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
