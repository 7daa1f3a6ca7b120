"""Check whether the mean of a metric is at most the ceiling that a user set."""

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
    from retrieval_metrics.evaluation.totals import Record
    from retrieval_metrics.matching.judged_run import JudgedRun


# Rounding can lift a sum this far; a mean this little above its ceiling still passes.
ROUNDING = 1e-12

CeilingOutcome: TypeAlias = Literal["passed", "above_ceiling", "not_checked"]


@dataclass(frozen=True, slots=True)
class CeilingCheck:
    """Whether the mean of a metric is at most what is allowed.

    Attributes:
        metric: The metric.
        outcome: The outcome; a check that cannot fail is `not_checked`, not `passed`.
        numbers: What was compared; None if it was not checked.
        reason: Why it was not checked.
    """

    metric: str
    outcome: CeilingOutcome
    numbers: CeilingNumbers | None = None
    reason: str = ""

    @property
    def details(self) -> str:
        """The numbers, or why it was not checked."""
        return wording.format_ceiling_details(self)

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
        ceiling: The largest mean that is allowed.
    """

    total: float
    mean: float
    n_queries: int
    upper: float
    level: float
    is_share: bool
    ceiling: float


def check_ceiling(
    record: Record, metric: str | Metric, ceiling: float, level: float = 0.95, *, by_bound: bool = False
) -> CeilingCheck:
    """Compare the mean of a metric, or the upper end of its one-sided interval, with the largest that is allowed.

    Args:
        record: The scores.
        metric: The metric.
        ceiling: The largest value that is allowed.
        level: The confidence level of the upper end, above 0.5 and below 1.
        by_bound: Whether the upper end is compared rather than the mean.

    Raises:
        ValueError: If `level` is not above 0.5 and below 1.
    """
    if not 0.5 < level < 1:
        raise ValueError(f"the level of a one-sided bound must be above 0.5 and below 1, got {level!r}")
    parsed_metric = as_metric(metric)
    sums = record.sums("value", parsed_metric) or Sums.empty()
    obstacle = _find_obstacle(record, parsed_metric, sums)
    if obstacle:
        return CeilingCheck(str(parsed_metric), "not_checked", reason=obstacle)
    # The upper end of a two-sided interval at level 2 L - 1 is the one-sided bound at level L.
    upper = mean_interval_of_sums(record, parsed_metric, independent_sums(record, parsed_metric), 2 * level - 1).high
    numbers = CeilingNumbers(
        total=sums.total,
        mean=sums.mean,
        n_queries=int(sums.count),
        upper=upper,
        level=level,
        is_share=share_binary(parsed_metric, sums, record.sums("two_valued", parsed_metric)) == 1,
        ceiling=ceiling,
    )
    compared_number = upper if by_bound else sums.mean
    outcome: CeilingOutcome = "passed" if compared_number <= ceiling + ROUNDING else "above_ceiling"
    return CeilingCheck(str(parsed_metric), outcome, numbers)


def _find_obstacle(record: Record, metric: Metric, sums: Sums) -> str:
    """Return why the mean of a metric cannot be checked; empty if it can."""
    judged = None
    if isinstance(record, Scores) and record.origin is not None:
        judged = record.origin.judged
    if not sums.count:
        some_unanswered = judged is not None and judged.unanswered is not None
        return wording.format_undefined(metric, some_unanswered=some_unanswered)
    if judged is not None and _has_no_judged_document(judged) and not metric.definition.is_given:
        return wording.NOTHING_JUDGED_CAME_BACK
    return ""


def _has_no_judged_document(judged: JudgedRun) -> bool:
    return judged.is_empty and len(judged.qrels.documents) > 0
