"""Bound NDCG exactly for a query with many unjudged documents.

Not every way to grade the documents has to be tried, only every number of documents with each grade. The numbers give
the ideal, and NDCG is largest if the documents with the largest discounts get the highest grades.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb, log2
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.comparison.partly_judged import PURPOSE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, FloatArray, IntArray, QueryId
    from retrieval_metrics.comparison.partly_judged import PartlyJudgedQuery
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric

# The largest number of ways to share out the grades that are tried for a query.
MAX_ALLOCATIONS = 2**16


@dataclass(frozen=True, slots=True)
class BoundedValue:
    """What is bounded in a query: the value of one system, or the difference of two."""

    query: QueryId
    systems: tuple[str, ...]


class ValueRange(NamedTuple):
    """The smallest and the largest value that a query can have."""

    low: float
    high: float


def bound_ndcg(
    scores: Mapping[str, Scores],
    metric: Metric,
    partly_judged_queries: Sequence[PartlyJudgedQuery],
    grades: tuple[float, ...],
) -> dict[BoundedValue, ValueRange]:
    """Return the exact range of NDCG of each system, and of the difference of each two systems.

    Queries with more than `MAX_ALLOCATIONS` ways to share out the grades are left out.
    """
    k = metric.k if isinstance(metric.k, int) else None
    ranges: dict[BoundedValue, ValueRange] = {}
    for partly_judged in partly_judged_queries:
        n_allocations = comb(len(partly_judged.documents) + len(grades) - 1, len(grades) - 1)
        if n_allocations > MAX_ALLOCATIONS:
            continue
        discounts = _discounts_by_system(scores, partly_judged, k)
        allocations = _GradeAllocations(partly_judged, grades, k)
        for system, system_discounts in discounts.items():
            ranges[BoundedValue(partly_judged.query, (system,))] = allocations.find_range(system_discounts)
            for baseline, baseline_discounts in discounts.items():
                net_discounts = _subtract(system_discounts, baseline_discounts)
                ranges[BoundedValue(partly_judged.query, (system, baseline))] = allocations.find_range(net_discounts)
    return ranges


def _subtract(
    discounts: Mapping[DocumentId, float], baseline_discounts: Mapping[DocumentId, float]
) -> dict[DocumentId, float]:
    """Return how much more each document counts in a system than in its baseline."""
    net_discounts = dict(discounts)
    for document, discount in baseline_discounts.items():
        net_discounts[document] = net_discounts.get(document, 0.0) - discount
    return net_discounts


def _discounts_by_system(
    scores: Mapping[str, Scores], partly_judged: PartlyJudgedQuery, k: int | None
) -> dict[str, dict[DocumentId, float]]:
    """Return how much the rank of each document counts in each system."""
    discounts = {}
    for system, system_scores in scores.items():
        ids = system_scores.rankings(PURPOSE).ids(partly_judged.rankings[system])[:k]
        by_document: dict[DocumentId, float] = {}
        for rank, document in enumerate(ids, start=1):
            by_document.setdefault(document, 1 / log2(rank + 1))  # a duplicate counts at its first rank
        discounts[system] = by_document
    return discounts


class _GradeAllocations:
    """The ways to share out the grades among the unjudged documents of a query."""

    def __init__(self, partly_judged: PartlyJudgedQuery, grades: tuple[float, ...], k: int | None) -> None:
        self._partly_judged = partly_judged
        self._gains = np.array(grades[:0:-1])  # the highest first, without 0
        self._n_at_least = _list_allocations(len(partly_judged.documents), len(self._gains))
        n_judged = [sum(grade >= gain for grade in partly_judged.graded.values()) for gain in self._gains]
        n_relevant = self._n_at_least + np.array(n_judged)
        # Relevant documents that nobody retrieved change only the ideal: it is largest if all have the highest grade.
        self._ideals = [
            self._compute_ideals(n_relevant, k),
            self._compute_ideals(n_relevant + partly_judged.unretrieved_relevant, k),
        ]

    def _compute_ideals(self, n_relevant: IntArray, k: int | None) -> FloatArray:
        """Return the ideal of each allocation, given how many documents have at least each grade."""
        max_relevant = int(n_relevant.max(initial=0))
        cumulative_discounts = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, max_relevant + 2)))])
        within_cutoff = n_relevant if k is None else np.minimum(n_relevant, k)
        ideals: FloatArray = np.diff(cumulative_discounts[within_cutoff], axis=1, prepend=0.0) @ self._gains
        return ideals

    def find_range(self, net_discounts: Mapping[DocumentId, float]) -> ValueRange:
        """Return the smallest and the largest value, given how much each document counts if it is relevant."""
        graded = self._partly_judged.graded.items()
        judged_gain = sum(net_discounts.get(document, 0.0) * max(grade, 0.0) for document, grade in graded)
        discounts = np.sort([net_discounts.get(document, 0.0) for document in self._partly_judged.documents])
        smallest_gains = judged_gain + self._allocated_gains(discounts)
        largest_gains = judged_gain + self._allocated_gains(discounts[::-1])
        smallest_values = []
        largest_values = []
        for ideals in self._ideals:
            divisors = np.where(ideals > 0, ideals, np.inf)
            smallest_values.append(float((smallest_gains / divisors).min()))
            largest_values.append(float((largest_gains / divisors).max()))
        return ValueRange(min(smallest_values), max(largest_values))

    def _allocated_gains(self, discounts: FloatArray) -> FloatArray:
        """Return the gain of each allocation if the documents get the highest grades in this order."""
        cumulative = np.concatenate([[0.0], discounts.cumsum()])
        gains: FloatArray = np.diff(cumulative[self._n_at_least], axis=1, prepend=0.0) @ self._gains
        return gains


@cache
def _list_allocations(n_documents: int, n_grades: int) -> IntArray:
    """Return how many documents have at least each grade, the highest first; shape (allocations, grades)."""
    return np.array(list(combinations_with_replacement(range(n_documents + 1), n_grades)), dtype=np.int64)
