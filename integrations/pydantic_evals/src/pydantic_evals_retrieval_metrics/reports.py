"""Convert a report of Pydantic Evals to an evaluation of the core that counts failed tasks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic_evals.reporting import ReportCase, ReportCaseFailure

from pydantic_evals_retrieval_metrics.spans import (
    JUDGMENT_FIELDS,
    KEPT_ATTRIBUTE,
    RELEVANT_PATH,
    RETRIEVED_FIELDS,
    SPANS_PREFIX,
)
from retrieval_metrics import DEFAULT_METRICS, Qrels, RetrievedRun
from retrieval_metrics.integration_api import RowPaths, Scorer, row_error, warn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pydantic_evals.evaluators import EvaluatorContext
    from pydantic_evals.reporting import EvaluationReport

    from retrieval_metrics import Evaluation, Matching, Metric, Rules
    from retrieval_metrics.types import ClustersBy, DocumentId, Judgments, Key, QueryId

# A case of a report, answered or failed.
ReportedCase: TypeAlias = "ReportCase[Any, Any, Any] | ReportCaseFailure[Any, Any, Any]"


def to_evaluation(
    report: EvaluationReport[Any, Any, Any],
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    relevant: str = RELEVANT_PATH,
    retrieved: str = "output",
    exclude: str | None = None,
    match: str | Key | Matching = "id",
    rules: str | Rules = "standard",
    max_grade: float | None = None,
) -> Evaluation:
    """Return a report as an evaluation of the core, including failed tasks.

    Failed tasks never reach an evaluator, so the averages of Pydantic Evals leave them out. Here a failed task has
    retrieved nothing, scores 0 and is counted as failed; only cases for which nothing is relevant are left out, and
    counted too. Cases that do not say what is relevant, whose judgments cannot be read or have ids of another type than
    most, or whose documents cannot be found, say nothing about the retriever: they are left out with a warning. If
    cases were repeated (`repeat=`), the runs of one case are a cluster, so repeating does not narrow intervals. Cases
    with equal names are numbered.

    Args:
        report: The result of `Dataset.evaluate`.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        relevant: The path of the judgments in the inputs, metadata or expected output of a case.
        retrieved: The path of the retrieved documents in the output or attributes of a case, or in one of the former.
        exclude: The path of the ids of documents to leave out before scoring, as in `RetrievalMetrics`.
        match: What an id of the judgments is compared with, as in the core's `evaluate`.
        rules: The rule set.
        max_grade: The largest grade of all judgments, which `err` and `rbp` divide by; None takes the largest one here.

    Raises:
        ValueError: If a path is wrong, or no case can be judged.
        TypeError: If an option has a wrong type.

    Warns:
        RetrievalWarning: If cases are left out; and as in the core's `evaluate`.
    """
    paths = report_paths(relevant, retrieved, exclude)
    scorer = Scorer(metrics, rules=rules, match=match, max_grade=max_grade)
    cases = _cases_by_name([*report.cases, *report.failures])
    qrels: dict[Any, Any] = {}
    run: dict[Any, Any] = {}
    excluded_ids: dict[Any, Collection[DocumentId]] = {}
    errors: dict[Any, Exception] = {}
    reasons_left_out: list[str] = []
    for name, case in cases.items():
        try:
            if isinstance(case, ReportCaseFailure):
                errors[name] = RuntimeError(case.error_message)
                run[name] = []
            else:
                run[name] = paths.items(case)
        except (TypeError, ValueError) as error:
            reasons_left_out.append(_format_case_error(error, name))
            continue
        try:
            judgments = read_judgments(case, paths)
        except ValueError as error:  # evaluate counts what is in the run only
            reasons_left_out.append(str(error))
            continue
        try:
            excluded_ids[name] = paths.excluded_ids(case)
        except (TypeError, ValueError) as error:
            reasons_left_out.append(_format_case_error(error, name))
            continue
        qrels[name] = judgments
    if reasons_left_out and not qrels:
        raise ValueError(f"no case can be judged: {reasons_left_out[0]}")
    unreadable = _find_unreadable(qrels)
    for name, case_error in unreadable.items():
        reasons_left_out.append(_format_case_error(case_error, name))
        del qrels[name], run[name]
        errors.pop(name, None)
    if unreadable and not qrels:
        raise ValueError(f"no case can be judged: {reasons_left_out[0]}")
    clusters: ClustersBy = _repeated_cases(cases, qrels) or "source"
    try:
        evaluation, refusals = scorer.evaluation(
            qrels,
            RetrievedRun(run, errors),
            clusters=clusters,
            exclude=None if exclude is None else excluded_ids,
        )
    except (TypeError, ValueError) as error:
        raise row_error(error, None, "the report") from error
    for query, refusal in refusals.items():
        reasons_left_out.append(_format_case_error(refusal, query))
    if reasons_left_out:
        message = f"{len(reasons_left_out)} of {len(cases)} cases are left out; {reasons_left_out[0]}"
        warn(message, host="pydantic_evals")
    return evaluation


def _find_unreadable(qrels: Mapping[Any, Any]) -> dict[Any, Exception]:
    """Return the errors of the cases whose judgments cannot be read, or whose ids are of another type than most."""
    try:
        Qrels(qrels)
    except (TypeError, ValueError):
        pass
    else:
        return {}
    errors: dict[Any, Exception] = {}
    id_types: dict[Any, type] = {}
    for name, judgments in qrels.items():
        try:
            id_type = Qrels({name: judgments}).document_kind
        except (TypeError, ValueError) as error:
            errors[name] = error
        else:
            if id_type is not None:
                id_types[name] = id_type
    counts = Counter(id_types.values())
    if len(counts) > 1:
        (main_type, _), *_ = counts.most_common()
        for name, id_type in id_types.items():
            if id_type is not main_type:
                errors[name] = TypeError(
                    f"its document ids are {id_type.__name__} and those of most cases {main_type.__name__}; ids are "
                    "compared as they are, so convert them to one type"
                )
    return errors


def _format_case_error(error: Exception, name: QueryId) -> str:
    return str(row_error(error, name, f"case {name!r}"))


def _repeated_cases(cases: Mapping[str, ReportedCase], judged_names: Collection[str]) -> dict[str, str]:
    """Return for each judged case the name of the case that was repeated; nothing if cases were not repeated."""
    source_cases = {}
    for name, case in cases.items():
        if case.source_case_name and name in judged_names:
            source_cases[name] = case.source_case_name
    return source_cases


def _cases_by_name(cases: Sequence[ReportedCase]) -> dict[str, ReportedCase]:
    """Return the cases by name; from the second case of a name on, the name has a number."""
    cases_by_name: dict[str, ReportedCase] = {}
    original_names = {case.name for case in cases}
    for case in cases:
        name = case.name
        number = 1
        while name in cases_by_name:
            number += 1
            name = f"{case.name} ({number})"
            if name in original_names:
                name = case.name
        cases_by_name[name] = case
    return cases_by_name


def report_paths(relevant: str, retrieved: str, exclude: str | None = None) -> RowPaths:
    """Return the paths of judgments and retrieved documents; raise if a report does not hold them there."""
    if isinstance(retrieved, str) and retrieved.startswith(SPANS_PREFIX):
        raise ValueError(
            f"a report has no spans; evaluate with lifecycle=keep_spans({retrieved!r}) and pass "
            f"retrieved='attributes.{KEPT_ATTRIBUTE}' here"
        )
    return RowPaths(relevant, retrieved, exclude=exclude).checked(JUDGMENT_FIELDS, RETRIEVED_FIELDS)


def read_judgments(case: ReportedCase | EvaluatorContext, paths: RowPaths) -> Judgments:
    """Return the judgments of a case; raise if it has none."""
    try:
        judgments: Judgments | None = paths.judgments(case)
    except ValueError as error:
        raise ValueError(f"case {case.name!r} does not say what is relevant: {error}") from None
    if judgments is None:
        raise ValueError(f"case {case.name!r} does not say what is relevant: its {paths.relevant} is None")
    return judgments
