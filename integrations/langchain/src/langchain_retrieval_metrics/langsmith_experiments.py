"""Datasets of LangSmith by name, and two experiments over one dataset compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_retrieval_metrics.langsmith_rows import Row, RowSettings, warned_of
from retrieval_metrics import EvaluationSet
from retrieval_metrics.adapting.twins import arguments_of, passed_on

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from langsmith import Client

    from retrieval_metrics import Metric

    ComparativeEvaluator = Callable[[Sequence[Any], Any], dict[str, Any]]


def langsmith_dataset(
    dataset: str | UUID, *, client: Client | None = None, splits: Sequence[str] | None = None, as_of: Any = None
) -> EvaluationSet:
    """Return the examples of a dataset in LangSmith as questions with their judgments.

    Args:
        dataset: The name of the dataset, or its id.
        client: The client that asks; None makes one from the environment.
        splits: Only these splits of the dataset.
        as_of: A version of the dataset, by its tag or date, as in `Client.list_examples`.

    Returns:
        The questions, with the ids and sources of the examples. An example without judgments is left out and counted.

    Raises:
        ValueError: If the dataset has no examples, or none of them is judged.
    """
    from langsmith import Client  # noqa: PLC0415  (only this function needs it)

    asked = Client() if client is None else client
    by: dict[str, Any] = {"dataset_name": dataset} if isinstance(dataset, str) else {"dataset_id": dataset}
    given: dict[str, Any] = {"splits": splits, "as_of": as_of}
    examples = list(asked.list_examples(**by, **{key: value for key, value in given.items() if value is not None}))
    if not examples:
        raise ValueError(f"the dataset {str(dataset)!r} has no examples")
    return EvaluationSet.of(examples)


@arguments_of(RowSettings)
def langsmith_comparative_evaluators(*args: Any, **options: Any) -> list[ComparativeEvaluator]:
    """Return evaluators for `langsmith.evaluate((experiment, other), evaluators=...)`, one for each metric.

    Each gives every run of an example the value of the metric, so that LangSmith shows side by side which experiment
    retrieved better. A run that failed has 0, one whose output cannot be judged has no score. LangSmith does not say
    whether a difference is more than chance: for that, compare the retrievers with `rm.compare_retrievers`.

    The arguments are those of `langsmith_evaluators`.

    Raises:
        TypeError: If the prefix is not a text.
        ValueError: If a metric or `match` is unknown, or a metric needs `max_grade`.

    Warns:
        RetrievalWarning: (the evaluators) If an example or an output cannot be judged.
    """
    settings = passed_on("langsmith_comparative_evaluators", RowSettings, args, options)
    return [_comparative(metric, settings) for metric in settings.metrics]


def _comparative(metric: Metric, settings: RowSettings) -> ComparativeEvaluator:
    key, scorer = settings.keys[metric], settings.row_scorer(metric)

    def retrieval_metric(runs: Sequence[Any], example: Any) -> dict[str, Any]:
        scores: dict[UUID, float | None] = {}
        comments: dict[UUID, str] = {}
        for run in runs:
            try:
                score = Row.of(run.outputs, example.outputs, run).scores(scorer, settings.paths)[metric]
            except (TypeError, ValueError) as error:
                comments[run.id] = warned_of(error)
            else:
                scores[run.id], comments[run.id] = score.known, score.reason
        return {"key": key, "scores": scores, "comment": comments}

    return retrieval_metric
