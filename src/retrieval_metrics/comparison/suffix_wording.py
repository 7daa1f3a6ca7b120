"""Write what the sentence of a conclusion ends with: the effect of unjudged documents, and the test of the margin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from retrieval_metrics.comparison.conclusions import Conclusion
    from retrieval_metrics.statistics.noninferiority import MarginOutcome, MarginTest

# Grades that shift a mean by less shift it by rounding only.
ROUNDING = 1e-9


def conclusion_suffix(conclusion: Conclusion) -> str:
    """Return what unjudged documents and the margin add to the sentence of a conclusion; empty if nothing."""
    return f"{_unjudged_note(conclusion)}{_margin_note(conclusion)}"


def format_graded_documents(depth: int | None, unretrieved_relevant: int) -> str:
    """Return in words which documents are given other grades, within a depth or in the whole ranking."""
    scope = "that were retrieved" if depth is None else f"among the first {depth}"
    text = f"the unjudged {scope}"
    if unretrieved_relevant:
        text += f" and of up to {unretrieved_relevant:,} more relevant ones per query that nobody retrieved"
    return text


def _unjudged_note(conclusion: Conclusion) -> str:
    """Return what other grades of the unjudged documents could make of a difference."""
    bounds = conclusion.unjudged_bounds
    if bounds is None:
        return ""
    documents = format_graded_documents(bounds.depth, bounds.unretrieved_relevant)
    interval = f"{numbers.format_signed(bounds.interval.low)} to {numbers.format_signed(bounds.interval.high)}"
    if conclusion.depends_on_unjudged:
        judged = numbers.format_signed(conclusion.difference)
        return f": as judged the difference is {judged}, with other grades of {documents} it could be {interval}"
    if bounds.changes_conclusion:
        return f"; with other grades of {documents} the difference could be {interval}"
    if not bounds.n_queries:
        return f", and nothing is {documents.removeprefix('the ')}"
    if conclusion.kind == "not_significant":
        effect = "show one"
    elif conclusion.kind == "identical":
        effect = "show a clear difference"
    else:
        effect = "change that"
    return f", and no grades of {documents} would {effect}"


def _margin_note(conclusion: Conclusion) -> str:
    """Return whether the system is worse by more than the margin, and what the bound of the loss is."""
    outcome = conclusion.noninferiority
    margin = conclusion.margin
    margin_test = conclusion.details.margin
    if outcome is None or margin is None or margin_test is None:
        return ""
    if conclusion.kind == "worse":
        return _loss_note(outcome, margin)
    if outcome != "noninferior":
        return _not_shown_note(conclusion, margin, margin_test)
    if conclusion.kind == "better":
        return ""
    # The two-sided interval, which is wider, does not show it.
    is_only_one_sided = conclusion.gain_interval.low <= -margin
    test = " one-sided," if is_only_one_sided else ""
    return f";{test} {conclusion.system} is no worse by more than {margin:g}"


def _loss_note(outcome: MarginOutcome, margin: float) -> str:
    """Return whether the loss of a system that is worse exceeds the margin."""
    if outcome == "inferior":
        return f", by more than {margin:g}"
    if outcome == "noninferior":
        return f", but not by more than {margin:g}"
    return f"; whether by more than {margin:g} is open"


def _not_shown_note(conclusion: Conclusion, margin: float, margin_test: MarginTest) -> str:
    """Return that a loss of more than the margin is not excluded, and why."""
    difference = conclusion.details
    if conclusion.has_too_few_units:
        # Where the sentence says that nothing can be shown, the size of a possible loss would contradict it.
        return f"; that {conclusion.system} is no worse by more than {margin:g} is not shown either"
    if conclusion.kind == "better":
        text = f"; that rare losses make it worse by more than {margin:g} is not ruled out"
    else:
        text = f"; that {conclusion.system} is no worse by more than {margin:g} is not shown"
    if margin_test.low > -margin and difference.rare_effect.mean_shift >= margin:
        units = "queries" if difference.clusters is None else "independent queries"
        return f"{text}, which takes about {margin_test.min_units} {units}"
    if margin_test.low <= -difference.max_difference < conclusion.gain_interval.low:
        return f"{text}: the loss lies on so few queries that the test, which allows for skewness, cannot bound it"
    has_lower_bound_from_grades = conclusion.lowest_difference < margin_test.low - ROUNDING
    grades = " and with other grades" if has_lower_bound_from_grades else ""
    largest_loss = numbers.format_three_digits(-conclusion.lowest_difference)
    return f"{text}: one-sided{grades}, it may be worse by up to {largest_loss}"
