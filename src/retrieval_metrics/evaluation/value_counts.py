"""Count the queries by their value of a metric, for a table, a chart and a sentence."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.evaluation.evaluation_wording import format_metric_mean
from retrieval_metrics.evaluation.summary import LEVEL, intervals, means, n_queries_by_metric
from retrieval_metrics.reports.charts import ValueCounts
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric


# The number of bins for values between 0 and a perfect one; up to this many different values are counted singly.
N_BINS = 5

# How far a value may lie below the best one because sums are rounded.
_ROUNDING = 1e-9

# The rows that come after all others in a table, in this order.
_LAST_ROWS = ("perfect", "undefined")


def values_table(systems: Mapping[str, Scores], metric: Metric) -> Table:
    """Return the number of queries that score 0, in between, and perfect, a column per system."""
    counts_by_system = {name: dict(values_chart(scores, metric).rows) for name, scores in systems.items()}
    kinds: set[str] = set()
    for counts in counts_by_system.values():
        kinds.update(counts)
    rows = []
    first_kinds = sorted(kinds.difference(_LAST_ROWS))
    last_kinds = [kind for kind in _LAST_ROWS if kind in kinds]
    for kind in [*first_kinds, *last_kinds]:
        rows.append([kind, *(f"{counts.get(kind, 0):,}" for counts in counts_by_system.values())])
    return Table([f"queries by {metric}", *systems], rows)


def format_value_counts(scores: Scores, metric: Metric) -> str:
    """Return the mean of a metric in a sentence, with the numbers of queries at 0 and of perfect ones."""
    name = str(metric)
    value_counts = None if _counts_by_value(metric) else dict(values_chart(scores, metric).rows)
    return format_metric_mean(
        metric=name,
        mean=means(scores)[name],
        interval=intervals(scores, LEVEL)[name],
        n_queries=n_queries_by_metric(scores)[name],
        value_counts=value_counts,
    )


def values_chart(scores: Scores, metric: Metric) -> ValueCounts:
    """Return the number of queries that score 0, in between, and perfect."""
    all_values = scores.column(metric)
    is_defined = ~np.isnan(all_values)
    values = all_values[is_defined]
    if _counts_by_value(metric):
        rows = _count_by_value(metric, values)
    else:
        rows = _count_between_0_and_perfect(metric, values, scores.best(metric)[is_defined])
    if not is_defined.all():
        rows.append(("undefined", int((~is_defined).sum())))
    return ValueCounts(f"{metric}: queries by value", rows, len(all_values))


def _counts_by_value(metric: Metric) -> bool:
    """Return whether a value of 0 is not a failure in a metric, so that queries are counted by value alone."""
    return metric.definition.is_given or not metric.definition.higher_is_better


def _count_between_0_and_perfect(metric: Metric, values: FloatArray, best: FloatArray) -> list[tuple[str, int]]:
    is_perfect = (values >= best - _ROUNDING) & (best > 0)
    is_zero = (values <= 0) & ~is_perfect
    between = values[~is_perfect & ~is_zero]
    rows = [("0", int(is_zero.sum()))]
    # Binary metrics have values between 0 and 1 only if ties are averaged.
    if len(between) or not metric.definition.binary:
        high = 1.0 if metric.definition.bounded else float(between.max(initial=1.0))
        rows += _count_in_bins(between, 0, high)
    if not np.isinf(best).all():
        rows.append(("perfect", int(is_perfect.sum())))
    return rows


def _count_by_value(metric: Metric, values: FloatArray) -> list[tuple[str, int]]:
    """Return the number of queries with each value of a metric; if there are many values, in bins of its range."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= N_BINS:  # such as the calls of an agent
        return [(f"{value:.3g}", int(count)) for value, count in zip(distinct, counts, strict=True)]
    low, high = metric.definition.bounds
    if not np.isfinite(low):
        low = float(values.min())
    if not np.isfinite(high):
        high = float(values.max())
    return _count_in_bins(values, low, high if high > low else low + 1)


def _count_in_bins(values: FloatArray, low: float, high: float) -> list[tuple[str, int]]:
    edges = np.linspace(low, high, N_BINS + 1)
    counts, _ = np.histogram(np.clip(values, low, high), edges)
    names = [f"{start:.3g} to {end:.3g}" for start, end in pairwise(edges)]
    return list(zip(names, counts.tolist(), strict=True))
