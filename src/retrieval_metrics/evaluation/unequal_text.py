"""Find systems that have unequal amounts of text within the same number of results."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.evaluation import budget_wording as wording
from retrieval_metrics.evaluation.budget_coverage import (
    MIN_UNEQUAL_RATIO,
    BudgetUse,
    find_common_budget,
    find_query_fills,
    measure_covered_length,
)
from retrieval_metrics.evaluation.unequal_depth import find_unequal_depth
from retrieval_metrics.metrics.base.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.matching.budget import Budget


# No run has as much text as this.
UNLIMITED = np.iinfo(np.int64).max // 2


class UnequalText(NamedTuple):
    """The first k results of two systems, which hold unequal amounts of text.

    Attributes:
        k: The cutoff.
        shortest: The system whose results hold the least text.
        longest: The system whose results hold the most.
        shortest_length: The mean number of characters of the first k results of `shortest`.
        longest_length: The mean number of characters of the first k results of `longest`.
        fair_metric: A computed metric that compares equal amounts; None if there is none.
        suggested_metric: A metric that would compare equal amounts; None if there is none or `fair_metric` is set.
    """

    k: int
    shortest: str
    longest: str
    shortest_length: float
    longest_length: float
    fair_metric: str | None
    suggested_metric: Metric | None


def describe_unequal_text(
    scores_by_system: Mapping[str, Scores], metrics: Sequence[Metric], budgets: Sequence[BudgetUse]
) -> str:
    """Describe in a sentence the unequal amounts of text in the first k results; empty if they are equal or unknown."""
    unequal_text = find_unequal_text(scores_by_system, metrics, budgets)
    return "" if unequal_text is None else wording.format_unequal_text(unequal_text)


def find_unequal_text(
    scores_by_system: Mapping[str, Scores], metrics: Sequence[Metric], budgets: Sequence[BudgetUse]
) -> UnequalText | None:
    """Return the systems with the least and the most text among the first k; None if they are equal or unknown.

    None too if a system has fewer results than the others: then its depth is the reason, see `find_unequal_depth`.
    """
    metric = _find_first_with_number(metrics)
    if metric is None or not isinstance(metric.k, int):
        return None
    mean_lengths = _measure_mean_lengths(scores_by_system, metric.k)
    if mean_lengths is None:
        return None
    shortest = min(mean_lengths, key=mean_lengths.__getitem__)
    longest = max(mean_lengths, key=mean_lengths.__getitem__)
    shortest_length = mean_lengths[shortest]
    longest_length = mean_lengths[longest]
    if longest_length <= MIN_UNEQUAL_RATIO * shortest_length:
        return None
    unequal_depth = find_unequal_depth(scores_by_system, metrics)
    if unequal_depth is not None and unequal_depth.shallow == shortest:
        result_lengths = _measure_mean_lengths(scores_by_system, 1)
        if result_lengths is None or max(result_lengths.values()) <= MIN_UNEQUAL_RATIO * min(result_lengths.values()):
            return None
    fair_metrics = [name for use in budgets if use.is_fair for name in use.metrics]
    fair_metric = fair_metrics[0] if fair_metrics else None
    suggested_metric = None
    if fair_metric is None:
        budget = _find_budget_between(scores_by_system, shortest_length, longest_length)
        # Within less than one typical result, most rankings would be cut to nothing.
        result_lengths = _measure_mean_lengths(scores_by_system, 1) or {}
        if budget is not None and budget.size >= max(result_lengths.values(), default=0.0):
            suggested_metric = Metric(metric.name, budget, **dict(metric.parameters))
    return UnequalText(metric.k, shortest, longest, shortest_length, longest_length, fair_metric, suggested_metric)


def _find_first_with_number(metrics: Sequence[Metric]) -> Metric | None:
    for metric in metrics:
        if isinstance(metric.k, int):
            return metric
    return None


def _measure_mean_lengths(scores_by_system: Mapping[str, Scores], k: int) -> dict[str, float] | None:
    """Return the mean number of characters of the first k results by system; None if one of them is unknown."""
    for scores in scores_by_system.values():
        if scores.origin is None or scores.origin.judged.lengths is None:
            return None
    mean_lengths = {}
    for system, scores in scores_by_system.items():
        lengths = scores.require_origin("measured").judged.lengths
        first_lengths = None if lengths is None else lengths.first_lengths(k, scores.queries)
        if not first_lengths:
            return None
        mean_lengths[system] = float(np.mean(first_lengths))
    return mean_lengths


def _find_budget_between(
    scores_by_system: Mapping[str, Scores], shortest_length: float, longest_length: float
) -> Budget | None:
    """Return a budget at which the systems can be compared with what was retrieved; None if there is none."""
    # Imported here because only unequal amounts of text need it.
    from retrieval_metrics.matching.budget import Budget

    # Room for some of the larger chunks and not for everything; if that fails, all that every system retrieved.
    for size in (sqrt(shortest_length * longest_length), float(UNLIMITED)):
        budget = Budget(max(1, round(size)), "chars")
        query_fills = find_query_fills(scores_by_system, budget)
        covered_length = min(measure_covered_length(fills, budget) for fills in query_fills.values())
        common_budget = find_common_budget(scores_by_system, covered_length, budget)
        if common_budget is not None:
            return common_budget
    return None
