"""Compute a metric at several cutoffs, to show what longer lists of results gain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.evaluation.summary import LEVEL, mean_interval_of_sums, sum_clustered_values
from retrieval_metrics.matching.budget import Budget
from retrieval_metrics.metrics.base.metric import Metric, as_metric
from retrieval_metrics.metrics.base.score import score
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.statistics import Interval


# Every k up to this one is used; beyond it steps grow with k, because metrics change less and less.
MAX_UNIT_STEP_CUTOFF = 20
STEPS_PER_DOUBLING = 8
# Cutoffs reach at least this far, if the rankings do.
MIN_LAST_CUTOFF = 10
# Budgets are taken in this many equal steps up to the budget of the metric, and as many beyond it.
STEPS_TO_BUDGET = 6


def mean_by_cutoff(scores: Scores, metric: str | Metric, cutoffs: Sequence[int] | None = None) -> dict[int, float]:
    """Return the mean of a metric at several cutoffs; see `Evaluation.at_cutoffs`."""
    parsed_metric = as_metric(metric)
    if not parsed_metric.definition.takes_cutoff:
        raise ValueError(f"{parsed_metric} takes no cutoff; {parsed_metric.definition.summary}")
    if cutoffs is None:
        checked_cutoffs = choose_cutoffs([scores], parsed_metric)
    else:
        checked_cutoffs = [positive_integer(cutoff, "a cutoff") for cutoff in cutoffs]
    mean_by_k = {}
    for cutoff in checked_cutoffs:
        values = _score_values(scores, _with_cutoff(parsed_metric, cutoff))
        mean_by_k[cutoff] = Sums.from_defined_values(values).mean
    return mean_by_k


def means_and_intervals(
    scores: Scores, metric: Metric, cutoffs: Sequence[int], level: float = LEVEL
) -> tuple[dict[int, float], dict[int, Interval]]:
    """Return the mean of a metric at each of several cutoffs, and its confidence interval."""
    means = {}
    intervals = {}
    for cutoff in cutoffs:
        metric_at_cutoff = _with_cutoff(metric, cutoff)
        values = _score_values(scores, metric_at_cutoff)
        sums = Sums.from_defined_values(values)
        means[cutoff] = sums.mean
        if scores.labels is not None:
            sums = sum_clustered_values(values, scores.labels)
        intervals[cutoff] = mean_interval_of_sums(scores, metric_at_cutoff, sums, level)
    return means, intervals


def cutoff_unit(metric: Metric) -> str:
    """Return what the cutoff of a metric counts: `k` documents, `characters` or `tokens`."""
    if not isinstance(metric.k, Budget):
        return "k"
    return "characters" if metric.k.unit == "chars" else metric.k.unit


def cutoff_size(metric: Metric) -> int | None:
    """Return the cutoff of a metric in its unit; None if it has none."""
    return metric.k.size if isinstance(metric.k, Budget) else metric.k


def choose_cutoffs(systems: Sequence[Scores], metric: Metric) -> list[int]:
    """Return the cutoffs at which to compute a metric, in its unit.

    These are 1, 2, 3 and so on, up to twice the largest cutoff of the metrics but no further than the longest ranking;
    for a budget, equal steps up to twice its size.
    """
    if isinstance(metric.k, Budget):
        return _budget_sizes(metric.k.size)
    largest_cutoff = 0
    longest_ranking = 1
    for scores in systems:
        for scored_metric in scores.metrics:
            if isinstance(scored_metric.k, int):
                largest_cutoff = max(largest_cutoff, scored_metric.k)
        n_retrieved = scores.require_origin("scored at other cutoffs").judged.n_retrieved
        longest_ranking = max(longest_ranking, int(n_retrieved.max(initial=1)))
    last = max(1, min(longest_ranking, max(2 * largest_cutoff, MIN_LAST_CUTOFF)))
    cutoffs = list(range(1, min(last, MAX_UNIT_STEP_CUTOFF) + 1))
    while cutoffs[-1] < last:
        next_cutoff = max(cutoffs[-1] + 1, round(cutoffs[-1] * 2 ** (1 / STEPS_PER_DOUBLING)))
        cutoffs.append(min(last, next_cutoff))
    return cutoffs


def _budget_sizes(size: int) -> list[int]:
    """Return sizes of budgets in equal steps, up to twice the size, each once."""
    sizes: dict[int, None] = {}
    for step in range(1, 2 * STEPS_TO_BUDGET + 1):
        sizes[max(1, round(size * step / STEPS_TO_BUDGET))] = None
    return list(sizes)


def _with_cutoff(metric: Metric, size: int) -> Metric:
    """Return the metric with another cutoff in the same unit."""
    k = Budget(size, metric.k.unit) if isinstance(metric.k, Budget) else size
    return Metric(metric.name, k, **dict(metric.parameters))


def _score_values(scores: Scores, metric: Metric) -> FloatArray:
    judged = scores.require_origin("scored at other cutoffs").judged
    return score(judged, metric, scores.rules).values[scores.positions]
