"""Select and order the values that charts of comparisons show, in figures and reports alike."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.comparison.system_ranking import SIGN_BY_STATUS, choose_main_pair, systems_in_order
from retrieval_metrics.evaluation.evaluation_charts import mean_axis_label
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.charts import (
    MAX_LARGEST_CHANGES,
    ChartRow,
    ChartRows,
    NamedChange,
    QueryCounts,
    Shares,
    SharesRow,
    SortedChanges,
)
from retrieval_metrics.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.metrics.base.metric import Metric


# The largest number of systems that are drawn; tables have all.
MAX_DRAWN_SYSTEMS = 12


def system_mean_charts(
    comparison: ComparisonRecord, metrics: Sequence[Metric], order: Sequence[str]
) -> list[ChartRows]:
    """Return a chart for each metric, all with the systems in one order."""
    ranking = comparison.ranking
    series_by_system = _series_by_system(comparison, order)
    charts = []
    for metric in metrics:
        place_by_system = {place.system: place for place in ranking.by_metric[str(metric)]}
        rows = []
        for system in order:
            place = place_by_system[system]
            note = numbers.format_known_value(place.mean)
            if metric == comparison.metrics[0] and ranking.pareto.get(system) == "on":
                note += " *"
            sign = SIGN_BY_STATUS[place.status]
            rows.append(ChartRow(system, place.mean, place.interval, note, series_by_system[system], sign))
        min_top = 1.0 if metric.definition.bounded else 0.0
        charts.append(ChartRows.scaled(str(metric), mean_axis_label(comparison.level), rows, min_top))
    return charts


def _series_by_system(comparison: ComparisonRecord, drawn: Sequence[str]) -> dict[str, int]:
    """Number the drawn systems in the order of the comparison; the number decides the colour."""
    in_order = [system for system in comparison.systems if system in drawn]
    return {system: series for series, system in enumerate(in_order)}


def select_drawn_systems(comparison: ComparisonRecord, order: Sequence[str]) -> list[str]:
    """Return the best systems, as many as fit into a chart; the baseline is always among them."""
    drawn = list(order[:MAX_DRAWN_SYSTEMS])
    if comparison.baseline is not None and comparison.baseline not in drawn:
        drawn[-1] = comparison.baseline
    return drawn


def drawn_systems_notes(comparison: ComparisonRecord) -> list[str]:
    """Return a note on which systems are drawn, if not all are."""
    n_systems = len(comparison.systems)
    if n_systems <= MAX_DRAWN_SYSTEMS:
        return []
    return [f"the best {MAX_DRAWN_SYSTEMS} of {n_systems} systems"]


def star_notes(comparison: ComparisonRecord) -> list[str]:
    """Return a note on what a star beside a mean says, if there are stars."""
    if not comparison.ranking.pareto:
        return []
    return ["* Pareto: better than every system at least as fast"]


def main_pair_changes(comparison: ComparisonRecord, metric: Metric) -> SortedChanges | None:
    """Return the changes of the main pair; of several systems without a baseline, those towards the better one.

    None if a system of that pair was not measured: the changes then show how ids match.
    """
    system, baseline = choose_main_pair(comparison, metric)
    order = systems_in_order(comparison, metric)
    is_baseline_better = order.index(baseline) < order.index(system)
    is_direction_free = comparison.baseline is None and len(comparison.systems) > 2
    difference = comparison.difference(metric, system, baseline)
    if not difference.measured:
        return None
    return sorted_changes(difference, is_reversed=is_direction_free and is_baseline_better)


def sorted_changes(difference: Difference, *, is_reversed: bool = False) -> SortedChanges:
    """Return the difference of every query, the largest gain first.

    The mean is left out if a system was not measured, and its interval if the two are not comparable.

    Args:
        difference: The difference of a system from its baseline.
        is_reversed: Whether to show the baseline minus the system instead.
    """
    system = difference.system
    baseline = difference.baseline
    values = difference.values
    mean = difference.mean if difference.measured else nan
    interval = difference.interval if difference.comparable else Interval(nan, nan)
    paired = difference.paired
    counts = QueryCounts(paired.wins, paired.ties, paired.losses)
    if is_reversed:
        system = difference.baseline
        baseline = difference.system
        values = -values
        mean = -mean
        interval = interval._replace(low=-interval.high, high=-interval.low)
        counts = QueryCounts(paired.losses, paired.ties, paired.wins)
    sign = 1 if difference.higher_is_better else -1
    gains = sign * values
    return SortedChanges(
        title=f"{system} − {baseline} in {difference.metric}, by query",  # noqa: RUF001  (a minus)
        changes=values[np.argsort(-gains, kind="stable")],
        sign=sign,
        mean=mean,
        interval=interval,
        counts=counts,
        gained=_largest_changes(difference, values, gains),
        dropped=_largest_changes(difference, values, -gains),
    )


def _largest_changes(difference: Difference, values: FloatArray, gains: FloatArray) -> list[NamedChange]:
    """Return the queries with the largest gains above 0, with their changes."""
    largest = []
    for row in np.argsort(-gains, kind="stable")[:MAX_LARGEST_CHANGES].tolist():
        if gains[row] > 0:
            largest.append(NamedChange(str(difference.queries[row]), float(values[row])))
    return largest


def win_shares(comparison: ComparisonRecord, pair: tuple[str, str]) -> Shares:
    """Return how many queries one system won, tied and lost against another, for every metric."""
    rows = []
    for difference in comparison.differences.by_pair[pair]:
        paired = difference.paired
        counts = QueryCounts(paired.wins, paired.ties, paired.losses)
        rows.append(SharesRow(difference.metric, counts))
    system, baseline = pair
    return Shares(f"queries {system} won, tied and lost against {baseline}", rows)
