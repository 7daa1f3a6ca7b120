"""Tell the core and the other integrations what the results, datasets and experiments of ragas are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragas_retrieval_metrics.evaluate import evaluate_dataset
from ragas_retrieval_metrics.metric_names import MetricName
from ragas_retrieval_metrics.ragas_imports import DataTable, EvaluationDataset, EvaluationResult
from ragas_retrieval_metrics.result_rows import read_rows
from ragas_retrieval_metrics.results import to_evaluation
from retrieval_metrics.integration_api import HostAdapter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics import Evaluation, Metric


def convert_result(result: object, metrics: Sequence[str]) -> Evaluation | None:
    """Return a result, an experiment or a dataset with these metrics, as far as it has them; None for anything else."""
    if isinstance(result, EvaluationResult):
        return to_evaluation(result)
    if isinstance(result, DataTable):
        columns = {column for row in read_rows(result) for column in row}
        own_columns = [column for column in columns if _parse_metric(column) is not None]
        other_columns = [name for name in metrics if name in columns and name not in own_columns]
        if own_columns or other_columns:
            return to_evaluation(result, scores=other_columns)
    if isinstance(result, (DataTable, EvaluationDataset)):
        computable = [metric for metric in map(_parse_metric, metrics) if metric is not None]
        if not computable:
            raise ValueError(
                f"a dataset of ragas has no values of {', '.join(metrics)}; evaluate it, and pass the result"
            )
        return evaluate_dataset(result, computable)
    return None


def _parse_metric(name: str) -> Metric | None:
    """Return the metric of retrieval of this name; None if it is another metric, or another column."""
    try:
        metric = MetricName.parse(name).metric
    except (TypeError, ValueError):
        return None
    return None if metric.definition.is_given else metric


def _is_no_retriever(retriever: object) -> None:
    """Return None: ragas has no retrievers."""


def _refuse_items(answer: object) -> None:
    raise TypeError(f"ragas has no retrievers, but a retriever returned {type(answer).__name__}")


# Registered as the entry point `ragas` of the group `retrieval_metrics.hosts`.
HOST = HostAdapter(
    name="ragas", resolve_retriever=_is_no_retriever, convert_items=_refuse_items, evaluation=convert_result
)
