"""An evaluation of the core from a report of Pydantic Evals."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from pydantic_evals.reporting import ReportCaseFailure

from pydantic_evals_retrieval_metrics.spans import FOUND_KEY, GIVEN_KEY, KEPT_KEY, RELEVANT_KEY, SPANS_PREFIX
from retrieval_metrics import DEFAULT_METRICS, RetrievalWarning, RetrievedRun
from retrieval_metrics.integration_api import RowPaths, Scorer, row_error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_evals.reporting import EvaluationReport

    from retrieval_metrics import Evaluation, Matching, Metric, Rules
    from retrieval_metrics.types import Key


def to_evaluation(
    report: EvaluationReport[Any, Any, Any],
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    relevant: str = RELEVANT_KEY,
    retrieved: str = "output",
    match: str | Key | Matching = "id",
    rules: str | Rules = "standard",
    max_grade: float | None = None,
) -> Evaluation:
    """Return a report as an evaluation of the core, including failed tasks.

    Failed tasks never reach an evaluator, so the averages of Pydantic Evals leave them out. Here a failed task has
    retrieved nothing, scores 0 and is counted as failed; only cases for which nothing is relevant are left out, and
    counted too. Cases that do not say what is relevant, or whose documents cannot be found, say nothing about the
    retriever: they are left out with a warning. If cases were repeated (`repeat=`), the runs of one case are a cluster,
    so repeating does not narrow intervals. Cases with equal names are numbered.

    Args:
        report: The result of `Dataset.evaluate`.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        relevant: The path of the judgments in the inputs, metadata or expected output of a case.
        retrieved: The path of the retrieved documents in the output or attributes of a case, or in one of the former.
        match: What an id of the judgments is compared with, as in the core's `evaluate`.
        rules: The rule set.
        max_grade: The largest grade of all judgments, which `err` and `rbp` divide by; None takes the largest one here.

    Raises:
        ValueError: If a path is wrong, or no case can be judged.
        TypeError: If the judgments or rankings have a wrong shape.

    Warns:
        RetrievalWarning: If cases are left out; and as in the core's `evaluate`.
    """
    paths = report_paths(relevant, retrieved)
    scorer = Scorer(metrics, rules=rules, match=match, max_grade=max_grade)
    cases = _numbered([*report.cases, *report.failures])
    qrels: dict[Any, Any] = {}
    run: dict[Any, Any] = {}
    errors: dict[Any, Exception] = {}
    left: list[str] = []
    for name, case in cases.items():
        found: list[Any] = []
        try:
            if isinstance(case, ReportCaseFailure):
                errors[name] = RuntimeError(case.error_message)
            else:
                found = paths.items(case)
        except (TypeError, ValueError) as error:
            left.append(str(row_error(error, name, f"case {name!r}")))
            continue
        run[name] = found
        try:
            qrels[name] = read_judgments(case, paths)
        except ValueError as error:  # evaluate counts what is in the run only
            left.append(str(error))
    if left and not qrels:
        raise ValueError(f"no case can be judged: {left[0]}")
    runs_of = {name: case.source_case_name for name, case in cases.items() if case.source_case_name and name in qrels}
    try:
        evaluation, refused = scorer.evaluation(qrels, RetrievedRun(run, errors), clusters=runs_of or "source")
    except (TypeError, ValueError) as error:
        raise row_error(error, None, "the report") from error
    left += [str(row_error(error, name, f"case {name!r}")) for name, error in refused.items()]
    if left:
        said = f"{len(left)} of {len(cases)} cases are left out; {left[0]}"
        warnings.warn(said, RetrievalWarning, stacklevel=2)
    return evaluation


def _numbered(cases: list[Any]) -> dict[Any, Any]:
    """Return the cases by their names, numbered from the second of a name."""
    found: dict[Any, Any] = {}
    taken = {case.name for case in cases}
    for case in cases:
        name, number = case.name, 1
        while name in found:
            number += 1
            name = f"{case.name} ({number})"
            name = case.name if name in taken else name
        found[name] = case
    return found


def report_paths(relevant: str, retrieved: str) -> RowPaths:
    """Return the paths if a report holds the values there."""
    if isinstance(retrieved, str) and retrieved.startswith(SPANS_PREFIX):
        raise ValueError(
            f"a report has no spans; evaluate with lifecycle=keep_spans({retrieved!r}) and pass "
            f"retrieved='attributes.{KEPT_KEY}' here"
        )
    return RowPaths(relevant, retrieved).checked(GIVEN_KEY, FOUND_KEY)


def read_judgments(case: Any, paths: RowPaths) -> Any:
    """Return the judgments of a case."""
    try:
        found = paths.judgments(case)
    except ValueError as error:
        raise ValueError(f"case {case.name!r} does not say what is relevant: {error}") from None
    if found is None:
        raise ValueError(f"case {case.name!r} does not say what is relevant: its {paths.relevant} is None")
    return found
