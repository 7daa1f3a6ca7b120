"""The top of the relevance scale, for metrics that divide grades by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics.definition.definition import Parameter, number_between

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.judging.judged_run import JudgedRun

MAX_GRADE = Parameter(
    number_between(0, float("inf")), None, "top of the scale; by default the largest judged grade", examples=(4,)
)


def divides_by_largest_grade(metric: Metric) -> bool:
    """Return whether a metric divides by the largest grade of all judgments, because its name does not set one."""
    return "max_grade" in metric.definition.parameters and "max_grade" not in dict(metric.parameters)


def refuse_unknown_scale(metrics: Iterable[Metric], shown: str, cure: str, judgments: Any = None) -> None:
    """Refuse metrics that divide by the largest grade of all judgments, where these are not all shown.

    Args:
        metrics: The metrics.
        shown: What is shown, for the message.
        cure: What to do about it; `{name}` stands for the name of the metric.
        judgments: What is shown. Where it has no grades, only ids, nothing is refused: the others have none either.

    Raises:
        ValueError: If there is such a metric.
    """
    graded = judgments is None or isinstance(judgments, Mapping) or any(isinstance(one, Mapping) for one in judgments)
    if not graded:
        return
    for metric in metrics:
        if divides_by_largest_grade(metric):
            raise ValueError(
                f"{metric} divides by the largest grade of all judgments, which {shown} does not show; "
                + cure.format(name=metric.name)
            )


def largest_grade(judged: JudgedRun, max_grade: float | None) -> float:
    """Return the top of the scale: `max_grade`, or the largest grade of all judgments (1 if nothing is relevant).

    Raises:
        ValueError: If a grade is above `max_grade`.
    """
    largest = judged.qrels.largest_grade
    if max_grade is None:
        return largest or 1.0
    if largest > max_grade:
        at = int(judged.qrels.document_grade.argmax())
        query = judged.qrels.queries[judged.qrels.document_query[at]]
        raise ValueError(
            f"max_grade={max_grade:g} is below the grade {largest:g} of document {judged.qrels.documents[at]!r} for "
            f"query {query!r}"
        )
    return max_grade
