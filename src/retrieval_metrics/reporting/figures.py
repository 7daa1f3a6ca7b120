"""The plots of evaluations and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.definition.metric import Metric, as_metric
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.plots.curves import FEW, Line, Point, cutoffs_panel, points_panel
from retrieval_metrics.presentation.plots.layout import Panel, figure
from retrieval_metrics.presentation.plots.row_panels import (
    DrawnRow,
    Shares,
    differences_panel,
    rows_panel,
    shares_panel,
)
from retrieval_metrics.reporting.verdict import telling
from retrieval_metrics.results.cutoffs import over_cutoffs, size_of, unit_of, usual_cutoffs, with_intervals
from retrieval_metrics.results.scores import Scores
from retrieval_metrics.results.standings import SIGNS, main_pair, ranking_of
from retrieval_metrics.results.summary import LEVEL, intervals, means, numbers_of_queries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.presentation.plots.layout import Plot
    from retrieval_metrics.results.compared import Compared
    from retrieval_metrics.results.summary import Summed

MOST_PAIRS = 6
"""The largest number of pairs of systems drawn query by query; of more, those told apart most clearly."""
MARKED = (1, 3, 5, 10, 20, 50, 100)
"""The cut-offs named on a curve of precision and recall."""


def evaluation_figure(scores: Summed, kind: str, metric: str | Metric | None, across: int | None) -> Plot:
    """Draw an evaluation; see `Evaluation.plot`."""
    _known(kind, "intervals", "cutoffs", "precision_recall")
    if kind == "precision_recall":
        return _precision_recall({"": _whole(scores)}, across)
    lines = [as_metric(metric)] if metric else with_cutoff(scores)
    if kind == "cutoffs" and not lines:
        raise ValueError(f"none of {', '.join(map(str, scores.metrics))} has a cut-off; name a metric, such as 'ndcg'")
    if kind == "cutoffs":
        _whole(scores)
    panels = [] if kind == "cutoffs" else _means_of_one(scores)
    if isinstance(scores, Scores) and (kind == "cutoffs" or (kind == "overview" and scores.origin)):
        panels += [_cutoffs({"": scores}, line, small=len(lines) > 1) for line in lines]
    return figure(panels, across)


def comparison_figure(comparison: Compared, kind: str, metric: str | Metric | None, across: int | None) -> Plot:
    """Draw a comparison; see `Comparison.plot`."""
    _known(kind, "intervals", "differences", "wins", "cutoffs", "precision_recall")
    name = _told(comparison, metric)
    if kind == "intervals":
        return figure(_means(comparison, comparison.metrics), across, note=_signs(comparison))
    if kind == "cutoffs":
        return figure([_cutoffs(comparison.scores, _cut(comparison, metric))], across)
    if kind == "precision_recall":
        return _precision_recall(comparison.scores, across)
    if kind in {"differences", "wins"}:
        pairs, note = _clearest(comparison, name)
        draw = _differences if kind == "differences" else _wins
        return figure([draw(comparison, name, pair) for pair in pairs], across, note=note)
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
    panels = [*_means(comparison, [as_metric(name)]), _differences(comparison, name, pair)]
    panels += _means(comparison, others, small=True)
    note = " ".join([*(f"{caveat}" for caveat in comparison.conclusions.caveats), _signs(comparison)])
    return figure(panels, across, title=said, note=note)


def _signs(comparison: Compared) -> str:
    said = ranking_of(comparison).notes[-1]
    return f"{said.partition('; ')[0]}; bars are {numbers.level_name(comparison.level)}s of the means"


def with_cutoff(scores: Summed) -> list[Metric]:
    """Return the metrics with a cut-off, each name once."""
    cut = {metric.name: metric for metric in reversed(scores.metrics) if metric.k is not None}
    return list(reversed(cut.values()))


def _whole(scores: Summed) -> Scores:
    if not isinstance(scores, Scores):
        raise ValueError(  # noqa: TRY004  (the type is ours, and what is wrong is what it was made of)
            "this evaluation was merged from totals, so it cannot be scored at other cut-offs"
        )
    return scores


def _means_of_one(scores: Summed) -> list[Panel]:
    """Return a panel of all means; of given scores on other scales than 0 to 1, a panel of their own."""
    ends = intervals(scores, LEVEL)
    found = means(scores)
    asked = numbers.queries(max(numbers_of_queries(scores).values(), default=0))
    others = [one for one in scores.metrics if one.definition.given and one.definition.bounds != (0, 1)]
    parts = [part for part in (others, [one for one in scores.metrics if one not in others]) if part]
    panels: list[Panel] = []
    for part in parts:
        rows = [DrawnRow(str(one), found[one], ends[one], 0, numbers.value(found[one])) for one in part]
        title = "means from 0 to 1" if panels else f"means over {asked}"
        panels.append(rows_panel(rows, title, f"mean, with its {numbers.level_name(LEVEL)}"))
    return panels


def _means(comparison: Compared, metrics: Sequence[Metric], *, small: bool | None = None) -> list[Panel]:
    """Return a panel for each metric, all with the systems in the order of the first of the comparison."""
    places = ranking_of(comparison).places
    order = [place.system for place in next(iter(places.values()))]
    multiple = len(metrics) > 1 if small is None else small
    panels: list[Panel] = []
    for metric in metrics:
        found = {place.system: place for place in places[str(metric)]}
        rows = [
            DrawnRow(
                system,
                found[system].mean,
                comparison.intervals[metric][system],
                comparison.systems.index(system),
                numbers.value(found[system].mean),
                SIGNS[found[system].standing],
            )
            for system in order
        ]
        label = "" if multiple else f"mean, with its {numbers.level_name(comparison.level)}"
        panels.append(rows_panel(rows, str(metric), label, small=multiple, shares=multiple))
    return panels


def _cutoffs(systems: Mapping[str, Scores], metric: Metric, *, small: bool = False) -> Panel:
    ks = usual_cutoffs(list(systems.values()), metric)
    lines = [Line(name, *with_intervals(scores, metric, ks)) for name, scores in systems.items()]
    size, unit = size_of(metric), unit_of(metric)
    marked = size if size is not None and size <= ks[-1] else None
    title = f"{Metric(metric.name, None, metric.parameters)} over {unit}"
    return cutoffs_panel(lines, title, marked, unit, small=small)


def _precision_recall(systems: Mapping[str, Scores], across: int | None) -> Plot:
    """Draw mean precision against mean recall, a point for each cut-off."""
    precision, recall = Metric.of("precision"), Metric.of("recall")
    ks = usual_cutoffs(list(systems.values()), precision)
    lines = []
    for name, scores in systems.items():
        heights, ends = with_intervals(scores, precision, ks)
        found = over_cutoffs(scores, recall, ks)
        points = [Point(str(k) if k in MARKED else "", found[k], heights[k], ends[k]) for k in ks]
        lines.append((name, points))
    labels = "mean recall@k", "mean precision@k"
    return figure(
        [points_panel(lines, "precision against recall", labels, "(the numbers are k)" if len(systems) <= FEW else "")],
        across,
    )


def _differences(comparison: Compared, name: str, pair: tuple[str, str]) -> Panel:
    difference = comparison.difference(name, *pair)
    sign = 1 if difference.higher_is_better else -1
    order = np.argsort(-sign * difference.values, kind="stable").tolist()
    return differences_panel(
        title=f"{difference.system} − {difference.baseline} in {difference.metric}, by query",  # noqa: RUF001  (a minus)
        gains=[sign * float(difference.values[at]) for at in order],
        names=[str(difference.queries[at]) for at in order],
        sign=sign,
        mean=difference.mean,
        interval=difference.interval,
    )


def _wins(comparison: Compared, name: str, pair: tuple[str, str]) -> Panel:
    del name  # a row for every metric
    found = [(each.metric, each.paired) for each in comparison.of_pair(pair)]
    rows = [Shares(metric, paired.wins, paired.ties, paired.losses) for metric, paired in found]
    return shares_panel(rows, f"queries {pair[0]} won, tied and lost against {pair[1]}")


def _clearest(comparison: Compared, name: str) -> tuple[list[tuple[str, str]], str]:
    """Return the pairs to draw, and what is left out."""
    pairs = comparison.pairs
    if len(pairs) <= MOST_PAIRS:
        return pairs, ""
    clear = sorted(pairs, key=lambda pair: comparison.difference(name, *pair).p_corrected)[:MOST_PAIRS]
    return clear, f"{MOST_PAIRS} of {len(pairs):,} pairs of systems, those told apart most clearly"


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
        to_file = f"; to write a file: .plot().savefig({kind!r})" if "." in kind else ""
        raise ValueError(f"there is no plot {kind!r}; the plots are overview, {', '.join(kinds)}{to_file}")
