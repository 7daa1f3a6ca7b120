"""The reports of evaluations and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.definition.metric import first_telling
from retrieval_metrics.explaining.explainer import FirstOf, texts_of
from retrieval_metrics.explaining.explanation import worst
from retrieval_metrics.presentation import charts, numbers, page
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.reporting.about import about, not_judged
from retrieval_metrics.reporting.panels import cutoff_chart, difference_chart, mean_charts, said_of_values, value_charts
from retrieval_metrics.reporting.queries import QueryData
from retrieval_metrics.reporting.retrieval import retrieval_tables
from retrieval_metrics.reporting.verdict import (
    GLOSSARY,
    differences_table,
    means_table,
    said_of_design_effects,
    small_print,
    telling,
)
from retrieval_metrics.results.standings import NAMED, main_pair, ranking_of
from retrieval_metrics.results.summary import summary_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.explaining.explanation import Worst
    from retrieval_metrics.inputs.shapes import QueryTexts
    from retrieval_metrics.reporting.queries import ShownQueries
    from retrieval_metrics.results.compared import Compared
    from retrieval_metrics.results.scores import Scores

MOVED = 15
"""The number of queries listed without the script: of those that moved most, and"""
LOWEST = 10
"""of those with the lowest values, per system."""
SENTENCES = 8
"""The largest number of sentences of a verdict that are shown; more are folded, and the ranking comes first."""
NO_SCRIPT = "This list has some of the queries; a browser that runs the script of this page shows all of them."


def evaluation_report(scores: Scores, path: str | PathLike[str], title: str, shown: ShownQueries, n: int) -> None:
    """Write the report of an evaluation; see `Evaluation.report`."""
    main = first_telling(scores.metrics)
    if scores.origin is None and main.definition.given:
        page.write(path, title or "Evaluation", _given_parts(scores, main, shown, n))
        return
    lowest = worst(scores, main, n, shown.queries, shown.corpus)
    table = _means(scores)
    data = QueryData({"": scores}, scores.metrics, main, ("", ""), shown)
    held, length = data.data()
    parts = [
        page.paragraph(said_of_values(scores, main), lead=True),
        page.paragraph(f"{lowest.summary[0].upper()}{lowest.summary[1:]}."),
        page.table(table),
        *map(page.paragraph, not_judged({"": scores})),
        charts.grid(*value_charts({"": scores}, main), *cutoff_chart({"": scores}, main)),
        page.section(f"What went wrong, for {main}", page.table(_failures({"number": lowest}))),
        page.section("The queries", _holds(data.n, len(scores.queries)), page.queries(_listed(lowest))),
        *about({"": scores}, {}, length),
    ]
    page.write(path, title or "Retrieval evaluation", parts, held)


def _means(scores: Scores) -> Table:
    means = summary_table(scores)
    said = [[*row, metric.in_words] for row, metric in zip(means.rows, scores.metrics, strict=True)]
    return Table([*means.header, "what it says"], said, means.notes, words=(0, len(means.header)))


def _given_parts(scores: Scores, main: Metric, shown: ShownQueries, n: int) -> list[str]:
    """Return the report of scores that were given, of which no ranking is known."""
    column = main.definition.sign * scores.values[:, scores.metrics.index(main)]
    order = [at for at in np.argsort(column, kind="stable").tolist() if not np.isnan(column[at])][:n]
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
        page.table(_means(scores)),
        charts.grid(*(chart for metric in scores.metrics for chart in value_charts({"": scores}, metric))),
        page.section(f"The worst queries in {main}", page.table(Table(header, rows, words=(0, 1) if texts else (0,)))),
        *about({"": scores}, {}, None),
    ]


def comparison_report(comparison: Compared, path: str | PathLike[str], title: str, shown: ShownQueries) -> None:
    """Write the report of a comparison; see `Comparison.report`."""
    main = first_telling(comparison.metrics)
    pair = main_pair(comparison, main)
    by_pair = [differences_table(comparison.of_pair(each), comparison.level, whole=True) for each in comparison.pairs]
    sentences = comparison.conclusions.sentences
    leads = len(sentences) <= SENTENCES
    parts = [
        page.sentences(sentences if leads else [*comparison.conclusions.caveats, *ranking_of(comparison).sentences]),
        page.section("Ranking", *map(page.table, ranking_of(comparison).tables)),
        charts.grid(*mean_charts(comparison)),
        *map(page.paragraph, not_judged(comparison.scores)),
        page.section("How sure", *_pairs(comparison, by_pair, pair, main)),
        *([] if leads else [page.folded("Every pair in a sentence", page.sentences(sentences))]),
        page.folded("All means with their intervals", page.table(means_table(comparison))),
        page.table(Table((), (), [*small_print(comparison), *said_of_design_effects(comparison)])),
        *map(page.table, retrieval_tables(comparison)),
    ]
    if any(scores.origin is None for scores in comparison.scores.values()):
        page.write(path, title or _title(comparison), [*parts, *about(comparison.scores, GLOSSARY, None)])
        return
    data = QueryData(comparison.scores, comparison.metrics, main, pair, shown)
    held, length = data.data()
    parts += [
        charts.grid(*value_charts(comparison.scores, main), *cutoff_chart(comparison.scores, main)),
        *_queries(comparison, main, pair, shown, data.n),
        *about(comparison.scores, GLOSSARY, length),
    ]
    page.write(path, title or _title(comparison), parts, held)


def _title(comparison: Compared) -> str:
    names = list(comparison.systems)
    return f"Comparison of {numbers.listed(names) if len(names) <= NAMED else f'{len(names):,} systems'}"


def _pairs(comparison: Compared, tables: Sequence[Table], shown: tuple[str, str], main: Metric) -> list[str]:
    """Return the differences of the main pair, and the folded differences of all others."""
    parts, folded = [], []
    for pair, table in zip(comparison.pairs, tables, strict=True):
        if pair == shown:
            charted = difference_chart(comparison.difference(main, *pair))
            parts = [page.table(table), charts.grid(charted)]
        else:
            folded.append(page.folded(table.title, page.table(table._replace(title=""))))
    return [*parts, *([page.folded(f"{numbers.count(len(folded), 'other pair')}", *folded)] if folded else [])]


def _queries(comparison: Compared, main: Metric, pair: tuple[str, str], shown: ShownQueries, held: int) -> list[str]:
    corpus = FirstOf(shown.corpus, *map(texts_of, comparison.scores.values()))
    lowest = {name: worst(scores, main, LOWEST, shown.queries, corpus) for name, scores in comparison.scores.items()}
    static = page.table(_moved(comparison, main, pair, shown.queries))
    static += "".join(page.folded(f"Lowest {main}, {system}", _listed(lowest[system])) for system in pair)
    total = len({query for scores in comparison.scores.values() for query in scores.queries})
    return [
        page.section(f"What went wrong, for {main}", page.table(_failures(lowest))),
        page.section("The queries", _holds(held, total), page.queries(static)),
    ]


def _holds(held: int, total: int) -> str:
    if held == total:
        return ""
    return page.paragraph(
        f"This page holds {held:,} of {total:,} queries: those with the lowest values, or that moved most."
    )


def _moved(comparison: Compared, main: Metric, pair: tuple[str, str], texts: QueryTexts) -> Table:
    difference = telling([comparison.difference(main, *pair)])
    ours, theirs = (comparison.scores[name] for name in (difference.system, difference.baseline))
    header = ["query", *(["text"] if texts else []), difference.baseline, difference.system, "difference"]
    rows = []
    words: Mapping[Any, str] = texts
    for query, change in difference.moved(MOVED):
        values = [numbers.value(each.per_query[difference.metric][query]) for each in (theirs, ours)]
        rows.append([str(query), *([str(words.get(query, ""))] if texts else []), *values, numbers.signed(change)])
    title = f"Moved most in {difference.metric}"
    return Table(header, rows, [NO_SCRIPT], title, words=(0, 1) if texts else (0,))


def _listed(lowest: Worst) -> str:
    """Return the queries with the lowest values for readers without JavaScript, folded, each with its tables."""
    folded = []
    for each in lowest:
        missing = f"{len(each.failures)} of {each.needed} missing"
        summary = f"{numbers.value(each.values[lowest.metric])}  {each.query}  {each.text}  ({missing})"
        folded.append(page.folded(summary, *(page.table(table._replace(title="")) for table in each.tables)))
    return page.paragraph(NO_SCRIPT) + "".join(folded)


def _failures(lowest: Mapping[str, Worst]) -> Table:
    """Return the outcomes of everything that is needed, one column per system."""
    kinds = dict.fromkeys(kind for each in lowest.values() for kind in each.failures)
    rows = [["found", *(f"{each.found:,}" for each in lowest.values())]]
    no_room = [each.needed - each.found - sum(each.failures.values()) for each in lowest.values()]
    if any(no_room):
        rows.append(["no room among the first k", *(f"{number:,}" for number in no_room)])
    rows += [[kind, *(f"{each.failures.get(kind, 0):,}" for each in lowest.values())] for kind in kinds]
    unit = next(iter(lowest.values())).unit
    return Table([f"needed {unit}s", *lowest], rows)
