"""What clusters of queries do to numbers, and how that is said."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import argument
from retrieval_metrics.presentation import numbers
from retrieval_metrics.statistics.means import Units

if TYPE_CHECKING:
    from retrieval_metrics.checks import FloatArray, IntArray
    from retrieval_metrics.inputs.question_clusters import Clusters
    from retrieval_metrics.results.record import Record
    from retrieval_metrics.statistics.means import Sums

FEW_CLUSTERS = 20


def clustered_sums(values: FloatArray, labels: IntArray) -> Sums:
    """Return the sums of as many independent queries as the defined values of clustered ones are worth."""
    from retrieval_metrics.statistics import effective_sums  # noqa: PLC0415  (only means that are printed need it)

    defined = ~np.isnan(values)
    return effective_sums(values[defined], labels[defined])


def design_effect(values: FloatArray, labels: IntArray) -> float:
    """Return the variance of the mean of the defined values relative to that of independent queries."""
    defined = ~np.isnan(values)
    return Units.of(values[defined], labels[defined]).design_effect if defined.any() else np.nan


def said_of_clusters(record: Record) -> list[str]:
    """Return in words how the queries are clustered and the design effect; nothing if they are not."""
    if record.clusters is None or record.labels is None:
        return []
    effects = {metric: record.design_effect(metric) for metric in record.metrics}
    known = [f"{metric} {effect:.1f}" for metric, effect in effects.items() if not isnan(effect)]
    notes = [f"intervals by cluster: {said_of_count(record.clusters)}"]
    notes += [f"design effect (variance relative to independent queries): {', '.join(known)}"] if known else []
    return notes + said_of_few(record.clusters)


def said_of_count(clusters: Clusters) -> str:
    """Return how many clusters there are, and where they come from."""
    off = argument("clusters", None)
    why = f"by the source of their judgments ({off} turns that off)" if clusters.by_source else "as given"
    return f"{numbers.count(clusters.count, 'cluster')}, {why}"


def said_of_few(clusters: Clusters) -> list[str]:
    """Return the warning that there are too few clusters, if there are."""
    if clusters.count >= FEW_CLUSTERS:
        return []
    few = numbers.count(clusters.count, "cluster")
    return [f"{few} are few: intervals from fewer than {FEW_CLUSTERS} are rough"]
