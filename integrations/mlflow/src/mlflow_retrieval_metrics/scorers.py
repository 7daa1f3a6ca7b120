"""The metrics as scorers of `mlflow.genai.evaluate`, and the rows that it passes to them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import mlflow
from mlflow.entities import Feedback, SpanType, Trace
from mlflow.entities.assessment import DEFAULT_FEEDBACK_NAME
from mlflow.genai.scorers import Scorer
from mlflow.genai.scorers.base import ScorerKind, SerializedScorer
from pydantic import PrivateAttr

from retrieval_metrics import DEFAULT_METRICS, Evaluation, Metric
from retrieval_metrics.integration_api import RowPaths, RowScorer, scored_name
from retrieval_metrics.types import CallsView  # noqa: TC001  (pydantic reads it)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mlflow.entities import Span

    from retrieval_metrics import Matching, Retrieved, Rules
    from retrieval_metrics.types import DocumentId, Key, MergedRanking, QueryScore

RELEVANT = "expectations.relevant_ids"
TRACE = "trace"
MADE = ("root_span", SpanType.CHAIN)
"""The name and type of the only span in the trace that MLflow makes for a row whose outputs are in the data."""
FIELDS = ("inputs", "outputs", "expectations")
LEVEL = 0.95
SERIALIZATION = 1
"""The version of MLflow's form of a registered scorer."""


def retrieval_scorers(
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    relevant: str = RELEVANT,
    retrieved: str = "trace",
    calls: CallsView = "interleaved",
    citations: str | None = None,
    match: str | Key | Matching = "id",
    rules: str | Rules = "standard",
    max_grade: float | None = None,
    prefix: str | None = None,
) -> list[Scorer]:
    """Return a scorer per metric, for `mlflow.genai.evaluate(data, scorers=..., predict_fn=...)`.

    If the application failed on a row, the row scores 0 and its rationale has the reason. A row for which nothing is
    relevant has a rationale but no value, and is left out of the mean. A row that cannot be judged is an error of the
    scorer. The run gets `ndcg_at_10/mean`, its 95 % interval `ndcg_at_10/low_95` and `ndcg_at_10/high_95`, and
    `ndcg_at_10/n`, the number of rows with a value. If the application failed on every row before it retrieved, there
    are no such numbers, and MLflow logs an error that says so. Data are sent only to your tracking store.

    Args:
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        relevant: The path of the judgments in the inputs, outputs or expectations of a row: ids, grades by id, or
            groups that are all needed, each by any of its members.
        retrieved: Where the retrieved documents are, best first: `"trace"`, the spans of type RETRIEVER, or the outputs
            if the data have outputs and there is no `predict_fn`;
            `"trace.rerank"`, the spans with that name, of any type; or a path such as `"outputs"` or
            `"outputs.documents"`. Documents are ids, documents of MLflow, their JSON, or documents of LangChain and
            LlamaIndex if their integrations are installed.
        calls: If a trace has several calls of the retriever, take the first document of each, then the second of each
            (`"interleaved"`); the `"union"` of all, in the order of the calls, which budgets such as `recall@2calls`
            need; the `"first"` or the `"last"` call; of what was found, the `"context"`, what the model that answered
            has read, by the spans of models in the trace; or what of that is `"cited"`.
        citations: For `calls="cited"`, the path of the ids that the answer cites, such as `"outputs.citations"`.
        match: What an id of the judgments is compared with: `"id"`, `"metadata:doc_uri"`, `"source"`, or anything else
            that the core's `evaluate` takes.
        rules: The rule set; `"mlflow"` gives the same scores as the metrics that MLflow deprecates.
        max_grade: The largest grade of all judgments, which `err` and `rbp` divide by.
        prefix: What stands before the name of each metric. MLflow pools feedback with equal names, so by default a name
            holds every argument that is not the default, as in `mrr-retrieved-trace.rerank`; with a prefix it holds
            nothing else.

    Raises:
        TypeError: If the prefix is not a text.
        ValueError: If a metric, a path, a rule set or `match` is unknown, or a metric needs `max_grade`.

    Example:
        >>> (scorer,) = retrieval_scorers("ndcg@10", retrieved="outputs", prefix="")
        >>> feedback = scorer(outputs=["d3", "d7"], expectations={"relevant_ids": ["d7"]})
        >>> feedback.name, round(feedback.value, 4), feedback.rationale  # 1 / log2(2 + 1)
        ('ndcg_at_10', 0.6309, '1 relevant, 2 retrieved; ranks of the relevant: 2')
    """
    scorer = RowScorer(metrics, rules=rules, match=match, max_grade=max_grade)
    traced = str(retrieved).partition(".")[0] == TRACE
    paths = RowPaths(relevant, retrieved, calls, citations).checked(FIELDS, FIELDS, traces=[TRACE], traced=traced)
    said: dict[str, Any] = asdict(paths) | {"match": match, "rules": rules, "max_grade": max_grade}
    return [
        RetrievalScorer(
            name=scored_name(metric.plain_name, said | {"rules": scorer.rules.name}, USUAL, prefix=prefix),
            description=metric.in_words,
            metric=str(metric),
            **said,
        )
        for metric in scorer.metrics
    ]


class RetrievalScorer(Scorer):
    """One metric as a scorer of MLflow; create them with `retrieval_scorers`.

    Attributes:
        metric: The name of the metric.
        relevant: The path of the judgments in a row.
        retrieved: The path of the retrieved documents in a row.
        calls: Which calls of the retriever count, or what became of them.
        citations: The path of what the answer cites in a row.
        match: What an id of the judgments is compared with.
        rules: The rule set.
        max_grade: The largest grade of all judgments.
    """

    metric: str
    relevant: str = RELEVANT
    retrieved: str = TRACE
    calls: CallsView = "interleaved"
    citations: str | None = None
    match: Any = "id"
    rules: Any = "standard"
    max_grade: float | None = None
    _rows: _RowValues = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Set what MLflow logs of all rows: the mean, its interval and `n`."""
        super().model_post_init(context)
        self._rows = _RowValues(Metric.parse(self.metric))
        self.aggregations = [self._rows.mean, self._rows.low_95, self._rows.high_95, self._rows.n]

    def __call__(  # type: ignore[override]  # MLflow hands over what the signature names, and session= is not needed
        self, *, inputs: Any = None, outputs: Any = None, expectations: Any = None, trace: Trace | None = None
    ) -> Feedback:
        """Score a row: 0 if the application failed, and no value if nothing is relevant.

        If it failed on every row, the rows have their 0 and its reason, and the run has no mean, interval or `n`.

        MLflow stores what is raised as the error of the scorer, and leaves the row out of the mean.

        Raises:
            ValueError: If the row has no judgments, or wrong ones; or if what was retrieved cannot be found or judged.
            TypeError: If the judgments or the documents have another shape.
            LookupError: If MLflow lost the trace of an answered row.
        """
        row = Row(inputs, outputs, expectations, trace)
        scorer = RowScorer(self.metric, rules=self.rules, match=self.match, max_grade=self.max_grade)
        paths = RowPaths(self.relevant, self.retrieved, self.calls, self.citations)
        relevant = paths.judgments(row._asdict())
        (score,) = scorer.row(relevant, lambda: row.retrieved(paths), failure=row.failure()).values()
        self._rows.note(score)
        metadata = {"metric": self.metric, "rules": scorer.rules.name}
        return Feedback(name=self.name, value=score.value_or_none, rationale=score.reason, metadata=metadata)

    @property
    def kind(self) -> ScorerKind:
        """What it is to MLflow when it is registered: a function, written by `model_dump`."""
        return ScorerKind.DECORATOR

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Return the scorer as MLflow registers scorers: as the source of a function with the same arguments.

        The functions among the aggregations, and so the interval and `n`, cannot be written; a registered scorer has
        its mean. MLflow computes that from the values alone, so it is 0 where the application failed on every row: what
        MLflow rebuilds as a class, with functions of its own, must be in a module of MLflow.

        Raises:
            TypeError: If `match` or `rules` is not a text, which is all that a registered scorer can hold.
        """
        said = {name: getattr(self, name) for name in USUAL}
        for name in ("match", "rules"):
            if not isinstance(said[name], str):
                raise TypeError(f"a scorer with {name}={said[name]!r} cannot be registered; pass {name}= as a text")
        given = "".join(f", {name}={value!r}" for name, value in said.items() if value != USUAL[name])
        source = (
            "from mlflow_retrieval_metrics import RetrievalScorer\n"
            f"scorer = RetrievalScorer(name={DEFAULT_FEEDBACK_NAME!r}, metric={self.metric!r}{given})\n"
            f"return scorer({', '.join(f'{name}={name}' for name in Row._fields)})"
        )
        return asdict(
            SerializedScorer(
                name=self.name,
                description=self.description,
                aggregations=["mean"],
                mlflow_version=mlflow.__version__,
                serialization_version=SERIALIZATION,
                call_source=source,
                call_signature=f"(*, {', '.join(f'{name}=None' for name in Row._fields)})",
                original_func_name="retrieval_scorer",
            )
        )


USUAL: dict[str, Any] = {
    name: field.default
    for name, field in RetrievalScorer.model_fields.items()
    if name not in Scorer.model_fields and name != "metric"
}
"""The defaults of everything that a scorer is told besides its metric."""


class _RowValues:
    """What MLflow logs of the values of all rows; the name of a method is the name of its number."""

    # MLflow hands over values only. Where no fewer rows have failed since the last answer than there are values, each
    # of these is the 0 of a failure.

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._failures: list[str] = []  # a list, because rows are scored in threads, and its methods are atomic

    def note(self, score: QueryScore) -> None:
        """Take the score of a row; one without a value enters no mean."""
        if score.is_defined and score.failure is not None and not score.n_retrieved:
            self._failures.append(score.failure)
        elif score.is_defined:
            self._failures.clear()

    def mean(self, values: list[float]) -> float:
        if self._all_failed(values):
            raise ValueError(
                f"{self._failures[-1]}, on each of the {len(values)} rows before anything was retrieved. That says "
                "nothing about the retriever; mend the application and evaluate it again"
            )
        return self._evaluation(values).means[self._metric]

    def low_95(self, values: list[float]) -> float:
        return self._evaluation(values).intervals(LEVEL)[self._metric].low

    def high_95(self, values: list[float]) -> float:
        return self._evaluation(values).intervals(LEVEL)[self._metric].high

    def n(self, values: list[float]) -> float:
        return float(self._evaluation(values).n[self._metric])

    def _all_failed(self, values: list[float]) -> bool:
        return len(self._failures) >= len(values)

    def _evaluation(self, values: list[float]) -> Evaluation:
        """Return the values as an evaluation."""
        if self._all_failed(values):
            raise ValueError("there is no mean")
        return Evaluation.from_scores({str(self._metric): dict(enumerate(values))})


class Row(NamedTuple):
    """One row of the data, as a scorer receives it."""

    inputs: Any = None
    outputs: Any = None
    expectations: Any = None
    trace: Trace | None = None

    @property
    def spans(self) -> list[Span]:
        """The spans of the trace; none without a trace."""
        return [] if self.trace is None else self.trace.data.spans

    def retrieved(self, paths: RowPaths) -> list[Retrieved | DocumentId] | MergedRanking:
        """Return what was retrieved, best first; of a trace, with the calls that found it."""
        path, fields = paths.retrieved, self._asdict()
        if path.partition(".")[0] != TRACE:
            return paths.items(fields)
        if path == TRACE and self._is_static():
            return paths.items(fields, "outputs")
        if self.trace is None and self.outputs is not None:
            raise LookupError(
                "the application answered, but MLflow could not store its trace, so what was retrieved is unknown; "
                "see its warnings above. If a SQLite store has too few connections, set "
                "MLFLOW_GENAI_EVAL_MAX_WORKERS=1, or pass retrieved='outputs'"
            )
        return paths.merged_ranking(fields, map(_plain, self.spans), self._named(path))

    def failure(self) -> str | None:
        """Return why the application failed on this row; None if it did not."""
        if self.trace is None:
            return "the application failed and left no trace" if self.outputs is None else None
        if self.trace.info.state != "ERROR":
            return None
        said = [span.status.description for span in self.spans if span.status.status_code == "ERROR"]
        return f"the application failed: {said[0] or 'without a message'}" if said else "the application failed"

    def _is_static(self) -> bool:
        """Whether the outputs stood in the data, so that MLflow made a trace of one span to hold them."""
        return [(span.name, span.span_type) for span in self.spans] == [MADE] and self.outputs is not None

    def _named(self, path: str) -> list[str]:
        """Return the ids of the spans with the name in a path; none if it has no name, for the spans of retrievers."""
        name = path.partition(".")[2]
        found = [span for span in self.spans if (span.name == name if name else span.span_type == SpanType.RETRIEVER)]
        if not found:
            there = ", ".join(f"{span.name!r} ({span.span_type})" for span in self.spans) or "no span at all"
            wanted = f"span {name!r}" if name else "span of type RETRIEVER"
            raise ValueError(
                f"the trace has no {wanted}; it has {there}. Decorate the retriever with "
                "@mlflow.trace(span_type='RETRIEVER'), or pass retrieved='outputs' or 'trace.<name of a span>'"
            )
        return [span.span_id for span in found] if name else []


def _plain(span: Span) -> dict[str, Any]:
    """Return a span as the core reads it."""
    return {
        "trace": "the trace",
        "span": span.span_id,
        "parent": span.parent_id,
        "attributes": {"mlflow.spanType": span.span_type},  # MLflow knows kinds that a plain span has not
        "name": span.name,
        "start": span.start_time_ns,
        "end": span.end_time_ns or span.start_time_ns,
        "status": {"status_code": str(span.status.status_code), "description": span.status.description},
        "input": span.inputs,
        "output": span.outputs,
    }
