"""Estimate how much the best of several systems is overrated because it was chosen for its mean."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray

# With fewer systems the bias is too small to be seen.
MIN_SYSTEMS = 5
MAX_RESAMPLES = 2_000
MIN_RESAMPLES = 200
# Limits the time for many queries: fewer resamples are drawn, never fewer than MIN_RESAMPLES.
MAX_DRAWS = 2_000_000


class SelectionBias(NamedTuple):
    """The best mean of several systems, and the mean to expect of the best on new questions.

    Attributes:
        metric: The metric.
        system: The system with the best mean.
        n_systems: The number of systems from which it was chosen.
        observed: Its mean on these questions.
        expected: The mean on new questions of a system that is chosen in the same way, estimated as in `rm.tune`.
        sign: 1 where higher is better, else -1.
    """

    metric: str
    system: str
    n_systems: int
    observed: float
    expected: float
    sign: int = 1

    @property
    def is_optimistic(self) -> bool:
        """Whether the observed mean is better than the expected one; with few questions, it may be worse."""
        return self.sign * (self.observed - self.expected) > 0


class MetricOfSystems(NamedTuple):
    """The values of several systems in one metric.

    Attributes:
        metric: The metric.
        values: Shape (queries, systems).
        sign: 1 where higher is better, else -1.
    """

    metric: str
    values: FloatArray
    sign: int = 1


def estimate_selection_bias(
    metrics: Sequence[MetricOfSystems], systems: Sequence[str], clusters: IntArray | None
) -> list[SelectionBias]:
    """Return the selection bias of the best system of each metric; empty for few systems, or without queries.

    Args:
        metrics: The metrics, with values of the same queries.
        systems: The names of the systems.
        clusters: Shape (queries,), the cluster of each query; None if queries are independent.
    """
    if len(systems) < MIN_SYSTEMS or not metrics or not metrics[0].values.size:
        return []
    # Imported here because few comparisons have so many systems.
    from retrieval_metrics.statistics.out_of_bag import out_of_bag_of_tables

    gains = [metric.sign * metric.values for metric in metrics]
    best_systems = [int(gain.mean(axis=0).argmax()) for gain in gains]
    resamples = min(MAX_RESAMPLES, max(MAX_DRAWS // len(gains[0]), MIN_RESAMPLES))
    estimates = out_of_bag_of_tables(gains, best_systems, clusters=clusters, resamples=resamples)
    biases = []
    for metric, gain, best, estimate in zip(metrics, gains, best_systems, estimates, strict=True):
        if isnan(estimate.mean):
            continue
        observed = metric.sign * float(gain[:, best].mean())
        expected = metric.sign * estimate.mean
        biases.append(SelectionBias(metric.metric, systems[best], len(systems), observed, expected, metric.sign))
    return biases
