"""Write the texts of verdicts from the figures that the gates found."""

from __future__ import annotations

from math import isinf, isnan
from statistics import stdev
from typing import TYPE_CHECKING, Final

from retrieval_metrics import Metric
from retrieval_metrics.integration_api.text import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_retrieval_metrics.baseline_gates import MetricChange, MetricLosses, UnitsAtRisk
    from pytest_retrieval_metrics.floor_and_ceiling_gates import MeanBelowFloor, QueryBelowFloor
    from pytest_retrieval_metrics.verdicts import Outcome, Verdict

# The printed form of each outcome that is not printed as it is.
OUTCOME_LABELS: Final[Mapping[str, str]] = {
    "below_floor": "below floor",
    "above_ceiling": "above ceiling",
    "not_checked": "not checked",
    "inconclusive": "inconclusive",
    "not_compared": "not compared",
    "not_gated": "not gated",
    "not_measured": "not measured",
    "not_stored": "not stored",
}

# The number of queries named in a message.
MAX_NAMES = 5

NO_COMMON_IDS = "no judged document was retrieved for any query, so all values are 0 and a comparison is meaningless"
NEVER_STORED = "baseline not updated: a metric is below its floor, or the retriever failed or returned no results"
NO_VALUE = "undefined: no query has a relevant document"
NOT_GATED = "it has no bound and no baseline; at_most limits other metrics of the check"
STORED_TEXTS = (
    "  it holds the texts of retrieved documents, because passages are judged or a budget of characters is used"
)
NOT_AWAITED = "acheck was called but not awaited. Write `await retrieval_check.acheck(...)`."
NOT_CALLED = (
    "the test uses the retrieval_check fixture but never completed a call to it. Call it, or remove the fixture."
)


def format_outcome(outcome: Outcome) -> str:
    """Return an outcome as it is printed."""
    return OUTCOME_LABELS.get(outcome, outcome)


def format_verdict(verdict: Verdict) -> str:
    """Return the metric, the outcome and the numbers, in a line."""
    line = f"{verdict.metric} {format_outcome(verdict.outcome)}"
    return f"{line}: {verdict.figures}" if verdict.figures else line


def share_causes(lines: Sequence[str]) -> list[str]:
    """Return lines of verdicts in which metrics that were not measured for the same cause share the first of theirs.

    The other lines of these metrics become empty.
    """
    separator = f" {OUTCOME_LABELS['not_measured']}: "
    metrics_by_cause: dict[str, dict[str, None]] = {}
    for line in lines:
        metric, found_separator, cause = line.partition(separator)
        if found_separator:
            metrics_by_cause.setdefault(cause, {})[metric] = None
    shared_lines = []
    for line in lines:
        _, found_separator, cause = line.partition(separator)
        if not found_separator:
            shared_lines.append(line)
            continue
        metrics = metrics_by_cause.pop(cause, {})
        shared_lines.append(f"{numbers.join_names(list(metrics))}{separator}{cause}" if metrics else "")
    return shared_lines


def format_verdict_with_details(verdict: Verdict) -> str:
    """Return the line of a verdict and its further numbers."""
    return f"{verdict.line}; {verdict.details}" if verdict.details else verdict.line


def bound_hint(metric: str) -> str:
    """Return the argument that sets the bound of a metric, in words."""
    return "a floor in at_least" if Metric.parse(metric).definition.higher_is_better else "a ceiling in at_most"


def format_unguarded(metric: str) -> str:
    """Return why a check of a metric without a bound and without a baseline cannot fail."""
    return (
        "without a baseline or an effective bound, the check cannot fail; set "
        f"{bound_hint(metric)}, or pass baseline=True"
    )


def format_too_few_values(n: int, n_queries: int, min_queries: int) -> str:
    """Return how many queries have a value, and how many the floor needs."""
    verb = "has" if n == 1 else "have"
    return f"only {format_share_of_queries(n, n_queries)} {verb} a value; at least {min_queries} are needed"


def format_below_floor(miss: MeanBelowFloor) -> str:
    """Return the mean, or the low end of its interval, and the floor that it misses."""
    if isnan(miss.checked):
        return NO_VALUE
    label = "CI lower end " if miss.is_interval_checked else ""
    value = numbers.format_distinct(miss.checked, miss.floor)[0]
    return f"{label}{value} < {miss.floor:g}, n = {format_n(miss.n, miss.n_queries)}"


def format_below_floor_details(miss: MeanBelowFloor) -> str:
    """Return the mean that misses a floor, and its interval; empty if it is undefined, which is said already."""
    if isnan(miss.mean):
        return ""
    interval = f"{numbers.level_name(miss.level)} {numbers.format_interval(miss.interval)}"
    return f"mean {numbers.format_value(miss.mean)}, {interval}"


# Of a check without any bound, not even that of a metric to compare with the baseline.
NO_BOUND = (
    "nothing to check: pass at_least={'ndcg@10': 0.35}, with None to compare with the baseline only, at_most= or "
    "at_least_per_query="
)


def format_queries_below_floor(misses: Sequence[QueryBelowFloor], n_queries: int, n_left_out: int = 0) -> str:
    """Return the queries that miss their floors, of how many that have one, and how many were left out."""
    texts = []
    is_any_undefined = False
    for miss in misses:
        if isnan(miss.value):
            is_any_undefined = True
            texts.append(f"{miss.query} is undefined")
        else:
            value = numbers.format_distinct(miss.value, miss.floor)[0]
            texts.append(f"{miss.query} {value} < {miss.floor:g}")
    text = f"{len(misses)} of {numbers.format_query_count(n_queries)}: {join_names(texts)}"
    if is_any_undefined:
        text += "; an undefined value reaches no floor: judge a relevant document, or remove the floor of the query"
    if n_left_out:
        text += f"; {format_left_out(n_left_out, n_queries + n_left_out)}"
    return text


def format_left_out(n_left_out: int, n_queries: int) -> str:
    """Return how many queries the floor of all queries left out, because they have no value."""
    return f"{format_share_of_queries(n_left_out, n_queries)} left out: undefined"


def format_share_of_queries(n: int, n_queries: int) -> str:
    """Return in words how many queries have a value, of how many."""
    total = numbers.format_query_count(n_queries)
    return total if n == n_queries else f"{n} of {total}"


def format_n(n: int, n_queries: int) -> str:
    """Return how many queries have a value, and of how many if some have none."""
    return str(n) if n == n_queries else f"{n} of {n_queries}"


def join_names(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    listed = ", ".join(names[:MAX_NAMES])
    n_more = len(names) - MAX_NAMES
    return f"{listed} and {n_more} more" if n_more > 0 else listed


def format_change(change: MetricChange) -> str:
    """Return the old and the new mean of a metric, with the p value of a drop and the queries that lost."""
    return (
        f"{numbers.format_change(change.mean_before, change.mean_now)} (p {numbers.format_p_value(change.p_value)}), "
        f"{change.difference.paired.losses} of {numbers.format_query_count(change.difference.n)} worse"
    )


def format_change_details(change: MetricChange) -> str:
    """Return the intervals of both means and of their difference, and how many queries changed."""
    difference = change.difference
    paired = difference.paired
    interval = numbers.format_interval(difference.interval, difference=True)
    return (
        f"was {numbers.format_interval(change.interval_before)}, is {numbers.format_interval(change.interval_now)}; "
        f"difference {numbers.format_signed(difference.mean)} {interval}, "
        f"worse if p is at most {difference.alpha / 2:.4g}; "
        f"W/T/L {paired.wins}/{paired.ties}/{paired.losses}"
    )


def too_few_note(units: UnitsAtRisk, min_units: int, alpha: float, metric: str) -> str:
    """Return a note that no change for the worse can be significant, as too few units can lose; "" if enough can."""
    if units.n_at_risk >= min_units:
        return ""
    is_query = units.unit_name == "query"
    plural = "queries" if is_query else f"{units.unit_name}s"
    other_remedy = "" if is_query else ", or pass clusters=None"
    units_text = numbers.format_count(units.n_units, units.unit_name, plural)
    if units.n_at_risk < units.n_units:
        units_text = f"{units.n_at_risk} of {units_text} able to get worse,"
    change = "drop" if Metric.parse(metric).definition.higher_is_better else "rise"
    return (
        f"with {units_text} no {change} can be significant (at least {min_units} needed, alpha {alpha:.4g}); "
        f"set {bound_hint(metric)}, or add {plural}{other_remedy}"
    )


def mde_note(mde_spread: float, mde_sparse: float) -> str:
    """Return a note on the size of the drop that the test would find; "" if no query differs.

    Args:
        mde_spread: The minimum detectable effect if a drop is distributed over the queries as the observed changes are.
        mde_sparse: The minimum detectable effect however a drop is distributed over the queries.
    """
    if isinf(mde_spread):
        return ""
    note = f"MDE {numbers.format_two_digits(mde_spread)}"
    return note if isinf(mde_sparse) else f"{note}, {numbers.format_two_digits(mde_sparse)} however distributed"


def format_required_losses(losses: MetricLosses, n_required: int) -> str:
    """Return the queries that lost although they must not get worse."""
    total = numbers.format_count(n_required, "no_regression query", "no_regression queries")
    return f"{len(losses.queries)} of {total}: {_join_losses(losses)}"


def format_deterministic_losses(losses: MetricLosses) -> str:
    """Return the queries that lost although the retriever is deterministic."""
    total = numbers.format_query_count(losses.n_compared)
    return f"{len(losses.queries)} of {total} (deterministic retriever): {_join_losses(losses)}"


def _join_losses(losses: MetricLosses) -> str:
    return join_names([f"{loss.query} {numbers.format_change(loss.before, loss.now)}" for loss in losses.queries])


def format_not_comparable_queries(queries: Sequence[str]) -> str:
    """Return the queries that must not get worse but are not compared, because the baseline has other ones."""
    return f"no_regression queries without a comparable baseline (new, rejudged or reworded): {join_names(queries)}"


def format_missing_metric(baseline_name: str) -> str:
    """Return why a metric is not compared: the baseline does not hold it, and it cannot be computed from it."""
    return f"{baseline_name} does not contain it"


def format_no_baseline(shown_path: str) -> str:
    """Return a text that a check has no baseline yet, and the option that writes it."""
    return f"no baseline {shown_path}; create it with --retrieval-update"


def format_worse_than_best(figures: str) -> str:
    """Return the figures of a metric that is worse than in its best approved baseline."""
    return f"{figures}, compared with the best approved baseline"


def format_failed_queries(n_failed: int, n_queries: int) -> str:
    """Return for how many queries the retriever failed."""
    return f"the retriever failed on {n_failed} of {numbers.format_query_count(n_queries)}"


def format_acceptance_hint(metrics: Sequence[str]) -> str:
    """Return the option that accepts the loss in these metrics."""
    return f"baseline not updated; accept the loss with --retrieval-accept-worse={','.join(metrics)}"


def round_notes(n_rounds: int, means: Mapping[str, Sequence[float]]) -> list[str]:
    """Return a note on how much the means of the rounds vary; nothing for a single round."""
    if n_rounds == 1:
        return []
    spreads = "; ".join(
        f"{metric} {numbers.format_value(min(round_means))} to {numbers.format_value(max(round_means))}, "
        f"SD {numbers.format_three_digits(stdev(round_means))}"
        for metric, round_means in means.items()
    )
    return [f"{n_rounds} rounds, pooled per query; means of the rounds: {spreads}"]
