"""Convert a report of Pydantic Evals to an evaluation of the core that counts failed tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic_evals.reporting import ReportCase, ReportCaseFailure

from pydantic_evals_retrieval_metrics.spans import (
    JUDGMENT_FIELDS,
    KEPT_ATTRIBUTE,
    RELEVANT_PATH,
    RETRIEVED_FIELDS,
    SPANS_PREFIX,
)
from retrieval_metrics import DEFAULT_METRICS, RetrievedRun
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
    rows = _CaseRows()
    for name, case in cases.items():
        rows.add(name, case, paths)
    if rows.reasons_left_out and not rows.qrels:
        raise ValueError(f"no case can be judged: {rows.reasons_left_out[0]}")
    rows.leave_out_other_id_types()
    clusters: ClustersBy = _repeated_cases(cases, rows.qrels) or "source"
    try:
        evaluation, refusals = scorer.evaluation(
            rows.qrels,
            RetrievedRun(rows.run, rows.errors),
            clusters=clusters,
            exclude=None if exclude is None else rows.excluded_ids,
        )
    except (TypeError, ValueError) as error:
        raise row_error(error, None, "the report") from error
    for query, refusal in refusals.items():
        rows.reasons_left_out.append(_format_case_error(refusal, query))
    if rows.reasons_left_out:
        message = f"{len(rows.reasons_left_out)} of {len(cases)} cases are left out; {rows.reasons_left_out[0]}"
        warn(message, host="pydantic_evals")
    return evaluation


@dataclass(slots=True)
class _CaseRows:
    """What the cases of a report hold, by the name of the case.

    Attributes:
        qrels: The judgments, of the cases that can be judged.
        run: What was retrieved.
        excluded_ids: The ids of documents to leave out.
        errors: The errors of failed tasks.
        id_types: The types of the judged ids, of the cases that have some.
        reasons_left_out: Why cases cannot be judged.
    """

    qrels: dict[str, Judgments] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    excluded_ids: dict[Any, Collection[DocumentId]] = field(default_factory=dict)
    errors: dict[Any, Exception] = field(default_factory=dict)
    id_types: dict[str, type] = field(default_factory=dict)
    reasons_left_out: list[str] = field(default_factory=list)

    def add(self, name: str, case: ReportedCase, paths: RowPaths) -> None:
        """Add a case, or the reason why it cannot be judged."""
        try:
            if isinstance(case, ReportCaseFailure):
                self.errors[name] = RuntimeError(case.error_message)
                self.run[name] = []
            else:
                self.run[name] = paths.items(case)
        except (TypeError, ValueError) as error:
            self.reasons_left_out.append(_format_case_error(error, name))
            return
        try:
            judgments = read_judgments(case, paths)
        except ValueError as error:  # evaluate counts what is in the run only
            self.reasons_left_out.append(str(error))
            return
        try:
            self.excluded_ids[name] = paths.excluded_ids(case)
        except (TypeError, ValueError) as error:
            self.reasons_left_out.append(_format_case_error(error, name))
            return
        try:
            # `truth` also reads JSON, in which quotes, texts, spans and metadata are objects.
            qrels = Scorer.truth(judgments, f"case {name!r}")
        except (TypeError, ValueError) as error:
            self._leave_out(name, str(error))
            return
        self.qrels[name] = qrels.judgments(0)
        if qrels.document_kind is not None:
            self.id_types[name] = qrels.document_kind

    def leave_out_other_id_types(self) -> None:
        """Leave out the cases whose judged ids are of another type than those of most cases."""
        for name, error in _find_other_id_types(self.id_types).items():
            self._leave_out(name, _format_case_error(error, name))
            del self.qrels[name]

    def _leave_out(self, name: str, reason: str) -> None:
        """Remove a case whose judgments cannot be used from what was retrieved."""
        self.reasons_left_out.append(reason)
        del self.run[name]
        self.errors.pop(name, None)


def _find_other_id_types(id_types: Mapping[Any, type]) -> dict[Any, Exception]:
    """Return the errors of the cases whose judged ids are of another type than those of most cases."""
    errors: dict[Any, Exception] = {}
    counts = Counter(id_types.values())
    if len(counts) > 1:
        (main_type, _), *_ = counts.most_common()
        for name, id_type in id_types.items():
            if id_type is not main_type:
                errors[name] = TypeError(
                    f"its document IDs are {id_type.__name__} and those of most cases {main_type.__name__}; IDs are "
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
