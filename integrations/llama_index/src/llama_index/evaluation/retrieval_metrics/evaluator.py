"""A RetrieverEvaluator for LlamaIndex that takes grades, groups and whole datasets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from llama_index.core.bridge.pydantic import ConfigDict, Field, field_validator
from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.evaluation.retrieval.evaluator import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric
from llama_index.core.schema import NodeWithScore
from pydantic import InstanceOf, PrivateAttr

from llama_index.evaluation.retrieval_metrics.datasets import (
    get_dataset_mode,
    make_single_question,
    match_by_text,
    read_dataset_content,
    warn_about_rebuilt_index,
    was_rebuilt,
)
from llama_index.evaluation.retrieval_metrics.metrics import (
    RetrievalMetric,
    ranking_metrics,
    refuse_host_options,
    require_known_grade_scale,
    require_metrics,
    resolve_metrics,
)
from llama_index.evaluation.retrieval_metrics.node_scorer import (
    NodeRetrieveArguments,
    NodeScorer,
    get_match_key,
    list_match_ids,
)
from llama_index.evaluation.retrieval_metrics.nodes import IdsAndTexts, convert_nodes
from llama_index.evaluation.retrieval_metrics.retriever_functions import resolve_retriever
from llama_index.evaluation.retrieval_metrics.retriever_pipeline import RetrieverPipeline
from llama_index.evaluation.retrieval_metrics.single_queries import SingleQueries
from llama_index.evaluation.retrieval_metrics.source_names import Source, resolve_source
from retrieval_metrics import DEFAULT_METRICS, EvaluationSet, Matching, Retrieved, aretrieve, retrieve
from retrieval_metrics.integration_api import RetrieverFunctions
from retrieval_metrics.integration_api.async_support import WORKERS, forward_arguments, takes_arguments_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping
    from os import PathLike

    from llama_index.evaluation.retrieval_metrics.results import DatasetResult, RetrieverEvalResult
    from llama_index.evaluation.retrieval_metrics.retriever_pipeline import ConvertItems
    from llama_index.evaluation.retrieval_metrics.source_names import LoadedDocuments
    from retrieval_metrics import RetrievedRun
    from retrieval_metrics.types import ClustersBy, Exclude, Judgments, MatchBy, QuestionDataset

EvaluatedT = TypeVar("EvaluatedT")


class EvaluationSetup(StockRetrieverEvaluator):
    """The checked settings of a RetrieverEvaluator, and the functions that ask its retriever."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    retriever: Any = Field(description="A retriever, an engine, a workflow, or a function")
    metrics: list[BaseRetrievalMetric] = Field(
        default_factory=lambda: ranking_metrics(DEFAULT_METRICS), description="Metrics to compute"
    )
    # InstanceOf, because pydantic would create a new Matching from its fields.
    match: str | Callable[[Retrieved], Any] | InstanceOf[Matching] = Field(
        default="id", description="What identifies a node in the judgments"
    )
    source: str | Callable[[NodeWithScore], str | None] = Field(
        default="ref_doc_id", description="The name of a node's document"
    )
    documents: Any = Field(default=None, description="The documents that nodes were cut from", exclude=True)

    @field_validator("source", mode="before")
    @classmethod
    def _require_source(cls, source: Source) -> Source:
        resolve_source(source)
        return source

    @field_validator("match")
    @classmethod
    def _require_match(cls, match: MatchBy) -> MatchBy:
        get_match_key(match)
        return match

    @field_validator("retriever")
    @classmethod
    def _require_retriever(cls, retriever: Any) -> Any:
        if resolve_retriever(retriever) is None and not callable(retriever):
            hint = "; write index.as_retriever()" if hasattr(retriever, "as_retriever") else ""
            raise ValueError(
                "retriever must be a retriever, a query engine, a chat engine, a workflow, or a function of the query "
                f"text; got {retriever!r}{hint}"
            )
        return retriever

    @field_validator("metrics", mode="before")
    @classmethod
    def _require_metrics(cls, metrics: Any) -> Any:
        require_metrics(metrics)
        return metrics

    @field_validator("metrics")
    @classmethod
    def _require_distinct_names(cls, metrics: list[BaseRetrievalMetric]) -> list[BaseRetrievalMetric]:
        names = [metric.metric_name for metric in metrics]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two metrics are named {name!r}, but results are keyed by name; leave one out")
        return metrics

    async def aget_retrieved_nodes(self, query: str) -> list[NodeWithScore]:
        """Retrieve and postprocess for one query; a subclass can override it to choose what is judged."""
        return await self._make_pipeline().retrieve(query)

    async def _aget_retrieved_ids_and_texts(
        self, query: str, mode: RetrievalEvalMode = RetrievalEvalMode.TEXT
    ) -> tuple[list[str], list[str]]:
        nodes = await self.aget_retrieved_nodes(query)
        items = convert_nodes(nodes, mode, resolve_source(self.source))
        ids = list_match_ids(items, get_match_key(self.match))
        return ids, [str(item.text) for item in items]

    def _make_scorer(
        self,
        questions: EvaluationSet,
        mode: RetrievalEvalMode,
        match: MatchBy | None = None,
        clusters: ClustersBy = "source",
        exclude: Exclude | None = None,
        source: Source | None = None,
        documents: LoadedDocuments | None = None,
    ) -> NodeScorer:
        """Return what scores the retrieved nodes, after checking the questions against the settings."""
        if self._chooses_ids:
            match = "id"
        elif match is None:
            match = self.match
        return NodeScorer(
            self.metrics,
            questions,
            match,
            mode=mode,
            source=self.source if source is None else source,
            documents=self.documents if documents is None else documents,
            clusters=clusters,
            exclude=exclude,
        )

    def _make_functions(self, mode: RetrievalEvalMode, convert: ConvertItems | None = None) -> RetrieverFunctions:
        """Return the functions that ask the retriever; with `convert`, they also return the stages."""
        hook = self._find_hook(mode)
        if hook is None:
            return self._make_pipeline(convert).functions
        if convert is not None:
            raise ValueError(
                f"stages=True needs the retriever and its postprocessors, and {type(self).__name__} overrides them; "
                "evaluate each stage by itself"
            )
        return RetrieverFunctions(asynchronous=hook)

    def _find_hook(self, mode: RetrievalEvalMode) -> Callable[[str], Awaitable[Any]] | None:
        """Return the method of LlamaIndex's evaluators that a subclass overrides; None if it overrides none."""

        async def retrieve_ids_and_texts(text: str) -> IdsAndTexts:
            ids_and_texts = await self._aget_retrieved_ids_and_texts(text, mode)
            return IdsAndTexts(*ids_and_texts)

        if self._chooses_ids:
            return retrieve_ids_and_texts
        if type(self).aget_retrieved_nodes is not EvaluationSetup.aget_retrieved_nodes:
            return self.aget_retrieved_nodes
        return None

    def _make_pipeline(self, convert: ConvertItems | None = None) -> RetrieverPipeline:
        return RetrieverPipeline(self.retriever, self.node_postprocessors or (), convert)

    @property
    def _chooses_ids(self) -> bool:
        """Whether a subclass overrides the method that returns the ids by which nodes are judged."""
        return type(self)._aget_retrieved_ids_and_texts is not EvaluationSetup._aget_retrieved_ids_and_texts  # noqa: SLF001  (what subclasses override)


class EvaluatorRetrieveArguments(NodeRetrieveArguments):
    """All arguments of `rm.retrieve`."""

    workers: int
    timeout: float | None
    retries: int
    show_progress: bool
    raise_on_error: bool
    resume: str | PathLike[str] | None


@dataclass(frozen=True, slots=True)
class PreparedRetrieval(Generic[EvaluatedT]):
    """The functions that ask the retriever, the arguments of `rm.retrieve`, and what makes a result of the run."""

    functions: RetrieverFunctions
    retrieve_arguments: EvaluatorRetrieveArguments
    make_result: Callable[[RetrievedRun], EvaluatedT]


class RetrieverEvaluator(EvaluationSetup):
    """Evaluates a retriever; replaces `llama_index.core.evaluation.RetrieverEvaluator`.

    `evaluate` and `evaluate_dataset` call the synchronous methods of the host (`retrieve`, `query`, `chat`,
    `postprocess_nodes`) in threads; their asynchronous versions use the running event loop. An asynchronous client of a
    service is thus used in one loop only, and both styles can be mixed. Agents, workflows and retrievers with
    `use_async=True` are asynchronous only.

    Args:
        retriever: The retriever; or a query engine, a chat engine or a workflow whose response has `source_nodes`; or
            any function of the query text that returns nodes or such a response. Synchronous ones run in threads.
        metrics: Metrics of this package or of LlamaIndex; see `from_metric_names`. The default is that of the core.
        node_postprocessors: Applied to the retrieved nodes, in order, and awaited if they are asynchronous.
        match: What identifies a node in the judgments, as in the core's `evaluate`: `"id"`, `"metadata:<key>"`, such as
            `"metadata:file_name"`, `"source"` (the document it was cut from, as `source` names it), a function of the
            core's `Retrieved`, or its `Matching`. A `Quote`, `Text` or `Span` in the judgments does not need it: it is
            searched for in the text of the nodes, or compared with their place in their document.
        source: The name of a node's document, as used in a `Span`: `"ref_doc_id"`, which many readers change at every
            load, a key of the metadata such as `"file_name"` or `"file_path"`, or a function of a `NodeWithScore`.
        documents: The documents that the nodes were cut from, as a reader returns them, or their texts by name, if a
            `Span` is judged. Each node is then found in its document by its text, whatever the parsers recorded.

    Raises:
        ValueError: (as pydantic's ValidationError) If an argument or `match` is unknown, or two metrics have the same
            name. On evaluation: if `match="source"` would compare the judged names with random ids of documents.
    """

    _single_queries: SingleQueries = PrivateAttr(default_factory=SingleQueries)

    @classmethod
    def from_metric_names(cls, metric_names: list[str], **kwargs: Any) -> Self:
        """Return an evaluator with the metrics of these names.

        Names known to this package mean its metrics, including `hit_rate` and `mrr`; others are looked up among those
        of LlamaIndex. Results are keyed by the names as given.

        Args:
            metric_names: Such as `["mrr@10", "map", "ndcg@10"]`.
            **kwargs: The other arguments of the evaluator.

        Raises:
            ValueError: If a name is unknown; the message suggests the nearest.
        """
        return cls(metrics=resolve_metrics(metric_names), **kwargs)

    def _prepare_query(
        self,
        query: str,
        expected_ids: Judgments | None = None,
        expected_texts: list[str] | None = None,
        mode: RetrievalEvalMode = RetrievalEvalMode.TEXT,
        *,
        match: MatchBy | None = None,
        **kwargs: Any,
    ) -> PreparedRetrieval[RetrieverEvalResult]:
        """Check the arguments of `evaluate` before the retriever is asked."""
        _refuse_unknown_arguments(kwargs)
        scorer = self._make_scorer(make_single_question(query, expected_ids, expected_texts), mode, match)
        core_metrics = [metric.spec for metric in self.metrics if isinstance(metric, RetrievalMetric)]
        require_known_grade_scale(core_metrics, [] if expected_ids is None else expected_ids)
        retrieve_arguments: EvaluatorRetrieveArguments = {
            **scorer.retrieve_arguments,
            "workers": 1,
            "timeout": None,
            "retries": 0,
            "show_progress": False,
            "raise_on_error": True,
            "resume": None,
        }

        def make_result(run: RetrievedRun) -> RetrieverEvalResult:
            (ranking,) = run.values()
            self._single_queries.add(len(ranking), core_metrics)
            return scorer.score_one_query(run, expected_texts=expected_texts)

        return PreparedRetrieval(self._make_functions(mode), retrieve_arguments, make_result)

    @takes_arguments_of(_prepare_query)
    def evaluate(self, *args: Any, **kwargs: Any) -> RetrieverEvalResult:
        """Retrieve for one query and score the result; works inside a running event loop too.

        Args:
            query: The text of the query.
            expected_ids: The judgments: ids, `{id: grade}`, groups `[[id, id], [id]]` that are all needed, each by any
                of its members, or graded groups. A `Quote`, `Text` or `Span` can replace an id.
            expected_texts: The texts of relevant nodes. Without ids, they are the judgments, each as a `Text` of the
                core, which any chunks can satisfy; otherwise they are only kept in the result and passed to metrics of
                LlamaIndex.
            mode: Kept in the result.
            match: What identifies a node in these judgments, such as `"metadata:file_name"`; None takes the setting of
                the evaluator.
            **kwargs: Any other argument is an error.

        Returns:
            A result of LlamaIndex; if a metric is undefined, for example because nothing is relevant, its `metadata`
            says so.

        Warns:
            RetrievalWarning: At the third query of an evaluator, if none retrieved as many nodes as a metric looks at.

        Raises:
            TypeError: If an argument is unknown, or the judgments are of the wrong type.
            ValueError: If a node has no value for `match`, or a metric needs the largest grade of all judgments.
            Exception: What the retriever raises.
        """
        task = forward_arguments("evaluate", self._prepare_query, args, kwargs)
        run = retrieve(task.functions, **task.retrieve_arguments)
        return task.make_result(run)

    @takes_arguments_of(_prepare_query)
    async def aevaluate(self, *args: Any, **kwargs: Any) -> RetrieverEvalResult:
        """Retrieve for one query and score the result; the asynchronous version of `evaluate`."""
        task = forward_arguments("aevaluate", self._prepare_query, args, kwargs)
        run = await aretrieve(task.functions, **task.retrieve_arguments)
        return task.make_result(run)

    def _prepare_dataset(
        self,
        dataset: QuestionDataset,
        workers: int = WORKERS,
        show_progress: bool = False,  # noqa: FBT001, FBT002  (as in LlamaIndex)
        *,
        match: MatchBy | None = None,
        source: Source | None = None,
        documents: LoadedDocuments | None = None,
        timeout: float | None = None,
        retries: int = 0,
        raise_on_error: bool = False,
        stages: bool = False,
        clusters: ClustersBy = "source",
        exclude: Exclude | None = None,
        resume: str | PathLike[str] | None = None,
    ) -> PreparedRetrieval[DatasetResult]:
        """Check the arguments of `evaluate_dataset` before the retriever is asked."""
        content = read_dataset_content(dataset)
        questions = EvaluationSet.from_dataset(content)
        mode = get_dataset_mode(content)
        scorer = self._make_scorer(questions, mode, match, clusters, exclude, source, documents)
        retrieve_arguments: EvaluatorRetrieveArguments = {
            **scorer.retrieve_arguments,
            "workers": workers,
            "timeout": timeout,
            "retries": retries,
            "show_progress": show_progress,
            "raise_on_error": raise_on_error,
            "resume": resume,
        }
        functions = self._make_functions(mode, scorer.convert if stages else None)

        def make_result(run: RetrievedRun) -> DatasetResult:
            final_scorer = scorer
            judges_ids = not self._chooses_ids and (self.match if match is None else match) == "id"
            if judges_ids and was_rebuilt(content, run):
                warn_about_rebuilt_index()
                final_scorer = self._make_scorer(
                    match_by_text(content), mode, match, clusters, exclude, source, documents
                )
            return final_scorer.score_dataset(run, raise_on_error=raise_on_error)

        return PreparedRetrieval(functions, retrieve_arguments, make_result)

    @takes_arguments_of(_prepare_dataset)
    def evaluate_dataset(self, *args: Any, **options: Any) -> DatasetResult:
        """Evaluate the retriever on all queries of a dataset, several at a time; works in a running event loop too.

        Args:
            dataset: Pairs `(query, relevant)`, rows `{"query": ..., "relevant": ...}`, any object with `queries` and
                `relevant_docs`, or the path of a file, such as CSV or the JSON of a dataset class that llama-index-core
                has removed (EmbeddingQAFinetuneDataset, LabelledRagDataset). The judgments are those of `evaluate`.
            workers: How many queries may run at once. A synchronous retriever runs in as many threads.
            show_progress: Show a progress bar.
            match: What identifies a node in the judgments of this dataset, such as `"metadata:file_name"`; None takes
                the setting of the evaluator.
            source: The name of a node's document in this dataset; None takes the setting of the evaluator.
            documents: The documents that the nodes were cut from; None takes the setting of the evaluator.
            timeout: Seconds that one attempt may take; None sets no limit.
            retries: How many times a failed query is repeated.
            raise_on_error: Raise the first failure. Otherwise a failed query has its `error` in its result, scores 0
                because nothing was retrieved, and is counted.
            stages: Also score the nodes of each retriever inside the one that is asked, before any postprocessor, and
                after each; see `DatasetResult.stages`.
            exclude: Nodes to leave out before scoring, as in the core's `evaluate`: `"query_id"`, or `{query: ids}`.
            clusters: The clusters of the queries, for the intervals, as in the core's `evaluate`: a mapping of query
                ids to clusters, a function of the id, `"source"` (the document that a question comes from, if the
                dataset has it), or None.
            resume: A file such as `answers.jsonl` to which every answer is written as it arrives, as in the core's
                `retrieve`. If it exists, only questions without an answer are asked. Use one file per retriever.

        Returns:
            The results in the order of the dataset: a list with the core's `evaluation` (means and counts, as printed)
            and the `errors`.

        Raises:
            TypeError: If the dataset has another shape, or its judgments are of the wrong type.
            ValueError: If the dataset is empty or incomplete, `clusters` has none of the queries, a node has no value
                for `match`.
            Exception: The first failure, if every query failed.

        Warns:
            RetrievalWarning: If nothing was retrieved for a query, or nothing that was retrieved is judged anywhere. If
                no retrieved id is in the corpus of the dataset, as after an index was rebuilt, its texts are judged.
        """
        task = forward_arguments("evaluate_dataset", self._prepare_dataset, args, options)
        run = retrieve(task.functions, **task.retrieve_arguments)
        return task.make_result(run)

    @takes_arguments_of(_prepare_dataset)
    async def aevaluate_dataset(self, *args: Any, **options: Any) -> DatasetResult:
        """Evaluate the retriever on all queries of a dataset; the asynchronous version of `evaluate_dataset`."""
        task = forward_arguments("aevaluate_dataset", self._prepare_dataset, args, options)
        run = await aretrieve(task.functions, **task.retrieve_arguments)
        # In a thread, because metrics of LlamaIndex may take long or call a service.
        return await asyncio.to_thread(task.make_result, run)


def _refuse_unknown_arguments(arguments: Mapping[str, Any]) -> None:
    refuse_host_options(arguments)
    if not arguments:
        return
    hint = "pass grades and groups as expected_ids: {'id': 2} or [['id', 'id'], ['id']]"
    for name in arguments:
        if name in EvaluationSetup.model_fields:
            hint = f"the evaluator takes {name}=: RetrieverEvaluator(..., {name}=...)"
            break
    raise TypeError(f"unknown argument {', '.join(map(repr, arguments))}; {hint}")
