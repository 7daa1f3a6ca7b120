"""The RetrieverEvaluator of LlamaIndex with grades, groups and whole datasets, and how it asks."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.bridge.pydantic import ConfigDict, Field, field_validator
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.evaluation.retrieval.evaluator import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric
from llama_index.core.indices.vector_store import VectorIndexRetriever
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.workflow import Workflow
from pydantic import InstanceOf

from llama_index.evaluation.retrieval_metrics.metrics import (
    RetrievalMetric,
    metrics_of_any_kind,
    ranking_metrics,
    refuse_host_options,
    refuse_names,
    require_known_grade_scale,
)
from llama_index.evaluation.retrieval_metrics.mmr_postprocessor import embed_query
from llama_index.evaluation.retrieval_metrics.recording import find_agent_nodes
from llama_index.evaluation.retrieval_metrics.results import (
    get_dataset_mode,
    make_single_question,
    read_dataset_content,
)
from llama_index.evaluation.retrieval_metrics.scoring import (
    IdsAndTexts,
    NodeScorer,
    Source,
    get_match_key,
    get_nodes,
    list_match_ids,
    nodes_as_items,
    resolve_source,
)
from llama_index.evaluation.retrieval_metrics.stepping import RETRIEVED_STAGE, StageRecorder
from retrieval_metrics import DEFAULT_METRICS, EvaluationSet, Matching, Retrieved, aretrieve, retrieve
from retrieval_metrics.integration_api import RetrieverFunctions
from retrieval_metrics.integration_api.async_support import WORKERS, forward_arguments, takes_arguments_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine, Generator, Mapping, Sequence
    from os import PathLike

    from llama_index.core.postprocessor.types import BaseNodePostprocessor

    from llama_index.evaluation.retrieval_metrics.results import DatasetResult, RetrieverEvalResult
    from retrieval_metrics import RetrievedRun
    from retrieval_metrics.types import ClustersBy, Judgments, MatchBy

    Convert = Callable[[Any], list[Retrieved]]


class EvaluationSetup(StockRetrieverEvaluator):
    """What a RetrieverEvaluator is told, checked, and how it asks the retriever with it."""

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
    def _names_documents(cls, source: Source) -> Source:
        resolve_source(source)
        return source

    @field_validator("match")
    @classmethod
    def _is_known(cls, match: MatchBy) -> MatchBy:
        get_match_key(match)
        return match

    @field_validator("retriever")
    @classmethod
    def _can_be_asked(cls, retriever: Any) -> Any:
        if resolve_retriever(retriever) is None and not callable(retriever):
            hint = "; write index.as_retriever()" if hasattr(retriever, "as_retriever") else ""
            raise ValueError(
                "retriever must be a retriever, a query engine, a chat engine, a workflow, or a function of the query "
                f"text; got {retriever!r}{hint}"
            )
        return retriever

    @field_validator("metrics", mode="before")
    @classmethod
    def _are_metrics(cls, metrics: Any) -> Any:
        return refuse_names(metrics)

    @field_validator("metrics")
    @classmethod
    def _have_names_of_their_own(cls, metrics: list[BaseRetrievalMetric]) -> list[BaseRetrievalMetric]:
        names = [one.metric_name for one in metrics]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two metrics are named {twice!r}, but results are keyed by name; leave one out")
        return metrics

    async def aget_retrieved_nodes(self, query: str) -> list[NodeWithScore]:
        """Retrieve and postprocess for one query; a subclass can override it to choose what is judged."""
        return await self._retrieving().nodes(query)

    async def _aget_retrieved_ids_and_texts(
        self, query: str, mode: RetrievalEvalMode = RetrievalEvalMode.TEXT
    ) -> tuple[list[str], list[str]]:
        items = nodes_as_items(await self.aget_retrieved_nodes(query), mode, self.source)
        return list_match_ids(items, get_match_key(self.match)), [str(item.text) for item in items]

    def _scorer(
        self, questions: EvaluationSet, mode: RetrievalEvalMode, match: MatchBy | None = None, **options: Any
    ) -> NodeScorer:
        """Return the questions with what this evaluator is told, checked."""
        return NodeScorer(
            self.metrics,
            questions,
            "id" if self._chooses_ids else self.match if match is None else match,
            mode=mode,
            source=self.source,
            documents=self.documents,
            **options,
        )

    def _ways(self, mode: RetrievalEvalMode, convert: Convert | None = None) -> RetrieverFunctions:
        """Return how to ask, and for the steps too if these can be converted."""
        hook = self._hook(mode)
        if hook is None:
            return self._retrieving(convert).ways
        if convert is not None:
            raise ValueError(
                f"stages=True needs the retriever and its postprocessors, and {type(self).__name__} overrides them; "
                "evaluate each stage by itself"
            )
        return RetrieverFunctions(asynchronous=hook)

    def _hook(self, mode: RetrievalEvalMode) -> Callable[[str], Awaitable[Any]] | None:
        """Return the extension point of the host that a subclass overrides, if it does."""

        async def ids_and_texts(text: str) -> IdsAndTexts:
            return IdsAndTexts(*await self._aget_retrieved_ids_and_texts(text, mode))

        if self._chooses_ids:
            return ids_and_texts
        if type(self).aget_retrieved_nodes is not EvaluationSetup.aget_retrieved_nodes:
            return self.aget_retrieved_nodes
        return None

    def _retrieving(self, convert: Convert | None = None) -> RetrieverPipeline:
        return RetrieverPipeline(self.retriever, self.node_postprocessors or (), convert)

    @property
    def _chooses_ids(self) -> bool:
        """Whether a subclass says itself by which ids nodes are judged."""
        return type(self)._aget_retrieved_ids_and_texts is not EvaluationSetup._aget_retrieved_ids_and_texts  # noqa: SLF001  (what subclasses override)


class RetrievalCall(NamedTuple):
    """How to ask questions: in which ways, what `retrieve` is told, and what makes a result of the run."""

    ways: RetrieverFunctions
    asking: dict[str, Any]
    result: Callable[[RetrievedRun], Any]


class RetrieverEvaluator(EvaluationSetup):
    """Evaluates a retriever; replaces `llama_index.core.evaluation.RetrieverEvaluator`.

    `evaluate` and `evaluate_dataset` ask in threads by the synchronous ways of the host (`retrieve`, `query`, `chat`,
    `postprocess_nodes`), their asynchronous twins in the running event loop: an asynchronous client of a service meets
    one loop only, and both styles can be mixed. Agents, workflows and retrievers with `use_async=True` have only an
    asynchronous way.

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
            name. When asked: if `match="source"` would compare the judged names with random ids of documents.
    """

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
        return cls(metrics=metrics_of_any_kind(metric_names), **kwargs)

    def _one(
        self,
        query: str,
        expected_ids: Judgments | None = None,
        expected_texts: list[str] | None = None,
        mode: RetrievalEvalMode = RetrievalEvalMode.TEXT,
        *,
        match: MatchBy | None = None,
        **kwargs: Any,
    ) -> RetrievalCall:
        """Take the arguments of `evaluate`."""
        _refuse_unknown(kwargs)
        scorer = self._scorer(make_single_question(query, expected_ids, expected_texts), mode, match)
        own = [one.spec for one in self.metrics if isinstance(one, RetrievalMetric)]
        require_known_grade_scale(own, [] if expected_ids is None else expected_ids)
        asking = scorer.asking | {"workers": 1, "raise_on_error": True}
        return RetrievalCall(self._ways(mode), asking, partial(scorer.score_one_query, expected_texts=expected_texts))

    @takes_arguments_of(_one)
    def evaluate(self, *args: Any, **kwargs: Any) -> RetrieverEvalResult:  # noqa: D417  (they are those of _one)
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

        Raises:
            TypeError: If an argument is unknown, or the judgments are of the wrong type.
            ValueError: If a node has no value for `match`, or a metric needs the largest grade of all judgments.
            Exception: What the retriever raises.
        """
        call = forward_arguments("evaluate", self._one, args, kwargs)
        result: RetrieverEvalResult = call.result(retrieve(call.ways, **call.asking))
        return result

    @takes_arguments_of(_one)
    async def aevaluate(self, *args: Any, **kwargs: Any) -> RetrieverEvalResult:
        """Retrieve for one query and score the result; the asynchronous twin of `evaluate`."""
        call = forward_arguments("aevaluate", self._one, args, kwargs)
        result: RetrieverEvalResult = call.result(await aretrieve(call.ways, **call.asking))
        return result

    def _all(
        self,
        dataset: Any,
        workers: int = WORKERS,
        show_progress: bool = False,  # noqa: FBT001, FBT002  (as in LlamaIndex)
        *,
        match: MatchBy | None = None,
        timeout: float | None = None,
        retries: int = 0,
        raise_on_error: bool = False,
        stages: bool = False,
        clusters: ClustersBy = "source",
        resume: str | PathLike[str] | None = None,
    ) -> RetrievalCall:
        """Take the arguments of `evaluate_dataset`."""
        content = read_dataset_content(dataset)
        questions, mode = EvaluationSet.from_dataset(content), get_dataset_mode(content)
        scorer = self._scorer(questions, mode, match, clusters=clusters)
        asking = scorer.asking | {
            "workers": workers,
            "timeout": timeout,
            "retries": retries,
            "show_progress": show_progress,
            "raise_on_error": raise_on_error,
            "resume": resume,
        }
        ways = self._ways(mode, scorer.items if stages else None)
        return RetrievalCall(ways, asking, partial(scorer.dataset, raise_on_error=raise_on_error))

    @takes_arguments_of(_all)
    def evaluate_dataset(self, *args: Any, **options: Any) -> DatasetResult:  # noqa: D417  (they are those of _all)
        """Evaluate the retriever on all queries of a dataset, several at a time; works in a running event loop too.

        Args:
            dataset: Pairs `(query, relevant)`, rows `{"query": ..., "relevant": ...}`, any object with `queries` and
                `relevant_docs`, or the path of the JSON file of an EmbeddingQAFinetuneDataset. The judgments are those
                of `evaluate`.
            workers: How many queries may be under way at once. A synchronous retriever runs in as many threads.
            show_progress: Show a progress bar.
            match: What identifies a node in the judgments of this dataset, such as `"metadata:file_name"`; None takes
                the setting of the evaluator.
            timeout: Seconds that one attempt may take; None sets no limit.
            retries: How often a failed query is repeated.
            raise_on_error: Raise the first failure. Otherwise a failed query has its `error` in its result, scores 0
                because nothing was retrieved, and is counted.
            stages: Also score the nodes of each retriever inside the one that is asked, before any postprocessor, and
                after each; see `DatasetResult.stages`.
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
            RetrievalWarning: If nothing was retrieved for a query, or nothing that was retrieved is judged anywhere.
        """
        call = forward_arguments("evaluate_dataset", self._all, args, options)
        result: DatasetResult = call.result(retrieve(call.ways, **call.asking))
        return result

    @takes_arguments_of(_all)
    async def aevaluate_dataset(self, *args: Any, **options: Any) -> DatasetResult:
        """Evaluate the retriever on all queries of a dataset; the asynchronous twin of `evaluate_dataset`."""
        call = forward_arguments("aevaluate_dataset", self._all, args, options)
        run = await aretrieve(call.ways, **call.asking)
        # In a thread, because metrics of LlamaIndex may take long or call a service.
        result: DatasetResult = await asyncio.to_thread(call.result, run)
        return result


def _refuse_unknown(arguments: Mapping[str, Any]) -> None:
    refuse_host_options(arguments)
    if arguments:
        ours = [name for name in arguments if name in EvaluationSetup.model_fields]
        hint = "pass grades and groups as expected_ids: {'id': 2} or [['id', 'id'], ['id']]"
        if ours:
            hint = f"the evaluator takes {ours[0]}=: RetrieverEvaluator(..., {ours[0]}=...)"
        raise TypeError(f"unknown argument {', '.join(map(repr, arguments))}; {hint}")


def resolve_retriever(thing: Any) -> RetrieverFunctions | None:
    """Return how a query text is asked of what returns nodes or a response with `source_nodes`."""
    # An agent is asked with `user_msg=`; of what its tools found, the first of each call comes first. A chat engine
    # answers each question as the first of a new conversation; its memory does not change. A workflow is run with
    # `query=`; wrap a workflow with other arguments in a function.
    if isinstance(thing, BaseRetriever):
        if is_only_synchronous(thing):
            return RetrieverFunctions(thing.retrieve)
        # With use_async=True, it would start an event loop for each query, in which its clients break.
        ask = None if getattr(thing, "use_async", False) else thing.retrieve
        return RetrieverFunctions(ask, thing.aretrieve, _wanted_of(thing), MORE)
    if isinstance(thing, BaseQueryEngine):
        return RetrieverFunctions(thing.query, thing.aquery)
    if isinstance(thing, BaseChatEngine):
        return RetrieverFunctions(lambda text: _of_its_own(thing).chat(text, chat_history=[]), partial(_chat, thing))
    if isinstance(thing, (AgentWorkflow, BaseWorkflowAgent)):
        return RetrieverFunctions(asynchronous=partial(_ask_agent, thing))
    return RetrieverFunctions(asynchronous=partial(_run, thing)) if isinstance(thing, Workflow) else None


MORE = "vector_store_kwargs={...}, as your store names it"
"""What lets the store of an index look at more nodes."""


def _wanted_of(retriever: BaseRetriever) -> int | None:
    """Return how many nodes the store of an index is asked for; other modes than the default may return fewer."""
    if not isinstance(retriever, VectorIndexRetriever) or retriever._vector_store_query_mode != "default":  # noqa: SLF001  (public nowhere)
        return None
    return retriever.similarity_top_k


async def _chat(engine: BaseChatEngine, text: str) -> Any:
    return await _of_its_own(engine).achat(text, chat_history=[])


def _of_its_own(engine: BaseChatEngine) -> BaseChatEngine:
    """Return a chat engine with a memory of its own, so that several conversations can run at once."""
    engine = copy(engine)
    if hasattr(engine, "_memory"):
        engine._memory = ChatMemoryBuffer.from_defaults()  # noqa: SLF001  (the engines have no other place for it)
    return engine


class _AgentAnswer:
    """What an agent answered; its nodes are looked for where they are read, so that a wrong agent is asked once."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    @property
    def source_nodes(self) -> list[NodeWithScore]:
        return find_agent_nodes(self._answer)


async def _ask_agent(agent: AgentWorkflow | BaseWorkflowAgent, text: str) -> _AgentAnswer:
    return _AgentAnswer(await agent.run(user_msg=text))


async def _run(workflow: Workflow, text: str) -> Any:
    return await workflow.run(query=text)


def is_only_synchronous(retriever: BaseRetriever) -> bool:
    """Whether `aretrieve` would compute on the event loop, because only `_retrieve` is implemented."""
    # The host wraps some methods for tracing at each access, so the wrapped methods are compared.
    return all(
        inspect.unwrap(getattr(type(retriever), name)) is inspect.unwrap(getattr(BaseRetriever, name))
        for name in ("_aretrieve", "aretrieve")
    )


def is_asynchronous(ask: Callable[[str], Any]) -> bool:
    """Whether a function returns a coroutine: it is then called on the event loop and not in a thread."""
    function = ask.func if isinstance(ask, partial) else ask
    called = getattr(type(function), "__call__", None)  # noqa: B004  (what it is, not whether it is there)
    return inspect.iscoroutinefunction(inspect.unwrap(function)) or inspect.iscoroutinefunction(called)


class RetrieverPipeline:
    """A retriever and its postprocessors; with a function that converts nodes, also the steps on the way."""

    def __init__(
        self,
        retriever: Any,
        postprocessors: Sequence[BaseNodePostprocessor] = (),
        convert: Convert | None = None,
        *,
        alone: bool = True,
    ) -> None:
        """Take what is asked; `alone` tells retrieval as a step even if there is no other one."""
        self._retriever = retriever
        self._takes_bundles = isinstance(retriever, BaseRetriever)
        self._postprocessors = postprocessors
        self._convert = convert
        self._alone = alone

    @property
    def ways(self) -> RetrieverFunctions:
        """Return what retrieves and postprocesses; the asynchronous one of a synchronous retriever is for a thread."""
        found = resolve_retriever(self._retriever) or RetrieverFunctions(self._retriever)
        ask = found.prefer_async
        waiting = self._asynchronously if is_asynchronous(ask) else self._in_a_thread
        wanted = None if self._postprocessors else found.n_requested
        return RetrieverFunctions(
            partial(self._synchronously, found.prefer_sync), partial(waiting, ask), wanted, found.candidate_option
        )

    async def nodes(self, text: str) -> list[NodeWithScore]:
        """Return the nodes for a query text; synchronous retrievers run in a thread."""
        ask = self.ways.prefer_async
        answer = ask(text) if is_asynchronous(ask) else await asyncio.to_thread(ask, text)
        return get_nodes(await answer)

    def _told(self) -> StageRecorder | None:
        return None if self._convert is None else StageRecorder(self._convert, self._retriever)

    def _is_all(self, told: StageRecorder | None) -> bool:
        """Return whether the answer of the retriever is all there is to tell."""
        return not self._postprocessors and (told is None or not (self._alone or told.has_steps))

    def _synchronously(self, ask: Callable[[Any], Any], text: str) -> Any:
        query, told = QueryBundle(text), self._told()
        # The bundle and not the text, so that a vector put into it by the retriever is not computed again.
        with told or nullcontext():
            answer = ask(query if self._takes_bundles else text)
        if inspect.isawaitable(answer):
            return _LazyCoroutine(partial(self._postprocessed, answer, query, told))
        if self._is_all(told):
            return answer
        nodes = _retrieved(answer, told)
        for at, postprocessor in enumerate(self._postprocessors):
            try:
                nodes = postprocessor.postprocess_nodes(nodes, query_bundle=query)
            except NotImplementedError:
                return _LazyCoroutine(partial(self._postprocessed_from, at, nodes, query, told))
            _note(told, postprocessor, nodes)
        return nodes if told is None else told.stages

    async def _asynchronously(self, ask: Callable[[str], Any], text: str) -> Any:
        query = QueryBundle(text)
        return await self._postprocessed(
            self._retrieved(query) if self._takes_bundles else ask(text), query, self._told()
        )

    def _in_a_thread(self, ask: Callable[[Any], Any], text: str) -> Awaitable[Any]:
        query, told = QueryBundle(text), self._told()
        with told or nullcontext():
            answer = ask(query if self._takes_bundles else text)
        return _LazyCoroutine(partial(self._postprocessed, answer, query, told))

    async def _retrieved(self, query: QueryBundle) -> list[NodeWithScore]:
        await embed_query(query, self._retriever, self._postprocessors)
        found: list[NodeWithScore] = await self._retriever.aretrieve(query)
        return found

    async def _postprocessed(self, answer: Any, query: QueryBundle, told: StageRecorder | None) -> Any:
        with told or nullcontext():
            found = await answer if inspect.isawaitable(answer) else answer
        if self._is_all(told):
            return found
        return await self._postprocessed_from(0, _retrieved(found, told), query, told)

    async def _postprocessed_from(
        self, first: int, nodes: list[NodeWithScore], query: QueryBundle, told: StageRecorder | None
    ) -> Any:
        for postprocessor in self._postprocessors[first:]:
            nodes = await postprocessor.apostprocess_nodes(nodes, query_bundle=query)
            _note(told, postprocessor, nodes)
        return nodes if told is None else told.stages


def _retrieved(answer: Any, told: StageRecorder | None) -> list[NodeWithScore]:
    nodes = find_agent_nodes(answer)
    if told is not None:
        told.note(RETRIEVED_STAGE, nodes)
    return nodes


def _note(told: StageRecorder | None, postprocessor: BaseNodePostprocessor, nodes: list[NodeWithScore]) -> None:
    if told is not None:
        told.note(type(postprocessor).__name__, nodes)


class _LazyCoroutine:
    """Creates a coroutine when it is awaited, so that none stays unawaited if another query fails."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self._make = make

    def __await__(self) -> Generator[Any, None, Any]:
        return self._make().__await__()
