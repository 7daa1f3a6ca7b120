"""Write the sentences about a choice among settings."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from retrieval_metrics.comparison.id_obstacles import Obstacle
    from retrieval_metrics.comparison.tuning_bounds import BoundedMean
    from retrieval_metrics.comparison.tuning_result import TriedSetting, TuningResult


# How many settings are named with the share of resamples that choose them.
MAX_NAMED_SHARES = 3
# How many settings are named that cannot be told from the winner.
MAX_INDISTINGUISHABLE = 4
# How many warnings about the data of settings are shown.
MAX_WARNINGS = 6
# How many settings are named that take no part for the same reason.
MAX_LEFT_OUT = 4


# Why a setting takes no part in the choice.
OBSTACLES: dict[Obstacle, str] = {
    "foreign_ids": "many or all IDs match no judgment",
    "shifted_ids": "IDs or rankings seem shifted by one",
    "near_misses": "IDs nearly match the judgments",
    "unlocated": "results could not be located in their sources",
    "no_results": "nothing retrieved",
    "unused_exclusion": "exclude= removed no documents",
}


def format_tuning_conclusion(tuning: TuningResult) -> str:
    """Return which setting to use, and why, in a sentence, which ones take no part, and which have warnings."""
    sentences = [_format_choice(tuning)]
    left_out = format_left_out(tuning.settings)
    if left_out:
        sentences.append(f"{left_out}.")
    if tuning.doubtful:
        sentences.append(f"See the warnings about {numbers.join_names(list(tuning.doubtful))}.")
    return " ".join(sentences)


def _format_choice(tuning: TuningResult) -> str:
    winner = tuning.winner
    default = tuning.default
    metric = tuning.metric
    if winner == default:
        others = "no other setting has"
        if any(setting.obstacle for setting in tuning.settings):
            others = "no setting compared with it has"
        return f"Keep {default}: {others} a better observed {metric}."
    if isnan(tuning.expected_gain):
        questions = numbers.format_count(tuning.n_questions, "question")
        return f"{questions} cannot show what {winner} would gain over {default} on new questions."
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
    notes = []
    if not isnan(tuning.expected_mean):
        notes.append("expected: mean on the questions that each bootstrap resample leaves out")
        notes.append(f"best in bootstrap resamples: {shares}")
    if tuning.winner != tuning.default:
        n_tried = len(tuning.settings) - 1
        p_value = numbers.format_p_value(tuning.p)
        equals = "" if p_value.startswith("<") else "= "
        correction = f", corrected for the {n_tried:,} settings other than the default" if n_tried > 1 else ""
        notes.append(f"winner vs default: p {equals}{p_value}{correction}")
    if tuning.indistinguishable:
        names = numbers.join_names(list(tuning.indistinguishable), MAX_INDISTINGUISHABLE)
        notes.append(f"not significantly different from the winner: {names}")
    n_excluded = sum(not setting.feasible for setting in tuning.settings)
    if n_excluded:
        verb = "violates" if n_excluded == 1 else "violate"
        notes.append(f"{numbers.format_count(n_excluded, 'setting')} {verb} the constraints, excluded")
    notes += [warning.removesuffix(".") for warning in tuning.warnings[:MAX_WARNINGS]]
    n_further = len(tuning.warnings) - MAX_WARNINGS
    if n_further > 0:
        notes.append(f"{numbers.format_count(n_further, 'further warning')}, in tuning.warnings")
    return notes


def format_left_out(settings: Sequence[TriedSetting]) -> str:
    """Return which settings take no part in the choice, and why; empty if all take part."""
    names_by_obstacle: dict[Obstacle, list[str]] = {}
    for setting in settings:
        if setting.obstacle is not None:
            names_by_obstacle.setdefault(setting.obstacle, []).append(setting.name)
    reasons = []
    for obstacle, names in names_by_obstacle.items():
        reasons.append(f"{numbers.join_names(names, MAX_LEFT_OUT)} ({OBSTACLES[obstacle]})")
    return f"Not compared: {'; '.join(reasons)}" if reasons else ""


def format_infeasible_tuning(
    bounded_means: Mapping[str, Sequence[BoundedMean]], default: str, blocked: Collection[str]
) -> str:
    """Return the error for settings that all break a bound, or cannot be compared because of their ids.

    Args:
        bounded_means: The means that have bounds, of each setting.
        default: The default.
        blocked: The settings that cannot be compared because of their ids.
    """
    default_means = bounded_means[default]
    bounds = numbers.join_names(list(map(_format_bound, default_means)))
    compared = {name: means for name, means in bounded_means.items() if name not in blocked}
    # The default comes first of settings that come equally close.
    closest = min(compared, key=lambda name: (_sum_shortfalls(compared[name]), name != default))
    constraints = "constraint" if len(default_means) == 1 else "constraints"
    parts = [f"no setting meets the {constraints} {bounds}"]
    if closest == default:
        parts.append(f"the default, {default!r}, comes closest with {_format_bounded_means(default_means)}")
    else:
        parts.append(f"{closest!r} comes closest with {_format_bounded_means(compared[closest])}")
        parts.append(f"the default, {default!r}, has {_format_bounded_means(default_means)}")
    if blocked:
        names = numbers.join_names(list(blocked), MAX_LEFT_OUT)
        parts.append(f"not compared: {names}")
    return "; ".join(parts)


def _sum_shortfalls(means: Sequence[BoundedMean]) -> float:
    return sum(mean.shortfall for mean in means)


def _format_bound(bounded: BoundedMean) -> str:
    sign = ">=" if bounded.is_lower_bound else "<="
    return f"{bounded.name} {sign} {bounded.bound:g}"


def _format_bounded_means(means: Sequence[BoundedMean]) -> str:
    """Return means with as many digits as it takes to see which bounds they break; each metric once."""
    texts: dict[str, str] = {}
    for bounded in means:
        text, _ = numbers.format_distinct(bounded.mean, bounded.bound)
        # Of a metric with two bounds, the one that is broken decides how many digits are shown.
        if bounded.name not in texts or not bounded.is_kept:
            texts[bounded.name] = f"{bounded.name} {text}"
    return numbers.join_names(list(texts.values()))


def format_undecidable_tuning(reason: str, warnings: Sequence[str]) -> str:
    """Return the error for settings among which nothing can be chosen, with the warnings about their data."""
    return " ".join([f"cannot choose a setting on this data. {reason}", *warnings])


def format_empty_default(default: str) -> str:
    """Return that gains cannot be measured from a setting that retrieved nothing."""
    return f"The default, {default!r}, retrieved nothing for any question, so gains over it cannot be measured."


def format_hidden_winner(name: str, winner: str, metric: str) -> str:
    """Return that another setting than the winner could be the best."""
    return (
        f"If IDs or values that nearly match counted as found, {name!r} would have a larger mean {metric} than "
        f"{winner!r}."
    )
