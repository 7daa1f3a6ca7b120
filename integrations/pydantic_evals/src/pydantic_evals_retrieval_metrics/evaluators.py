"""The metrics as evaluators of Pydantic Evals, for a case and for the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext, ReportEvaluator
from pydantic_evals.reporting.analyses import TableResult

from pydantic_evals_retrieval_metrics.reports import (
    FOUND,
    GIVEN,
    RELEVANT,
    check_report_paths,
    judgments_of,
    to_evaluation,
)
from pydantic_evals_retrieval_metrics.spans import SPANS, check_spans, seen_in_spans
from retrieval_metrics import DEFAULT_METRICS
from retrieval_metrics.adapting import (
    CallsView,
    as_matching,
    as_metrics,
    as_rules,
    check_calls,
    check_path,
    check_row_metrics,
    items_in,
    part_of,
    score_row,
)

if TYPE_CHECKING:
    from pydantic_evals.evaluators import ReportEvaluatorContext

LEVEL = 0.95
UNDEFINED = "undefined"


@dataclass(repr=False)
class RetrievalMetrics(Evaluator):
    """Score the documents retrieved for a case by any metrics, under their names.

    A case for which nothing is relevant has the label `undefined` instead of a score, because averages would count any
    number. An output that cannot be judged scores 0, with the reason. Failed tasks never reach an evaluator;
    `RetrievalReport` counts them.

    Attributes:
        metrics: Names such as `["ndcg@10", "mrr"]`.
        relevant: The path of the judgments in the inputs, metadata or expected output of a case, such as
            `"metadata.relevant_ids"`: ids, grades by id, or groups that each need one member.
        retrieved: Where the retrieved documents are, best first: a path in the output, the attributes (written by
            `pydantic_evals.set_eval_attribute`), the inputs, the metadata or the expected output, such as
            `"output.documents"`; or `"spans:<name of the spans>:<attribute>"`, with a sequence of ids or the JSON of
            documents.
        calls: If there are several such spans, take the first document of each, then the second of each
            (`"interleaved"`); the `"union"` of all, in the order of the calls, which budgets such as `recall@2calls`
            need; or the `"first"` or the `"last"`.
        match: What an id of the judgments is compared with: `"id"`, `"source"`, `"metadata:<name>"`.
        semantics: The name of the rule set.
        max_grade: The largest grade of all judgments, which `err` and `rbp` divide by.

    Raises:
        ValueError: If a metric, a path, `match` or the rule set is unknown, or a metric needs `max_grade`.

    Warns:
        RetrievalWarning: (for a case) If what was retrieved cannot be judged.

    Example:
        >>> from pydantic_evals import Case, Dataset
        >>> cases = [Case(name="with", inputs="what closes a file?", expected_output=["d7"])]
        >>> dataset = Dataset(name="retrieval", cases=cases, evaluators=[RetrievalMetrics(["mrr", "recall@1"])])
        >>> report = dataset.evaluate_sync(lambda question: ["d3", "d7"], progress=False)
        >>> {name: score.value for name, score in report.cases[0].scores.items()}
        {'mrr': 0.5, 'recall@1': 0.0}
    """

    metrics: list[str] = field(default_factory=lambda: list(DEFAULT_METRICS))
    relevant: str = RELEVANT
    retrieved: str = "output"
    calls: CallsView = "interleaved"
    match: str = "id"
    semantics: str = "standard"
    max_grade: float | None = None

    def __post_init__(self) -> None:
        check_row_metrics(as_metrics(self.metrics), self.max_grade)
        check_path(self.relevant, "relevant", GIVEN)
        if isinstance(self.retrieved, str) and self.retrieved.startswith(SPANS):
            check_spans(self.retrieved)
        else:
            check_path(self.retrieved, "retrieved", FOUND)
        check_calls(self.calls)
        as_matching(self.match)
        as_rules(self.semantics)

    def evaluate(self, ctx: EvaluatorContext) -> dict[str, EvaluationReason]:
        """Return the scores of a case with their reasons.

        Raises:
            ValueError: If the case has no judgments.
            TypeError: If the judgments have a wrong shape.
        """
        scores = score_row(
            judgments_of(ctx, self.relevant),
            lambda: self._retrieved(ctx),
            as_metrics(self.metrics),
            as_rules(self.semantics),
            self.match,
            max_grade=self.max_grade,
        )
        return {
            str(metric): EvaluationReason(UNDEFINED if score.value is None else score.value, score.reason)
            for metric, score in scores.items()
        }

    def _retrieved(self, ctx: EvaluatorContext) -> Any:
        if self.retrieved.startswith(SPANS):
            return seen_in_spans(ctx.span_tree, self.retrieved, self.calls)
        return items_in(part_of(ctx, self.retrieved), self.retrieved)


@dataclass(repr=False)
class RetrievalReport(ReportEvaluator):
    """Add a table to a report: the mean of each metric with its 95 % interval, counting failed tasks as 0.

    The numbers are those of `to_evaluation`, and so of the core's `evaluate`, to the last bit.

    Attributes:
        metrics: Names such as `["ndcg@10", "mrr"]`.
        relevant: The path of the judgments, as in `RetrievalMetrics`.
        retrieved: Where the retrieved documents are, as there; a report has no spans, so these need `keep_spans`.
        match: What an id of the judgments is compared with.
        semantics: The name of the rule set.

    Raises:
        ValueError: If a metric, a path, `match` or the rule set is unknown.

    Warns:
        RetrievalWarning: (for a report) As in the core's `evaluate`.
    """

    metrics: list[str] = field(default_factory=lambda: list(DEFAULT_METRICS))
    relevant: str = RELEVANT
    retrieved: str = "output"
    match: str = "id"
    semantics: str = "standard"

    def __post_init__(self) -> None:
        as_metrics(self.metrics)
        check_report_paths(self.relevant, self.retrieved)
        as_matching(self.match)
        as_rules(self.semantics)

    def evaluate(self, ctx: ReportEvaluatorContext) -> TableResult:
        """Return the table."""
        evaluation = to_evaluation(
            ctx.report,
            self.metrics,
            relevant=self.relevant,
            retrieved=self.retrieved,
            match=self.match,
            semantics=self.semantics,
        )
        intervals = evaluation.intervals(LEVEL)
        numbers = {
            str(metric): (evaluation.means[metric], *intervals[metric], evaluation.n[metric])
            for metric in evaluation.metrics
        }
        counts = evaluation.counts
        return TableResult(
            title="Retrieval",
            description=f"{counts['queries']} cases: {counts['failed']} failed and score 0, {counts['no_relevant']} "
            "with nothing relevant are left out",
            columns=["metric", "mean", "low 95 %", "high 95 %", "n"],
            rows=[[name, *(one if isfinite(one) else None for one in row)] for name, row in numbers.items()],
        )
