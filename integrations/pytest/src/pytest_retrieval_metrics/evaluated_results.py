"""Take a result that is evaluated already, an evaluation or the result of a framework, in place of a run."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from pytest_retrieval_metrics.baselines import with_metrics
from retrieval_metrics import Evaluation, Metric
from retrieval_metrics.integration_api import find_host

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


# The values of the arguments that say how a run is evaluated, if they are not passed.
DEFAULT_OPTIONS = {"match": "id", "rules": "standard", "clusters": "source", "documents": None}


def require_no_options(**options: object) -> None:
    """Raise if an argument says how to evaluate what is evaluated already."""
    for name, value in options.items():
        if value is not DEFAULT_OPTIONS[name] and value != DEFAULT_OPTIONS[name]:
            raise TypeError(
                f"{name}= says how a run is evaluated, and this result is evaluated already; pass it where you evaluate"
            )


@dataclass(frozen=True, slots=True)
class EvaluatedResult:
    """A result as an evaluation of the metrics of a check, and the warnings of its conversion."""

    evaluation: Evaluation
    warnings: Sequence[warnings.WarningMessage]


def read_evaluated_result(result: object, metrics: Sequence[str]) -> EvaluatedResult | None:
    """Return a result that is evaluated already with these metrics alone; None if it is no such result.

    Args:
        result: An evaluation, or a result of a framework whose integration converts results.
        metrics: The names of the metrics of the check.
    """
    evaluation: Evaluation | None = None
    own_evaluation = getattr(
        result, "evaluation", None
    )  # results of our integrations keep the evaluation they were made from
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")
        if isinstance(result, Evaluation):
            evaluation = result
        elif isinstance(own_evaluation, Evaluation):
            evaluation = own_evaluation
        else:
            host = find_host(result)
            if host is not None and host.evaluation is not None:
                evaluation = host.evaluation(result, metrics)
    if evaluation is None:
        return None
    return EvaluatedResult(_select_metrics(evaluation, metrics), recorded)


def _select_metrics(evaluation: Evaluation, names: Sequence[str]) -> Evaluation:
    """Return an evaluation with these metrics alone, computed from its rankings where it does not have them."""
    present = {str(metric): metric for metric in evaluation.metrics}
    selected: list[Metric] = []
    for name in names:
        metric = present.get(name)
        if metric is None:
            metric = _parse_metric(name)
        if metric is None:
            _fail_without_metric(f"no metric {name!r}", present)
        selected.append(metric)
    completed = with_metrics(evaluation, selected)
    absent = [str(metric) for metric in selected if metric not in completed.metrics]
    if absent:
        _fail_without_metric(f"no {absent[0]}, and no rankings to compute it from", present)
    scores = completed.scores
    columns: Any = {key: column for key, column in scores.columns.items() if key[1] in selected}
    metrics = tuple(dict.fromkeys(selected))
    return Evaluation(replace(scores, metrics=metrics, columns=columns), labels=evaluation.labels)


def _parse_metric(name: str) -> Metric | None:
    """Return a metric that can be computed from rankings; None if no metric has this name."""
    try:
        return Metric.parse(name)
    except ValueError:
        return None


def _fail_without_metric(lack: str, present: Iterable[str]) -> NoReturn:
    """Fail the test in one line: the frames between the check and this function say nothing more."""
    pytest.fail(
        f"the result has {lack}; it has {', '.join(present)}. Evaluate with it too, or leave it out of the check",
        pytrace=False,
    )
