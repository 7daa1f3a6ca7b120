"""Limits of a mean that a user sets: whether it keeps them, and whether it could miss them at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from retrieval_metrics.evaluation import mean_limit_wording as wording
from retrieval_metrics.evaluation.scores import Scores
from retrieval_metrics.evaluation.summary import independent_sums, mean_interval_of_sums
from retrieval_metrics.metrics.base.metric import Metric, as_metric
from retrieval_metrics.metrics.base.value_bounds import share_binary
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from retrieval_metrics.evaluation.scores import Record
    from retrieval_metrics.matching.judged_run import JudgedRun


# A mean that exceeds its ceiling by no more than this, the rounding of a sum, does not.
ROUNDING = 1e-12

CeilingOutcome: TypeAlias = Literal["passed", "above_ceiling", "not_checked"]


@dataclass(frozen=True, slots=True)
class CeilingCheck:
    """Whether the mean of a metric is at most what is allowed.

    Attributes:
        metric: The metric.
        outcome: A check that cannot fail has not passed.
        details: The numbers, or why it was not checked.
    """

    metric: str
    outcome: CeilingOutcome
    details: str

    @property
    def line(self) -> str:
        """The metric, the outcome and the numbers, in a line."""
        return wording.format_ceiling_check(self)


@dataclass(frozen=True, slots=True)
class CeilingNumbers:
    """The numbers that a ceiling is compared with.

    Attributes:
        total: The sum of the values.
        mean: Their mean.
        n_queries: How many queries have a value.
        upper: The one-sided upper end of the interval of the mean.
        level: The confidence level of that end.
        is_share: Whether every query is 0 or 1, so that the mean is a share of queries.
        ceiling: The largest that is allowed.
    """

    total: float
    mean: float
    n_queries: int
    upper: float
    level: float
    is_share: bool
    ceiling: float


def check_ceiling(
    record: Record, name: str | Metric, ceiling: float, level: float = 0.95, *, by_bound: bool = False
) -> CeilingCheck:
    """Compare the mean of a metric, or the upper end of its one-sided interval, with the largest that is allowed."""
    metric = as_metric(name)
    sums = record.sums("value", metric) or Sums.empty()
    judged = record.origin.judged if isinstance(record, Scores) and record.origin is not None else None
    if not sums.count:
        some_unanswered = judged is not None and judged.unanswered is not None
        return CeilingCheck(
            str(metric), "not_checked", wording.format_undefined(metric, some_unanswered=some_unanswered)
        )
    if judged is not None and _has_no_judged_document(judged) and not metric.definition.is_given:
        return CeilingCheck(str(metric), "not_checked", wording.NOTHING_JUDGED_CAME_BACK)
    # One-sided at a level is two-sided at twice the error.
    upper = mean_interval_of_sums(record, metric, independent_sums(record, metric), 2 * level - 1).high
    numbers = CeilingNumbers(
        total=sums.total,
        mean=sums.mean,
        n_queries=int(sums.count),
        upper=upper,
        level=level,
        is_share=share_binary(metric, sums, record.sums("two_valued", metric)) == 1,
        ceiling=ceiling,
    )
    compared = upper if by_bound else sums.mean
    if compared <= ceiling + ROUNDING:
        return CeilingCheck(str(metric), "passed", wording.format_ceiling_numbers(numbers))
    return CeilingCheck(str(metric), "above_ceiling", wording.format_missed_ceiling(numbers))


def _has_no_judged_document(judged: JudgedRun) -> bool:
    return judged.is_empty and len(judged.qrels.documents) > 0


def require_useful_bound(option: str, name: str | Metric, bound: float) -> None:
    """Refuse a bound of a mean, `at_most` or a floor, that every value passes or none can, by its side or its size."""
    metric = as_metric(name)
    low, high = metric.definition.bounds
    is_ceiling = option == "at_most"
    if not is_ceiling and not metric.definition.higher_is_better:
        raise ValueError(f"lower is better in {metric}, so a floor says nothing of it; bound it: at_most={{...}}")
    if low <= bound <= high:
        return
    is_above = bound > high
    consequence = "every value keeps" if is_above is is_ceiling else "no value can keep"
    raise ValueError(
        f"{option} of {metric} is {bound:g}, which {consequence}: its values are from {low:g} to {high:g}"
        f"{percentage_hint(bound, high)}"
    )


# Numbers from here on, where 1 is the most, look like percentages.
MIN_PERCENTAGE = 2
MAX_PERCENTAGE = 100


def percentage_hint(number: float, high: float) -> str:
    """Return what a number above 1 may mean, where 1 is the most: it looks like a percentage."""
    if high != 1 or not MIN_PERCENTAGE <= number <= MAX_PERCENTAGE:
        return ""
    return f"; {number / 100:g} may be meant"
