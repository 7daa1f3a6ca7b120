"""Read the settings that a user gives to `tune`, and evaluate them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from retrieval_metrics.comparison.compare_retrievers import compare_retrievers
from retrieval_metrics.comparison.system_warnings import repeat_warnings_once
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.files.judgment_paths import resolve_judgments
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.progress import track_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.metrics.base.metric import Metric


@dataclass(frozen=True, slots=True)
class CandidateSetting:
    """A setting as it was given to `tune`.

    Attributes:
        run_source: A run, an evaluation, a retriever, or a function that makes a run from the parameters.
        parameters: The parameters; empty if they are not known.
    """

    run_source: Any
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TuningSettings:
    """The settings by name, and the name of the default.

    Attributes:
        candidates: The settings.
        default: The name of the setting to keep unless another is better.
        are_made: Whether a function makes the run of each.
    """

    candidates: dict[str, CandidateSetting]
    default: str
    are_made: bool

    @property
    def run_sources(self) -> dict[str, Any]:
        """The run, evaluation, retriever or function of each setting."""
        return {name: candidate.run_source for name, candidate in self.candidates.items()}


def read_settings(
    candidates: Mapping[str, Any] | Callable[..., Any], default: str | Mapping[str, Any], parameters: Any
) -> TuningSettings:
    """Return the settings; a function is not called yet."""
    if isinstance(candidates, Mapping):
        return _read_named_settings(candidates, default, parameters or {})
    if not callable(candidates):
        raise TypeError(
            f"candidates must be a mapping of names to settings, or a function; got {type(candidates).__name__}"
        )
    return _read_grid(candidates, default, parameters)


def _read_named_settings(
    candidates: Mapping[str, Any], default: str | Mapping[str, Any], parameters: Mapping[str, Any]
) -> TuningSettings:
    if not isinstance(default, str):
        raise TypeError(f"default must be the name of a setting, got {type(default).__name__}")
    for name, values in parameters.items():
        if name not in candidates or not isinstance(values, Mapping):
            raise TypeError(
                'candidates are settings by name, so parameters are those of each, such as {"small": {"size": 200}}; '
                f"got {name!r}: {values!r}"
            )
    settings = {name: CandidateSetting(source, parameters.get(name, {})) for name, source in candidates.items()}
    return TuningSettings(settings, default, are_made=False)


def _read_grid(function: Callable[..., Any], default: str | Mapping[str, Any], parameters: Any) -> TuningSettings:
    if not parameters:
        raise ValueError('a function needs parameters, such as parameters={"k": [10, 60, 100]}')
    for name, values in parameters.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise TypeError(f"the values of {name} must be a list, got {values!r} ({type(values).__name__})")
    values_by_parameter = {name: list(values) for name, values in parameters.items()}
    empty_parameters = [name for name, values in values_by_parameter.items() if not values]
    if empty_parameters:
        raise ValueError(f"there is no value of {', '.join(empty_parameters)} to try")
    if isinstance(default, Mapping):
        if default.keys() != values_by_parameter.keys():
            raise ValueError(
                f"default must have a value of each of {', '.join(values_by_parameter)}, got {dict(default)!r}"
            )
        default = _format_parameters({name: default[name] for name in values_by_parameter})
    candidates = {}
    for combination in product(*values_by_parameter.values()):
        chosen_parameters = dict(zip(values_by_parameter, combination, strict=True))
        candidates[_format_parameters(chosen_parameters)] = CandidateSetting(function, chosen_parameters)
    return TuningSettings(candidates, default, are_made=True)


def _format_parameters(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


def evaluate_settings(
    settings: TuningSettings, questions: Any, metrics: Sequence[Metric], *, show_progress: bool, options: dict[str, Any]
) -> dict[str, Evaluation]:
    """Return the evaluation of each setting."""
    run_sources = settings.run_sources
    if all(isinstance(source, Evaluation) for source in run_sources.values()):
        if questions is not None or options:
            raise TypeError("evaluations have their own questions and rules; pass only the evaluations")
        return run_sources
    if questions is None:
        raise TypeError("runs and retrievers need questions with judgments, as evaluate does")
    questions = resolve_judgments(questions)
    if not settings.are_made:
        n_runs = sum(isinstance(source, Mapping) for source in run_sources.values())
        if n_runs == 0:
            comparison = compare_retrievers(
                run_sources, questions, metrics, baseline=settings.default, show_progress=show_progress, **options
            )
            return comparison.evaluations
        if n_runs < len(run_sources):
            raise TypeError("candidates must be all runs, all evaluations or all retrievers")
    return _evaluate_runs(settings, questions, metrics, show_progress=show_progress, options=options)


def _evaluate_runs(
    settings: TuningSettings, questions: Any, metrics: Sequence[Metric], *, show_progress: bool, options: dict[str, Any]
) -> dict[str, Evaluation]:
    evaluations: dict[str, Evaluation] = {}
    n_settings = len(settings.candidates)
    activity = f"trying {numbers.format_count(n_settings, 'setting')}"
    remedy = "fewer settings take less"
    with (
        repeat_warnings_once(n_settings) as setting_warnings,
        track_steps("trying settings", n_settings, activity, remedy, show_progress=show_progress) as advance,
    ):
        for number, (name, candidate) in enumerate(settings.candidates.items(), start=1):
            run = _make_run(name, candidate, settings)
            if isinstance(run, dict) and not run and name != settings.default:
                run = dict.fromkeys(as_qrels(questions).queries, ())  # nothing retrieved: it takes no part
            with setting_warnings.record(name, _describe_setting(name)):
                evaluations[name] = evaluate(questions, run, metrics, **options)
            advance(number)
    return evaluations


def _make_run(name: str, candidate: CandidateSetting, settings: TuningSettings) -> Any:
    """Return the run of a setting, which its function makes from the parameters if there is one."""
    if not settings.are_made:
        return candidate.run_source
    try:
        return candidate.run_source(**candidate.parameters)
    except Exception as error:
        note = _describe_setting(name)
        if name != settings.default:
            note += "; to leave it out, let the function return {} for it"
        error.add_note(note)
        raise


def _describe_setting(name: str) -> str:
    return f"this is the setting {name!r}"
