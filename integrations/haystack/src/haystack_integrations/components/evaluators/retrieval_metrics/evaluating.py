"""Ask a pipeline every question, and evaluate the documents that it holds after each of its steps."""

from __future__ import annotations

from contextlib import nullcontext
from copy import copy
from typing import TYPE_CHECKING, Any, TypedDict

from haystack import Pipeline

from haystack_integrations.components.evaluators.retrieval_metrics.pipeline_retriever import (
    PipelineRetriever,
    resolve_retriever_functions,
)
from haystack_integrations.components.evaluators.retrieval_metrics.tracing import ComponentCosts
from retrieval_metrics import DEFAULT_METRICS, aretrieve, retrieve
from retrieval_metrics.integration_api import EvaluationTask
from retrieval_metrics.integration_api.async_support import WORKERS, forward_arguments, takes_arguments_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager
    from typing import TypeAlias

    from haystack import Document

    from haystack_integrations.components.evaluators.retrieval_metrics.pipeline_retriever import PipelineOrRetriever
    from retrieval_metrics import Metric, RetrievedRun, Rules
    from retrieval_metrics.types import ClustersBy, Exclude, MatchBy, QueryId, QuestionDataset, Stages

    # The whole documents that chunks were cut from, or their texts by source.
    WholeDocuments: TypeAlias = Iterable[Document] | Mapping[str, str]


class _RetrieveOptions(TypedDict):
    workers: int
    timeout: float | None
    retries: int
    show_progress: bool
    raise_on_error: bool


class PipelineEvaluationTask:
    """The checked arguments of `evaluate_pipeline` and its twin; it evaluates the run that they lead to."""

    def __init__(
        self,
        pipeline: PipelineOrRetriever | PipelineRetriever,
        questions: QuestionDataset,
        metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
        *,
        match: MatchBy = "id",
        rules: str | Rules = "standard",
        clusters: ClustersBy = "source",
        documents: WholeDocuments | None = None,
        exclude: Exclude | None = None,
        workers: int = WORKERS,
        timeout: float | None = None,
        retries: int = 0,
        show_progress: bool = False,
        raise_on_error: bool = False,
        costs: bool = False,
    ) -> None:
        retriever = pipeline if isinstance(pipeline, PipelineRetriever) else PipelineRetriever(pipeline)
        self._task = EvaluationTask(
            questions, metrics, match, rules=rules, clusters=clusters, documents=documents, exclude=exclude
        )
        options: _RetrieveOptions = {
            "workers": workers,
            "timeout": timeout,
            "retries": retries,
            "show_progress": show_progress,
            "raise_on_error": raise_on_error,
        }
        self.retrieve_arguments: dict[str, Any] = {**self._task.retrieve_arguments, **options}
        self._costs: ComponentCosts | None = None
        if costs:
            if not isinstance(retriever.reduced, Pipeline):
                raise TypeError(
                    "costs=True needs a pipeline, whose components it measures separately; the seconds of a single "
                    "component are those of each question, stages.last.seconds"
                )
            self._costs = ComponentCosts()
            retriever = copy(retriever)
            retriever.record_costs = self._costs.record_question
        self.functions = resolve_retriever_functions(retriever)

    def observe_costs(self) -> AbstractContextManager[None]:
        """Observe inside a `with` statement what the components cost, if the caller asked for it."""
        if self._costs is None:
            return nullcontext()
        return self._costs.listen()

    def evaluate_stages(self, run: RetrievedRun) -> Stages:
        """Return the evaluation of each stage; that of the last stage also holds what the components cost."""
        evaluation = self._task.evaluation(run)
        if self._costs is None:
            return evaluation.stages
        costs_by_name: dict[str, dict[QueryId, float]] = {}
        for query in evaluation.scores.queries:
            text = self._task.texts[query]
            for name, cost in self._costs.costs_by_text.get(text, {}).items():
                costs_by_name.setdefault(name, {})[query] = cost
        return evaluation.with_scores(costs_by_name, bounds=(0, None), lower_is_better=list(costs_by_name)).stages


@takes_arguments_of(PipelineEvaluationTask)
def evaluate_pipeline(*args: Any, **options: Any) -> Stages:
    """Ask a pipeline every question, and evaluate what it holds after each of its steps.

    It is `rm.evaluate(questions, rm.retrieve(pipeline, questions), metrics).stages`, with all arguments checked before
    the first question is asked. Each question is run once, and only as far as its documents depend on it: no prompt
    builder and no model after them. The stages are the outputs that hold documents, in the order of the pipeline: those
    of retrievers, joiners and rankers. A question that a router sends past an output is left out there, and a question
    that failed has retrieved nothing anywhere.

    Args:
        pipeline: A pipeline, a component that returns documents, or a `PipelineRetriever`, which can name the output
            that counts and give values to other inputs. Behind a router, the last stage is `returned`: what each
            question got.
        questions: Questions with their judgments: an `EvaluationSet`, or anything that `EvaluationSet.from_dataset`
            reads, such as pairs `(query, relevant)`.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        match: What an id of the judgments is compared with, as in the core's `evaluate`: `"id"`, `"source"`,
            `"metadata:<key>"`, a function, or a `Matching`. A `Quote` or a `Span` in the judgments does not need it.
        rules: The rules, as in `evaluate`.
        clusters: The clusters of the questions, as in `evaluate`.
        exclude: Documents to leave out before scoring, as in `evaluate`.
        documents: The whole documents before they were split, if a `Span` is judged.
        workers: How many questions may run at once.
        timeout: Seconds that one attempt may take, as in `retrieve`.
        retries: How many times a failed question is repeated, as in `retrieve`.
        show_progress: Show a progress bar on stderr, if rich is installed.
        raise_on_error: Raise the first failure instead of counting it.
        costs: Also note what the components cost per question, from Haystack's tracing: `"retriever seconds"`, and the
            tokens that generators and embedders report, such as `"rewriter prompt_tokens"`. They are metrics of the
            last stage; a component that a question did not reach is undefined there. Your own tracer goes on.

    Returns:
        The evaluation of each stage by name, in their order. Print it, pass it to `retrieval_metrics.compare`, which
        tests what the steps change, or ask it for `losses("recall@5")`.

    Raises:
        TypeError: If it is no retriever, the questions have another shape, or several outputs hold the last documents.
        ValueError: If a metric or a rule set is unknown, or as in `evaluate`.
        Exception: The first failure, if the first questions fail alike or all fail.

    Warns:
        RetrievalWarning: As in `evaluate`.

    Example:
        >>> from haystack import Document, Pipeline, component
        >>> @component
        ... class Finder:
        ...     @component.output_types(documents=list[Document])
        ...     def run(self, query: str):
        ...         return {"documents": [Document(id="d3", content="three"), Document(id="d7", content="seven")]}
        >>> @component
        ... class Turner:
        ...     @component.output_types(documents=list[Document])
        ...     def run(self, documents: list[Document]):
        ...         return {"documents": documents[::-1]}
        >>> pipeline = Pipeline()
        >>> _ = pipeline.add_component("finder", Finder())
        >>> _ = pipeline.add_component("turner", Turner())
        >>> _ = pipeline.connect("finder.documents", "turner.documents")
        >>> stages = evaluate_pipeline(pipeline, [("what is seven?", ["d7"])], "mrr")
        >>> {name: stage.means["mrr"] for name, stage in stages.items()}  # at rank 2, then at rank 1
        {'finder': 0.5, 'turner': 1.0}
    """
    task = forward_arguments("evaluate_pipeline", PipelineEvaluationTask, args, options)
    with task.observe_costs():
        run = retrieve(task.functions, **task.retrieve_arguments)
    return task.evaluate_stages(run)


@takes_arguments_of(PipelineEvaluationTask)
async def aevaluate_pipeline(*args: Any, **options: Any) -> Stages:
    """Run a pipeline on every question, and evaluate each stage; the asynchronous `evaluate_pipeline`."""
    task = forward_arguments("aevaluate_pipeline", PipelineEvaluationTask, args, options)
    with task.observe_costs():
        run = await aretrieve(task.functions, **task.retrieve_arguments)
    return task.evaluate_stages(run)
