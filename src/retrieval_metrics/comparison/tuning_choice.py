"""Choose among evaluated settings, and estimate what the choice gains on new questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from retrieval_metrics.comparison.compare import compare_evaluations
from retrieval_metrics.comparison.failed_queries import group_by_failures
from retrieval_metrics.comparison.failure_wording import format_failed_queries
from retrieval_metrics.comparison.id_obstacles import find_unmeasured, has_unused_exclusion
from retrieval_metrics.comparison.tuning_bounds import list_bounded_means
from retrieval_metrics.comparison.tuning_result import TriedSetting, Tuning
from retrieval_metrics.comparison.tuning_wording import (
    format_empty_default,
    format_hidden_winner,
    format_infeasible_tuning,
    format_undecidable_tuning,
)
from retrieval_metrics.evaluation.data_warnings import system_wide_warnings
from retrieval_metrics.evaluation.near_miss_effect import has_near_ids, mean_with_near_misses
from retrieval_metrics.statistics.best_settings import find_possibly_best
from retrieval_metrics.statistics.out_of_bag import find_best_setting, gain_interval_by_test, out_of_bag

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from retrieval_metrics.comparison.comparison import Comparison
    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.comparison.id_obstacles import Obstacle
    from retrieval_metrics.comparison.tuning_result import TuningRule
    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.metrics.base.metric import Metric


def choose_setting(evaluations: Mapping[str, Evaluation], rule: TuningRule, *, show_progress: bool = False) -> Tuning:
    """Choose the best of the evaluated settings that keep the bounds.

    A setting that cannot be compared with the default, because of its ids, takes no part; nor does one that could win
    if ids that nearly match counted as found. The p values are corrected for these settings, too.

    Raises:
        ValueError: If the ids of the default, or of all other settings, match the judgments so badly that nothing can
            be compared; if both the winner and another setting have ids that nearly match, with which the other could
            win; if no setting keeps the bounds, or no question has a value of the metric in all settings.
    """
    default_metrics = evaluations[rule.default].metrics
    metric = next(metric for metric in default_metrics if str(metric) == rule.metrics[0])
    comparison = compare_evaluations(
        evaluations,
        metric,
        baseline=rule.default,
        level=rule.level,
        seed=rule.seed,
        show_progress=show_progress,
    )
    obstacles = _find_obstacles(comparison, rule.default)
    bounded_means = {name: list_bounded_means(comparison.evaluations[name], rule) for name in evaluations}
    feasible = {name for name, means in bounded_means.items() if all(mean.is_kept for mean in means)}
    if not feasible.difference(obstacles):
        raise ValueError(format_infeasible_tuning(bounded_means, rule.default, list(obstacles)))
    names = _list_choices(rule.default, evaluations, feasible, obstacles)
    rows, values = comparison.paired_values.shared(metric, names)
    if not len(values):
        raise ValueError(f"no question has a value of {metric} in all settings")
    observed_winner = names[find_best_setting(values, 0, keep=rule.default in feasible)]
    hidden_winners = _find_hidden_winners(comparison, metric, observed_winner, feasible.difference(obstacles))
    if hidden_winners:
        _refuse_uncertain_winner(comparison, metric, rule.default, observed_winner, hidden_winners)
        obstacles |= dict.fromkeys(hidden_winners, "near_misses")
        names = _list_choices(rule.default, evaluations, feasible, obstacles)
        rows, values = comparison.paired_values.shared(metric, names)
    labels = None
    if comparison.clusters is not None:
        labels = comparison.clusters.select(comparison.paired_values.shared_queries(rows)).labels
    resampling: dict[str, Any] = {
        "clusters": labels,
        "level": rule.level,
        "resamples": rule.resamples,
        "seed": rule.seed,
    }
    estimate = out_of_bag(values, 0, keep=rule.default in feasible, **resampling)
    winner = names[estimate.best]
    difference = None if winner == rule.default else comparison.difference(metric, winner, rule.default)
    mean = float(values[:, estimate.best].mean())
    default_mean = float(values[:, 0].mean())
    feasible_columns = [column for column, name in enumerate(names) if name in feasible]
    is_possibly_best = find_possibly_best(values[:, feasible_columns], **resampling)
    possibly_best = [names[feasible_columns[position]] for position in np.flatnonzero(is_possibly_best)]
    selection_rates = dict(zip(names, estimate.selection_rates.tolist(), strict=True))
    settings = []
    for name, evaluation in evaluations.items():
        setting = TriedSetting(
            name=name,
            parameters=rule.parameters.get(name, {}),
            means={metric_name: evaluation.means[metric_name] for metric_name in rule.metrics},
            feasible=name in feasible,
            selection_rate=selection_rates.get(name, 0.0),
            difference=_difference_from_default(comparison, rule, name),
            obstacle=obstacles.get(name),
        )
        settings.append(setting)
    warnings_by_setting = _find_warnings(comparison, [winner, rule.default, *obstacles])
    settings.sort(key=lambda setting: -setting.means[rule.metrics[0]])
    return Tuning(
        rule=rule,
        winner=winner,
        settings=tuple(settings),
        indistinguishable=tuple(name for name in possibly_best if name != winner),
        n_questions=len(rows),
        mean=mean,
        default_mean=default_mean,
        expected_mean=estimate.mean,
        expected_mean_interval=estimate.mean_interval,
        gain=mean - default_mean,
        expected_gain=estimate.gain,
        expected_gain_interval=gain_interval_by_test(
            estimate.gain_interval,
            gain=mean - default_mean,
            is_significant=None if difference is None else difference.significant,
        ),
        p=1.0 if difference is None else difference.p_corrected,
        evaluations=dict(comparison.evaluations),
        warnings=tuple(warning for warnings in warnings_by_setting.values() for warning in warnings),
        doubtful=tuple(name for name in (winner, rule.default) if name in warnings_by_setting),
    )


def _list_choices(default: str, names: Iterable[str], feasible: Container[str], obstacles: Container[str]) -> list[str]:
    """Return the settings to choose from.

    The default comes first even if it is beyond the bounds, because gains are measured from it.
    """
    choices = [default]
    for name in names:
        if name != default and name in feasible and name not in obstacles:
            choices.append(name)
    return choices


def _find_obstacles(comparison: Comparison, default: str) -> dict[str, Obstacle]:
    """Return the settings that cannot be compared with the default.

    They retrieved nothing, or it depends on how their ids match the judgments.

    Raises:
        ValueError: If this is due to the default, or no other setting is left because of ids.
    """
    unmeasured = find_unmeasured(comparison.scores)
    obstacles: dict[str, Obstacle] = {
        name: obstacle for name, obstacle in unmeasured.items() if obstacle == "no_results"
    }
    if default in obstacles:
        warnings = system_wide_warnings({default: comparison.scores[default]})
        raise ValueError(format_undecidable_tuning(format_empty_default(default), warnings))
    has_foreign_ids = False
    is_default_at_fault = False
    for difference in comparison.differences:
        if _is_blocked_by_ids(difference) and difference.system not in obstacles:
            has_foreign_ids = True
            obstacles[difference.system] = cast("Obstacle", difference.obstacle)
            scores = comparison.scores[difference.system]
            if difference.obstacle == "near_misses" and not has_near_ids(scores):
                is_default_at_fault = True
            if difference.obstacle == "unused_exclusion" and not has_unused_exclusion(scores):
                is_default_at_fault = True
    if not has_foreign_ids:
        return obstacles
    is_no_setting_left = len(obstacles) == len(comparison.scores) - 1
    if is_no_setting_left or is_default_at_fault or default in unmeasured:
        blocked = []
        for conclusion in comparison.conclusions:
            if _is_blocked_by_ids(conclusion.details) and conclusion.details.obstacle != "no_results":
                blocked.append(conclusion)
        warnings = system_wide_warnings(comparison.scores)
        raise ValueError(format_undecidable_tuning(blocked[0].sentence, warnings))
    return obstacles


def _find_warnings(comparison: Comparison, first_names: Iterable[str]) -> dict[str, list[str]]:
    """Return what is wrong with the data of the settings that have warnings, these settings first."""
    warnings_by_setting = {}
    for name in dict.fromkeys([*first_names, *comparison.scores]):
        scores_by_name = {name: comparison.scores[name]}
        warnings = list(system_wide_warnings(scores_by_name))
        for failures, names in group_by_failures(scores_by_name).items():
            warnings.append(format_failed_queries(failures, names))
        if warnings:
            warnings_by_setting[name] = warnings
    return warnings_by_setting


def _is_blocked_by_ids(difference: Difference) -> bool:
    """Return whether a setting cannot be compared with the default because of ids, not of a budget."""
    return not difference.measured


def _find_hidden_winners(comparison: Comparison, metric: Metric, winner: str, names: Iterable[str]) -> list[str]:
    """Return the settings that would have a larger mean than the winner if ids that nearly match counted as found."""
    corrected_means = {}
    for name in names:
        scores = comparison.scores[name]
        if has_near_ids(scores):
            corrected_means[name] = mean_with_near_misses(scores, metric)
    winner_mean = corrected_means.get(winner, comparison.evaluations[winner].means[metric])
    return [name for name, mean in corrected_means.items() if mean > winner_mean and name != winner]


def _refuse_uncertain_winner(
    comparison: Comparison, metric: Metric, default: str, winner: str, hidden_winners: Sequence[str]
) -> None:
    """Raise if it is not the others alone whose ids nearly match, but also those of the winner or of the default."""
    if default in hidden_winners:
        hidden_winner = default
    elif has_near_ids(comparison.scores[winner]):
        hidden_winner = hidden_winners[0]
    else:
        return
    reason = format_hidden_winner(hidden_winner, winner, str(metric))
    warnings = system_wide_warnings({hidden_winner: comparison.scores[hidden_winner]})
    raise ValueError(format_undecidable_tuning(reason, warnings))


def _difference_from_default(comparison: Comparison, rule: TuningRule, name: str) -> Difference | None:
    return None if name == rule.default else comparison.difference(rule.metrics[0], name, rule.default)
