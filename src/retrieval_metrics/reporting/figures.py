"""Which plots an evaluation and a comparison have, and how they are laid out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from matplotlib.axes import Axes

from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.presentation import plots
from retrieval_metrics.presentation.plots import Plot, Side
from retrieval_metrics.reporting.verdict import telling
from retrieval_metrics.results.cutoffs import over_cutoffs, usual_cutoffs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.comparing.comparison import Comparison
    from retrieval_metrics.comparing.difference import Difference
    from retrieval_metrics.evaluation.evaluation import Evaluation

Panel: TypeAlias = Callable[[Axes], None]

LEVEL = 0.95
PANEL = 6.0, 3.6
"""Width and least height of one panel, in inches."""
PER_ROW = 0.34
"""Inches that a metric and system take in a panel with rows."""
ACROSS = 2
"""Panels beside each other: with more, a page or a screen makes them too small to read."""


def evaluation_figure(evaluation: Evaluation, kind: str, metric: str | Metric | None) -> Plot:
    """Draw an evaluation; see `Evaluation.plot`."""
    _known(kind, "intervals", "cutoffs")
    height = max(PANEL[1], 1.2 + PER_ROW * len(evaluation.metrics))
    panels: list[Panel] = [] if kind == "cutoffs" else [partial(_intervals_of_one, evaluation=evaluation)]
    lines = [_metric(metric)] if metric else with_cutoff(evaluation)
    if kind == "cutoffs" and not lines:
        raise ValueError(
            f"none of {', '.join(map(str, evaluation.metrics))} has a cut-off; name a metric, such as 'ndcg'"
        )
    if kind == "cutoffs" or (kind == "overview" and lines and evaluation.judged is not None):
        panels.append(partial(_cutoffs_of_one, evaluation=evaluation, metrics=lines))
    return _figure(panels, height)


def comparison_figure(comparison: Comparison, kind: str, metric: str | Metric | None) -> Plot:
    """Draw a comparison; see `Comparison.plot`."""
    _known(kind, "intervals", "differences", "wins", "cutoffs")
    means: list[Panel] = [partial(_intervals, comparison=comparison)]
    name = _told(comparison, metric)
    # Of a comparison with several pairs the overview shows the two best systems; the other kinds show all pairs.
    pairs = [_best_pair(comparison, name)] if kind == "overview" else pairs_of(comparison)
    differences: list[Panel] = [
        partial(_differences, difference=comparison.difference(name, *pair), systems=comparison.systems)
        for pair in pairs
    ]
    wins: list[Panel] = [partial(_wins, pair=_of_pair(comparison, pair), systems=comparison.systems) for pair in pairs]
    cutoffs: list[Panel] = []
    if kind == "cutoffs" or (kind == "overview" and has_cutoffs(comparison)):
        cutoffs = [partial(_cutoffs, comparison=comparison, metric=_cut(comparison, metric))]
    panels = {"intervals": means, "cutoffs": cutoffs, "differences": differences, "wins": wins}
    return _figure([*chain(*panels.values())] if kind == "overview" else panels[kind], _height(comparison))


def means_figure(comparison: Comparison) -> Plot:
    """Draw the means of all systems, and one metric over the cut-off."""
    panels: list[Panel] = [partial(_intervals, comparison=comparison)]
    if has_cutoffs(comparison):
        panels.append(partial(_cutoffs, comparison=comparison, metric=_cut(comparison, None)))
    return _figure(panels, _height(comparison))


def pair_figure(comparison: Comparison, pair: tuple[str, str]) -> Plot:
    """Draw one metric query by query, and the queries won and lost in all, for one pair of systems."""
    differences = _of_pair(comparison, pair)
    return _figure(
        [
            partial(_differences, difference=telling(differences), systems=comparison.systems),
            partial(_wins, pair=differences, systems=comparison.systems),
        ],
        max(PANEL[1], 1.2 + PER_ROW * len(differences)),
    )


def pairs_of(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the pairs of systems that are compared."""
    return list(dict.fromkeys(each.pair for each in comparison.differences))


def has_cutoffs(comparison: Comparison) -> bool:
    """Return whether a metric can be drawn over its cut-off."""
    known = all(evaluation.judged is not None for evaluation in comparison.evaluations.values())
    return known and any(metric.definition.takes_cutoff for metric in comparison.metrics)


def _of_pair(comparison: Comparison, pair: tuple[str, str]) -> list[Difference]:
    return [each for each in comparison.differences if each.pair == pair]


def _best_pair(comparison: Comparison, metric: str) -> tuple[str, str]:
    means = comparison.table[metric]
    return max(pairs_of(comparison), key=lambda pair: min(means[pair[0]], means[pair[1]]))


def _told(comparison: Comparison, metric: str | Metric | None) -> str:
    if metric is None:
        return telling(comparison.differences).metric
    comparison.table[metric]  # complains of a metric that was not compared
    return str(_metric(metric))


def _cut(comparison: Comparison, metric: str | Metric | None) -> Metric:
    """Return the metric that is drawn over its cut-off: the one asked for, or the first that takes one."""
    chosen = _metric(_told(comparison, metric))
    if metric is not None or chosen.definition.takes_cutoff:
        return chosen
    return next((each for each in comparison.metrics if each.definition.takes_cutoff), chosen)


def _height(comparison: Comparison) -> float:
    rows = len(comparison.metrics) * max(1.0, 0.45 * len(comparison.systems))
    return max(PANEL[1], 1.2 + PER_ROW * rows)


def _metric(metric: str | Metric) -> Metric:
    return metric if isinstance(metric, Metric) else Metric.parse(metric)


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


def with_cutoff(evaluation: Evaluation) -> list[Metric]:
    """Return the metrics that were computed at a cut-off, each name once."""
    cut = {metric.name: metric for metric in reversed(evaluation.metrics) if metric.k is not None}
    return list(reversed(cut.values()))


def _intervals_of_one(axes: Axes, evaluation: Evaluation) -> None:
    ends = evaluation.intervals(LEVEL)
    plots.draw_intervals(axes, list(ends), {"": [(mean, ends[name]) for name, mean in evaluation.means.items()]}, LEVEL)


def _cutoffs_of_one(axes: Axes, evaluation: Evaluation, metrics: Sequence[Metric]) -> None:
    plots.draw_cutoffs(axes, {_without_cutoff(metric): over_cutoffs(evaluation, metric) for metric in metrics})


def _intervals(axes: Axes, comparison: Comparison) -> None:
    systems = {
        system: [(means[system], comparison.intervals[name][system]) for name, means in comparison.table.items()]
        for system in comparison.systems
    }
    plots.draw_intervals(axes, list(comparison.table), systems, comparison.level)


def _cutoffs(axes: Axes, comparison: Comparison, metric: Metric) -> None:
    ks = usual_cutoffs(list(comparison.evaluations.values()))
    lines = {system: over_cutoffs(evaluation, metric, ks) for system, evaluation in comparison.evaluations.items()}
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
