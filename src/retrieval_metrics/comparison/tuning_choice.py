"""Choose among evaluated settings, and estimate what the choice gains on new questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.comparison.compare import compare_evaluations
from retrieval_metrics.comparison.tuning_result import LATENCY_COLUMN, TriedSetting, Tuning
from retrieval_metrics.comparison.tuning_wording import format_hidden_winner, format_undecidable_tuning
from retrieval_metrics.evaluation.data_warnings import system_wide_warnings
from retrieval_metrics.evaluation.near_miss_effect import has_near_ids, mean_with_near_misses
from retrieval_metrics.statistics.best_settings import find_possibly_best
from retrieval_metrics.statistics.out_of_bag import gain_interval_by_test, out_of_bag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.comparison.comparison import Comparison
    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.comparison.tuning_result import TuningRule
    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.metrics.base.metric import Metric


def choose_setting(evaluations: Mapping[str, Evaluation], rule: TuningRule, *, show_progress: bool = False) -> Tuning:
    """Choose the best of the evaluated settings that keep the bounds.

    Raises:
        ValueError: If the ids of a setting match no judgment, or nearly match so many that another could win; if no
            setting keeps the bounds, or the metric is defined on no question under every setting.
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
    _refuse_unmeasured(comparison)
    feasible = {name for name in evaluations if _is_feasible(comparison.evaluations[name], rule)}
    if not feasible:
        raise ValueError(
            f"no setting meets the constraints {dict(rule.at_least) | dict(rule.at_most)}; the default has "
            f"{dict(evaluations[rule.default].means)}"
        )
    # The default comes first even if it is beyond the bounds, because gains are measured from it.
    names = [rule.default, *(name for name in evaluations if name in feasible and name != rule.default)]
    rows, values = comparison.paired_values.shared(metric, names)
    if not len(values):
        raise ValueError(f"{metric} is defined on no question under every setting")
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
    _refuse_hidden_winner(comparison, metric, winner, feasible)
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
        )
        settings.append(setting)
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
    )


def _refuse_unmeasured(comparison: Comparison) -> None:
    """Raise if a setting cannot be compared with the default, because its ids do not match the judgments."""
    for conclusion in comparison.conclusions:
        difference = conclusion.details
        if not difference.comparable and difference.obstacle != "budget":
            raise ValueError(format_undecidable_tuning(conclusion.sentence, system_wide_warnings(comparison.scores)))


def _refuse_hidden_winner(comparison: Comparison, metric: Metric, winner: str, feasible: set[str]) -> None:
    """Raise if another setting would have the largest mean if ids that nearly match counted as found."""
    changed = {}
    for name in feasible:
        scores = comparison.scores[name]
        if has_near_ids(scores):
            changed[name] = mean_with_near_misses(scores, metric)
    if not changed:
        return
    winner_mean = changed.get(winner, comparison.evaluations[winner].means[metric])
    for name, mean in changed.items():
        if mean > winner_mean and name != winner:
            warnings = system_wide_warnings({name: comparison.scores[name]})
            raise ValueError(format_undecidable_tuning(format_hidden_winner(name, winner, str(metric)), warnings))


def _difference_from_default(comparison: Comparison, rule: TuningRule, name: str) -> Difference | None:
    return None if name == rule.default else comparison.difference(rule.metrics[0], name, rule.default)


def _is_feasible(evaluation: Evaluation, rule: TuningRule) -> bool:
    """Return whether a setting keeps all bounds."""
    for name, minimum in rule.at_least.items():
        if not _find_bounded_mean(evaluation, name) >= minimum:
            return False
    for name, maximum in rule.at_most.items():
        if not _find_bounded_mean(evaluation, name) <= maximum:
            return False
    return True


def _find_bounded_mean(evaluation: Evaluation, name: str) -> float:
    """Return the mean of a metric, or the mean of the seconds per query, to compare it with a bound."""
    if name != LATENCY_COLUMN:
        return evaluation.means[name]
    if not evaluation.scores.seconds:
        raise ValueError("seconds are known only for retrievers, which tune times, and for the results of rm.retrieve")
    return float(np.mean(list(evaluation.scores.seconds.values())))
