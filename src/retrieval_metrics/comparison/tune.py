"""Choose among settings, and estimate what the choice gains on new questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isnan
from numbers import Real
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.comparison.compare import require_comparable
from retrieval_metrics.comparison.tuning_bounds import LATENCY_COLUMN
from retrieval_metrics.comparison.tuning_choice import choose_setting
from retrieval_metrics.comparison.tuning_result import MAX_NAMED_SETTINGS, TuningRule
from retrieval_metrics.comparison.tuning_settings import evaluate_settings, read_settings
from retrieval_metrics.evaluation.useful_bounds import require_useful_bound
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.comparison.tuning_result import Tuning
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.question_rows import QuestionDataset


def tune(
    candidates: Mapping[str, Any] | Callable[..., Any],
    questions: QuestionDataset | Qrels | None = None,
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
    """Choose the best of several settings by a metric, and estimate its gain on new questions.

    The winner's mean on the questions that it was selected on is optimistic: with a hundred settings and fifty
    questions it claims more than twice the true gain. The estimate for new questions is
    `retrieval_metrics.statistics.out_of_bag`; the p value of the comparison of all settings with the default, corrected
    for having tried them all, says whether the winner is better. Where the two disagree, the interval of the gain ends
    at 0.

    A setting takes no part if it retrieved nothing, if its ids match no judgment, if so many nearly match that the
    conclusion could be another, or if `exclude=` left nothing out of it alone; the conclusion names it, and the p value
    is corrected for it, too.

    Args:
        candidates: The settings, by name: runs, evaluations, or retrievers, which are run once each. Or a function of
            `parameters` that returns a run, such as `functools.partial(rm.fuse, runs)`.
        questions: The questions with their judgments, as in `evaluate`; None for evaluations.
        metric: The metric to choose by.
        default: The setting to keep unless another is better: its name, or its parameters. Ties keep it.
        parameters: The values of each parameter of the function; every combination is tried. For settings by name,
            the parameters of each, such as `{"small": {"size": 200}}`, to be shown and drawn.
        extra_metrics: Further metrics, to be shown.
        at_least: The least mean of further metrics, such as `{"recall@10": 0.8}`; other settings are not chosen, the
            default included.
        at_most: The largest mean, such as `{"seconds": 0.2}` per query for retrievers, or of a metric.
        level: Confidence level of the intervals.
        resamples: Number of resamples for the estimate on new questions.
        seed: Seed of the resamples and of the test.
        show_progress: Show a progress bar on stderr, if rich is installed.
        **options: Arguments of `evaluate`, such as `clusters` and `match`; for retrievers those of
            `compare_retrievers`.

    Returns:
        The selected setting and its estimates; print, plot, report or save them.

    Raises:
        TypeError: If the candidates are of different kinds, or as in `evaluate`.
        ValueError: If there are fewer than two settings, the default is not among them or retrieved nothing, its ids or
            those of all others match the judgments so badly that nothing can be decided, or as in `evaluate`.

    Example:
        >>> qrels = {f"q{number}": ["d"] for number in range(20)}
        >>> runs = {"old": {q: ["x", "d"] for q in qrels}, "new": {q: ["d", "x"] for q in qrels}}
        >>> tune(runs, qrels, "mrr", default="old").winner
        'new'

    References:
        I. Tsamardinos, E. Greasidou, G. Borboudakis (2018). Bootstrapping the out-of-sample predictions for efficient
        and accurate cross-validation. Machine Learning 107.
    """
    metrics = _read_metrics(metric, extra_metrics, at_least, at_most)
    settings = read_settings(candidates, default, parameters)
    if settings.default not in settings.candidates:
        raise ValueError(
            f"the default, {settings.default!r}, is not among the settings: "
            f"{numbers.join_names(list(settings.candidates), MAX_NAMED_SETTINGS)}"
        )
    # All options are checked before a retriever is asked, because its calls may cost time and money.
    require_comparable(list(settings.candidates), {"baseline": settings.default, "level": level, "seed": seed})
    positive_integer(resamples, "resamples")
    evaluations = evaluate_settings(settings, questions, metrics, show_progress=show_progress, options=options)
    rule = TuningRule(
        metrics=tuple(map(str, metrics)),
        default=settings.default,
        parameters={name: candidate.parameters for name, candidate in settings.candidates.items()},
        at_least=dict(at_least or {}),
        at_most=dict(at_most or {}),
        level=level,
        resamples=resamples,
        seed=seed,
    )
    return choose_setting(evaluations, rule, show_progress=show_progress)


def _read_metrics(
    metric: str | Metric,
    extra_metrics: str | Metric | Iterable[str | Metric],
    at_least: Mapping[str, float] | None,
    at_most: Mapping[str, float] | None,
) -> list[Metric]:
    """Return the metric to choose by, the metrics to show, and the metrics with bounds, each once."""
    main_metric = metric if isinstance(metric, Metric) else Metric.parse(metric)
    if not main_metric.definition.higher_is_better:
        raise ValueError(
            f"lower is better for {main_metric}; tune takes the largest mean, so bound it: at_most={{...}}"
        )
    bounds = {**_read_bounds(at_least, "at_least"), **_read_bounds(at_most, "at_most")}
    names_or_metrics: list[str | Metric] = [main_metric]
    if isinstance(extra_metrics, (str, Metric)):
        names_or_metrics.append(extra_metrics)
    else:
        names_or_metrics += extra_metrics
    names_or_metrics += [name for name in bounds if name != LATENCY_COLUMN]
    metrics = [name if isinstance(name, Metric) else Metric.parse(name) for name in names_or_metrics]
    return list(dict.fromkeys(metrics))


def _read_bounds(bounds: Any, argument: str) -> Mapping[str, float]:
    """Return bounds of means by name, after checking them."""
    if bounds is None:
        return {}
    if not isinstance(bounds, Mapping):
        raise TypeError(f"{argument} must map names of metrics to numbers, got {type(bounds).__name__}")
    for name, bound in bounds.items():
        if isinstance(bound, bool) or not isinstance(bound, Real):
            raise TypeError(f"{argument} of {name} must be a number, got {bound!r} ({type(bound).__name__})")
        if isnan(bound):
            raise ValueError(f"{argument} of {name} must be a number, got nan")
        if name != LATENCY_COLUMN:
            require_useful_bound(argument, name, float(bound))
    return bounds
