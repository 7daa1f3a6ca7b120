"""How many queries have which value of a metric, as a table, a chart and a sentence."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.evaluation.summary import (
    LEVEL,
    intervals,
    means,
    n_queries_by_metric,
)
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.charts import (
    ValueCounts,
)
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics._internal.validation import FloatArray
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric


# How many queries have which value of a metric, as a table, a chart and a sentence.

BINS = 5
_NEARLY = 1e-9


def values_table(systems: Mapping[str, Scores], metric: Metric) -> Table:
    """Return the number of queries that score 0, in between, and perfect, a column per system."""
    counted = {name: dict(values_chart(scores, metric).rows) for name, scores in systems.items()}
    kinds = dict.fromkeys(kind for each in counted.values() for kind in each)
    ordered = sorted(kinds, key=lambda kind: ({"perfect": 2, "undefined": 3}.get(kind, 1), kind))
    rows = [[kind, *(f"{each.get(kind, 0):,}" for each in counted.values())] for kind in ordered]
    return Table([f"queries by {metric}", *systems], rows)


def format_value_counts(scores: Scores, metric: Metric) -> str:
    """Return the mean of a metric in a sentence, with the numbers of queries at 0 and of perfect ones."""
    name = str(metric)
    n = numbers.format_query_count(n_queries_by_metric(scores)[name])
    said = f"{name} is {numbers.mean(means(scores)[name], intervals(scores, LEVEL)[name])} over {n}"
    if metric.definition.is_given or not metric.definition.higher_is_better:
        return f"{said}."
    counted = dict(values_chart(scores, metric).rows)
    perfect = f" and {counted['perfect']:,} perfect" if "perfect" in counted else ""
    return f"{said}, of which {counted['0']:,} are 0{perfect}."


def values_chart(scores: Scores, metric: Metric) -> ValueCounts:
    """Return the number of queries that score 0, in between, and perfect."""
    values, best = scores.column(metric), scores.best(metric)
    defined = ~np.isnan(values)
    values, best = values[defined], best[defined]
    by_value = metric.definition.is_given or not metric.definition.higher_is_better  # there 0 is no failure
    rows = _counted_given(metric, values) if by_value else _counted(metric, values, best)
    if not defined.all():
        rows.append(("undefined", int((~defined).sum())))
    return ValueCounts(f"{metric}: queries by value", rows, len(defined))


def _counted(metric: Metric, values: FloatArray, best: FloatArray) -> list[tuple[str, int]]:
    perfect = (values >= best - _NEARLY) & (best > 0)
    zero = (values <= 0) & ~perfect
    between = values[~perfect & ~zero]
    rows = [("0", int(zero.sum()))]
    if len(between) or not metric.definition.binary:  # what is 0 or 1 has nothing between, but for expected ties
        rows += _in_fifths(between, 0, 1.0 if metric.definition.bounded else float(between.max(initial=1.0)))
    return [*rows, ("perfect", int(perfect.sum()))] if not np.isinf(best).all() else rows


def _counted_given(metric: Metric, values: FloatArray) -> list[tuple[str, int]]:
    """Return the number of queries with each value of a metric; if it has many, in each fifth of its range."""
    each, times = np.unique(values, return_counts=True)
    if len(each) <= BINS:  # such as the calls of an agent
        return [(f"{value:.3g}", int(number)) for value, number in zip(each, times, strict=True)]
    ends = zip(metric.definition.bounds, (values.min(), values.max()), strict=True)
    low, high = (bound if np.isfinite(bound) else float(seen) for bound, seen in ends)
    return _in_fifths(values, low, high if high > low else low + 1)


def _in_fifths(values: FloatArray, low: float, high: float) -> list[tuple[str, int]]:
    edges = np.linspace(low, high, BINS + 1)
    counted = np.histogram(np.clip(values, low, high), edges)[0].tolist()
    names = [f"{start:.3g} to {end:.3g}" for start, end in pairwise(edges)]
    return list(zip(names, counted, strict=True))
