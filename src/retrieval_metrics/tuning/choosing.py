"""Choose among evaluated settings by a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.comparing.compare_evaluations import compare_evaluations
from retrieval_metrics.statistics.chosen_settings import out_of_bag, possibly_best
from retrieval_metrics.statistics.means import Interval
from retrieval_metrics.tuning.choice import SECONDS, TriedSetting
from retrieval_metrics.tuning.tuning import Tuning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.tuning.choice import TuningRule


def chosen(evaluations: Mapping[str, Evaluation], rule: TuningRule, *, show_progress: bool = False) -> Tuning:
    """Choose among evaluated settings.

    Raises:
        ValueError: If no setting keeps the bounds, or no question has a value in all settings.
    """
    first = evaluations[rule.default]
    chosen_by = next(each for each in first.metrics if str(each) == rule.metrics[0])
    compared = compare_evaluations(
        evaluations,
        chosen_by,
        baseline=rule.default,
        level=rule.level,
        seed=rule.seed,
        show_progress=show_progress,
    )
    allowed = [name for name in evaluations if _keeps(compared.evaluations[name], rule)]
    if not allowed:
        raise ValueError(
            f"no setting keeps the bounds {dict(rule.at_least) | dict(rule.at_most)}; the default has "
            f"{dict(first.means)}"
        )
    left = list(dict.fromkeys([rule.default, *allowed]))
    rows, values = compared.aligned.shared(chosen_by, left)
    if not len(values):
        raise ValueError(f"{chosen_by} is defined for no question in all settings")
    clusters = None if compared.clusters is None else compared.clusters.of(compared.aligned.queries_at(rows))
    drawn: dict[str, Any] = {
        "clusters": None if clusters is None else clusters.labels,
        "level": rule.level,
        "resamples": rule.resamples,
        "seed": rule.seed,
    }
    found = out_of_bag(values, 0, keep=rule.default in allowed, **drawn)
    winner = left[found.winner]
    contenders = [at for at, name in enumerate(left) if name in allowed]
    may_be = possibly_best(values[:, contenders], **drawn)
    shares = dict(zip(left, found.chosen.tolist(), strict=True))
    settings = [
        TriedSetting(
            name,
            rule.parameters.get(name, {}),
            {metric: evaluation.means[metric] for metric in rule.metrics},
            name in allowed,
            shares.get(name, 0.0),
            None if name == rule.default else compared.difference(chosen_by, name, rule.default),
        )
        for name, evaluation in evaluations.items()
    ]
    settings.sort(key=lambda one: -one.means[rule.metrics[0]])
    difference = None if winner == rule.default else compared.difference(chosen_by, winner, rule.default)
    own, own_default = float(values[:, found.winner].mean()), float(values[:, 0].mean())
    low, high = found.gain_interval
    if difference is None:  # the default wins: its gain over itself is 0
        low, high = min(low, 0.0), max(high, 0.0)
    elif own < own_default:  # the default is beyond the bounds
        high = high if (high < 0) == difference.significant else 0.0
    elif (low > 0) != difference.significant:  # the number and the decision disagree
        low, high = 0.0, max(high, 0.0)
    return Tuning(
        rule=rule,
        winner=winner,
        settings=tuple(settings),
        as_good=tuple(
            left[at] for at, may in zip(contenders, may_be.tolist(), strict=True) if may and left[at] != winner
        ),
        questions=len(rows),
        mean=own,
        default_mean=own_default,
        new_mean=found.mean,
        new_mean_interval=found.mean_interval,
        gain=own - own_default,
        new_gain=found.gain,
        new_gain_interval=Interval(min(low, high), high),
        p=1.0 if difference is None else difference.p_corrected,
        evaluations=dict(compared.evaluations),
    )


def _keeps(evaluation: Evaluation, rule: TuningRule) -> bool:
    def value(name: str) -> float:
        if name == SECONDS:
            if not evaluation.scores.seconds:
                raise ValueError("seconds are known only of retrievers that tune asks, or of runs of retrieve")
            return float(np.mean(list(evaluation.scores.seconds.values())))
        return evaluation.means[name]

    return all(value(name) >= least for name, least in rule.at_least.items()) and all(
        value(name) <= most for name, most in rule.at_most.items()
    )
