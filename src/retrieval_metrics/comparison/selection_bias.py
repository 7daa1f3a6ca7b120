"""Estimate how much the best of several systems is overrated because it was chosen for its mean."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.statistics.out_of_bag import out_of_bag

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


def estimate_selection_bias(
    metric: str, systems: Sequence[str], values: FloatArray, sign: int, clusters: IntArray | None
) -> SelectionBias | None:
    """Return the selection bias of the best system; None for few systems, or without queries.

    Args:
        metric: The metric.
        systems: The names of the systems.
        values: Shape (systems, queries).
        sign: 1 where higher is better, else -1.
        clusters: Shape (queries,), the cluster of each query; None if queries are independent.
    """
    if len(systems) < MIN_SYSTEMS or not values.size:
        return None
    gains = sign * values.T
    best = int(gains.mean(axis=0).argmax())
    resamples = min(MAX_RESAMPLES, max(MAX_DRAWS // len(gains), MIN_RESAMPLES))
    estimate = out_of_bag(gains, best, clusters=clusters, resamples=resamples)
    if isnan(estimate.mean):
        return None
    observed = sign * float(gains[:, best].mean())
    return SelectionBias(metric, systems[best], len(systems), observed, sign * estimate.mean, sign)
