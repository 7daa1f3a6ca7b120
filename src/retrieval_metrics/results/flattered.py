"""How much the best of several systems is flattered by being chosen for its mean."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.presentation import numbers
from retrieval_metrics.statistics.chosen_settings import out_of_bag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.checks import FloatArray, IntArray

MANY = 5
"""From so many systems on, the best is expected to be visibly lucky."""
NAMED = 4
RESAMPLES, NUMBERS = 2_000, 2_000_000
"""The number of resamples, and of draws in all, which limits it for many queries."""


class Flattered(NamedTuple):
    """The best mean of several systems, and what choosing by it is worth on new questions.

    Attributes:
        metric: The metric.
        system: The system with the best mean.
        systems: From how many it was chosen.
        mean: Its mean on these questions.
        worth: The mean, on new questions, of what is chosen as it was; see `rm.tune`, whose estimator this is.
    """

    metric: str
    system: str
    systems: int
    mean: float
    worth: float


def flattered(
    metric: str, systems: Sequence[str], columns: FloatArray, sign: int, clusters: IntArray | None
) -> Flattered | None:
    """Return how much the best of several systems is flattered; None for few systems, or without queries.

    Args:
        metric: The metric.
        systems: The systems.
        columns: Their values, shape (systems, queries).
        sign: -1 where lower is better.
        clusters: The cluster of each query; None if queries are independent.
    """
    if len(systems) < MANY or not columns.size:
        return None
    values = sign * columns.T
    best = int(values.mean(axis=0).argmax())
    resamples = min(RESAMPLES, max(NUMBERS // len(values), RESAMPLES // 10))
    found = out_of_bag(values, best, clusters=clusters, resamples=resamples)
    if isnan(found.mean):
        return None
    return Flattered(metric, systems[best], len(systems), sign * float(values[:, best].mean()), sign * found.mean)


def said_of_flattery(found: Sequence[Flattered]) -> list[str]:
    """Return in a sentence what the best are worth on new questions, of all metrics in which that can be seen."""
    seen = [one for one in found if numbers.value(one.mean) != numbers.value(one.worth)]
    if not seen:
        return []
    each = [
        f"about {numbers.value(one.worth)} in {one.metric} ({one.system} has {numbers.value(one.mean)} here)"
        for one in seen
    ]
    said = numbers.listed(each, most=NAMED)
    return [f"The best of {seen[0].systems} systems is flattered by the choice: on new questions, expect {said}."]
