"""Scorers for `mlflow.genai.evaluate` that compute the metrics of the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from numbers import Real
from typing import TYPE_CHECKING, Any

import mlflow
from mlflow.entities import AssessmentError, Feedback, Trace
from mlflow.entities.assessment import DEFAULT_FEEDBACK_NAME
from mlflow.genai.scorers import Scorer
from mlflow.genai.scorers.base import ScorerKind, SerializedScorer
from pydantic import PrivateAttr

from mlflow_retrieval_metrics.rows import FIELDS, TRACE, Row
from retrieval_metrics import DEFAULT_METRICS, Evaluation, Metric
from retrieval_metrics.integration_api import KeptRows, RowPaths, RowScorer, scored_name, warn
from retrieval_metrics.integration_api.pytest_support import require_useful_bound
from retrieval_metrics.types import CallsView  # noqa: TC001  (pydantic reads it)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from retrieval_metrics import Matching, Rules
    from retrieval_metrics.types import Key, QueryScore

# The default path of the judgments.
RELEVANT = "expectations.relevant_ids"

# The level of the logged intervals.
LEVEL = 0.95

# A value that misses its limit by no more than the rounding of a sum still passes.
ROUNDING = 1e-12

# The version of MLflow's form of a registered scorer.
SERIALIZATION_VERSION = 1


def retrieval_scorers(
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    relevant: str = RELEVANT,
    retrieved: str = "trace",
    calls: CallsView = "interleaved",
    citations: str | None = None,
    exclude: str | None = None,
    match: str | Key | Matching = "id",
    rules: str | Rules = "standard",
    max_grade: float | None = None,
    prefix: str | None = None,
    pass_if: float | Mapping[str, float] | Mapping[Metric, float] | None = None,
) -> list[Scorer]:
    """Return a scorer per metric, for `mlflow.genai.evaluate(data, scorers=..., predict_fn=...)`.

    If the application failed on a row, the row scores 0 and its rationale has the reason. A row for which nothing is
    relevant has a rationale but no value, and is left out of the mean. A row that cannot be judged is an error of the
    scorer. The run gets `ndcg_at_10/mean`, its 95% CI `ndcg_at_10/low_95` and `ndcg_at_10/high_95`, and
    `ndcg_at_10/n`, the number of rows with a value. If the application failed on every row before it retrieved, there
    are no such numbers, and MLflow logs an error that says so. Data are sent only to your tracking store. When a run
    ends, a warning says if its ids do not match the judgments, or nearly match, or no ranking reaches a cutoff.

    Args:
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        relevant: The path of the judgments in the inputs, outputs or expectations of a row: ids, grades by id, or
            groups that are all needed, each by any of its members.
        retrieved: Where the retrieved documents are, best first: `"trace"`, the spans of type RETRIEVER, or the outputs
            if the data have outputs and there is no `predict_fn`; `"trace.rerank"`, the spans with that name, of any
            type; or a path such as `"outputs"` or `"outputs.documents"`. Documents are ids, documents of MLflow, their
            JSON, or documents of LangChain and LlamaIndex if their integrations are installed.
        calls: Which documents to score if a trace has several calls of the retriever: `"interleaved"`, the first
            document of each call, then the second of each; `"union"`, all documents in the order of the calls, which
            budgets such as `recall@2calls` need; `"first"` or `"last"`, those of one call; `"context"`, those that the
            model that answered has read, by the spans of models in the trace; or `"cited"`, those that it cited.
        citations: For `calls="cited"`, the path of the ids that the answer cites, such as `"outputs.citations"`.
        exclude: The path of the ids of documents to leave out before scoring, such as `"inputs.query_id"` where queries
            are documents of the corpus; they take no rank.
        match: What an id of the judgments is compared with: `"id"`, `"metadata:doc_uri"`, `"source"`, or anything else
            that the core's `evaluate` takes.
        rules: The rule set; `"mlflow"` gives the same scores as the metrics that MLflow deprecates.
        max_grade: The largest grade of all judgments, which `err` and `rbp` divide by.
        prefix: The prefix of the name of each metric. MLflow pools feedback with equal names, so by default a name
            includes every argument that is not the default, as in `mrr-retrieved-trace.rerank`; with a prefix, it
            includes none of them.
        pass_if: The bound that every row must satisfy so that `result.passed` is True: one number, or one for each
            metric, as in `{"recall@5": 0.5}`; an upper bound where lower is better. A row for which nothing is
            relevant then gets an error and does not pass. With None, `result.passed` is False.

    Raises:
        TypeError: If the prefix is not a text, or `pass_if` is not a number.
        ValueError: If a metric, a path, a rule set or `match` is unknown, a metric needs `max_grade`, or every value or
            none would pass.

    Warns:
        RetrievalWarning: When a run ends, as in the core's `evaluate`, if a problem concerns every value.

    Example:
        >>> (scorer,) = retrieval_scorers("ndcg@10", retrieved="outputs", prefix="")
        >>> feedback = scorer(outputs=["d3", "d7"], expectations={"relevant_ids": ["d7"]})
        >>> feedback.name, round(feedback.value, 4), feedback.rationale  # 1 / log2(2 + 1)
        ('ndcg_at_10', 0.6309, '1 relevant, 2 retrieved; relevant at rank 2')
    """
    scorer = RowScorer(metrics, rules=rules, match=match, max_grade=max_grade)
    is_traced = str(retrieved).partition(".")[0] == TRACE
    paths = RowPaths(relevant, retrieved, calls, citations, exclude)
    paths.checked(FIELDS, FIELDS, traces=[TRACE], traced=is_traced)
    options: dict[str, Any] = asdict(paths) | {"match": match, "rules": rules, "max_grade": max_grade}
    named_options = options | {"rules": scorer.rules.name}
    limits = _read_limits(pass_if, scorer.metrics)
    scorers: list[Scorer] = []
    for metric in scorer.metrics:
        name = scored_name(metric.plain_name, named_options, DEFAULT_OPTIONS, prefix=prefix)
        limit = limits.get(metric)
        scorer_of_metric = RetrievalScorer(
            name=name, description=metric.in_words, metric=str(metric), limit=limit, **options
        )
        # MLflow gives all scorers the same rows, and the first one checks them.
        scorer_of_metric.check_rows_for([] if scorers else scorer.metrics)
        scorers.append(scorer_of_metric)
    return scorers


def _read_limits(pass_if: object, metrics: Sequence[Metric]) -> dict[Metric, float]:
    """Return what a row must reach, or must not exceed, in each metric that has a limit."""
    if pass_if is None:
        return {}
    limits: dict[Metric, Any] = dict.fromkeys(metrics, pass_if)
    if isinstance(pass_if, Mapping):
        limits = {_find_metric(name, metrics): limit for name, limit in pass_if.items()}
        absent = [str(metric) for metric in metrics if metric not in limits]
        if absent:
            raise ValueError(f"pass_if has no number for {', '.join(absent)}, without which result.passed is False")
    for metric, limit in limits.items():
        if isinstance(limit, bool) or not isinstance(limit, Real):
            raise TypeError(f"pass_if must be a number, or the number of each metric, got {limit!r} for {metric}")
        limits[metric] = float(limit)
        option = "pass_if" if metric.definition.higher_is_better else "at_most"
        require_useful_bound(option, metric, limits[metric])
    return limits


def _find_metric(name: str | Metric, metrics: Sequence[Metric]) -> Metric:
    metric = name if isinstance(name, Metric) else Metric.parse(name)
    if metric not in metrics:
        raise ValueError(f"pass_if has {metric}, which is not among the metrics, {', '.join(map(str, metrics))}")
    return metric


class RetrievalScorer(Scorer):
    """One metric as a scorer of MLflow; create them with `retrieval_scorers`.

    Attributes:
        metric: The name of the metric.
        relevant: The path of the judgments in a row.
        retrieved: The path of the retrieved documents in a row.
        calls: Which calls of the retriever count, or what became of them.
        citations: The path of what the answer cites in a row.
        exclude: The path of the ids of documents to leave out.
        match: What an id of the judgments is compared with.
        rules: The rule set.
        max_grade: The largest grade of all judgments.
        limit: What a row must reach to pass, or where lower is better must not exceed; None decides nothing.
    """

    metric: str
    relevant: str = RELEVANT
    retrieved: str = TRACE
    calls: CallsView = "interleaved"
    citations: str | None = None
    exclude: str | None = None
    match: Any = "id"
    rules: Any = "standard"
    max_grade: float | None = None
    limit: float | None = None
    _rows: _RowValues = PrivateAttr()

    def model_post_init(self, context: object, /) -> None:
        """Set the aggregations that MLflow logs over all rows: the mean, its interval and `n`."""
        super().model_post_init(context)
        self._rows = _RowValues(Metric.parse(self.metric), self._make_scorer())
        self.aggregations = [self._rows.mean, self._rows.low_95, self._rows.high_95, self._rows.n]

    def check_rows_for(self, metrics: Sequence[Metric]) -> None:
        """Check when a run ends whether its rows can say what these metrics ask; none if another scorer checks them."""
        self._rows.checked_metrics = tuple(metrics)

    def _make_scorer(self) -> RowScorer:
        return RowScorer(self.metric, rules=self.rules, match=self.match, max_grade=self.max_grade)

    def __call__(  # type: ignore[override]  # MLflow hands over what the signature names, and session= is not needed
        self, *, inputs: object = None, outputs: object = None, expectations: object = None, trace: Trace | None = None
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
        scorer = self._make_scorer()
        paths = RowPaths(self.relevant, self.retrieved, self.calls, self.citations, self.exclude)
        fields = row._asdict()
        scores = scorer.row(
            paths.judgments(fields),
            lambda: row.retrieved(paths),
            failure=row.failure(),
            exclude=paths.excluded_ids(fields),
            rows=self._rows.kept_rows,
            query=row.query,
        )
        (score,) = scores.values()
        self._rows.note(score)
        metadata = {"metric": self.metric, "rules": scorer.rules.name}
        error = None
        if self.limit is not None and score.value_or_none is None:
            # MLflow would skip a row without a value, so a run without any value would pass.
            error = AssessmentError("NO_VALUE", f"{score.reason}: the row has no value, so it cannot pass")
        return Feedback(
            name=self.name, value=score.value_or_none, rationale=score.reason, metadata=metadata, error=error
        )

    @property
    def pass_if(self) -> Callable[[Any], bool] | None:
        """Whether a value passes, for `result.passed` of MLflow; None without a limit."""
        if self.limit is None:
            return None
        return self._passes

    def _passes(self, value: float) -> bool:
        sign = Metric.parse(self.metric).definition.sign
        return sign * value >= sign * (self.limit or 0.0) - ROUNDING

    @property
    def kind(self) -> ScorerKind:
        """The kind under which MLflow registers the scorer: a function, whose source `model_dump` writes."""
        return ScorerKind.DECORATOR

    def model_dump(self, **_: object) -> dict[str, Any]:
        """Return the scorer as MLflow registers scorers: as the source of a function with the same arguments.

        The functions among the aggregations, and so the interval and `n`, cannot be written; a registered scorer has
        its mean. MLflow computes that from the values alone, so it is 0 where the application failed on every row: what
        MLflow rebuilds as a class, with functions of its own, must be in a module of MLflow.

        Raises:
            TypeError: If `match` or `rules` is not a text, which is all that a registered scorer can hold.
        """
        options = {name: getattr(self, name) for name in DEFAULT_OPTIONS}
        for name in ("match", "rules"):
            if not isinstance(options[name], str):
                raise TypeError(f"a scorer with {name}={options[name]!r} cannot be registered; pass {name}= as a text")
        arguments = ""
        for name, value in options.items():
            if value != DEFAULT_OPTIONS[name]:
                arguments += f", {name}={value!r}"
        source = (
            "from mlflow_retrieval_metrics import RetrievalScorer\n"
            f"scorer = RetrievalScorer(name={DEFAULT_FEEDBACK_NAME!r}, metric={self.metric!r}{arguments})\n"
            f"return scorer({', '.join(f'{name}={name}' for name in Row._fields)})"
        )
        return asdict(
            SerializedScorer(
                name=self.name,
                description=self.description,
                aggregations=["mean"],
                mlflow_version=mlflow.__version__,
                serialization_version=SERIALIZATION_VERSION,
                call_source=source,
                call_signature=f"(*, {', '.join(f'{name}=None' for name in Row._fields)})",
                original_func_name="retrieval_scorer",
            )
        )


def _default_options() -> dict[str, Any]:
    """Return the defaults of the fields of a scorer, apart from its metric and the fields of MLflow."""
    own_fields = RetrievalScorer.model_fields.keys() - Scorer.model_fields.keys() - {"metric"}
    defaults = {}
    for name, field in RetrievalScorer.model_fields.items():
        if name in own_fields:
            defaults[name] = field.default
    return defaults


# The defaults of all options of a scorer.
DEFAULT_OPTIONS = _default_options()


class _RowValues:
    """The aggregations that MLflow computes over all rows; the name of a method is the name of the logged number."""

    # MLflow passes only the values to an aggregation. If at least as many rows have failed since the last row that did
    # not fail as there are values, then each value is the 0 of a failed row.

    def __init__(self, metric: Metric, scorer: RowScorer) -> None:
        self._metric = metric
        self._scorer = scorer
        self.checked_metrics: tuple[Metric, ...] = (metric,)
        self._kept_rows = KeptRows()
        self._failures: list[str] = []  # a list, because rows are scored in threads, and its methods are atomic

    @property
    def kept_rows(self) -> KeptRows | None:
        """Where to keep the rows that are checked when a run ends; None if another scorer checks them."""
        return self._kept_rows if self.checked_metrics else None

    def note(self, score: QueryScore) -> None:
        """Record whether a row failed; a row without a value is left out, because it enters no mean."""
        if not score.is_defined:
            return
        if score.failure is not None and not score.n_retrieved:
            self._failures.append(score.failure)
        else:
            self._failures.clear()

    def mean(self, values: list[float]) -> float:
        has_failed = self._all_failed(values)
        self._warn_about_rows(are_answered=not has_failed)
        if has_failed:
            raise ValueError(
                f"{self._failures[-1]}, on each of the {len(values)} rows before anything was retrieved. This does "
                "not measure the retriever; fix the application and evaluate it again"
            )
        return self._evaluation(values).means[self._metric]

    def _warn_about_rows(self, *, are_answered: bool) -> None:
        """Warn of what is wrong with the rows as a whole, and forget them: the mean is the end of a run."""
        if self.kept_rows is None:
            return
        sentences = self.kept_rows.find_warnings(self._scorer)
        if are_answered:
            sentences += self.kept_rows.find_depth_notes(self.checked_metrics)
        self.kept_rows.clear()
        for sentence in sentences:
            warn(sentence, host="mlflow")

    def low_95(self, values: list[float]) -> float:
        return self._evaluation(values).intervals(LEVEL)[self._metric].low

    def high_95(self, values: list[float]) -> float:
        return self._evaluation(values).intervals(LEVEL)[self._metric].high

    def n(self, values: list[float]) -> float:
        return float(self._evaluation(values).n[self._metric])

    def _all_failed(self, values: list[float]) -> bool:
        return len(self._failures) >= len(values)

    def _evaluation(self, values: list[float]) -> Evaluation:
        """Return the values as an evaluation; raise if every row failed."""
        if self._all_failed(values):
            raise ValueError("there is no mean")
        return Evaluation.from_scores({str(self._metric): dict(enumerate(values))})
