"""Refuse bounds of a mean that every value keeps or no value can keep."""

from __future__ import annotations

from retrieval_metrics.metrics.base.metric import Metric, as_metric


def require_useful_bound(option: str, metric: str | Metric, bound: float) -> None:
    """Raise if every value of a metric keeps a bound of its mean, or no value can.

    Args:
        option: The option that sets the bound: `at_most`, or the name of a floor.
        metric: The metric.
        bound: The bound.

    Raises:
        ValueError: If the bound is outside the range of the metric, or is a floor where lower is better.
    """
    parsed_metric = as_metric(metric)
    low, high = parsed_metric.definition.bounds
    is_ceiling = option == "at_most"
    if not is_ceiling and not parsed_metric.definition.higher_is_better:
        raise ValueError(f"lower is better for {parsed_metric}, so a floor has no effect; bound it: at_most={{...}}")
    if low <= bound <= high:
        return
    is_above = bound > high
    consequence = "every value would pass" if is_above is is_ceiling else "no value could pass"
    raise ValueError(
        f"{option} for {parsed_metric} must be between {low:g} and {high:g}, got {bound:g}: {consequence}"
        f"{format_percentage_hint(bound, high)}"
    )


# Numbers from here on, where 1 is the most, look like percentages.
MIN_PERCENTAGE = 2


MAX_PERCENTAGE = 100


def format_percentage_hint(number: float, high: float) -> str:
    """Return the share that a user may have meant if a number looks like a percentage; empty if it does not."""
    is_share_expected = high == 1
    if not is_share_expected or not MIN_PERCENTAGE <= number <= MAX_PERCENTAGE:
        return ""
    return f". Did you mean {number / 100:g}?"
