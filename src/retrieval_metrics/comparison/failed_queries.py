"""Find on how many queries the retrievers of compared systems failed, and what is left of a difference without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.evaluation.empty_rankings import find_treatment

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.evaluation.empty_rankings import Treatment
    from retrieval_metrics.evaluation.scores import Scores


@dataclass(frozen=True, slots=True)
class FailedQueries:
    """On how many queries the retriever of a system failed.

    Attributes:
        n_failed: How many queries these are.
        n_queries: How many queries the system was evaluated on.
        treatment: What a failed query scores; None if only given metrics, which have their own values, are compared.
    """

    n_failed: int
    n_queries: int
    treatment: Treatment | None


@dataclass(frozen=True, slots=True)
class DifferenceWithoutFailures:
    """What is left of a difference without the queries on which one of the two retrievers failed.

    Attributes:
        n: The number of queries that are left.
        mean: The mean difference on these, system minus baseline; NaN if none is left.
    """

    n: int
    mean: float


def group_by_failures(scores_by_system: Mapping[str, Scores]) -> dict[FailedQueries, list[str]]:
    """Return the systems whose retriever failed on some queries; those that failed alike are together."""
    systems_by_failures: dict[FailedQueries, list[str]] = {}
    for system, scores in scores_by_system.items():
        n_failed = scores.counts["failed"]
        if n_failed:
            # Given metrics, such as the losses of stages, have values of their own for a failed query.
            has_own_metrics = any(not metric.definition.is_given for metric in scores.metrics)
            treatment = find_treatment(scores.metrics, scores.rules) if has_own_metrics else None
            failures = FailedQueries(n_failed, scores.counts["queries"], treatment)
            systems_by_failures.setdefault(failures, []).append(system)
    return systems_by_failures


def measure_without_failures(
    difference: Difference, failed_queries: Collection[QueryId]
) -> DifferenceWithoutFailures | None:
    """Return the mean difference on the other queries; None if no query of the difference is among the failed ones."""
    is_left = np.array([query not in failed_queries for query in difference.queries], dtype=np.bool_)
    n_left = int(np.count_nonzero(is_left))
    if n_left == len(is_left):
        return None
    mean = float("nan")
    if n_left:
        mean = float(difference.values[is_left].mean())
    return DifferenceWithoutFailures(n_left, mean)
