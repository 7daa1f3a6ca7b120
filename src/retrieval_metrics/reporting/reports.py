"""The reports of evaluations and comparisons."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.presentation import charts as draw
from retrieval_metrics.presentation import numbers, page
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.reporting.about import about, not_judged
from retrieval_metrics.reporting.charting import changes_of, means_of_systems, over_the_cutoff
from retrieval_metrics.reporting.histograms import said_of_values, values_chart, values_table
from retrieval_metrics.reporting.queries import QueryData
from retrieval_metrics.reporting.unscripted import note, unscripted
from retrieval_metrics.reporting.verdict import (
    GLOSSARY,
    means_table,
    retrieval_tables,
    said_of_design_effects,
    small_print,
)
from retrieval_metrics.results.standings import NAMED, main_pair, ranking_of
from retrieval_metrics.results.summary import summary_in_words
from retrieval_metrics.scoring.metric import first_telling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from retrieval_metrics.explaining.outcomes import Outcome
    from retrieval_metrics.reporting.queries import ShownQueries
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.results.standings import Compared
    from retrieval_metrics.scoring.metric import Metric

SENTENCES = 8
"""The largest number of sentences of a verdict that are shown; more are folded, and the ranking comes first."""
GIVEN = 50
"""The number of queries listed of scores whose rankings are unknown."""


def evaluation_report(scores: Scores, path: str | PathLike[str], title: str, shown: ShownQueries) -> None:
    """Write the report of an evaluation; see `Evaluation.report`."""
    main = first_telling(scores.metrics)
    if scores.origin is None and main.definition.given:
        page.write(path, title or "Evaluation", _given_parts(scores, main, shown))
        return
    data = QueryData({"": scores}, scores.metrics, main, ("", ""), shown)
    held, length = data.data()
    parts = [
        page.beside(
            page.paragraph(said_of_values(scores, main), lead=True)
            + "".join(map(page.paragraph, not_judged({"": scores}))),
            draw.grid(draw.counts(values_chart(scores, main))),
        ),
        page.section(f"What went wrong, for {main}", page.table(_failures(data, "number"))),
        page.section("All metrics", page.table(summary_in_words(scores)), _over_the_cutoff({"": scores}, main)),
        _queries(data, held),
        *about({"": scores}, {}, length),
    ]
    page.write(path, title or "Retrieval evaluation", parts, held)


def _over_the_cutoff(systems: Mapping[str, Scores], metric: Metric) -> str:
    """Return the chart of a metric over its cut-off; nothing where it has none or no run is known."""
    if not metric.definition.takes_cutoff or any(scores.origin is None for scores in systems.values()):
        return ""
    return draw.grid(draw.cutoffs(over_the_cutoff(systems, metric)))


def _given_parts(scores: Scores, main: Metric, shown: ShownQueries) -> list[str]:
    """Return the report of scores that were given, of which no ranking is known."""
    column = main.definition.sign * scores.of_metric(main)
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
        page.paragraph(said_of_values(scores, main), lead=True),
        page.table(summary_in_words(scores)),
        draw.grid(*(draw.counts(values_chart(scores, metric)) for metric in scores.metrics)),
        page.section(f"The worst queries in {main}", page.table(Table(header, rows, words=(0, 1) if texts else (0,)))),
        *about({"": scores}, {}, None),
    ]


def comparison_report(comparison: Compared, path: str | PathLike[str], title: str, shown: ShownQueries) -> None:
    """Write the report of a comparison; see `Comparison.report`."""
    main = first_telling(comparison.metrics)
    pair = main_pair(comparison, main)
    by_pair = comparison.differences.tables
    sentences = comparison.conclusions.sentences
    leads = len(sentences) <= SENTENCES
    said = sentences if leads else [*comparison.conclusions.caveats, *ranking_of(comparison).sentences]
    changes = draw.changes(changes_of(comparison.difference(main, *pair)))
    first = page.beside(page.sentences(said), draw.grid(*_means(comparison, [main]), changes))
    timed = retrieval_tables(comparison)
    ranking = replace(ranking_of(comparison), seconds={}) if timed else ranking_of(comparison)  # the times stand below
    others = [metric for metric in comparison.metrics if metric != main]
    rest = [
        page.section("Ranking", *map(page.table, ranking.tables), *map(page.paragraph, not_judged(comparison.scores))),
        draw.grid(*_means(comparison, others)),
        page.section("How sure", *_pairs(by_pair, comparison.pairs.index(pair))),
        *([] if leads else [page.folded("Every pair in a sentence", page.sentences(sentences))]),
        page.folded("All means with their intervals", page.table(means_table(comparison))),
        page.table(Table((), (), [*small_print(comparison), *said_of_design_effects(comparison)])),
        *map(page.table, timed),
    ]
    if any(scores.origin is None for scores in comparison.scores.values()):
        page.write(path, title or _title(comparison), [first, *rest, *about(comparison.scores, GLOSSARY, None)])
        return
    data = QueryData(comparison.scores, comparison.metrics, main, pair, shown)
    held, length = data.data()
    parts = [
        first,
        page.section(f"What went wrong, for {main}", page.table(_failures(data))),
        *rest,
        page.folded(
            f"{main} by query and over the cut-off",
            page.table(values_table(comparison.scores, main)),
            _over_the_cutoff(comparison.scores, main),
        ),
        _queries(data, held),
        *about(comparison.scores, GLOSSARY, length),
    ]
    page.write(path, title or _title(comparison), parts, held)


def _means(comparison: Compared, metrics: Sequence[Metric]) -> list[str]:
    return [draw.rows(chart) for chart in means_of_systems(comparison, metrics)]


def _title(comparison: Compared) -> str:
    names = list(comparison.systems)
    return f"Comparison of {numbers.listed(names) if len(names) <= NAMED else f'{len(names):,} systems'}"


def _pairs(tables: Sequence[Table], shown: int) -> list[str]:
    """Return the differences of the main pair, and the folded differences of all others."""
    others = [table for at, table in enumerate(tables) if at != shown]
    folded = [page.folded(table.title, page.table(table._replace(title=""))) for table in others]
    return [
        page.table(tables[shown]),
        *([page.folded(f"{numbers.count(len(folded), 'other pair')}", *folded)] if folded else []),
    ]


def _queries(data: QueryData, held: Mapping[str, Any]) -> str:
    left_out = [note(data.detailed, data.n)] if data.n == data.of else []
    if data.n < data.of:
        left_out = [
            f"This page holds {data.n:,} of {data.of:,} queries: those with the lowest values, or that moved most.",
            note(data.detailed, data.n),
        ]
    said = [page.paragraph(sentence) for sentence in left_out if sentence]
    return page.section("The queries", *said, page.queries(unscripted(held, data.order)))


def _failures(data: QueryData, called: str = "") -> Table:
    """Return the outcomes of everything that is needed, one column per system."""
    systems = list(data.needed)
    total: Counter[Outcome] = sum(data.failures.values(), Counter())
    rows = [["found", *(f"{data.found[name]:,}" for name in systems)]]
    no_room = [data.needed[name] - data.found[name] - data.failures[name].total() for name in systems]
    if any(no_room):
        rows.append(["no room among the first k", *(f"{number:,}" for number in no_room)])
    rows += [[kind, *(f"{data.failures[name][kind]:,}" for name in systems)] for kind, _ in total.most_common()]
    return Table([f"needed {data.unit}s", *([called] if called else systems)], rows)
