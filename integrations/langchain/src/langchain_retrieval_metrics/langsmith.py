"""The metrics as evaluators for LangSmith: of examples, of experiments, and of two experiments."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypedDict

from langchain_retrieval_metrics.documents import get_key
from langchain_retrieval_metrics.retriever_functions import RefusedAnswer, resolve_retriever
from retrieval_metrics import DEFAULT_METRICS, EvaluationSet, RetrievedRun
from retrieval_metrics.integration_api import KeptRows, RowPaths, RowScorer, Scorer, row_error, scored_name, warn
from retrieval_metrics.integration_api.async_support import forward_arguments, run_until_complete, takes_arguments_of
from retrieval_metrics.integration_api.text import numbers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from langchain_core.runnables import Runnable
    from langsmith import Client
    from langsmith.schemas import Example, Run

    from langchain_retrieval_metrics.evaluation import LoadedDocuments
    from retrieval_metrics import Evaluation, Metric, Qrels, Retrieved
    from retrieval_metrics.types import ClustersBy, DocumentId, MatchBy, QueryScore

    Target = Callable[[dict[str, Any]], dict[str, Any]]
    SummaryEvaluator = Callable[[Sequence[Run], Sequence[Example]], Any]
    # The example is None where LangSmith has none, which is an error here.
    ComparativeEvaluator = Callable[[Sequence[Run], Any], dict[str, Any]]

Outputs: TypeAlias = dict[str, Any]

# The modules that stand between the evaluators and the line that calls LangSmith.
HOSTS = ("langsmith", "tqdm")

# The level of the intervals that LangSmith shows.
LEVEL = 0.95

# The defaults of all options that the key of a metric holds.
DEFAULT_OPTIONS = {
    "match": "id",
    "documents_key": "documents",
    "relevant_key": "relevant",
    "exclude_key": None,
    "max_grade": None,
}


class ExampleRun(NamedTuple):
    """One run of an example, as an evaluator receives it."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    reference_outputs: Mapping[str, Any]
    failure: str | None = None

    @classmethod
    def from_run(
        cls, inputs: Outputs | None, outputs: Outputs | None, reference_outputs: Outputs | None, run: Run | None
    ) -> ExampleRun:
        """Return a row; the run is None where an evaluator is called without one."""
        failure = None
        if run is not None and run.error:
            failure = f"the target failed: {run.error}"
        return cls(inputs or {}, outputs or {}, reference_outputs or {}, failure)

    def read_judgments(self, paths: RowPaths) -> Qrels:
        """Return the judgments."""
        return Scorer.truth(paths.judgments(self._asdict()), "the example")

    def read_items(self, paths: RowPaths) -> list[Retrieved | DocumentId]:
        """Return what was retrieved, best first; nothing if the target failed."""
        return [] if self.failure else paths.items(self._asdict())

    def score(self, scorer: RowScorer, paths: RowPaths, kept_rows: KeptRows | None = None) -> dict[Metric, QueryScore]:
        """Return the score of each metric; the row is added to those kept."""
        qrels = self.read_judgments(paths)
        excluded_ids = paths.excluded_ids(self._asdict())
        return scorer.row(
            qrels,
            lambda: self.read_items(paths),
            failure=self.failure,
            name="the output",
            exclude=excluded_ids,
            rows=kept_rows,
        )


def warn_about(error: Exception) -> None:
    """Warn that a row cannot be judged: LangSmith only logs what is raised, and not beside the question."""
    warn(str(error), host=HOSTS)


class _ScoredExamples:
    """Scores the examples of one experiment after the other, and says once in each if their ids nearly match."""

    def __init__(self, settings: RowSettings) -> None:
        self._scorer = settings.row_scorer()
        self._paths = settings.paths
        self._rows = KeptRows()
        self._experiment: tuple[Any, Any] = (None, None)
        # LangSmith calls evaluators from several threads, and the rows are checked in the order in which they come.
        self._lock = Lock()

    def score(self, row: ExampleRun, run: Run | None) -> dict[Metric, QueryScore]:
        """Return the score of each metric for an example; a run tells its experiment."""
        with self._lock:
            # A run that is not uploaded has a name of its experiment alone, one of LangSmith's server an id.
            experiment = (getattr(run, "session_id", None), getattr(run, "session_name", None))
            if experiment != self._experiment:
                self._experiment = experiment
                self._rows.clear()
            scores = row.score(self._scorer, self._paths, self._rows)
            message = ""
            if any(score.n_relevant > len(score.relevant_ranks) for score in scores.values()):
                message = self._rows.find_early_warning(self._scorer)
            n_examples = numbers.format_count(len(self._rows), "example")
        if message:
            warn(f"in the first {n_examples}, {message}", host=HOSTS)
        return scores


class ScorerOptions(TypedDict):
    """The options of the core's `Scorer` that the settings hold."""

    match: MatchBy
    documents: LoadedDocuments | None
    max_grade: float | None


class RowSettings:
    """The settings of evaluators for LangSmith."""

    def __init__(
        self,
        metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
        *,
        match: MatchBy = "id",
        documents_key: str = "documents",
        relevant_key: str = "relevant",
        exclude_key: str | None = None,
        documents: LoadedDocuments | None = None,
        max_grade: float | None = None,
        prefix: str | None = None,
    ) -> None:
        self.options: ScorerOptions = {"match": match, "documents": documents, "max_grade": max_grade}
        self.metrics = Scorer(metrics, **self.options).metrics
        exclude = None if exclude_key is None else f"inputs.{exclude_key}"
        self.paths = RowPaths(f"reference_outputs.{relevant_key}", f"outputs.{documents_key}", exclude=exclude)
        named_options = {
            "match": match,
            "documents_key": documents_key,
            "relevant_key": relevant_key,
            "exclude_key": exclude_key,
            "max_grade": max_grade,
        }
        self.key_by_metric: dict[Metric, str] = {}
        for metric in self.metrics:
            self.key_by_metric[metric] = scored_name(str(metric), named_options, DEFAULT_OPTIONS, prefix=prefix)

    def row_scorer(self, *metrics: Metric) -> RowScorer:
        """Return the scorer of single examples, for some of the metrics or for all."""
        return RowScorer(metrics or self.metrics, **self.options)


def without_scores(settings: RowSettings, comment: str | None) -> Outputs:
    """Return a comment instead of a score under each key."""
    results = [{"key": key, "score": None, "comment": comment} for key in settings.key_by_metric.values()]
    return {"results": results}


class Evaluator(Protocol):
    """A function that LangSmith calls for each example, with arguments by name."""

    def __call__(
        self, outputs: Outputs, reference_outputs: Outputs, run: Run | None = None, inputs: Outputs | None = None
    ) -> Outputs:
        """Return the scores of all metrics, as `{"results": [{"key": ..., "score": ...}]}`."""


@takes_arguments_of(RowSettings)
def langsmith_evaluators(*args: Any, **options: Any) -> list[Evaluator]:
    """Return evaluators for `langsmith.evaluate(target, data, evaluators=...)` and its asynchronous version.

    A single evaluator returns the scores of all metrics, each under its name, with the ranks behind them as a comment.
    If the target failed, they are 0, because nothing was retrieved, and the comment has the error; LangSmith's means
    would otherwise leave failures out. A metric that is undefined for an example, or an output that cannot be judged,
    has a comment but no score. The evaluator computes everything locally. For what `langsmith.evaluate` itself sends,
    see `langsmith_target`.

    Args:
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        match: What identifies a document, as in `evaluate_retriever`.
        documents_key: The key of the documents in the target's output: a list of Documents, of their JSON, or of ids.
            It is `"context"` for chains that return `{"answer": ..., "context": ...}`; dots lead into nested outputs.
        relevant_key: The key of the judgments in the example's reference output: ids, grades, or groups; quotes, texts
            and spans as `EvaluationSet.to_langsmith` writes them.
        exclude_key: The key of the ids of documents to leave out before scoring, in the example's input, such as
            `"query_id"` where queries are documents of the corpus.
        documents: The documents that chunks were cut from, as in `evaluate_retriever`, if spans are judged.
        max_grade: The largest grade of all judgments, which `err` and `rbp` divide by; one example does not show it.
        prefix: The prefix of the name of each metric. LangSmith pools feedback with equal keys, so by default a key
            holds every argument that is not the default, as in `mrr-documents_key-context`.

    Raises:
        TypeError: If the prefix is not a text.
        ValueError: If a metric or `match` is unknown, or a metric needs `max_grade`. Called without a run, the
            evaluator raises it for an example without judgments and for an output that cannot be judged. Under
            LangSmith, both have comments instead of scores.

    Warns:
        RetrievalWarning: (the evaluator) Once in an experiment, if the ids of the examples so far nearly match their
            judgments; under LangSmith, if an example or an output cannot be judged.

    Example:
        >>> from langchain_core.documents import Document
        >>> (evaluator,) = langsmith_evaluators("mrr")
        >>> evaluator({"documents": [Document("a", id="d3"), Document("b", id="d7")]}, {"relevant": ["d7"]})
        {'results': [{'key': 'mrr', 'score': 0.5, 'comment': '1 relevant, 2 retrieved; relevant at rank 2'}]}
    """
    settings = forward_arguments("langsmith_evaluators", RowSettings, args, options)
    examples = _ScoredExamples(settings)

    def retrieval_metrics(
        outputs: Outputs,
        reference_outputs: Outputs,
        run: Any = None,
        inputs: Outputs | None = None,
    ) -> Outputs:
        row = ExampleRun.from_run(inputs, outputs, reference_outputs, run)
        try:
            scores = examples.score(row, run)
        except (TypeError, ValueError) as error:
            if run is None:
                raise
            warn_about(error)
            return without_scores(settings, str(error))
        results = []
        for metric, score in scores.items():
            key = settings.key_by_metric[metric]
            results.append({"key": key, "score": score.value_or_none, "comment": score.reason})
        return {"results": results}

    return [retrieval_metrics]


def langsmith_target(
    retriever: Runnable[Any, Any] | Callable[[Any], Any],
    *,
    query_key: str | None = "query",
    documents_key: str = "documents",
) -> Target:
    """Return a target for `langsmith.evaluate` that invokes a retriever or a chain without tracing it.

    `langsmith.evaluate(..., upload_results=False)` still posts every query and the retrieved texts if its target calls
    a retriever of LangChain, even with LANGSMITH_TRACING=false and without an API key: it traces locally, which turns
    on tracing in LangChain. This target prevents that by turning tracing off while it runs. With `langsmith.aevaluate`
    this is not possible: it posts the inputs and outputs of every target. To evaluate asynchronously without sending
    texts, use `aevaluate_retriever`.

    Args:
        retriever: Any Runnable or function from a text to Documents, even if only asynchronous, or a chain whose answer
            holds them. The answer of a chain, such as `{"answer": ..., "context": ...}`, is the output.
        query_key: The key of the query in the inputs of an example; None passes all inputs to a chain.
        documents_key: The key of the documents in the output; for a chain, their key in its answer.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.runnables import RunnableLambda
        >>> target = langsmith_target(RunnableLambda(lambda query: [Document("yield gives", id="yield#1")]))
        >>> target({"query": "what does yield do?"})
        {'documents': [Document(id='yield#1', metadata={}, page_content='yield gives')]}
    """
    from langsmith import tracing_context

    ask = resolve_retriever(retriever).prefer_sync  # inputs are passed as they are

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        query = inputs if query_key is None else get_key(inputs, query_key, "the input of the example")
        with tracing_context(enabled=False):
            answer = ask(query)
            if inspect.isawaitable(answer):
                answer = run_until_complete(_wait_for(answer))
        if isinstance(answer, RefusedAnswer):
            answer.refuse("pass query_key=None, which gives it all inputs of an example")
        return dict(answer) if isinstance(answer, Mapping) else {documents_key: answer}

    return target


async def _wait_for(answer: Awaitable[Any]) -> Any:
    return await answer


class ExperimentRows:
    """The rows of an experiment, for one evaluation; the position of a row stands for its query.

    Attributes:
        unjudged: Why rows have no judgments.
        unreadable: Why the output of rows cannot be judged.
    """

    def __init__(self, runs: Sequence[Run], examples: Sequence[Example], paths: RowPaths) -> None:
        self.unjudged: list[str] = []
        self.unreadable: list[str] = []
        self._examples = examples
        self._qrels: dict[Any, Any] = {}
        self._rankings: dict[Any, Any] = {}
        self._errors: dict[Any, Exception] = {}
        self._excluded_ids: dict[Any, Collection[DocumentId]] = {}
        for index, (run, example) in enumerate(zip(runs, examples, strict=True)):
            row = ExampleRun.from_run(example.inputs, run.outputs, example.outputs, run)
            try:
                qrels = row.read_judgments(paths)
                self._excluded_ids[index] = paths.excluded_ids(row._asdict())
            except (TypeError, ValueError) as error:
                self.unjudged.append(str(error))
                continue
            try:
                self._rankings[index] = row.read_items(paths)
            except (TypeError, ValueError) as error:
                refusal = row_error(error, None, "the output")
                warn_about(refusal)
                self.unreadable.append(str(refusal))
                continue
            self._qrels[index] = qrels.judgments(0)
            if row.failure is not None:
                self._errors[index] = RuntimeError(row.failure)

    def evaluate(self, scorer: Scorer) -> Evaluation:
        """Return the evaluation of the rows that can be judged.

        Raises:
            ValueError: If there is none, if every example failed, or the core refuses the rows.
        """
        self._require_scorable()
        run = RetrievedRun(self._rankings, self._errors)
        try:
            evaluation, refused = scorer.evaluation(
                self._qrels, run, clusters=self._clusters(), exclude=self._exclusion()
            )
        except (TypeError, ValueError) as error:
            refusal = row_error(error, None, "the experiment")
            warn_about(refusal)
            raise ValueError(str(refusal)) from error
        for index, cause in refused.items():
            refusal = row_error(cause, index, "the output")
            warn_about(refusal)
            self.unreadable.append(str(refusal))
        return evaluation

    def _exclusion(self) -> Any:
        """Return the ids to leave out of each row, as `evaluate` takes them; None if nothing is to be left out."""
        return self._excluded_ids if any(self._excluded_ids.values()) else None

    def _require_scorable(self) -> None:
        if not self._qrels and self.unreadable:
            raise ValueError(f"no output can be judged: {self.unreadable[0]}")
        if not self._qrels and self.unjudged:
            raise ValueError(f"no example is judged: {self.unjudged[0]}")
        if not self._qrels:
            raise ValueError("there is no example")
        if len(self._errors) == len(self._qrels):
            first_error = next(iter(self._errors.values()))
            raise ValueError(f"every example failed, so nothing is scored: {first_error}")

    def count_examples(self, evaluation: Evaluation) -> int:
        """Return how many examples the rows of an evaluation are runs of."""
        indices: Sequence[Any] = evaluation.queries
        return len({self._examples[index].id for index in indices})

    def _clusters(self) -> ClustersBy:
        """Return what makes runs depend on each other: the same example, or examples from one source."""
        id_by_row = {index: str(self._examples[index].id) for index in self._qrels}
        source_by_row = {index: _example_source(self._examples[index]) for index in self._qrels}
        n_examples = len(set(id_by_row.values()))
        if n_examples == 1:
            return None
        is_repeated = n_examples < len(id_by_row)
        sources = source_by_row.values()
        if not is_repeated and all(source is None for source in sources):
            return None
        if None not in sources and len(set(sources)) == 1:  # one source for all says nothing
            return id_by_row if is_repeated else None
        clusters: dict[Any, tuple[str, ...]] = {}
        for index, example_id in id_by_row.items():
            source = source_by_row[index]
            clusters[index] = (f"example {example_id}",) if source is None else (f"example {example_id}", source)
        return clusters


def _example_source(example: Example) -> Any:
    metadata = getattr(example, "metadata", None) or {}
    return metadata.get("source")


@takes_arguments_of(RowSettings)
def langsmith_summary_evaluators(*args: Any, **options: Any) -> list[SummaryEvaluator]:
    """Return evaluators for `langsmith.evaluate(..., summary_evaluators=...)`: each mean with its interval and its n.

    It is a single evaluator. Its means are those of `evaluate_retriever`: failures score 0, and where every example
    failed there is a comment instead of a score. If LangSmith repeats the examples (`num_repetitions`), the runs of an
    example are a cluster, so repeating does not narrow the interval. Examples with the same `source` in their metadata
    are a cluster too. Examples without judgments are left out, and counted.

    The arguments are those of `langsmith_evaluators`; without `max_grade`, the largest grade is that of all examples.

    Raises:
        TypeError: If the prefix is not a text.
        ValueError: If a metric or `match` is unknown.

    Warns:
        RetrievalWarning: (the evaluator) As in the core's `evaluate`.
    """
    settings = forward_arguments("langsmith_summary_evaluators", RowSettings, args, options)
    scorer = Scorer(settings.metrics, **settings.options)

    def retrieval_metrics(runs: Sequence[Run], examples: Sequence[Example]) -> Outputs:
        rows = ExperimentRows(runs, examples, settings.paths)
        try:
            evaluation = rows.evaluate(scorer)
        except ValueError as error:
            return without_scores(settings, str(error))
        n_examples = rows.count_examples(evaluation)
        notes = _describe_left_out(rows, evaluation)
        results = []
        for metric, key in settings.key_by_metric.items():
            results.append(_summarize(evaluation, metric, key, n_examples, notes))
        return {"results": results}

    return [retrieval_metrics]


def _describe_left_out(rows: ExperimentRows, evaluation: Evaluation) -> list[str]:
    """Return how many runs failed, and how many outputs and examples are left out."""
    notes = []
    n_failed = evaluation.counts["failed"]
    if n_failed:
        notes.append(f"{n_failed} failed and count as 0")
    if rows.unreadable:
        n_outputs = numbers.format_count(len(rows.unreadable), "output")
        notes.append(f"{n_outputs} left out (cannot be judged): {rows.unreadable[0]}")
    if rows.unjudged:
        n_unjudged = numbers.format_count(len(rows.unjudged), "example")
        notes.append(f"{n_unjudged} left out (no judgments): {rows.unjudged[0]}")
    return notes


def _summarize(
    evaluation: Evaluation, metric: Metric, key: str, n_examples: int, notes: Sequence[str]
) -> dict[str, Any]:
    n = evaluation.n[metric]
    if not n:
        return {"key": key, "score": None, "comment": "undefined for every example"}
    interval_text = "no interval from one example"
    if n_examples > 1 or n == 1:
        low, high = evaluation.intervals(LEVEL)[metric]
        interval_text = f"{LEVEL:.0%} CI [{low:.3f}, {high:.3f}]"
    n_text = f"n = {n}"
    if n_examples != len(evaluation.queries):
        n_text = f"{n_text} runs of {numbers.format_count(n_examples, 'example')}"
    comment = "; ".join([f"{interval_text}, {n_text}", *notes])
    return {"key": key, "score": evaluation.means[metric], "comment": comment}


def langsmith_dataset(
    dataset: str | UUID,
    *,
    client: Client | None = None,
    splits: Sequence[str] | None = None,
    as_of: datetime | str | None = None,
) -> EvaluationSet:
    """Return the examples of a dataset in LangSmith as questions with their judgments.

    Args:
        dataset: The name of the dataset, or its id.
        client: The LangSmith client; None makes one from the environment.
        splits: Only these splits of the dataset.
        as_of: A version of the dataset, by its tag or date, as in `Client.list_examples`.

    Returns:
        The questions, with the ids and sources of the examples. An example without judgments is left out and counted.

    Raises:
        ValueError: If the dataset has no examples, or none of them is judged.
    """
    from langsmith import Client

    if client is None:
        client = Client()
    options: dict[str, Any] = {"splits": splits, "as_of": as_of}
    options = {name: value for name, value in options.items() if value is not None}
    options["dataset_name" if isinstance(dataset, str) else "dataset_id"] = dataset
    examples = list(client.list_examples(**options))
    if not examples:
        raise ValueError(f"the dataset {str(dataset)!r} has no examples")
    return EvaluationSet.from_dataset(examples)


@takes_arguments_of(RowSettings)
def langsmith_comparative_evaluators(*args: Any, **options: Any) -> list[ComparativeEvaluator]:
    """Return evaluators for `langsmith.evaluate((experiment, other), evaluators=...)`, one for each metric.

    Each gives every run of an example the value of the metric, so that LangSmith shows side by side which experiment
    retrieved better. A run that failed has 0; one whose output cannot be judged has no score. LangSmith does not say
    whether a difference is more than chance: for that, compare the retrievers with `rm.compare_retrievers`.

    The arguments are those of `langsmith_evaluators`.

    Raises:
        TypeError: If the prefix is not a text.
        ValueError: If a metric or `match` is unknown, or a metric needs `max_grade`.

    Warns:
        RetrievalWarning: (the evaluators) If an example or an output cannot be judged.
    """
    settings = forward_arguments("langsmith_comparative_evaluators", RowSettings, args, options)
    return [_make_comparative_evaluator(metric, settings) for metric in settings.metrics]


def _make_comparative_evaluator(metric: Metric, settings: RowSettings) -> ComparativeEvaluator:
    key = settings.key_by_metric[metric]
    scorer = settings.row_scorer(metric)

    def retrieval_metric(runs: Sequence[Run], example: Any) -> dict[str, Any]:
        scores: dict[UUID, float | None] = {}
        comments: dict[UUID, str] = {}
        for run in runs:
            row = ExampleRun.from_run(example.inputs, run.outputs, example.outputs, run)
            try:
                score = row.score(scorer, settings.paths)[metric]
            except (TypeError, ValueError) as error:
                warn_about(error)
                comments[run.id] = str(error)
            else:
                scores[run.id] = score.value_or_none
                comments[run.id] = score.reason
        return {"key": key, "scores": scores, "comment": comments}

    return retrieval_metric
