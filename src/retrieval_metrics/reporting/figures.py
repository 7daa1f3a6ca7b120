"""The plots of evaluations and comparisons."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.definition.metric import Metric, as_metric
from retrieval_metrics.presentation import plots
from retrieval_metrics.presentation.plots import Panel
from retrieval_metrics.presentation.series import Mean
from retrieval_metrics.reporting.verdict import best_first, telling
from retrieval_metrics.results.cutoffs import intervals_over_cutoffs, over_cutoffs, size_of, unit_of, usual_cutoffs
from retrieval_metrics.results.scores import Scores
from retrieval_metrics.results.standings import main_pair
from retrieval_metrics.results.summary import LEVEL, intervals, means

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.presentation.plots import Plot
    from retrieval_metrics.results.compared import Compared
    from retrieval_metrics.results.difference import Difference
    from retrieval_metrics.results.summary import Summed

MOST_NAMED, SHORT = 6, 14
"""How many lines have their names at their ends, and of how many letters these may be."""
ACROSS = 2
"""Panels in a row, as many as fit on a page."""


def evaluation_figure(scores: Summed, kind: str, metric: str | Metric | None, across: int = ACROSS) -> Plot:
    """Draw an evaluation; see `Evaluation.plot`."""
    _known(kind, "intervals", "cutoffs")
    positive_integer(across, "across")
    lines = [as_metric(metric)] if metric else with_cutoff(scores)
    if kind == "cutoffs" and not lines:
        raise ValueError(f"none of {', '.join(map(str, scores.metrics))} has a cut-off; name a metric, such as 'ndcg'")
    if kind == "cutoffs" and not isinstance(scores, Scores):
        raise ValueError("this evaluation was merged from totals, so it cannot be scored at other cut-offs")
    panels = [] if kind == "cutoffs" else [_means_of_one(scores)]
    if isinstance(scores, Scores) and (kind == "cutoffs" or (kind == "overview" and scores.origin)):
        panels += [_cutoffs({"": scores}, line) for line in lines]
    return plots.figure(panels, across)


def comparison_figure(comparison: Compared, kind: str, metric: str | Metric | None, across: int = ACROSS) -> Plot:
    """Draw a comparison; see `Comparison.plot`."""
    _known(kind, "intervals", "differences", "wins", "cutoffs")
    positive_integer(across, "across")
    name = _told(comparison, metric)
    # The overview of a comparison shows only its main pair; the other kinds show all pairs.
    pairs = [main_pair(comparison, as_metric(name))] if kind == "overview" else comparison.pairs
    over_cutoffs_too = kind == "cutoffs" or (kind == "overview" and _has_cutoffs(comparison))
    panels: list[Panel] = []
    if kind in {"overview", "intervals"}:
        panels += [_means(comparison, each) for each in comparison.metrics]
    if over_cutoffs_too:
        panels.append(_cutoffs(comparison.scores, _cut(comparison, metric), named=_named_at_ends(comparison)))
    if kind in {"overview", "differences"}:
        panels += [_differences(comparison.difference(name, *pair), comparison.systems) for pair in pairs]
    if kind in {"overview", "wins"}:
        panels += [_wins(comparison.of_pair(pair), comparison.systems) for pair in pairs]
    keyed = over_cutoffs_too and not _named_at_ends(comparison)
    keyed |= kind in {"overview", "intervals"} and not _named(comparison)
    return plots.figure(panels, across, comparison.systems if keyed else ())


def with_cutoff(scores: Summed) -> list[Metric]:
    """Return the metrics with a cut-off, each name once."""
    cut = {metric.name: metric for metric in reversed(scores.metrics) if metric.k is not None}
    return list(reversed(cut.values()))


def _means_of_one(scores: Summed) -> Panel:
    ends = intervals(scores, LEVEL)
    rows = [Mean(name, mean, ends[name], 0) for name, mean in means(scores).items()]
    return Panel(partial(plots.draw_means, rows=rows, title="", level=LEVEL, named=True), len(rows))


def _means(comparison: Compared, metric: Metric) -> Panel:
    ends = comparison.intervals[metric]
    values = comparison.table[metric].items()
    rows = [Mean(system, mean, ends[system], at) for at, (system, mean) in enumerate(values)]
    drawn = partial(plots.draw_means, rows=rows, title=str(metric), level=comparison.level)
    return Panel(partial(drawn, named=_named(comparison)), len(rows))


def _named(comparison: Compared) -> bool:
    """Return whether rows are named where they are: names that take more than a line are in the key."""
    return all(len(name) <= plots.NAME for name in comparison.systems)


def _named_at_ends(comparison: Compared) -> bool:
    """Return whether lines are named at their ends: there is room for a few short names."""
    return len(comparison.systems) <= MOST_NAMED and all(len(name) <= SHORT for name in comparison.systems)


def _cutoffs(systems: Mapping[str, Scores], metric: Metric, *, named: bool = False) -> Panel:
    ks = usual_cutoffs(list(systems.values()), metric)
    lines = [
        plots.Line(name, over_cutoffs(scores, metric, ks), intervals_over_cutoffs(scores, metric, ks))
        for name, scores in systems.items()
    ]
    size, unit = size_of(metric), unit_of(metric)
    marked = size if size is not None and size <= ks[-1] else None
    title = f"{Metric(metric.name, None, metric.parameters)} over {unit}"
    return Panel(partial(plots.draw_cutoffs, lines=lines, title=title, marked=marked, unit=unit, named=named))


def _differences(difference: Difference, systems: Sequence[str]) -> Panel:
    above, below = best_first(difference)
    sides = plots.side(above, systems), plots.side(below, systems)
    drawn = partial(plots.draw_differences, values=difference.values, mean=difference.mean)
    title = f"{difference.metric}, query by query"
    return Panel(partial(drawn, title=title, interval=difference.interval, sides=sides))


def _wins(pair: Sequence[Difference], systems: Sequence[str]) -> Panel:
    rows = [(each.metric, each.paired.wins, each.paired.ties, each.paired.losses) for each in pair]
    sides = plots.side(pair[0].system, systems), plots.side(pair[0].baseline, systems)
    return Panel(partial(plots.draw_wins, rows=rows, sides=sides), len(rows))


def _has_cutoffs(comparison: Compared) -> bool:
    known = all(scores.origin for scores in comparison.scores.values())
    return known and any(metric.definition.takes_cutoff for metric in comparison.metrics)


def _told(comparison: Compared, metric: str | Metric | None) -> str:
    if metric is None:
        return telling(comparison.differences).metric
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
        raise ValueError(f"there is no plot {kind!r}; the plots are overview, {', '.join(kinds)}")
