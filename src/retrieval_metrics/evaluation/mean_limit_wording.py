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
    "no judged document, relevant or not, was retrieved for any query, so the IDs may be of another kind"
)


def format_ceiling_check(check: CeilingCheck) -> str:
    """Return the metric, the outcome and the numbers, in a line."""
    return f"{check.metric} {CEILING_LABELS[check.outcome]}: {check.details}"


def format_ceiling_details(check: CeilingCheck) -> str:
    """Return the numbers, with the ceiling if the mean is above it, or why it was not checked."""
    if check.numbers is None:
        return check.reason
    if check.outcome == "above_ceiling":
        return format_missed_ceiling(check.numbers)
    return format_ceiling_numbers(check.numbers)


def format_undefined(metric: Metric, *, some_unanswered: bool) -> str:
    """Return where a metric without a value is undefined."""
    undefined = metric.definition.undefined_if
    if some_unanswered:
        return f"{undefined}, apart from those that failed or are missing from the run"
    return undefined


def format_ceiling_numbers(check: CeilingNumbers) -> str:
    """Return the mean, or the count of queries, and the upper end of its interval."""
    queries = numbers.format_query_count(check.n_queries)
    bound = f"one-sided {100 * check.level:g}% upper bound"
    if check.is_share:
        return f"{check.total:g} of {queries}, {bound} {100 * check.upper:.1f}%"
    mean = numbers.format_value(check.mean)
    return f"mean {mean} over {queries}, {bound} {numbers.format_value(check.upper)}"


def format_missed_ceiling(check: CeilingNumbers) -> str:
    """Return the numbers and what is allowed."""
    limit = f"{check.ceiling:g}"
    if check.is_share:
        limit = f"{100 * check.ceiling:g}%"
    return f"{format_ceiling_numbers(check)}; limit {limit}"
