"""The charts of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.presentation import charts, numbers
from retrieval_metrics.presentation.series import Mean
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.cutoffs import over_cutoffs, size_of, unit_of, usual_cutoffs, with_intervals
from retrieval_metrics.results.standings import SIGNS, ranking_of
from retrieval_metrics.results.summary import LEVEL, intervals, means, numbers_of_queries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.aliases import FloatArray
    from retrieval_metrics.results.compared import Compared
    from retrieval_metrics.results.difference import Difference
    from retrieval_metrics.results.scores import Scores

BINS = 5
_NEARLY = 1e-9


def mean_charts(comparison: Compared, metrics: Sequence[Metric]) -> list[str]:
    """Return a chart per metric: the mean of every system with its interval, and how it stands to the best.

    The systems are in the order of the ranking's table.
    """
    style = {system: at for at, system in enumerate(comparison.systems)}
    places = ranking_of(comparison).places
    order = [place.system for place in next(iter(places.values()))]
    found = []
    for metric in metrics:
        means, ends = comparison.table[metric], comparison.intervals[metric]
        signs = {place.system: SIGNS[place.standing] for place in places[str(metric)]}
        rows = [Mean(system, means[system], ends[system], style[system], signs[system]) for system in order]
        tops = [end for low, top in ends.values() for end in (top,) if np.isfinite(end)]
        high = 1.0 if metric.definition.bounded else max([*tops, *means.values(), 0.0])
        bottoms = [end for end, _ in ends.values() if np.isfinite(end)]
        low = min([*bottoms, *means.values(), 0.0])
        found.append(charts.means(str(metric), rows, comparison.level, high, low))
    return found


def values_table(systems: Mapping[str, Scores], metric: Metric) -> Table:
    """Return the number of queries that score 0, in between, and perfect, a column per system."""
    counted = {name: dict(_counted(scores, metric)[0]) for name, scores in systems.items()}
    kinds = dict.fromkeys(kind for each in counted.values() for kind in each)
    ordered = sorted(kinds, key=lambda kind: ({"perfect": 2, "undefined": 3}.get(kind, 1), kind))
    rows = [[kind, *(f"{each.get(kind, 0):,}" for each in counted.values())] for kind in ordered]
    return Table([f"queries by {metric}", *systems], rows)


def value_charts(systems: Mapping[str, Scores], metric: Metric) -> list[str]:
    """Return a chart per system with the number of queries that score 0, in between, and perfect."""
    return [
        charts.counts(f"{metric}: queries by value{f', {name}' if name else ''}", *_counted(scores, metric))
        for name, scores in systems.items()
    ]


def said_of_values(scores: Scores, metric: Metric) -> str:
    """Return the mean of a metric in a sentence, with the numbers of queries at 0 and of perfect ones."""
    name = str(metric)
    n = numbers.queries(numbers_of_queries(scores)[name])
    said = f"{name} is {numbers.mean(means(scores)[name], intervals(scores, LEVEL)[name])} over {n}"
    if metric.definition.given:
        return f"{said}."
    counted = dict(_counted(scores, metric)[0])
    perfect = f" and {counted['perfect']:,} perfect" if "perfect" in counted else ""
    return f"{said}, of which {counted['0']:,} are 0{perfect}."


def _counted(scores: Scores, metric: Metric) -> tuple[list[tuple[str, int]], int]:
    values, best = scores.values[:, scores.metrics.index(metric)], scores.best(metric)
    defined = ~np.isnan(values)
    if metric.definition.given:
        return _counted_given(metric, values[defined], int((~defined).sum())), int(defined.sum())
    values, best = values[defined], best[defined]
    perfect = (values >= best - _NEARLY) & (best > 0)
    zero = (values <= 0) & ~perfect
    between = values[~perfect & ~zero]
    top = 1.0 if metric.definition.bounded else float(between.max(initial=1.0))
    edges = np.linspace(0, top, BINS + 1)
    counts = np.histogram(np.clip(between, 0, top), edges)[0].tolist()
    rows = [("0", int(zero.sum()))]
    ranges = zip(edges, edges[1:], counts, strict=False)
    if len(between) or not metric.definition.binary:  # what is 0 or 1 has nothing between, but for expected ties
        rows += [(f"{low:.3g} to {high:.3g}", number) for low, high, number in ranges]
    if not np.isinf(best).all():
        rows.append(("perfect", int(perfect.sum())))
    if not defined.all():
        rows.append(("undefined", int((~defined).sum())))
    return rows, len(defined)


def _counted_given(metric: Metric, values: FloatArray, undefined: int) -> list[tuple[str, int]]:
    """Return the number of queries with each value of a given metric; if it has many, in each fifth of its range."""
    seldom = [("undefined", undefined)] if undefined else []
    each, times = np.unique(values, return_counts=True)
    if len(each) <= BINS:  # such as the calls of an agent
        return [*((f"{value:.3g}", int(number)) for value, number in zip(each, times, strict=True)), *seldom]
    ends = zip(metric.definition.bounds, (values.min(initial=0), values.max(initial=0)), strict=True)
    low, high = (bound if np.isfinite(bound) else float(seen) for bound, seen in ends)
    edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
    found = np.histogram(np.clip(values, low, high), edges)[0].tolist()
    rows = [(f"{start:.3g} to {end:.3g}", number) for start, end, number in zip(edges, edges[1:], found, strict=False)]
    return [*rows, *seldom]


def cutoff_chart(systems: Mapping[str, Scores], metric: Metric) -> list[str]:
    """Return the mean over the cut-off, a line per system; nothing where no metric is cut or no run is known."""
    every = list(systems.values())
    if any(scores.origin is None for scores in every) or not metric.definition.takes_cutoff:
        return []
    ks = usual_cutoffs(every, metric)
    name = str(Metric(metric.name, None, metric.parameters))
    lines, ends = {}, {}
    for system, scores in systems.items():
        if len(systems) <= charts.FEW:
            lines[system], ends[system] = with_intervals(scores, metric, ks)
        else:
            lines[system] = over_cutoffs(scores, metric, ks)
    unit = unit_of(metric)
    return [charts.lines(f"{name}@k" if unit == "k" else name, lines, ends, size_of(metric), unit)]


def difference_chart(difference: Difference) -> str:
    """Return the difference of every query, the largest gain first."""
    sign = 1 if difference.higher_is_better else -1
    order = np.argsort(-sign * difference.values, kind="stable").tolist()
    paired = difference.paired
    ends = numbers.interval(difference.interval, difference=True)
    said = (
        f"{difference.system} - {difference.baseline}: mean {numbers.signed(difference.mean)} {ends}; "
        f"{numbers.queries(paired.wins)} won, {paired.ties:,} tied, {paired.losses:,} lost"
    )
    return charts.differences(
        f"{difference.metric}, query by query",
        (sign * difference.values[order]).tolist(),
        [str(difference.queries[at]) for at in order],
        said,
        sign,
    )
