"""A metric over its cut-off: what is gained by longer lists of results?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.judging.budget import Budget
from retrieval_metrics.results.clustered import clustered_sums
from retrieval_metrics.results.summary import LEVEL, interval_of
from retrieval_metrics.scoring.metric import Metric, as_metric
from retrieval_metrics.scoring.score import score
from retrieval_metrics.statistics.means import Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.statistics import Interval

EVERY_CUTOFF = 20
"""Every k up to here is used; beyond it steps grow with k, because metrics change less and less."""
STEPS_PER_DOUBLING = 8
FEWEST = 10
STEPS_TO_BUDGET = 6
"""Budgets are taken in this many equal steps up to the one asked for, and as many beyond."""


def over_cutoffs(scores: Scores, metric: str | Metric, cutoffs: Sequence[int] | None = None) -> dict[int, float]:
    """Return the mean of a metric at several cut-offs; see `Evaluation.over_cutoffs`."""
    chosen = as_metric(metric)
    if not chosen.definition.takes_cutoff:
        raise ValueError(f"{chosen} takes no cut-off; {chosen.definition.summary}")
    ks = usual_cutoffs([scores], chosen) if cutoffs is None else [positive_integer(k, "a cut-off") for k in cutoffs]
    return {k: Sums.of_defined(_values(scores, _cut(chosen, k))).mean for k in ks}


def unit_of(metric: Metric) -> str:
    """Return what the cut-off of a metric counts: `k` documents, `characters` or `tokens`."""
    if isinstance(metric.k, Budget):
        return "characters" if metric.k.unit == "chars" else metric.k.unit
    return "k"


def size_of(metric: Metric) -> int | None:
    """Return the cut-off of a metric in its unit; None if it has none."""
    return metric.k.size if isinstance(metric.k, Budget) else metric.k


def _cut(metric: Metric, size: int) -> Metric:
    """Return the metric with another cut-off in the same unit."""
    k = Budget(size, metric.k.unit) if isinstance(metric.k, Budget) else size
    return Metric(metric.name, k, metric.parameters)


def with_intervals(
    scores: Scores, metric: Metric, cutoffs: Sequence[int], level: float = LEVEL
) -> tuple[dict[int, float], dict[int, Interval]]:
    """Return the mean of a metric at each of several cut-offs, and its confidence interval."""
    means, intervals = {}, {}
    for k in cutoffs:
        cut = _cut(metric, k)
        values = _values(scores, cut)
        sums = Sums.of_defined(values)
        means[k] = sums.mean
        of_clusters = sums if scores.labels is None else clustered_sums(values, scores.labels)
        intervals[k] = interval_of(scores, cut, of_clusters, level)
    return means, intervals


def _values(scores: Scores, metric: Metric) -> FloatArray:
    judged = scores.needed_origin("scored at other cut-offs").judged
    return score(judged, metric, scores.rules).values[scores.positions]


def usual_cutoffs(every: Sequence[Scores], metric: Metric) -> list[int]:
    """Return 1, 2, 3 and so on, to twice the largest cut-off of the metrics, no further than the longest ranking.

    Of a metric with a budget, equal steps to twice that budget.
    """
    if isinstance(metric.k, Budget):
        steps = range(1, 2 * STEPS_TO_BUDGET + 1)
        return list(dict.fromkeys(max(1, round(metric.k.size * step / STEPS_TO_BUDGET)) for step in steps))
    asked = max((metric.k for one in every for metric in one.metrics if isinstance(metric.k, int)), default=0)
    longest = max(int(one.needed_origin("scored at other cut-offs").judged.n_retrieved.max(initial=1)) for one in every)
    last = max(1, min(longest, max(2 * asked, FEWEST)))
    ks = list(range(1, min(last, EVERY_CUTOFF) + 1))
    while ks[-1] < last:
        ks.append(min(last, max(ks[-1] + 1, round(ks[-1] * 2 ** (1 / STEPS_PER_DOUBLING)))))
    return ks
