"""The lines about limits of a mean: the numbers compared with a ceiling, or why it was not checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.mean_limits import CeilingCheck, CeilingNumbers, CeilingOutcome
    from retrieval_metrics.metrics.base.metric import Metric


CEILING_LABELS: Mapping[CeilingOutcome, str] = {
    "passed": "passed",
    "above_ceiling": "above the ceiling",
    "not_checked": "not checked",
}
NOTHING_JUDGED_CAME_BACK = (
    "nothing that is judged came back for any query, relevant or not, so the ids may be of another kind"
)


def format_ceiling_check(check: CeilingCheck) -> str:
    """Return the metric, the outcome and the numbers, in a line."""
    return f"{check.metric} {CEILING_LABELS[check.outcome]}: {check.details}"


def format_undefined(metric: Metric, *, some_unanswered: bool) -> str:
    """Return where a metric without a value is undefined."""
    return metric.definition.undefined_if + (" that was answered" if some_unanswered else "")


def format_ceiling_numbers(check: CeilingNumbers) -> str:
    """Return the mean, or the count of queries, and the upper end of its interval."""
    queries = numbers.format_query_count(check.n_queries)
    confidence = f"({100 * check.level:g}% sure)"
    if check.is_share:
        return f"{check.total:g} of {queries}; up to {100 * check.upper:.1f}% of new ones {confidence}"
    mean = numbers.format_value(check.mean)
    return f"the mean is {mean} over {queries}; up to {numbers.format_value(check.upper)} on new ones {confidence}"


def format_missed_ceiling(check: CeilingNumbers) -> str:
    """Return the numbers and what is allowed."""
    allowed = f"at most {check.ceiling:g} is allowed"
    if check.is_share:
        allowed = f"at most {100 * check.ceiling:g}% are allowed"
    return f"{format_ceiling_numbers(check)}; {allowed}"
