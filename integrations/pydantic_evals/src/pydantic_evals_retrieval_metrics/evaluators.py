"""Evaluators for Pydantic Evals that compute the metrics of a case and of a report."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import isfinite
from typing import TYPE_CHECKING, Any

from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext, ReportEvaluator
from pydantic_evals.reporting.analyses import TableResult

from pydantic_evals_retrieval_metrics.reports import (
    read_judgments,
    report_paths,
    to_evaluation,
)
from pydantic_evals_retrieval_metrics.spans import RELEVANT_PATH, SPANS_PREFIX, make_row_paths, read_span_ranking
from retrieval_metrics import DEFAULT_METRICS, __version__
from retrieval_metrics.integration_api import KeptRows, RowPaths, RowScorer, Scorer, scored_name, warn
from retrieval_metrics.integration_api.text import depth_notes
from retrieval_metrics.integration_api.text import numbers as number_texts
from retrieval_metrics.types import CallsView

if TYPE_CHECKING:
    from pydantic_evals.evaluators import ReportEvaluatorContext

    from retrieval_metrics import Retrieved
    from retrieval_metrics.types import DocumentId, MergedRanking

# The level of the intervals in a table.
LEVEL = 0.95

# The decimal places of the numbers in a table.
DECIMAL_PLACES = 4

# The label of a case without a value.
UNDEFINED = "undefined"


@dataclass(repr=False)
class RetrievalMetrics(Evaluator):
    """Score the documents retrieved for a case by any metrics, under their names.

    A case for which nothing is relevant has the label `undefined` instead of a score, because averages would count any
    number. An output that cannot be judged is an error, which the report shows as a failed evaluator. Failed tasks
    never reach an evaluator; `RetrievalReport` counts them, and checks the data of all cases.

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
            need; the `"first"` or the `"last"`; of what was found, the `"context"`, what the model that answered has
            read, by the spans of models; or what of that is `"cited"`.
        citations: For `calls="cited"`, the path of the ids that the answer cites, such as `"output.citations"`.
        exclude: The path of the ids of documents to leave out before scoring, in the inputs, metadata or expected
            output of a case, such as `"metadata.query_id"` where queries are documents of the corpus.
        match: What an id of the judgments is compared with: `"id"`, `"source"`, `"metadata:<name>"`.
        rules: The name of the rule set.
        max_grade: The largest grade of all judgments, which `err` and `rbp` divide by.
        evaluation_name: What stands before the name of each metric, as in `"reranked mrr"`. Without it, a name holds
            every setting that is not the default, as in `"mrr-retrieved-output.reranked"`, so that two evaluators of
            one dataset stay apart.

    Raises:
        ValueError: If a metric, a path, `match` or the rule set is unknown, or a metric needs `max_grade`.

    Warns:
        RetrievalWarning: (for a case) Once in a run, if the ids of the cases so far nearly match their judgments.

    Example:
        >>> from pydantic_evals import Case, Dataset
        >>> cases = [Case(name="with", inputs="what closes a file?", expected_output=["d7"])]
        >>> dataset = Dataset(name="retrieval", cases=cases, evaluators=[RetrievalMetrics(["mrr", "recall@1"])])
        >>> report = dataset.evaluate_sync(lambda question: ["d3", "d7"], progress=False)
        >>> {name: score.value for name, score in report.cases[0].scores.items()}
        {'mrr': 0.5, 'recall@1': 0.0}
    """

    metrics: str | list[str] | tuple[str, ...] = field(default_factory=lambda: list(DEFAULT_METRICS))
    relevant: str = RELEVANT_PATH
    retrieved: str = "output"
    calls: CallsView = "interleaved"
    citations: str | None = None
    exclude: str | None = None
    match: str = "id"
    rules: str = "standard"
    max_grade: float | None = None
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        self._scorer()
        self._paths()
        # No fields, so that they are no settings: the cases of the current run.
        self._rows = KeptRows()
        self._case_names: set[str | None] = set()

    def get_evaluator_version(self) -> str:
        """Return the version that results are recorded with: that of this package."""
        return __version__

    def _paths(self) -> RowPaths:
        return make_row_paths(self.relevant, self.retrieved, self.calls, self.citations, self.exclude)

    def _scorer(self) -> RowScorer:
        return RowScorer(self.metrics, rules=self.rules, match=self.match, max_grade=self.max_grade)

    def evaluate(self, ctx: EvaluatorContext) -> dict[str, EvaluationReason]:
        """Return the scores of a case with their reasons; the report shows what is raised as a failed evaluator.

        Raises:
            ValueError: If the case has no judgments, or what was retrieved cannot be found or judged.
            TypeError: If the judgments or the documents have a wrong shape.
        """
        paths = self._paths()

        def read_ranking() -> MergedRanking | list[Retrieved | DocumentId]:
            if self.retrieved.startswith(SPANS_PREFIX):
                return read_span_ranking(ctx, paths)
            return paths.items(ctx)

        case_name = "the case" if ctx.name is None else f"case {ctx.name!r}"
        judgments = read_judgments(ctx, paths)
        scorer = self._scorer()
        self._begin_run_if_repeated(ctx.name)
        excluded_ids = paths.excluded_ids(ctx)
        scores = scorer.row(
            judgments, read_ranking, name=case_name, exclude=excluded_ids, rows=self._rows, query=ctx.name or ""
        )
        if any(score.n_relevant > len(score.relevant_ranks) for score in scores.values()):
            self._warn_about_near_ids(scorer)
        reasons: dict[str, EvaluationReason] = {}
        for metric, score in scores.items():
            value = UNDEFINED if score.value_or_none is None else score.value_or_none
            reasons[_result_name(self, str(metric))] = EvaluationReason(value, score.reason)
        return reasons

    def _begin_run_if_repeated(self, case_name: str | None) -> None:
        """Forget the cases before if this one has been among them: it is the first of another run."""
        if case_name in self._case_names:
            self._case_names.clear()
            self._rows.clear()
        self._case_names.add(case_name)

    def _warn_about_near_ids(self, scorer: RowScorer) -> None:
        """Warn if ids nearly match in the cases so far: no one tells an evaluator which case is the last."""
        message = self._rows.find_early_warning(scorer)
        if message:
            cases = number_texts.format_count(len(self._rows), "case")
            warn(f"in the first {cases}, {message}", host=("pydantic_evals", "anyio"))


@dataclass(repr=False)
class RetrievalReport(ReportEvaluator):
    """Add a table to a report: the mean of each metric with its 95% CI, counting failed tasks as 0.

    The numbers are those of `to_evaluation`, rounded to four places. The title says what the averages of Pydantic Evals
    leave out, and the description whether rankings end before the k of a metric.

    Attributes:
        metrics: Names such as `["ndcg@10", "mrr"]`.
        relevant: The path of the judgments, as in `RetrievalMetrics`.
        retrieved: Where the retrieved documents are, as there; a report has no spans, so these need `keep_spans`.
        exclude: The path of the ids of documents to leave out, as there.
        match: What an id of the judgments is compared with.
        rules: The name of the rule set.
        max_grade: The largest grade of all judgments; None takes the largest one of the report.
        evaluation_name: What stands before the title and the names, as in `RetrievalMetrics`.

    Raises:
        ValueError: If a metric, a path, `match` or the rule set is unknown.

    Warns:
        RetrievalWarning: (for a report) As in the core's `evaluate`.
    """

    metrics: str | list[str] | tuple[str, ...] = field(default_factory=lambda: list(DEFAULT_METRICS))
    relevant: str = RELEVANT_PATH
    retrieved: str = "output"
    exclude: str | None = None
    match: str = "id"
    rules: str = "standard"
    max_grade: float | None = None
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        Scorer(self.metrics, rules=self.rules, match=self.match, max_grade=self.max_grade)
        report_paths(self.relevant, self.retrieved, self.exclude)

    def evaluate(self, ctx: ReportEvaluatorContext) -> TableResult:
        """Return the table."""
        evaluation = to_evaluation(
            ctx.report,
            self.metrics,
            relevant=self.relevant,
            retrieved=self.retrieved,
            exclude=self.exclude,
            match=self.match,
            rules=self.rules,
            max_grade=self.max_grade,
        )
        intervals = evaluation.intervals(LEVEL)
        rows = []
        for metric in evaluation.metrics:
            numbers = (evaluation.means[metric], *intervals[metric], evaluation.n[metric])
            rows.append([_result_name(self, str(metric)), *map(_round, numbers)])
        counts = evaluation.counts
        n_failed = counts["failed"]
        n_cases = len(ctx.report.cases) + len(ctx.report.failures)
        n_left_out = n_cases - counts["queries"]
        title = f"{_result_name(self, 'retrieval')}, {number_texts.format_count(n_cases, 'case')}"
        if n_failed:
            title += f"; {n_failed} failed, scored 0 here (excluded from report.averages())"
        description = (
            f"{number_texts.format_count(n_cases, 'case')}: {n_failed} failed, scored 0 here (excluded from "
            f"report.averages()); excluded: {counts['no_relevant']} without relevant documents, {n_left_out} that "
            "cannot be judged"
        )
        for note in depth_notes(counts, evaluation.metrics):
            description += f". {note[0].upper()}{note[1:]}"
        return TableResult(
            title=title,
            description=description,
            columns=["metric", "mean", "low 95%", "high 95%", "n"],
            rows=rows,
        )


def _default_options() -> dict[str, Any]:
    """Return the defaults of the fields of `RetrievalMetrics`, apart from its metrics and its name."""
    defaults = {option.name: option.default for option in fields(RetrievalMetrics)}
    del defaults["metrics"]
    del defaults["evaluation_name"]
    return defaults


# The defaults of all options of an evaluator that a name holds.
DEFAULT_OPTIONS = _default_options()


def _round(number: float) -> float | None:
    return round(number, DECIMAL_PLACES) if isfinite(number) else None


def _result_name(evaluator: RetrievalMetrics | RetrievalReport, name: str) -> str:
    """Return the name of a score or a table of an evaluator."""
    options = {option: getattr(evaluator, option, default) for option, default in DEFAULT_OPTIONS.items()}
    prefix = evaluator.evaluation_name
    if prefix:
        prefix = f"{prefix} "
    return scored_name(name, options, DEFAULT_OPTIONS, prefix=prefix)
