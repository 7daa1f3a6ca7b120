"""What the charts of comparisons show, in figures and reports alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.comparison.system_ranking import SIGN_BY_STATUS, choose_main_pair, rank_systems, systems_in_order
from retrieval_metrics.evaluation.evaluation_charts import mean_axis_label
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.charts import (
    MAX_LARGEST_CHANGES,
    ChartRow,
    ChartRows,
    Shares,
    SortedChanges,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.comparison.system_ranking import ComparisonRecord
    from retrieval_metrics.metrics.base.metric import Metric


def system_mean_charts(
    comparison: ComparisonRecord, metrics: Sequence[Metric], order: Sequence[str]
) -> list[ChartRows]:
    """Return a chart for each metric, all with the systems in one order."""
    ranking = rank_systems(comparison)
    places, starred = ranking.by_metric, {system for system, worth in ranking.pareto.items() if worth == "on"}
    drawn = [system for system in comparison.systems if system in order]
    charts = []
    for metric in metrics:
        found = {place.system: place for place in places[str(metric)]}
        rows = [
            ChartRow(
                system,
                found[system].mean,
                found[system].interval,
                numbers.value(found[system].mean) + " *" * (system in starred and metric == comparison.metrics[0]),
                drawn.index(system),
                SIGN_BY_STATUS[found[system].status],
            )
            for system in order
        ]
        least = 1.0 if metric.definition.bounded else 0.0
        charts.append(ChartRows.scaled(str(metric), mean_axis_label(comparison.level), rows, least))
    return charts


MOST_SYSTEMS = 12
"""The largest number of systems that are drawn; tables have all."""


def select_drawn_systems(comparison: ComparisonRecord, order: Sequence[str]) -> list[str]:
    """Return the systems to draw, the best; the baseline is always among them."""
    drawn = [*order[:MOST_SYSTEMS]]
    if comparison.baseline is not None and comparison.baseline not in drawn:
        drawn[-1] = comparison.baseline
    return drawn


def drawn_systems_notes(comparison: ComparisonRecord) -> list[str]:
    """Return which systems are drawn, if not all are."""
    systems = len(comparison.systems)
    return [f"the best {MOST_SYSTEMS} of {systems} systems"] if systems > MOST_SYSTEMS else []


def star_notes(comparison: ComparisonRecord) -> list[str]:
    """Return what a star beside a mean is, if there are stars."""
    return ["* worth its seconds, better than each that is as fast"] if rank_systems(comparison).pareto else []


def main_pair_changes(comparison: ComparisonRecord, metric: Metric) -> SortedChanges:
    """Return the changes of the main pair; of several systems, those from the second to the best."""
    pair = choose_main_pair(comparison, metric)
    best = min(pair, key=systems_in_order(comparison, metric).index)
    several = comparison.baseline is None and len(comparison.systems) > 2
    return sorted_changes(comparison.difference(metric, *pair), turned=several and best != pair[0])


def sorted_changes(difference: Difference, *, turned: bool = False) -> SortedChanges:
    """Return the difference of every query, the largest gain first; turned, that of the baseline from the system."""
    sign, paired = 1 if difference.higher_is_better else -1, difference.paired
    pair, counts = (difference.system, difference.baseline), (paired.wins, paired.ties, paired.losses)
    values, mean, interval = difference.values, difference.mean, difference.interval
    if turned:
        pair, counts, values, mean = pair[::-1], counts[::-1], -values, -mean
        interval = interval._replace(low=-interval.high, high=-interval.low)
    gains = sign * values
    order = np.argsort(-gains, kind="stable")
    gained = [at for at in order[:MAX_LARGEST_CHANGES].tolist() if gains[at] > 0]
    dropped = [at for at in np.argsort(gains, kind="stable")[:MAX_LARGEST_CHANGES].tolist() if gains[at] < 0]
    ends = ([(str(difference.queries[at]), float(values[at])) for at in side] for side in (gained, dropped))
    title = f"{pair[0]} − {pair[1]} in {difference.metric}, by query"  # noqa: RUF001  (a minus)
    return SortedChanges(title, values[order], sign, mean, interval, counts, *ends)


def win_shares(comparison: ComparisonRecord, pair: tuple[str, str]) -> Shares:
    """Return how many queries one system won, tied and lost against another, for every metric."""
    found = [(each.metric, each.paired) for each in comparison.differences.by_pair[pair]]
    rows = [(metric, (paired.wins, paired.ties, paired.losses)) for metric, paired in found]
    return Shares(f"queries {pair[0]} won, tied and lost against {pair[1]}", rows)
