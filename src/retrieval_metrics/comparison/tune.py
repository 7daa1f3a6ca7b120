"""Choose the best of several settings, with an honest number."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from math import isnan
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import RetrievalWarning, argument_name, format_argument, positive_integer
from retrieval_metrics.comparison.compare import compare_evaluations, require_comparable
from retrieval_metrics.comparison.compare_retrievers import compare_retrievers
from retrieval_metrics.comparison.tuning_result import (
    LATENCY_COLUMN,
    MAX_NAMED_SETTINGS,
    TriedSetting,
    Tuning,
    TuningRule,
)
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.mean_limits import require_useful_bound
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.progress import track_steps
from retrieval_metrics.statistics.best_settings import find_possibly_best
from retrieval_metrics.statistics.means import Interval
from retrieval_metrics.statistics.out_of_bag import out_of_bag

if TYPE_CHECKING:
    from collections.abc import Sequence


def tune(
    candidates: Mapping[str, Any] | Callable[..., Any],
    questions: Any = None,
    metric: str | Metric = "ndcg@10",
    *,
    default: str | Mapping[str, Any],
    parameters: Mapping[str, Sequence[Any] | Mapping[str, Any]] | None = None,
    extra_metrics: str | Metric | Iterable[str | Metric] = (),
    at_least: Mapping[str, float] | None = None,
    at_most: Mapping[str, float] | None = None,
    level: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
    show_progress: bool = False,
    **options: Any,
) -> Tuning:
    """Choose the best of several settings by a metric, and say what the choice is worth on new questions.

    The mean of the winner on the questions that it won on is too good: with a hundred settings and fifty questions
    it claims more than twice the true gain. The number for new questions is
    `retrieval_metrics.statistics.out_of_bag`, and whether the winner is better than the default is the p value
    of the comparison of all settings with the default, corrected for having tried them all. Where the two disagree,
    the interval of the gain ends at 0.

    Args:
        candidates: The settings, by name: runs, evaluations, or retrievers, which are asked once each. Or a function of
            `parameters` that returns a run, such as `functools.partial(rm.fuse, runs)`.
        questions: The questions with their judgments, as in `evaluate`; None for evaluations.
        metric: The metric to choose by.
        default: The setting to keep unless another is better: its name, or its parameters. Equal means keep it.
        parameters: The values of each parameter of the function; every combination is tried. For settings by name,
            the parameters of each, such as `{"small": {"size": 200}}`, to be shown and drawn.
        extra_metrics: Further metrics, to be shown.
        at_least: The least mean of further metrics, such as `{"recall@10": 0.8}`; other settings are not chosen, the
            default included.
        at_most: The largest mean, such as `{"seconds": 0.2}` per query for retrievers, or of a metric.
        level: Confidence level of the intervals.
        resamples: Number of resamples for the number on new questions.
        seed: Seed of the resamples and of the test.
        show_progress: Show a progress bar on stderr, if rich is installed.
        **options: Arguments of `evaluate`, such as `clusters` and `match`; for retrievers those of
            `compare_retrievers`.

    Returns:
        The choice; print, plot, report or save it.

    Raises:
        TypeError: If the candidates are of different kinds, or as in `evaluate`.
        ValueError: If there are fewer than two settings, the default is not among them, or as in `evaluate`.

    Example:
        >>> qrels = {f"q{at}": ["d"] for at in range(20)}
        >>> runs = {"old": {q: ["x", "d"] for q in qrels}, "new": {q: ["d", "x"] for q in qrels}}
        >>> tune(runs, qrels, "mrr", default="old").winner
        'new'

    References:
        I. Tsamardinos, E. Greasidou, G. Borboudakis (2018). Bootstrapping the out-of-sample predictions for efficient
        and accurate cross-validation. Machine Learning 107.
    """
    chosen_by = metric if isinstance(metric, Metric) else Metric.parse(metric)
    if not chosen_by.definition.higher_is_better:
        raise ValueError(
            f"lower is better in {chosen_by}; tune takes the largest mean, so bound it: "
            f"{format_argument('at_most', python='at_most={...}')}"
        )
    bounds = {**_bounds(at_least, "at_least"), **_bounds(at_most, "at_most")}
    further = [extra_metrics] if isinstance(extra_metrics, (str, Metric)) else list(extra_metrics)
    wanted = [chosen_by, *further, *(name for name in bounds if name != LATENCY_COLUMN)]
    metrics = list(dict.fromkeys(one if isinstance(one, Metric) else Metric.parse(one) for one in wanted))
    settings, default_name = _settings(candidates, default, parameters)
    if default_name not in settings:
        raise ValueError(
            f"the default, {default_name!r}, is not among the settings: "
            f"{numbers.join_names(list(settings), MAX_NAMED_SETTINGS)}"
        )
    # Everything is refused before the first call that costs.
    require_comparable(list(settings), {"baseline": default_name, "level": level, "seed": seed})
    positive_integer(resamples, "resamples")
    made = not isinstance(candidates, Mapping)
    evaluations = _evaluated(
        settings, questions, metrics, default_name, made=made, show_progress=show_progress, options=options
    )
    rule = TuningRule(
        metrics=tuple(map(str, metrics)),
        default=default_name,
        parameters={name: one.parameters for name, one in settings.items()},
        at_least=dict(at_least or {}),
        at_most=dict(at_most or {}),
        level=level,
        resamples=resamples,
        seed=seed,
    )
    return choose_setting(evaluations, rule, show_progress=show_progress)


def _bounds(given: Any, what: str) -> Mapping[str, float]:
    """Return bounds of means by name, after checking them."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{argument_name(what)} must map names of metrics to numbers, got {type(given).__name__}")
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"{argument_name(what)} of {name} must be a number, got {value!r} ({type(value).__name__})")
        if isnan(value):
            raise ValueError(f"{argument_name(what)} of {name} must be a number, got nan")
        if name != LATENCY_COLUMN:
            require_useful_bound(what, name, float(value))
    return given


class _Candidate:
    """A setting as given."""

    def __init__(self, value: Any, parameters: Mapping[str, Any]) -> None:
        self.value, self.parameters = value, parameters


def _settings(
    candidates: Mapping[str, Any] | Callable[..., Any], default: str | Mapping[str, Any], parameters: Any
) -> tuple[dict[str, _Candidate], str]:
    """Return the settings by name, those of a function unmade, and the name of the default."""
    if isinstance(candidates, Mapping):
        if not isinstance(default, str):
            raise TypeError(f"default must be the name of a setting, got {type(default).__name__}")
        known = _known(candidates, parameters or {})
        return {name: _Candidate(value, known.get(name, {})) for name, value in candidates.items()}, default
    if not callable(candidates):
        raise TypeError(
            f"candidates must be a mapping of names to settings, or a function; got {type(candidates).__name__}"
        )
    if not parameters:
        raise ValueError('a function needs parameters, such as parameters={"k": [10, 60, 100]}')
    for name, values in parameters.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise TypeError(f"the values of {name} must be a list, got {values!r} ({type(values).__name__})")
    tried = {name: list(values) for name, values in parameters.items()}
    if empty := [name for name, values in tried.items() if not values]:
        raise ValueError(f"there is no value to try of {', '.join(empty)}")
    if isinstance(default, Mapping) and default.keys() != tried.keys():
        raise ValueError(f"default must have a value of each of {', '.join(tried)}, got {dict(default)!r}")
    found = {}
    for chosen_values in product(*tried.values()):
        given = dict(zip(tried, chosen_values, strict=True))
        found[_name(given)] = _Candidate(candidates, given)
    return found, default if isinstance(default, str) else _name({name: default[name] for name in tried})


def _known(candidates: Mapping[str, Any], parameters: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the parameters of settings that have names."""
    for name, given in parameters.items():
        if name not in candidates or not isinstance(given, Mapping):
            raise TypeError(
                'candidates are settings by name, so parameters are those of each, such as {"small": {"size": 200}}; '
                f"got {name!r}: {given!r}"
            )
    return parameters


def _name(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


def _evaluated(
    settings: Mapping[str, _Candidate],
    questions: Any,
    metrics: Sequence[Metric],
    default: str,
    *,
    made: bool,
    show_progress: bool,
    options: dict[str, Any],
) -> dict[str, Evaluation]:
    values = {name: one.value for name, one in settings.items()}
    if all(isinstance(value, Evaluation) for value in values.values()):
        if questions is not None or options:
            raise TypeError("evaluations have their own questions and rules; pass only the evaluations")
        return values
    if questions is None:
        raise TypeError("runs and retrievers need questions with judgments, as evaluate does")
    if not made and not any(isinstance(value, Mapping) for value in values.values()):
        options["show_progress"] = show_progress
        return compare_retrievers(values, questions, metrics, baseline=default, **options).evaluations
    if not made and not all(isinstance(value, Mapping) for value in values.values()):
        raise TypeError("candidates must be all runs, all evaluations or all retrievers")
    evaluations: dict[str, Evaluation] = {}
    doing = f"trying {numbers.format_count(len(settings), 'setting')}"
    with track_steps(
        "trying settings", len(settings), doing, "fewer settings take less", show_progress=show_progress
    ) as advance:
        for done, (name, one) in enumerate(settings.items(), start=1):
            try:
                run = one.value(**one.parameters) if made else one.value
                with warnings.catch_warnings():
                    if done > 1:
                        warnings.simplefilter("ignore", RetrievalWarning)  # said once, of the first
                    evaluations[name] = evaluate(questions, run, metrics, **options)
            except Exception as error:
                error.add_note(f"this is the setting {name!r}")
                raise
            advance(done)
    return evaluations


def choose_setting(evaluations: Mapping[str, Evaluation], rule: TuningRule, *, show_progress: bool = False) -> Tuning:
    """Choose among evaluated settings."""
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
    rows, values = compared.paired_values.shared(chosen_by, left)
    if not len(values):
        raise ValueError(f"{chosen_by} is defined for no question in all settings")
    clusters = (
        None if compared.clusters is None else compared.clusters.select(compared.paired_values.shared_queries(rows))
    )
    drawn: dict[str, Any] = {
        "clusters": None if clusters is None else clusters.labels,
        "level": rule.level,
        "resamples": rule.resamples,
        "seed": rule.seed,
    }
    found = out_of_bag(values, 0, keep=rule.default in allowed, **drawn)
    winner = left[found.best]
    contenders = [at for at, name in enumerate(left) if name in allowed]
    may_be = find_possibly_best(values[:, contenders], **drawn)
    shares = dict(zip(left, found.selection_rates.tolist(), strict=True))
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
    own, own_default = float(values[:, found.best].mean()), float(values[:, 0].mean())
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
        indistinguishable=tuple(
            left[at] for at, may in zip(contenders, may_be.tolist(), strict=True) if may and left[at] != winner
        ),
        n_questions=len(rows),
        mean=own,
        default_mean=own_default,
        expected_mean=found.mean,
        expected_mean_interval=found.mean_interval,
        gain=own - own_default,
        expected_gain=found.gain,
        expected_gain_interval=Interval(min(low, high), high),
        p=1.0 if difference is None else difference.p_corrected,
        evaluations=dict(compared.evaluations),
    )


def _keeps(evaluation: Evaluation, rule: TuningRule) -> bool:
    def value(name: str) -> float:
        if name == LATENCY_COLUMN:
            if not evaluation.scores.seconds:
                raise ValueError("seconds are known only of retrievers that tune asks, or of runs of retrieve")
            return float(np.mean(list(evaluation.scores.seconds.values())))
        return evaluation.means[name]

    return all(value(name) >= least for name, least in rule.at_least.items()) and all(
        value(name) <= most for name, most in rule.at_most.items()
    )
