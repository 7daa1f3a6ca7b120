"""Write the sentences about a score threshold."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval_metrics.comparison.threshold import Threshold


# A bound above this share is no useful promise.
MAX_PROMISE = 0.5


def format_threshold_conclusion(threshold: Threshold) -> str:
    """Return which results to keep, and what that promises and costs, in a sentence."""
    questions = "questions without an answer"
    bound = f"{100 * threshold.false_answer_bound:.1f}%"
    if threshold.score is None:
        promise = "nothing" if threshold.false_answer_bound > MAX_PROMISE else bound
        return (
            f"No threshold: {threshold.n_unanswerable} {questions}{_cluster_note(threshold)} cannot promise "
            f"{_format_percent(threshold.max_false_answers)}, whatever they score: at least {threshold.min_n} are "
            f"needed if none of them gets an answer; these can promise {promise}."
        )
    if isinf(threshold.score):
        return (
            f"Nothing needs to be cut: {threshold.false_answers} of {threshold.n_unanswerable} {questions} get one, "
            f"which bounds new ones at {bound}."
        )
    promise = (
        f"Keep what scores above {format_score(threshold.score)}: with {_format_percent(threshold.level)} confidence "
        f"at most {_format_percent(threshold.max_false_answers)} of new {questions}, if they are like these "
        f"{threshold.n_unanswerable}, then get one (here {threshold.false_answers}; the bound is {bound})."
    )
    if not threshold.n_answerable:
        return f"{promise} No question with an answer is in the run, so what it costs is unknown."
    cost = f"{promise} It costs {threshold.mean_before - threshold.mean_after:.3f} of {threshold.metric}"
    if threshold.is_useful:
        return f"{cost}."
    return f"{cost}: the scores hardly tell the two kinds of question apart, so no threshold is worth it."


def _cluster_note(threshold: Threshold) -> str:
    """Return how many independent questions clustered ones are worth; empty if they are independent."""
    if threshold.effective_n >= threshold.n_unanswerable:
        return ""
    effective_n = f"{threshold.effective_n:.0f}" if threshold.effective_n >= 2 else "fewer than 2"
    return f", worth {effective_n} independent ones,"


def threshold_notes(threshold: Threshold) -> list[str]:
    """Return the conclusion, and how many unanswerable questions of each kind get an answer."""
    notes = [format_threshold_conclusion(threshold)]
    if threshold.kinds:
        counts = [f"{kind} {n_false} of {n}" for kind, (n_false, n) in threshold.kinds.items()]
        notes.append(f"By kind: {', '.join(counts)}.")
    return notes


def format_score(score: float) -> str:
    """Return a score as a person reads it."""
    return f"{score:.4g}"


def _format_percent(share: float) -> str:
    return f"{100 * share:g}%"
