"""What the charts of evaluations and comparisons show, in figures and reports alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.charts import (
    MOVED,
    Changes,
    ChartRow,
    CutoffLines,
    Line,
    Point,
    Points,
    Rows,
    Shares,
)
from retrieval_metrics.results.standings import SIGNS, ranking_of
from retrieval_metrics.results.summary import (
    LEVEL,
    intervals,
    means,
    numbers_of_queries,
    over_cutoffs,
    size_of,
    unit_of,
    usual_cutoffs,
    with_intervals,
)
from retrieval_metrics.scoring.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.results.difference import Difference
    from retrieval_metrics.results.scores import Record, Scores
    from retrieval_metrics.results.standings import Compared

MARKED = (1, 3, 5, 10, 20, 50, 100)
"""The cut-offs named on a curve of precision and recall."""


def means_of_one(record: Record) -> list[Rows]:
    """Return a chart of all means; of given scores on other scales than 0 to 1, a chart of their own."""
    found, ends = means(record), intervals(record, LEVEL)
    asked = numbers.queries(max(numbers_of_queries(record).values(), default=0))
    others = [one for one in record.metrics if one.definition.given and one.definition.bounds != (0, 1)]
    charts: list[Rows] = []
    for part, least in ((others, 0.0), ([one for one in record.metrics if one not in others], 1.0)):
        if part:
            rows = [ChartRow(str(one), found[one], ends[one], numbers.value(found[one])) for one in part]
            title = "means from 0 to 1" if charts else f"means over {asked}"
            charts.append(Rows.of(title, _label(LEVEL), rows, least))
    return charts


def means_of_systems(comparison: Compared, metrics: Sequence[Metric]) -> list[Rows]:
    """Return a chart for each metric, all with the systems in the order of the ranking's table."""
    places = ranking_of(comparison).places
    order = [place.system for place in next(iter(places.values()))]
    charts = []
    for metric in metrics:
        found = {place.system: place for place in places[str(metric)]}
        rows = [
            ChartRow(
                system,
                found[system].mean,
                found[system].interval,
                numbers.value(found[system].mean),
                comparison.systems.index(system),
                SIGNS[found[system].standing],
            )
            for system in order
        ]
        least = 1.0 if metric.definition.bounded else 0.0
        charts.append(Rows.of(str(metric), _label(comparison.level), rows, least))
    return charts


def _label(level: float) -> str:
    return f"mean, with its {numbers.level_name(level)}"


def over_the_cutoff(systems: Mapping[str, Scores], metric: Metric) -> CutoffLines:
    """Return a metric over its cut-off, a line for each system."""
    ks = usual_cutoffs(list(systems.values()), metric)
    lines = [Line(name, *with_intervals(scores, metric, ks)) for name, scores in systems.items()]
    size, unit = size_of(metric), unit_of(metric)
    marked = size if size is not None and size <= ks[-1] else None
    return CutoffLines(f"{Metric(metric.name, None, metric.parameters)} over {unit}", lines, marked, unit)


def precision_and_recall(systems: Mapping[str, Scores]) -> Points:
    """Return mean precision against mean recall, a point for each cut-off."""
    precision, recall = Metric.of("precision"), Metric.of("recall")
    ks = usual_cutoffs(list(systems.values()), precision)
    lines = []
    for name, scores in systems.items():
        heights, ends = with_intervals(scores, precision, ks)
        found = over_cutoffs(scores, recall, ks)
        lines.append((name, [Point(str(k) if k in MARKED else "", found[k], heights[k], ends[k]) for k in ks]))
    labels = "mean recall@k", "mean precision@k"
    return Points("precision against recall", lines, labels, "the numbers are k")


def changes_of(difference: Difference) -> Changes:
    """Return the difference of every query, the largest gain first."""
    sign, paired = 1 if difference.higher_is_better else -1, difference.paired
    gains = sign * difference.values
    order = np.argsort(-gains, kind="stable")
    gained = [at for at in order[:MOVED].tolist() if gains[at] > 0]
    dropped = [at for at in np.argsort(gains, kind="stable")[:MOVED].tolist() if gains[at] < 0]
    ends = ([(str(difference.queries[at]), float(difference.values[at])) for at in side] for side in (gained, dropped))
    return Changes(
        f"{difference.system} − {difference.baseline} in {difference.metric}, by query",  # noqa: RUF001  (a minus)
        difference.values[order],
        sign,
        difference.mean,
        difference.interval,
        (paired.wins, paired.ties, paired.losses),
        *ends,
    )


def won_and_lost(comparison: Compared, pair: tuple[str, str]) -> Shares:
    """Return how many queries one system won, tied and lost against another, for every metric."""
    found = [(each.metric, each.paired) for each in comparison.differences.by_pair[pair]]
    rows = [(metric, (paired.wins, paired.ties, paired.losses)) for metric, paired in found]
    return Shares(f"queries {pair[0]} won, tied and lost against {pair[1]}", rows)
