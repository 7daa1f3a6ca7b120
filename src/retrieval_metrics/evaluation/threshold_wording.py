"""Write the sentences about a score threshold."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING

from retrieval_metrics.evaluation.summary_wording import EXCLUDED
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from retrieval_metrics.evaluation.threshold import Threshold


# A bound above this share is no useful promise.
MAX_PROMISE = 0.5


def format_threshold_conclusion(threshold: Threshold) -> str:
    """Return which results to keep, and what that promises and costs, in a sentence."""
    questions = "unanswerable questions"
    bound = f"{100 * threshold.false_answer_bound:.1f}%"
    if threshold.score is None:
        n_questions = numbers.format_count(threshold.n_unanswerable, "unanswerable question")
        these = "this one" if threshold.n_unanswerable == 1 else f"these {threshold.n_unanswerable}"
        if threshold.false_answer_bound > MAX_PROMISE:
            guarantee = f"{these} cannot guarantee even a rate of {_format_percent(MAX_PROMISE)}"
        else:
            guarantee = f"the lowest rate that {these} can guarantee is {bound}"
        return (
            f"No threshold: with {n_questions}{_cluster_note(threshold)}, a false-answer rate of at most "
            f"{_format_percent(threshold.max_false_answers)} cannot be guaranteed at any score. At least "
            f"{threshold.min_n} independent unanswerable questions are needed, even if none gets an answer; "
            f"{guarantee}."
        )
    if isinf(threshold.score):
        get = "gets" if threshold.false_answers == 1 else "get"
        return (
            f"No threshold needed: {threshold.false_answers} of {threshold.n_unanswerable} {questions} {get} an answer "
            f"(upper bound {bound})."
        )
    if not threshold.is_useful:
        return (
            f"No threshold is worthwhile: {format_score(threshold.score)}, the lowest one that limits false answers to "
            f"{_format_percent(threshold.max_false_answers)}, would cut {threshold.metric} from "
            f"{threshold.mean_before:.3f} to {threshold.mean_after:.3f}."
        )
    promise = (
        f"Keep results scoring above {format_score(threshold.score)}: with {_format_percent(threshold.level)} "
        f"confidence, at most {_format_percent(threshold.max_false_answers)} of new {questions} like these "
        f"{threshold.n_unanswerable} then get an answer ({threshold.false_answers} of these "
        f"did, so the upper bound is {bound})."
    )
    if not threshold.n_answerable:
        return f"{promise} The run has no answerable question, so the cost is unknown."
    change = f"from {threshold.mean_before:.3f} to {threshold.mean_after:.3f}"
    return f"{promise} Cost: {threshold.metric} changes {change}."


def _cluster_note(threshold: Threshold) -> str:
    """Return the effective sample size of clustered questions; empty if they are independent."""
    if threshold.effective_n >= threshold.n_unanswerable:
        return ""
    effective_n = f"{threshold.effective_n:.0f}" if threshold.effective_n >= 2 else "below 2"
    return f" (effective n {effective_n})"


def threshold_notes(threshold: Threshold) -> list[str]:
    """Return the conclusion, and how many unanswerable questions of each kind get an answer."""
    notes = [format_threshold_conclusion(threshold)]
    if threshold.kinds:
        counts = [f"{kind} {n_false} of {n}" for kind, (n_false, n) in threshold.kinds.items()]
        notes.append(f"By kind: {', '.join(counts)}.")
    if threshold.n_excluded:
        notes.append(f"{numbers.format_count(threshold.n_excluded, 'document')}{EXCLUDED}.")
    return notes


def format_score(score: float) -> str:
    """Return a score as a person reads it."""
    return f"{score:.4g}"


def _format_percent(share: float) -> str:
    return f"{100 * share:g}%"
