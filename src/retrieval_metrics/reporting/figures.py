"""The plots of evaluations and comparisons: which charts each has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.plots import (
    changes_panel,
    cutoffs_panel,
    figure,
    points_panel,
    rows_panel,
    shares_panel,
)
from retrieval_metrics.reporting.charting import (
    changes_of,
    means_of_one,
    means_of_systems,
    over_the_cutoff,
    precision_and_recall,
    won_and_lost,
)
from retrieval_metrics.results.standings import main_pair, ranking_of
from retrieval_metrics.scoring.metric import Metric, as_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.presentation.plots import Panel, Plot
    from retrieval_metrics.results.scores import Record, Scores, Totals
    from retrieval_metrics.results.standings import Compared

MOST_PAIRS = 6
"""The largest number of pairs of systems drawn query by query; of more, those told apart most clearly."""


def evaluation_figure(record: Scores | Totals, kind: str, metric: str | Metric | None, across: int | None) -> Plot:
    """Draw an evaluation; see `Evaluation.plot`."""
    _known(kind, "intervals", "cutoffs", "precision_recall")
    if kind == "precision_recall":
        return figure([points_panel(precision_and_recall({"": record.of_queries}))], across)
    lines = [as_metric(metric)] if metric else with_cutoff(record)
    if kind == "cutoffs" and not lines:
        raise ValueError(f"none of {', '.join(map(str, record.metrics))} has a cut-off; name a metric, such as 'ndcg'")
    panels = [] if kind == "cutoffs" else [rows_panel(chart) for chart in means_of_one(record)]
    if kind == "cutoffs" or (kind == "overview" and record.origin):
        scores = {"": record.of_queries}
        panels += [cutoffs_panel(over_the_cutoff(scores, line), small=len(lines) > 1) for line in lines]
    return figure(panels, across)


def comparison_figure(comparison: Compared, kind: str, metric: str | Metric | None, across: int | None) -> Plot:
    """Draw a comparison; see `Comparison.plot`."""
    _known(kind, "intervals", "differences", "wins", "cutoffs", "precision_recall")
    name = _told(comparison, metric)
    if kind == "intervals":
        panels = _means(comparison, comparison.metrics, small=len(comparison.metrics) > 1)
        return figure(panels, across, note=_signs(comparison))
    if kind == "cutoffs":
        return figure([cutoffs_panel(over_the_cutoff(comparison.scores, _cut(comparison, metric)))], across)
    if kind == "precision_recall":
        return figure([points_panel(precision_and_recall(comparison.scores))], across)
    if kind in {"differences", "wins"}:
        pairs, note = _clearest(comparison, name)
        if kind == "wins":
            panels = [shares_panel(won_and_lost(comparison, pair)) for pair in pairs]
        else:
            panels = [changes_panel(changes_of(comparison.difference(name, *pair))) for pair in pairs]
        return figure(panels, across, note=note)
    return _overview(comparison, name, across)


def _overview(comparison: Compared, name: str, across: int | None) -> Plot:
    """Answer which system is better, and how sure that is: in a sentence, by the means, and query by query."""
    pair = main_pair(comparison, as_metric(name))
    others = [metric for metric in comparison.metrics if str(metric) != name]
    conclusion = comparison.conclusions.of(name, *pair)
    said = conclusion.sentence
    if len(comparison.systems) > 2:  # noqa: PLR2004  (of two, the sentence on the pair says it all)
        ranking = ranking_of(comparison)
        said = ranking.sentences[list(ranking.places).index(name)]
    panels = [
        *_means(comparison, [as_metric(name)], small=False),
        changes_panel(changes_of(comparison.difference(name, *pair))),
        *_means(comparison, others, small=True),
    ]
    note = " ".join([*(f"{caveat}" for caveat in comparison.conclusions.caveats), _signs(comparison)])
    return figure(panels, across, title=said, note=note)


def _signs(comparison: Compared) -> str:
    said = ranking_of(comparison).notes[-1]
    return f"{said.partition('; ')[0]}; bars are {numbers.level_name(comparison.level)}s of the means"


def with_cutoff(record: Record) -> list[Metric]:
    """Return the metrics with a cut-off, each name once."""
    cut = {metric.name: metric for metric in reversed(record.metrics) if metric.k is not None}
    return list(reversed(cut.values()))


def _means(comparison: Compared, metrics: Sequence[Metric], *, small: bool) -> list[Panel]:
    return [rows_panel(chart, small=small) for chart in means_of_systems(comparison, metrics)]


def _clearest(comparison: Compared, name: str) -> tuple[list[tuple[str, str]], str]:
    """Return the pairs to draw, and what is left out."""
    pairs = comparison.pairs
    if len(pairs) <= MOST_PAIRS:
        return pairs, ""
    clear = sorted(pairs, key=lambda pair: comparison.difference(name, *pair).p_corrected)[:MOST_PAIRS]
    return clear, f"{MOST_PAIRS} of {len(pairs):,} pairs of systems, those told apart most clearly"


def _told(comparison: Compared, metric: str | Metric | None) -> str:
    if metric is None:
        return comparison.differences.telling.metric
    comparison.table[metric]  # raises for a metric that was not compared
    return str(as_metric(metric))


def _cut(comparison: Compared, metric: str | Metric | None) -> Metric:
    """Return the metric to draw over its cut-off: the given one, or the first that takes one."""
    chosen = as_metric(_told(comparison, metric))
    if metric is not None or chosen.definition.takes_cutoff:
        return chosen
    return next((each for each in comparison.metrics if each.definition.takes_cutoff), chosen)


def _known(kind: str, *kinds: str) -> None:
    if kind not in {"overview", *kinds}:
        to_file = f"; to write a file: .plot().savefig({kind!r})" if "." in kind else ""
        raise ValueError(f"there is no plot {kind!r}; the plots are overview, {', '.join(kinds)}{to_file}")
