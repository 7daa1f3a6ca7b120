"""Count the queries by their value of a metric, for a table, a chart and a sentence."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, NamedTuple

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


# The number of bins for values between 0 and a perfect one, or for the range of values that are counted by size.
N_BINS = 5
# Up to this many distinct values are counted one by one, such as the numbers of calls of an agent.
MAX_DISTINCT_VALUES = 5

# How far a value may lie below the best one because sums are rounded.
_ROUNDING = 1e-9

PERFECT = "perfect"
UNDEFINED = "undefined"


class _CountedRange(NamedTuple):
    """How many queries have a value in a range.

    Attributes:
        start: The smallest value of the range, by which ranges are sorted; infinite for perfect values, which come
            after all others.
        label: The range in words, such as "0.2 to 0.4".
        n_queries: How many queries have a value in it.
    """

    start: float
    label: str
    n_queries: int


def values_table(systems: Mapping[str, Scores], metric: Metric) -> Table:
    """Return the number of queries that score 0, in between, and perfect, a column per system.

    All systems are counted over the same ranges.
    """
    values_of_all = np.concatenate([_defined_values(scores, metric) for scores in systems.values()])
    starts: dict[str, float] = {}
    counts_by_system = []
    for scores in systems.values():
        counts = {}
        for counted in _count_ranges(scores, metric, values_of_all):
            starts[counted.label] = counted.start
            counts[counted.label] = counted.n_queries
        n_undefined = _count_undefined(scores, metric)
        if n_undefined:
            counts[UNDEFINED] = n_undefined
        counts_by_system.append(counts)
    labels = sorted(starts, key=starts.__getitem__)
    if any(UNDEFINED in counts for counts in counts_by_system):
        labels.append(UNDEFINED)
    rows = []
    for label in labels:
        rows.append([label, *(f"{counts.get(label, 0):,}" for counts in counts_by_system)])
    return Table([f"queries by {metric}", *systems], rows)


def format_value_counts(scores: Scores, metric: Metric) -> str:
    """Return the mean of a metric in a sentence, with the numbers of queries at 0 and of perfect ones."""
    name = str(metric)
    value_counts = None
    if not _is_counted_by_size(metric):
        value_counts = dict(values_chart(scores, metric).rows)
    return format_metric_mean(
        metric=name,
        mean=means(scores)[name],
        interval=intervals(scores, LEVEL)[name],
        n_queries=n_queries_by_metric(scores)[name],
        value_counts=value_counts,
    )


def values_chart(scores: Scores, metric: Metric) -> ValueCounts:
    """Return the number of queries that score 0, in between, and perfect."""
    rows = []
    for counted in _count_ranges(scores, metric, _defined_values(scores, metric)):
        rows.append((counted.label, counted.n_queries))
    n_undefined = _count_undefined(scores, metric)
    if n_undefined:
        rows.append((UNDEFINED, n_undefined))
    return ValueCounts(f"{metric}: queries by value", rows, len(scores.queries))


def _defined_values(scores: Scores, metric: Metric) -> FloatArray:
    values = scores.column(metric)
    return values[~np.isnan(values)]


def _count_undefined(scores: Scores, metric: Metric) -> int:
    return int(np.isnan(scores.column(metric)).sum())


def _is_counted_by_size(metric: Metric) -> bool:
    """Return whether queries are counted by the size of their value alone, because 0 is not a failure."""
    return metric.definition.is_given or not metric.definition.higher_is_better


def _count_ranges(scores: Scores, metric: Metric, values_of_all: FloatArray) -> list[_CountedRange]:
    """Return the number of queries of a system in each range, where the values of all systems decide on the ranges."""
    values = scores.column(metric)
    is_defined = ~np.isnan(values)
    if _is_counted_by_size(metric):
        return _count_by_size(metric, values[is_defined], values_of_all)
    return _count_between_0_and_perfect(metric, values[is_defined], scores.best(metric)[is_defined])


def _count_between_0_and_perfect(metric: Metric, values: FloatArray, best: FloatArray) -> list[_CountedRange]:
    is_perfect = (values >= best - _ROUNDING) & (best > 0)
    is_zero = (values <= 0) & ~is_perfect
    between = values[~is_perfect & ~is_zero]
    ranges = [_CountedRange(0.0, "0", int(is_zero.sum()))]
    # Binary metrics have values between 0 and 1 only if ties are averaged.
    if len(between) or not metric.definition.binary:
        high = 1.0 if metric.definition.bounded else float(between.max(initial=1.0))
        ranges += _count_in_bins(between, 0, high)
    if not np.isinf(best).all():
        ranges.append(_CountedRange(inf, PERFECT, int(is_perfect.sum())))
    return ranges


def _count_by_size(metric: Metric, values: FloatArray, values_of_all: FloatArray) -> list[_CountedRange]:
    """Return the number of queries with each value; if all systems together have many values, in bins of their range.

    Args:
        metric: The metric.
        values: Shape (n,), the defined values of one system.
        values_of_all: Shape (m,), those of all systems that are shown together.
    """
    distinct_values = np.unique(values_of_all)
    if len(distinct_values) <= MAX_DISTINCT_VALUES:
        ranges = []
        for value in distinct_values.tolist():
            n_queries = int(np.count_nonzero(values == value))
            if n_queries:
                ranges.append(_CountedRange(value, f"{value:.3g}", n_queries))
        return ranges
    low, high = metric.definition.bounds
    if not np.isfinite(low):
        low = float(values_of_all.min())
    if not np.isfinite(high):
        high = float(values_of_all.max())
    if high <= low:
        high = low + 1
    return _count_in_bins(values, low, high)


def _count_in_bins(values: FloatArray, low: float, high: float) -> list[_CountedRange]:
    edges = np.linspace(low, high, N_BINS + 1)
    counts, _ = np.histogram(np.clip(values, low, high), edges)
    ranges = []
    for (start, end), count in zip(pairwise(edges.tolist()), counts.tolist(), strict=True):
        ranges.append(_CountedRange(start, f"{start:.3g} to {end:.3g}", count))
    return ranges
