"""Write the sentences about a choice among settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.comparison.tuning_result import TuningResult


# How many settings are named with the share of resamples that choose them.
MAX_NAMED_SHARES = 3
# How many settings are named that cannot be told from the winner.
MAX_INDISTINGUISHABLE = 4


def format_tuning_conclusion(tuning: TuningResult) -> str:
    """Return which setting to use, and why, in a sentence."""
    winner = tuning.winner
    default = tuning.default
    metric = tuning.metric
    if winner == default:
        return f"Keep {default}: no other setting has a better {metric} on these questions."
    expected_gain = numbers.format_signed(tuning.expected_gain)
    if tuning.is_significant:
        observed_gain = numbers.format_signed(tuning.gain)
        sentence = f"{winner} is better than {default} in {metric}; expect {expected_gain} on new questions"
        return f"{sentence}." if observed_gain == expected_gain else f"{sentence}, not the {observed_gain} of these."
    difference = tuning[winner].difference
    if difference is not None and not tuning[default].feasible:
        doubt = "" if difference.significant else ", which these questions cannot tell from 0"
        return (
            f"{default} is beyond the bounds; within them, {winner} has the best {metric}. Compared "
            f"with {default}, expect {expected_gain} on new questions{doubt}."
        )
    if tuning.expected_gain > 0:
        return (
            f"Switching to {winner} is right on average ({expected_gain} on new questions), but "
            f"{tuning.n_questions:,} questions cannot show that it is better than {default}."
        )
    return (
        f"Keep {default}: the gain of {winner} is no more than the best of {len(tuning.settings)} equal "
        "settings would have by chance."
    )


def tuning_notes(tuning: TuningResult) -> list[str]:
    """Return how stable the choice is, how it was tested, and what was left out."""
    most_chosen = sorted(tuning.settings, key=lambda setting: -setting.selection_rate)[:MAX_NAMED_SHARES]
    shares = ", ".join(f"{setting.name} {100 * setting.selection_rate:.0f} %" for setting in most_chosen)
    notes = [f"wins on similar questions: {shares}"]
    if tuning.winner != tuning.default:
        n_tried = numbers.format_count(len(tuning.settings) - 1, "setting")
        notes.append(f"winner against default: p {numbers.format_p_value(tuning.p)}, corrected for {n_tried}")
    if tuning.indistinguishable:
        names = numbers.join_names(list(tuning.indistinguishable), MAX_INDISTINGUISHABLE)
        notes.append(f"may be as good as the winner: {names}")
    n_excluded = sum(not setting.feasible for setting in tuning.settings)
    if n_excluded:
        notes.append(f"{numbers.format_count(n_excluded, 'setting')} beyond the bounds, not chosen from")
    return notes


def format_undecidable_tuning(reason: str, warnings: Sequence[str]) -> str:
    """Return the error for settings among which nothing can be chosen, with the warnings about their data."""
    return " ".join([f"nothing can be decided on this data. {reason}", *warnings])


def format_hidden_winner(name: str, winner: str, metric: str) -> str:
    """Return that another setting than the winner could be the best."""
    return f"If ids that nearly match counted as found, {name!r} would have a larger mean {metric} than {winner!r}."
