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
    unjudged_note = _unjudged_note(conclusion)
    margin_note = _margin_note(conclusion)
    if conclusion.kind == "worse":  # the margin qualifies the size of the loss, which the sentence ends with
        return f"{margin_note}{unjudged_note}"
    return f"{unjudged_note}{margin_note}"


def format_graded_documents(depth: int | None, unretrieved_relevant: int) -> str:
    """Return in words which documents are given other grades, within a depth or in the whole ranking."""
    text = "the unjudged retrieved documents"
    if depth is not None:
        text = f"the unjudged documents in the top {depth}"
    if unretrieved_relevant:
        unretrieved = numbers.format_count(unretrieved_relevant, "unretrieved relevant document")
        text += f" and up to {unretrieved} per query"
    return text


def _unjudged_note(conclusion: Conclusion) -> str:
    """Return what other grades of the unjudged documents could make of a difference."""
    bounds = conclusion.unjudged_bounds
    if bounds is None:
        return ""
    documents = format_graded_documents(bounds.depth, bounds.unretrieved_relevant)
    interval = f"{numbers.format_signed(bounds.interval.low)} and {numbers.format_signed(bounds.interval.high)}"
    if conclusion.depends_on_unjudged:
        judged = numbers.format_signed(conclusion.difference)
        return f": the difference is {judged} as judged, and between {interval} over the possible grades of {documents}"
    if bounds.changes_conclusion:
        return f"; grading {documents} could change this (difference between {interval})"
    if not bounds.n_queries:
        return f"; {_nothing_unjudged(bounds.depth)}"
    return f"; grading {documents} would not change this"


def _nothing_unjudged(depth: int | None) -> str:
    if depth is None:
        return "all retrieved documents are judged"
    if depth == 1:
        return "every top result is judged"
    return f"all of the top {depth} are judged"


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
    test = " by the one-sided test," if is_only_one_sided else ""
    return f";{test} {conclusion.system} is non-inferior (margin {margin:g})"


def _loss_note(outcome: MarginOutcome, margin: float) -> str:
    """Return whether the loss of a system that is worse exceeds the margin."""
    if outcome == "inferior":
        return f", exceeding the margin of {margin:g}"
    if outcome == "noninferior":
        return f", within the margin of {margin:g}"
    return f"; whether the loss exceeds the margin of {margin:g} is inconclusive"


def _not_shown_note(conclusion: Conclusion, margin: float, margin_test: MarginTest) -> str:
    """Return that a loss of more than the margin is not excluded, and why."""
    difference = conclusion.details
    if conclusion.has_too_few_units:
        # Where the sentence says that nothing can be shown, the size of a possible loss would contradict it.
        return f"; non-inferiority (margin {margin:g}) is not shown either"
    if conclusion.kind == "better":
        text = (
            f"; rare losses that would leave {conclusion.system} worse by more than the margin of {margin:g} are not "
            "ruled out"
        )
        aim = "rule them out"
    else:
        text = f"; non-inferiority of {conclusion.system} not shown (margin {margin:g})"
        aim = "show it"
    can_be_shown = margin_test.low > -margin and conclusion.lowest_gain > -margin
    if can_be_shown and difference.rare_effect.mean_shift >= margin:
        units = "queries" if difference.clusters is None else "independent queries"
        if difference.gain > 0:
            # A system that gains needs fewer, because its gain makes up for losses that the sample may lack.
            return f"{text}: up to {margin_test.min_units} {units} may be needed to {aim}"
        return f"{text}: at least {margin_test.min_units} {units} are needed to {aim}"
    if margin_test.low <= -difference.max_difference < conclusion.gain_interval.low:
        return f"{text}: too few queries carry the loss for the skewness-adjusted test to bound it"
    has_lower_bound_from_grades = conclusion.lowest_gain < margin_test.low - ROUNDING
    grades = " with the least favourable grades" if has_lower_bound_from_grades else ""
    largest_loss = numbers.format_three_digits(-conclusion.lowest_gain)
    return f"{text}: the one-sided bound on the loss is {largest_loss}{grades}"
