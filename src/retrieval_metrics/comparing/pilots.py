"""How much the values of a metric spread: in a pilot, in one evaluation, or usually."""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.comparing.comparison import Comparison
from retrieval_metrics.comparing.spreads import OF_VALUES, SPREADS, usual_spread
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.inputs.question_clusters import Clusters, clusters_by
from retrieval_metrics.presentation import numbers
from retrieval_metrics.results.difference import Difference
from retrieval_metrics.results.summary import bounds_of
from retrieval_metrics.statistics import Sums, Units
from retrieval_metrics.statistics.power import spread_bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from retrieval_metrics.checks import IntArray, QueryId
    from retrieval_metrics.inputs.question_clusters import ClustersBy
    from retrieval_metrics.scoring.metric import Metric

FEWEST_OF_A_PILOT = 2
"""Queries, or clusters of them, that show a spread."""


class KnownSpreads(NamedTuple):
    """Names, spreads and their degrees of freedom; where they come from; and the largest possible difference."""

    spreads: Sequence[tuple[str, float, float]]
    basis: str
    design_effect: float
    span: float


def known_spreads(metric: Metric, pilot: object, clusters: ClustersBy) -> KnownSpreads:
    """Return what is known of the spread of differences in a metric, before the comparison is made.

    Args:
        metric: The metric.
        pilot: A comparison, a difference or an evaluation; None takes what is usual in the metric.
        clusters: The clusters of the pilot's queries, as in `evaluate`.

    Raises:
        TypeError: If the pilot is of another type.
        ValueError: If it does not hold the metric, holds it for several pairs, or does not show a spread.
    """
    if pilot is None:
        names = "the most similar pair", "the median pair", "the most different pair"
        spreads = usual_spread(metric)
        where = f"spreads of {metric.name}" if metric.name in SPREADS else "spreads of other metrics"
        basis = f"{where} in 13 pairs of retrievers on two public collections; yours may differ"
        return KnownSpreads([(name, spread, inf) for name, spread in zip(names, spreads, strict=True)], basis, 1.0, 1.0)
    if isinstance(pilot, Evaluation):
        return _of_one_system(metric, pilot, clusters)
    if isinstance(pilot, Comparison):
        found = [each for each in pilot.differences if each.metric == str(metric)]
        if len(found) != 1:
            raise ValueError(
                f"the pilot has {len(found)} differences in {metric}; pass one, such as "
                f"pilot.difference({str(metric)!r}, system, baseline)"
            )
        pilot = found[0]
    if not isinstance(pilot, Difference):
        raise TypeError(f"pilot must be a Comparison, a Difference or an Evaluation, got {type(pilot).__name__}")
    if pilot.metric != str(metric):
        raise ValueError(f"the pilot is a difference in {pilot.metric}, not in {metric}")
    labels = pilot.clusters if clusters == "source" else _cluster_labels(pilot.queries, clusters)
    units = Units.of(pilot.values, labels)
    if len(units.sizes) < FEWEST_OF_A_PILOT or not pilot.values.any():
        raise ValueError(
            f"the pilot shows no spread: {numbers.queries(pilot.n)}, of which {np.count_nonzero(pilot.values)} differ"
        )
    spread = float(pilot.values.std(ddof=1))
    low, high = spread_bounds(len(units.sizes))
    around = [
        ("the least that the pilot allows", low * spread, inf),
        ("in the pilot", spread, len(units.sizes) - 1.0),
        ("the most that the pilot allows", high * spread, inf),
    ]
    effect = 1.0 if labels is None else max(units.design_effect, 1.0)
    of_clusters = "" if labels is None else f" in {numbers.count(len(units.sizes), 'cluster')}"
    return KnownSpreads(around, f"a pilot of {numbers.queries(pilot.n)}{of_clusters}", effect, pilot.span)


def _cluster_labels(
    queries: Sequence[QueryId], clusters: Mapping[Any, Any] | Callable[[Any], Any] | Clusters | None
) -> IntArray | None:
    found = clusters if clusters is None or isinstance(clusters, Clusters) else clusters_by(queries, clusters)
    return None if found is None else found.of(queries).labels


def _of_one_system(metric: Metric, pilot: Evaluation, clusters: ClustersBy) -> KnownSpreads:
    if metric not in pilot.metrics:
        raise ValueError(f"the pilot has no {metric}; it has {', '.join(map(str, pilot.metrics))}")
    column = pilot.scores.of_metric(metric)
    defined = ~np.isnan(column)
    values = column[defined]
    if len(values) < FEWEST_OF_A_PILOT or not np.ptp(values):
        raise ValueError(f"the evaluation shows no spread of {metric}: all of its {len(values)} values are alike")
    spread = float(values.std(ddof=1))
    low, high = bounds_of(pilot.scores, metric, Sums.of(values))
    span = high - max(low, 0.0) if not metric.definition.given else high - low
    basis = f"an evaluation of {numbers.queries(len(values))} whose values vary by {numbers.value(spread)}"
    labels = _cluster_labels(pilot.scores.queries, pilot.scores.clusters if clusters == "source" else clusters)
    effect = 1.0 if labels is None else Units.of(values, labels[defined]).design_effect  # of differences it is less
    largest = float(span) if span not in {0.0, float("inf")} else max(float(np.ptp(values)), sqrt(spread))
    spreads = [(f"{by:g} times the values of the evaluation", by * spread, inf) for by in OF_VALUES]
    return KnownSpreads(spreads, basis, effect if effect > 1 else 1.0, largest)
