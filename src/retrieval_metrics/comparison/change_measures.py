"""Read the names of the measures that compare two rankings without judgments, such as `overlap@10` and `rbo`."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.comparison.change_bounds import bound_change, require_known_bounds
from retrieval_metrics.comparison.rank_biased_overlap import RBO_PERSISTENCE, rank_biased_overlap
from retrieval_metrics.comparison.ranking_overlap import overlap
from retrieval_metrics.metrics.base.metric import as_metric

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics.comparison.distinct_ranking import DistinctRanking
    from retrieval_metrics.metrics.base.metric import Metric


MAX_LOSS = "max_loss"
MAX_GAIN = "max_gain"
_OVERLAP = lazy_pattern(r"overlap@([1-9]\d*)")
_RBO = lazy_pattern(r"rbo(?:\(p=([-\d.]+)\))?")
_BOUND = lazy_pattern(rf"(?P<side>{MAX_LOSS}|{MAX_GAIN})\((?P<metric>.+)\)")


class ChangeMeasure(NamedTuple):
    """A measure of two rankings.

    Attributes:
        columns: The names of its values. A metric that needs judgments has two, the most that it can have lost and
            gained: `max_loss(ndcg@10)` and `max_gain(ndcg@10)`.
        compute: Returns the values of two rankings, before and after.
        k: The number of ranks that it looks at; None for all.
    """

    columns: tuple[str, ...]
    compute: Callable[[DistinctRanking, DistinctRanking], tuple[float, ...]]
    k: int | None


def as_change_measure(name: str | Metric, tolerance: float = 0.0) -> ChangeMeasure:
    """Return the measure with a name: `overlap@k`, `rbo`, a metric such as `ndcg@10`, or one bound of its change."""
    text = str(name).strip()
    overlap_match = _OVERLAP.fullmatch(text)
    if overlap_match is not None:
        return _overlap_measure(text, int(overlap_match[1]), tolerance)
    rbo_match = _RBO.fullmatch(text)
    if rbo_match is not None:
        return _rbo_measure(float(rbo_match[1] or RBO_PERSISTENCE))
    if re.match(r"overlap|rbo", text):
        raise ValueError(f"{text!r} must be written overlap@10, or rbo or rbo(p=0.8), which cover every rank")
    bound_match = _BOUND.fullmatch(text)
    if bound_match is None:
        return _bounds_measure(as_metric(name))
    return _select_bound(_bounds_measure(as_metric(bound_match["metric"])), bound_match["side"])


# The functions of measures stand at the top level, where pickle finds them.


def _overlap_measure(column: str, k: int, tolerance: float) -> ChangeMeasure:
    return ChangeMeasure((column,), partial(_compute_overlap, k=k, tolerance=tolerance), k)


def _compute_overlap(before: DistinctRanking, after: DistinctRanking, *, k: int, tolerance: float) -> tuple[float, ...]:
    return (overlap(before, after, k, tolerance),)


def _rbo_measure(p: float) -> ChangeMeasure:
    if not 0 < p < 1:
        raise ValueError(f"p of rbo must be between 0 and 1, got {p:g}")
    column = "rbo" if p == RBO_PERSISTENCE else f"rbo(p={p:g})"
    return ChangeMeasure((column,), partial(_compute_rbo, p=p), None)


def _compute_rbo(before: DistinctRanking, after: DistinctRanking, *, p: float) -> tuple[float, ...]:
    return (rank_biased_overlap(before, after, p),)


def _bounds_measure(metric: Metric) -> ChangeMeasure:
    require_known_bounds(metric)
    k = metric.k if isinstance(metric.k, int) else None
    compute = partial(_compute_bounds, name=metric.name, k=k)
    return ChangeMeasure((f"{MAX_LOSS}({metric})", f"{MAX_GAIN}({metric})"), compute, k)


def _compute_bounds(before: DistinctRanking, after: DistinctRanking, *, name: str, k: int | None) -> tuple[float, ...]:
    return bound_change(before, after, name, k)


def _select_bound(bounds: ChangeMeasure, side: str) -> ChangeMeasure:
    """Return one side of a measure with two bounds, `MAX_LOSS` or `MAX_GAIN`."""
    position = (MAX_LOSS, MAX_GAIN).index(side)
    compute = partial(_compute_side, bounds=bounds, position=position)
    return ChangeMeasure((bounds.columns[position],), compute, bounds.k)


def _compute_side(
    before: DistinctRanking, after: DistinctRanking, *, bounds: ChangeMeasure, position: int
) -> tuple[float, ...]:
    return (bounds.compute(before, after)[position],)


def is_change_bound(column: str) -> bool:
    """Return whether a column is the most that a metric can have lost or gained."""
    return _BOUND.fullmatch(column) is not None
