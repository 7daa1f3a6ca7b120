"""Which plots an evaluation and a comparison have, and how they are laid out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from matplotlib.axes import Axes

from retrieval_metrics.definition.metric import Metric, as_metric
from retrieval_metrics.presentation import plots
from retrieval_metrics.presentation.plots import Plot, Side
from retrieval_metrics.reporting.verdict import telling
from retrieval_metrics.results.cutoffs import over_cutoffs, usual_cutoffs
from retrieval_metrics.results.scores import Scores
from retrieval_metrics.results.summary import LEVEL, intervals, means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.results.compared import Compared
    from retrieval_metrics.results.difference import Difference
    from retrieval_metrics.results.summary import Summed

Panel: TypeAlias = Callable[[Axes], None]

PANEL = 6.0, 3.6
"""Width and least height of one panel, in inches."""
PER_ROW = 0.34
"""Inches that a metric and system take in a panel with rows."""
ACROSS = 2
"""Panels beside each other: with more, a page or a screen makes them too small to read."""


def evaluation_figure(scores: Summed, kind: str, metric: str | Metric | None) -> Plot:
    """Draw an evaluation; see `Evaluation.plot`."""
    _known(kind, "intervals", "cutoffs")
    height = max(PANEL[1], 1.2 + PER_ROW * len(scores.metrics))
    panels: list[Panel] = [] if kind == "cutoffs" else [partial(_intervals_of_one, scores=scores)]
    lines = [as_metric(metric)] if metric else with_cutoff(scores)
    if kind == "cutoffs" and not lines:
        raise ValueError(f"none of {', '.join(map(str, scores.metrics))} has a cut-off; name a metric, such as 'ndcg'")
    if kind == "cutoffs" and not isinstance(scores, Scores):
        raise ValueError("this evaluation was merged from totals, so that it cannot be scored at other cut-offs")
    if isinstance(scores, Scores) and (kind == "cutoffs" or (kind == "overview" and lines and scores.origin)):
        panels.append(partial(_cutoffs_of_one, scores=scores, metrics=lines))
    return _figure(panels, height)


def comparison_figure(comparison: Compared, kind: str, metric: str | Metric | None) -> Plot:
    """Draw a comparison; see `Comparison.plot`."""
    _known(kind, "intervals", "differences", "wins", "cutoffs")
    of_means: list[Panel] = [partial(_intervals, comparison=comparison)]
    name = _told(comparison, metric)
    # Of a comparison with several pairs the overview shows the two best systems; the other kinds show all pairs.
    pairs = [_best_pair(comparison, name)] if kind == "overview" else comparison.pairs
    differences: list[Panel] = [
        partial(_differences, difference=comparison.difference(name, *pair), systems=comparison.systems)
        for pair in pairs
    ]
    wins: list[Panel] = [partial(_wins, pair=comparison.of_pair(pair), systems=comparison.systems) for pair in pairs]
    cutoffs: list[Panel] = []
    if kind == "cutoffs" or (kind == "overview" and has_cutoffs(comparison)):
        cutoffs = [partial(_cutoffs, comparison=comparison, metric=_cut(comparison, metric))]
    panels = {"intervals": of_means, "cutoffs": cutoffs, "differences": differences, "wins": wins}
    return _figure([*chain(*panels.values())] if kind == "overview" else panels[kind], _height(comparison))


def means_figure(comparison: Compared) -> Plot:
    """Draw the means of all systems, and one metric over the cut-off."""
    panels: list[Panel] = [partial(_intervals, comparison=comparison)]
    if has_cutoffs(comparison):
        panels.append(partial(_cutoffs, comparison=comparison, metric=_cut(comparison, None)))
    return _figure(panels, _height(comparison))


def pair_figure(comparison: Compared, pair: tuple[str, str]) -> Plot:
    """Draw one metric query by query, and the queries won and lost in all, for one pair of systems."""
    differences = comparison.of_pair(pair)
    return _figure(
        [
            partial(_differences, difference=telling(differences), systems=comparison.systems),
            partial(_wins, pair=differences, systems=comparison.systems),
        ],
        max(PANEL[1], 1.2 + PER_ROW * len(differences)),
    )


def has_cutoffs(comparison: Compared) -> bool:
    """Return whether a metric can be drawn over its cut-off."""
    known = all(scores.origin for scores in comparison.scores.values())
    return known and any(metric.definition.takes_cutoff for metric in comparison.metrics)


def _best_pair(comparison: Compared, metric: str) -> tuple[str, str]:
    means = comparison.table[metric]
    return max(comparison.pairs, key=lambda pair: min(means[pair[0]], means[pair[1]]))


def _told(comparison: Compared, metric: str | Metric | None) -> str:
    if metric is None:
        return telling(comparison.differences).metric
    comparison.table[metric]  # complains of a metric that was not compared
    return str(as_metric(metric))


def _cut(comparison: Compared, metric: str | Metric | None) -> Metric:
    """Return the metric that is drawn over its cut-off: the one asked for, or the first that takes one."""
    chosen = as_metric(_told(comparison, metric))
    if metric is not None or chosen.definition.takes_cutoff:
        return chosen
    return next((each for each in comparison.metrics if each.definition.takes_cutoff), chosen)


def _height(comparison: Compared) -> float:
    rows = len(comparison.metrics) * max(1.0, 0.45 * len(comparison.systems))
    return max(PANEL[1], 1.2 + PER_ROW * rows)


def _known(kind: str, *kinds: str) -> None:
    if kind not in {"overview", *kinds}:
        raise ValueError(f"there is no plot {kind!r}; there are overview, {', '.join(kinds)}")


def _figure(panels: Sequence[Panel], height: float) -> Plot:
    across = min(len(panels), ACROSS)
    down = -(-len(panels) // across)
    figure = Plot(PANEL[0] * across, height * down)
    grid = figure.subplots(down, across, squeeze=False).ravel()
    for axes, draw in zip(grid, panels, strict=False):
        draw(axes)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    return figure


def with_cutoff(scores: Summed) -> list[Metric]:
    """Return the metrics that were computed at a cut-off, each name once."""
    cut = {metric.name: metric for metric in reversed(scores.metrics) if metric.k is not None}
    return list(reversed(cut.values()))


def _intervals_of_one(axes: Axes, scores: Summed) -> None:
    ends = intervals(scores, LEVEL)
    plots.draw_intervals(axes, list(ends), {"": [(mean, ends[name]) for name, mean in means(scores).items()]}, LEVEL)


def _cutoffs_of_one(axes: Axes, scores: Scores, metrics: Sequence[Metric]) -> None:
    plots.draw_cutoffs(axes, {_without_cutoff(metric): over_cutoffs(scores, metric) for metric in metrics})


def _intervals(axes: Axes, comparison: Compared) -> None:
    systems = {
        system: [(means[system], comparison.intervals[name][system]) for name, means in comparison.table.items()]
        for system in comparison.systems
    }
    plots.draw_intervals(axes, list(comparison.table), systems, comparison.level)


def _cutoffs(axes: Axes, comparison: Compared, metric: Metric) -> None:
    ks = usual_cutoffs(list(comparison.scores.values()))
    lines = {system: over_cutoffs(scores, metric, ks) for system, scores in comparison.scores.items()}
    plots.draw_cutoffs(axes, lines, _without_cutoff(metric))


def _differences(axes: Axes, difference: Difference, systems: Sequence[str]) -> None:
    system, baseline = sides = _sides(difference, systems)
    plots.draw_differences(axes, difference.values, difference.mean, difference.interval, sides)
    title = f"{difference.metric}, {system.name} - {baseline.name}"
    axes.set_title(title.replace("$", r"\$"), fontsize="medium")


def _wins(axes: Axes, pair: Sequence[Difference], systems: Sequence[str]) -> None:
    rows = [(each.metric, each.paired.wins, each.paired.ties, each.paired.losses) for each in pair]
    plots.draw_wins(axes, rows, _sides(pair[0], systems))


def _sides(difference: Difference, systems: Sequence[str]) -> tuple[Side, Side]:
    return plots.side(difference.system, systems), plots.side(difference.baseline, systems)


def _without_cutoff(metric: Metric) -> str:
    return str(Metric(metric.name, None, metric.parameters))
