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
        return f"Keep {default}: no other setting has a better observed {metric}."
    expected_gain = numbers.format_signed(tuning.expected_gain)
    if tuning.is_significant:
        observed_gain = numbers.format_signed(tuning.gain)
        sentence = f"{winner} is better than {default} in {metric}; expected gain on new questions {expected_gain}"
        return f"{sentence} (observed {observed_gain})."
    difference = tuning[winner].difference
    if difference is not None and not tuning[default].feasible:
        doubt = "" if difference.significant else " (not significant)"
        return (
            f"{default} violates the constraints; of the settings that satisfy them, {winner} has the best {metric}. "
            f"Expected gain over {default} on new questions {expected_gain}{doubt}."
        )
    if tuning.expected_gain > 0:
        return (
            f"{winner} has a positive expected gain ({expected_gain} on new questions), but "
            f"{tuning.n_questions:,} questions do not show that it is better than {default}."
        )
    return (
        f"Keep {default}: the gain of {winner} is no larger than chance would give the best of "
        f"{len(tuning.settings)} equal settings."
    )


def tuning_notes(tuning: TuningResult) -> list[str]:
    """Return how stable the choice is, how it was tested, and what was left out."""
    most_chosen = sorted(tuning.settings, key=lambda setting: -setting.selection_rate)[:MAX_NAMED_SHARES]
    shares = ", ".join(f"{setting.name} {100 * setting.selection_rate:.0f}%" for setting in most_chosen)
    notes = [
        "expected: mean on the questions that each bootstrap resample leaves out",
        f"best in bootstrap resamples: {shares}",
    ]
    if tuning.winner != tuning.default:
        n_tried = numbers.format_count(len(tuning.settings) - 1, "setting")
        p_value = numbers.format_p_value(tuning.p)
        equals = "" if p_value.startswith("<") else "= "
        notes.append(f"winner vs default: p {equals}{p_value}, corrected for {n_tried}")
    if tuning.indistinguishable:
        names = numbers.join_names(list(tuning.indistinguishable), MAX_INDISTINGUISHABLE)
        notes.append(f"not distinguishable from the winner: {names}")
    n_excluded = sum(not setting.feasible for setting in tuning.settings)
    if n_excluded:
        verb = "violates" if n_excluded == 1 else "violate"
        notes.append(f"{numbers.format_count(n_excluded, 'setting')} {verb} the constraints, excluded")
    return notes


def format_undecidable_tuning(reason: str, warnings: Sequence[str]) -> str:
    """Return the error for settings among which nothing can be chosen, with the warnings about their data."""
    return " ".join([f"nothing can be decided on this data. {reason}", *warnings])


def format_hidden_winner(name: str, winner: str, metric: str) -> str:
    """Return that another setting than the winner could be the best."""
    return (
        f"If ids or values that nearly match counted as found, {name!r} would have a larger mean {metric} than "
        f"{winner!r}."
    )
