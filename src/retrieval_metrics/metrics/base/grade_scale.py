"""Find the top of the relevance scale, for metrics that divide grades by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics.metrics.base.definition import Parameter, make_number_reader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.metric import Metric


MAX_GRADE = Parameter(
    make_number_reader(0, float("inf")), None, "top of the scale; by default the largest judged grade", examples=(4,)
)


def divides_by_largest_grade(metric: Metric) -> bool:
    """Return whether a metric divides by the largest grade of all judgments, because its name does not set one."""
    return "max_grade" in metric.definition.parameters and "max_grade" not in dict(metric.parameters)


def require_known_scale(metrics: Iterable[Metric], shown: str, remedy: str, judgments: Any = None) -> None:
    """Refuse metrics that divide by the largest grade of all judgments, where these are not all shown."""
    if judgments is not None and not _has_grades(judgments):
        return
    for metric in metrics:
        if divides_by_largest_grade(metric):
            raise ValueError(
                f"{metric} divides by the largest grade of all judgments, which {shown} does not show; "
                + remedy.format(name=metric.name)
            )


def _has_grades(judgments: Any) -> bool:
    """Return whether the judgments of a query are graded."""
    return isinstance(judgments, Mapping) or any(isinstance(group, Mapping) for group in judgments)


def largest_grade(judged: JudgedRun, max_grade: float | None) -> float:
    """Return the top of the scale: `max_grade`, or the largest grade of all judgments (1 if nothing is relevant)."""
    largest = judged.qrels.largest_grade
    if max_grade is None:
        return largest or 1.0
    if largest > max_grade:
        qrels = judged.qrels
        position = int(qrels.document_grade.argmax())
        query = qrels.queries[qrels.document_query[position]]
        raise ValueError(
            f"max_grade={max_grade:g} is below the grade {largest:g} of document {qrels.documents[position]!r} for "
            f"query {query!r}"
        )
    return max_grade
