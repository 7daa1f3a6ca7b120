"""Estimate how much differences in a metric vary over queries: from a pilot, one evaluation, or public collections."""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.comparison.comparison import Comparison
from retrieval_metrics.comparison.difference import Difference
from retrieval_metrics.comparison.usual_spreads import FACTORS_OF_VALUES, MEASURED_SPREADS, find_usual_spread
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.summary import metric_bounds
from retrieval_metrics.evaluation.summary_wording import cluster_count_notes
from retrieval_metrics.inputs.clusters import Clusters, cluster_queries
from retrieval_metrics.reports import numbers
from retrieval_metrics.statistics import Sums, Units
from retrieval_metrics.statistics.power import sd_bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from retrieval_metrics._internal.plain_types import IntArray, QueryId
    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.metrics.base.metric import Metric


# Where the published spreads were measured, in words.
MEASURED_PAIRS = "13 pairs of retrievers on two public collections"
# The smallest number of queries, or clusters of them, that have a standard deviation.
MIN_PILOT_QUERIES = 2


class Spread(NamedTuple):
    """A standard deviation of per-query differences.

    Attributes:
        name: Where it was measured, in words.
        sd: The standard deviation.
        df: The degrees of freedom of its estimate; infinite if it is taken as known.
    """

    name: str
    sd: float
    df: float = inf


class SpreadEstimates(NamedTuple):
    """What is known of the spread of differences before a comparison is made.

    Attributes:
        spreads: The spreads, from the smallest to the largest.
        source: Where they come from, in words.
        design_effect: How many clustered questions carry the information of one independent question.
        max_difference: The largest possible difference of a query.
    """

    spreads: Sequence[Spread]
    source: str
    design_effect: float
    max_difference: float


def estimate_spreads(metric: Metric, pilot: object, clusters: ClustersBy) -> SpreadEstimates:
    """Return what is known of the spread of differences in a metric, before the comparison is made."""
    if pilot is None:
        return _usual_spreads(metric)
    if isinstance(pilot, Evaluation):
        return _spreads_of_evaluation(metric, pilot, clusters)
    if isinstance(pilot, Comparison):
        pilot = _only_difference(pilot, metric)
    if not isinstance(pilot, Difference):
        raise TypeError(f"pilot must be a Comparison, a Difference or an Evaluation, got {type(pilot).__name__}")
    return _spreads_of_difference(metric, pilot, clusters)


def _usual_spreads(metric: Metric) -> SpreadEstimates:
    usual = find_usual_spread(metric)
    names = ("the most similar pair", "the median pair", "the most different pair")
    source = f"SDs of differences in {metric.name}, {MEASURED_PAIRS}; yours may differ"
    if metric.name not in MEASURED_SPREADS:
        names = ("lowest SD", "typical SD", "highest SD")
        source = (
            f"the SDs of {metric.name} have not been measured, so lowest and highest are those of "
            f"{len(MEASURED_SPREADS)} other metrics ({MEASURED_PAIRS}); yours may differ"
        )
    sds = (usual.smallest, usual.usual, usual.largest)
    spreads = [Spread(name, sd) for name, sd in zip(names, sds, strict=True)]
    return SpreadEstimates(spreads, source, design_effect=1.0, max_difference=1.0)


def _only_difference(pilot: Comparison, metric: Metric) -> Difference:
    differences = [difference for difference in pilot.differences if difference.metric == str(metric)]
    if not differences:
        metrics = list(dict.fromkeys(difference.metric for difference in pilot.differences))
        raise ValueError(
            f"the pilot has no difference in {metric}; it has differences in {numbers.join_names(metrics)}: pass the "
            f"one to plan for, such as metric={metrics[0]!r}"
        )
    if len(differences) != 1:
        raise ValueError(
            f"the pilot has {len(differences)} differences in {metric}; pass one, such as "
            f"pilot.difference({str(metric)!r}, system, baseline)"
        )
    return differences[0]


def _spreads_of_difference(metric: Metric, pilot: Difference, clusters: ClustersBy) -> SpreadEstimates:
    if pilot.metric != str(metric):
        raise ValueError(f"the pilot is a difference in {pilot.metric}, not in {metric}; pass metric={pilot.metric!r}")
    if not pilot.measured:
        reason = "the IDs of one of them do not match the judgments"
        if pilot.obstacle == "no_results":
            reason = "one of them retrieved nothing"
        if pilot.obstacle == "unused_exclusion":
            reason = "exclude= removed no documents from one of them"
        raise ValueError(
            f"the pilot does not show how {pilot.system} and {pilot.baseline} differ: {reason}; follow the warnings of "
            "the comparison first, or leave out pilot="
        )
    labels = pilot.clusters if clusters == "source" else _cluster_labels(pilot.queries, clusters)
    units = Units.from_values(pilot.values, labels)
    n_units = len(units.sizes)
    if n_units < MIN_PILOT_QUERIES or not pilot.values.any():
        raise ValueError(
            f"the pilot shows no spread: {numbers.format_query_count(pilot.n)}, of which "
            f"{np.count_nonzero(pilot.values)} differ"
        )
    sd = float(pilot.values.std(ddof=1))
    effective_units = max(units.effective_units, MIN_PILOT_QUERIES)
    low, high = sd_bounds(effective_units)
    spreads = [
        Spread("pilot SD, one-sided 80% lower bound", low * sd),
        Spread("pilot SD", sd, effective_units - 1),
        Spread("pilot SD, one-sided 80% upper bound", high * sd),
    ]
    source = f"SD from a pilot of {numbers.format_query_count(pilot.n)}"
    if labels is None:
        return SpreadEstimates(spreads, source, 1.0, pilot.max_difference)
    source = f"{source} in {numbers.format_count(n_units, 'cluster')}"
    source = "; ".join([source, *cluster_count_notes(n_units)])
    return SpreadEstimates(spreads, source, max(units.design_effect, 1.0), pilot.max_difference)


def _cluster_labels(
    queries: Sequence[QueryId], clusters: Mapping[Any, Any] | Callable[[Any], Any] | Clusters | None
) -> IntArray | None:
    if clusters is not None and not isinstance(clusters, Clusters):
        clusters = cluster_queries(queries, clusters)
    return None if clusters is None else clusters.select(queries).labels


def _spreads_of_evaluation(metric: Metric, pilot: Evaluation, clusters: ClustersBy) -> SpreadEstimates:
    if metric not in pilot.metrics:
        raise ValueError(f"the pilot has no {metric}; it has {', '.join(map(str, pilot.metrics))}")
    column = pilot.scores.column(metric)
    is_defined = ~np.isnan(column)
    values = column[is_defined]
    if len(values) < MIN_PILOT_QUERIES or not np.ptp(values):
        raise ValueError(f"the evaluation shows no spread of {metric}: all of its {len(values)} values are equal")
    sd = float(values.std(ddof=1))
    source = f"SDs from an evaluation of {numbers.format_query_count(len(values))} with SD {numbers.format_value(sd)}"
    labels = _cluster_labels(pilot.scores.queries, pilot.scores.clusters if clusters == "source" else clusters)
    design_effect = 1.0
    if labels is not None:
        # Differences have a smaller design effect than values, so this is cautious.
        design_effect = max(Units.from_values(values, labels[is_defined]).design_effect, 1.0)
    spreads = [Spread(f"{factor:g} times the SD of the values", factor * sd) for factor in FACTORS_OF_VALUES]
    return SpreadEstimates(spreads, source, design_effect, _max_difference(metric, pilot, values))


def _max_difference(metric: Metric, pilot: Evaluation, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    low, high = metric_bounds(pilot.scores, metric, Sums.from_values(values))
    span = high - low if metric.definition.is_given else high - max(low, 0.0)
    if span not in {0.0, inf}:
        return float(span)
    return max(float(np.ptp(values)), sqrt(float(values.std(ddof=1))))
