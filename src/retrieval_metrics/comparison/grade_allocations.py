"""Exact ends of NDCG for a query with many unjudged documents.

It is enough to know how many documents get each grade: then the ideal is known, and the value is largest if the
documents that are worth most to it get the highest grades.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from math import comb, log2
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from retrieval_metrics.comparison.partly_judged import PURPOSE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, FloatArray, IntArray, QueryId
    from retrieval_metrics.comparison.partly_judged import PartlyJudgedQuery
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric

    # A query with the one system whose mean, or the two systems whose difference, is bounded.
    BoundKey: TypeAlias = tuple[QueryId, *tuple[str, ...]]


# The largest number of ways to share out the grades that are tried for a query.
MAX_ALLOCATIONS = 2**16


def bound_ndcg(
    scores: Mapping[str, Scores], metric: Metric, queries: Sequence[PartlyJudgedQuery], grades: tuple[float, ...]
) -> dict[BoundKey, tuple[float, float]]:
    """Return the exact ends of NDCG for each system and pair of systems."""
    k = metric.k if isinstance(metric.k, int) else None
    system_groups: list[tuple[str, ...]] = [(system,) for system in scores]
    for system in scores:
        system_groups += [(system, baseline) for baseline in scores]
    bounds: dict[BoundKey, tuple[float, float]] = {}
    for partly_judged in queries:
        if comb(len(partly_judged.documents) + len(grades) - 1, len(grades) - 1) > MAX_ALLOCATIONS:
            continue
        discounts = _discounts_by_system(scores, partly_judged, k)
        allocations = _GradeAllocations(partly_judged, grades, k)
        for systems in system_groups:
            net_discounts = dict(discounts[systems[0]])
            if len(systems) > 1:
                for document, discount in discounts[systems[1]].items():
                    net_discounts[document] = net_discounts.get(document, 0.0) - discount
            bounds[partly_judged.query, *systems] = allocations.find_ends(net_discounts)
    return bounds


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
        self._ideals = [self._ideal(n_relevant, k), self._ideal(n_relevant + partly_judged.unretrieved_relevant, k)]

    def _ideal(self, n_relevant: IntArray, k: int | None) -> FloatArray:
        max_relevant = int(n_relevant.max(initial=0))
        cumulative_discounts = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, max_relevant + 2)))])
        within_cutoff = n_relevant if k is None else np.minimum(n_relevant, k)
        ideal: FloatArray = np.diff(cumulative_discounts[within_cutoff], axis=1, prepend=0.0) @ self._gains
        return ideal

    def find_ends(self, net_discounts: Mapping[DocumentId, float]) -> tuple[float, float]:
        """Return the least and the greatest value, given how much each document counts if it is relevant."""
        graded = self._partly_judged.graded.items()
        judged_gain = sum(net_discounts.get(document, 0.0) * max(grade, 0.0) for document, grade in graded)
        discounts = np.sort([net_discounts.get(document, 0.0) for document in self._partly_judged.documents])
        low = judged_gain + self._allocated_gain(discounts)
        high = judged_gain + self._allocated_gain(discounts[::-1])
        lowest = []
        highest = []
        for ideal in self._ideals:
            divisor = np.where(ideal > 0, ideal, np.inf)
            lowest.append(float((low / divisor).min()))
            highest.append(float((high / divisor).max()))
        return min(lowest), max(highest)

    def _allocated_gain(self, discounts: FloatArray) -> FloatArray:
        """Return the gain of each allocation if the documents get the highest grades in this order."""
        cumulative = np.concatenate([[0.0], discounts.cumsum()])
        gain: FloatArray = np.diff(cumulative[self._n_at_least], axis=1, prepend=0.0) @ self._gains
        return gain


@cache
def _list_allocations(n_documents: int, n_grades: int) -> IntArray:
    """Return how many documents have at least each grade, the highest first, in every way; shape (ways, grades)."""
    return np.array(list(combinations_with_replacement(range(n_documents + 1), n_grades)), dtype=np.int64)
