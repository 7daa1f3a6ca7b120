"""Define the bounds of means and differences over all grades of the unjudged documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval_metrics.files.record_classes import register_record
from retrieval_metrics.metrics.base.metric import as_metric
from retrieval_metrics.statistics.paired import is_significant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.statistics import Interval


@register_record
@dataclass(frozen=True, slots=True)
class UnjudgedBounds:
    """The bounds of means and differences over all possible grades of the unjudged documents.

    Attributes:
        depths: Per metric, among how many first documents of each compared run the unjudged ones are graded: its
            cutoff, or None for the whole ranking. All other unjudged documents count as not relevant, as usual.
        grades: The grades that each of them can have: 0, and those that occur in the judgments; forbidden ones only if
            a metric looks for forbidden documents.
        unretrieved_relevant: The largest number of further relevant documents per query, neither judged nor retrieved,
            that the bounds allow for.
        means: Per metric and system, the least and the greatest mean.
        differences: Per metric, system and baseline, the least and the greatest mean difference. A document has one
            grade in both systems.
        p_values: Per metric, system and baseline, the corrected p value if every query had its least difference, and if
            every query had its greatest. No other grades give a smaller p value in the same direction.
        queries: Per metric, how many queries have documents of unknown grade.
        outer: Per metric, how many of these queries have too many combinations of grades to try. Their values are taken
            as anything from 0 to 1, so the bounds hold but may be wider than necessary.
    """

    depths: Mapping[str, int | None]
    grades: tuple[float, ...]
    unretrieved_relevant: int
    means: Mapping[str, Mapping[str, Interval]]
    differences: Mapping[tuple[str, str, str], Interval]
    p_values: Mapping[tuple[str, str, str], tuple[float, float]]
    queries: Mapping[str, int]
    outer: Mapping[str, int]

    def grades_of(self, metric: str) -> tuple[float, ...]:
        """Return the grades that count for a metric; a forbidden document is not relevant where none is looked for."""
        if as_metric(metric).definition.higher_is_better:
            return tuple(grade for grade in self.grades if grade >= 0)
        return self.grades

    @property
    def exact(self) -> bool:
        """Whether the bounds are exact, that is, can be reached."""
        return not any(self.outer.values())


@dataclass(frozen=True, slots=True)
class DifferenceBounds:
    """The bounds of one difference over all possible grades of the unjudged documents.

    Attributes:
        interval: The least and the greatest mean difference.
        depth: Among how many first documents the unjudged ones are graded; None for the whole ranking.
        unretrieved_relevant: For how many further relevant documents per query the bounds allow.
        n_queries: How many queries have documents of unknown grade.
        changes_conclusion: Whether some of these grades would give another conclusion.
        max_difference: The largest difference that any grades allow; the judged ones may allow only a smaller one.
    """

    interval: Interval
    depth: int | None
    unretrieved_relevant: int
    n_queries: int
    changes_conclusion: bool
    max_difference: float


def bound_difference(difference: Difference, bounds: UnjudgedBounds, level: float) -> DifferenceBounds:
    """Return the bounds of a difference, and whether other grades could change what is concluded from it."""
    metric = difference.metric
    low, high = as_metric(metric).definition.bounds
    return DifferenceBounds(
        interval=bounds.differences[metric, *difference.pair],
        depth=bounds.depths[metric],
        unretrieved_relevant=bounds.unretrieved_relevant,
        n_queries=bounds.queries[metric],
        changes_conclusion=_can_change_conclusion(difference, bounds, level),
        max_difference=high - low,
    )


def _can_change_conclusion(difference: Difference, bounds: UnjudgedBounds, level: float) -> bool:
    """Return whether, with other grades, a significant difference could vanish, or one could appear."""
    key = (difference.metric, *difference.pair)
    interval = bounds.differences[key]
    p_if_low, p_if_high = bounds.p_values[key]
    is_low_significant = is_significant(min(p_if_low * difference.selected_from, 1.0), level)
    is_high_significant = is_significant(min(p_if_high * difference.selected_from, 1.0), level)
    # No other grades give a smaller p value in the same direction, so the two ends are enough.
    if not difference.significant or difference.identical:
        could_be_worse = interval.low < 0 and is_low_significant
        could_be_better = interval.high > 0 and is_high_significant
        return could_be_worse or could_be_better
    if difference.mean > 0:
        return not (interval.low > 0 and is_low_significant)
    return not (interval.high < 0 and is_high_significant)
