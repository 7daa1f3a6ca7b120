"""What stands in the report of an evaluation, and of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.explaining.explanation import worst
from retrieval_metrics.presentation import numbers, page
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.reporting.figures import evaluation_figure, means_figure, pair_figure
from retrieval_metrics.reporting.verdict import GLOSSARY, comparison_tables, telling, verdict
from retrieval_metrics.results.summary import summary_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.explaining.explanation import Explanation, Worst
    from retrieval_metrics.results.compared import Compared
    from retrieval_metrics.results.difference import Difference
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.types import QueryTexts

MOVED = 15
"""Queries that are shown of those that moved most, and"""
LOWEST = 10
"""of those with the lowest values, per system."""
LONGEST_TEXT = 160
"""Characters of a query's text that are shown."""


def evaluation_report(
    scores: Scores, path: str | PathLike[str], title: str, queries: QueryTexts | None, n: int
) -> None:
    """Write the report of an evaluation; see `Evaluation.report`."""
    lowest = worst(scores, _telling(scores.metrics), n)
    with page.ink():
        figure = page.svg(evaluation_figure(scores, "overview", None), "means, and means over the cut-off k")
    parts = [
        page.table(summary_table(scores)),
        figure,
        page.section(f"What went wrong, for {lowest.metric}", page.table(_failures({"number": lowest}))),
        page.section(_lowest(lowest), *(_folded(each, lowest.metric, queries or {}) for each in lowest)),
    ]
    page.write(path, title or "Retrieval evaluation", parts)


def comparison_report(comparison: Compared, path: str | PathLike[str], title: str, queries: QueryTexts | None) -> None:
    """Write the report of a comparison; see `Comparison.report`."""
    means, *tables, said = comparison_tables(comparison)
    said_first = verdict(comparison)
    small_print = said._replace(notes=said.notes[len(said_first) :])
    with page.ink():
        figure = page.svg(means_figure(comparison), "means with their intervals, and means over the cut-off k")
        by_pair = [
            _pair_section(comparison, pair, table, queries or {})
            for pair, table in zip(comparison.pairs, tables, strict=True)
        ]
    parts = [
        page.sentences(said_first),
        page.section("Means", page.table(means), figure),
        *by_pair,
        page.table(small_print),
        *_failing(comparison, _telling(comparison.metrics), queries or {}),
        page.section("What the columns mean", page.table(Table(("", ""), list(GLOSSARY.items()), words=(0, 1)))),
    ]
    page.write(path, title or f"Comparison of {numbers.listed(list(comparison.systems))}", parts)


def _pair_section(comparison: Compared, pair: tuple[str, str], table: Table, texts: Mapping[Any, str]) -> str:
    title = table.title
    description = "the difference of every query, sorted; queries won, tied and lost per metric"
    figure = page.svg(pair_figure(comparison, pair), f"{title}: {description}")
    moved = _moved(comparison, telling(comparison.of_pair(pair)), texts)
    return page.section(title, page.table(table._replace(title="", notes=())), figure, page.table(moved))


def _telling(metrics: Sequence[Metric]) -> Metric:
    return next((metric for metric in metrics if not metric.definition.binary), metrics[0])


def _moved(comparison: Compared, difference: Difference, texts: Mapping[Any, str]) -> Table:
    ours, theirs = (comparison.scores[name] for name in (difference.system, difference.baseline))
    header = ["query", *(["text"] if texts else []), difference.baseline, difference.system, "difference"]
    rows = []
    for query, change in difference.moved(MOVED):
        values = [f"{each.per_query[difference.metric][query]:.4f}" for each in (theirs, ours)]
        rows.append([str(query), *([_text(texts, query)] if texts else []), *values, numbers.signed(change)])
    return Table(header, rows, title=f"Moved most in {difference.metric}", words=(0, 1) if texts else (0,))


def _failing(comparison: Compared, metric: Metric, texts: Mapping[Any, str]) -> list[str]:
    if any(scores.origin is None for scores in comparison.scores.values()):
        return []
    lowest = {system: worst(scores, metric, LOWEST) for system, scores in comparison.scores.items()}
    lists = (
        page.folded(_lowest(each, f", {system}"), *(_folded(one, each.metric, texts) for one in each))
        for system, each in lowest.items()
    )
    return [page.section(f"What went wrong, for {metric}", page.table(_failures(lowest)), *lists)]


def _lowest(found: Worst, system: str = "") -> str:
    return f"The {numbers.queries(len(found))} with the lowest {found.metric}{system}"


def _failures(lowest: Mapping[str, Worst]) -> Table:
    """Return how many needed documents are missing for which reason, one column per system."""
    kinds = dict.fromkeys(kind for each in lowest.values() for kind in each.failures)
    rows = [[kind, *(f"{each.failures.get(kind, 0):,}" for each in lowest.values())] for kind in kinds]
    rows.append(
        ["found, or not needed", *(f"{each.needed - sum(each.failures.values()):,}" for each in lowest.values())]
    )
    unit = next(iter(lowest.values())).unit
    return Table([f"needed {unit}s", *lowest], rows)


def _folded(explanation: Explanation, metric: str, texts: Mapping[Any, str]) -> str:
    missing = f"{len(explanation.failures)} of {explanation.needed} missing"
    text = _text(texts, explanation.query)
    summary = f"{explanation.values[metric]:.4f}  {explanation.query}{f': {text}' if text else ''}  ({missing})"
    tables = (each._replace(title="") for each in explanation._tables())  # noqa: SLF001  (as above)
    return page.folded(summary, *map(page.table, tables))


def _text(texts: Mapping[Any, str], query: Any) -> str:
    text = str(texts.get(query, ""))
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
