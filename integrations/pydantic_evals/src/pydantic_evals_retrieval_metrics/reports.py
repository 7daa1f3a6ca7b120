"""An evaluation of the core from a report of Pydantic Evals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_evals.reporting import ReportCaseFailure

from pydantic_evals_retrieval_metrics.spans import KEPT, SPANS
from retrieval_metrics import DEFAULT_METRICS, RetrievedRun, evaluate
from retrieval_metrics.adapting import check_path, items_in, part_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_evals.reporting import EvaluationReport

    from retrieval_metrics import Evaluation, Matching, Metric, Rules
    from retrieval_metrics.adapting import Key

RELEVANT = "expected_output"
GIVEN = ("inputs", "metadata", "expected_output")
FOUND = ("output", "attributes", *GIVEN)
"""The fields of a case in a report: its data, and the results of the task."""


def check_report_paths(relevant: str, retrieved: str) -> None:
    """Raise unless a report holds the values at the paths.

    Raises:
        ValueError: If it does not.
    """
    check_path(relevant, "relevant", GIVEN)
    if isinstance(retrieved, str) and retrieved.startswith(SPANS):
        raise ValueError(
            f"a report has no spans; evaluate with lifecycle=keep_spans({retrieved!r}) and pass "
            f"retrieved='attributes.{KEPT}' here"
        )
    check_path(retrieved, "retrieved", FOUND)


def to_evaluation(
    report: EvaluationReport[Any, Any, Any],
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    relevant: str = RELEVANT,
    retrieved: str = "output",
    match: str | Key | Matching = "id",
    semantics: str | Rules = "standard",
) -> Evaluation:
    """Return a report as an evaluation of the core, including failed tasks.

    Failed tasks never reach an evaluator, so the averages of Pydantic Evals leave them out. Here a failed task has
    retrieved nothing, scores 0 and is counted as failed; only cases for which nothing is relevant are left out, and
    counted too. If cases were repeated (`repeat=`), the runs of one case are a cluster, so repeating does not narrow
    intervals.

    Args:
        report: The result of `Dataset.evaluate`.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        relevant: The path of the judgments in the inputs, metadata or expected output of a case.
        retrieved: The path of the retrieved documents in the output or attributes of a case, or in one of the former.
        match: What an id of the judgments is compared with, as in the core's `evaluate`.
        semantics: The rule set.

    Raises:
        ValueError: If a path is wrong, or a case has no judgments.
        TypeError: If the judgments or rankings have a wrong shape.

    Warns:
        RetrievalWarning: As in the core's `evaluate`.
    """
    check_report_paths(relevant, retrieved)
    cases: list[Any] = [*report.cases, *report.failures]
    qrels: dict[Any, Any] = {}
    run: dict[Any, Any] = {}
    errors: dict[Any, Exception] = {}
    for case in cases:
        qrels[case.name] = judgments_of(case, relevant)
        run[case.name] = []
        try:
            if isinstance(case, ReportCaseFailure):
                errors[case.name] = RuntimeError(case.error_message)
            else:
                run[case.name] = items_in(part_of(case, retrieved), retrieved)
        except (TypeError, ValueError) as error:
            errors[case.name] = error
    runs_of = {case.name: case.source_case_name for case in cases if case.source_case_name}
    return evaluate(
        qrels, RetrievedRun(run, errors), metrics, match=match, semantics=semantics, clusters=runs_of or "source"
    )


def judgments_of(case: Any, relevant: str) -> Any:
    """Return the judgments of a case.

    Raises:
        ValueError: If it has none.
    """
    try:
        found = part_of(case, relevant)
    except ValueError as error:
        raise ValueError(f"case {case.name!r} does not say what is relevant: {error}") from None
    if found is None:
        raise ValueError(f"case {case.name!r} does not say what is relevant: its {relevant} is None")
    return found
