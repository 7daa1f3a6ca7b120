"""What is wrong with the data of an evaluation, by kind, without issuing the warnings."""

import warnings
from typing import Any

import retrieval_metrics as rm
from retrieval_metrics.evaluation.data_warnings import WarningKind, find_data_warnings
from retrieval_metrics.evaluation.scores import Origin


def evaluate_silently(qrels: Any, run: Any, metrics: Any = "mrr", **options: Any) -> rm.Evaluation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        return rm.evaluate(qrels, run, metrics, **options)


def find_kinds(qrels: Any, run: Any, metrics: Any = "mrr", **options: Any) -> list[WarningKind]:
    """Return the kinds of the warnings about the data, the gravest first."""
    evaluation = evaluate_silently(qrels, run, metrics, **options)
    return [warning.kind for warning in find_data_warnings(evaluation.scores)]


def find_origin(qrels: Any, run: Any, **options: Any) -> Origin:
    """Return the judged run of an evaluation."""
    origin = evaluate_silently(qrels, run, **options).scores.origin
    assert origin is not None
    return origin
