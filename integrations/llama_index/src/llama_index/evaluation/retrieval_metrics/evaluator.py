"""The RetrieverEvaluator of LlamaIndex with grades, groups, whole datasets, and a choice of what identifies a node."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from llama_index.core.bridge.pydantic import ConfigDict, Field, field_validator
from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.evaluation.retrieval.evaluator import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric
from llama_index.core.schema import NodeWithScore
from pydantic import InstanceOf

from llama_index.evaluation.retrieval_metrics.datasets import as_evaluation_set, mode_of
from llama_index.evaluation.retrieval_metrics.host import how_to_ask
from llama_index.evaluation.retrieval_metrics.metrics import (
    metrics_of_any_kind,
    ranking_metrics,
    refuse_host_options,
    refuse_names,
)
from llama_index.evaluation.retrieval_metrics.nodes import (
    IdsAndTexts,
    Source,
    as_items,
    ids_of,
    one_document_each,
    source_of,
    texts_by_name,
)
from llama_index.evaluation.retrieval_metrics.questions import CheckedQuestions, single_question
from llama_index.evaluation.retrieval_metrics.retrieving import Retrieving
from llama_index.evaluation.retrieval_metrics.scoring import NodeScorer
from llama_index.evaluation.retrieval_metrics.stages import Stages
from retrieval_metrics import DEFAULT_METRICS, Matching, Retrieved, aretrieve, retrieve
from retrieval_metrics.adapting import WORKERS, as_matching

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from os import PathLike

    from llama_index.evaluation.retrieval_metrics.results import DatasetResult, RetrieverEvalResult
    from retrieval_metrics.types import ClustersBy, Judgments, MatchBy


class RetrieverEvaluator(StockRetrieverEvaluator):
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
        match: What identifies a node in the judgments, as in the core's `evaluate`: `"id"`, `"source"` (the document it
            was cut from), `"metadata:<key>"`, a function of the core's `Retrieved`, or its `Matching`. A `Quote`,
            `Text` or `Span` in the judgments does not need it: it is searched for in the text of the nodes, or compared
            with their place in their document.
        source: The name of a node's document, as used in a `Span`: `"ref_doc_id"`, which many readers change at every
            load, a key of the metadata such as `"file_name"` or `"file_path"`, or a function of a `NodeWithScore`.
        documents: The documents that the nodes were cut from, as a reader returns them, or their texts by name, if a
            `Span` is judged. Each node is then found in its document by its text, whatever the parsers recorded.

    Raises:
        ValueError: (as pydantic's ValidationError) If an argument or `match` is unknown, or two metrics have the same
            name.
    """

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
        source_of(source)
        return source

    @field_validator("match")
    @classmethod
    def _is_known(cls, match: MatchBy) -> MatchBy:
        as_matching(match)
        return match

    @field_validator("retriever")
    @classmethod
    def _can_be_asked(cls, retriever: Any) -> Any:
        if how_to_ask(retriever) is None and not callable(retriever):
            raise ValueError(
                "retriever must be a retriever, a query engine, a chat engine, a workflow, or a function of the query "
                f"text; got {retriever!r}"
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

    def evaluate(
        self,
        query: str,
        expected_ids: Judgments | None = None,
        expected_texts: list[str] | None = None,
        mode: RetrievalEvalMode = RetrievalEvalMode.TEXT,
        **kwargs: Any,
    ) -> RetrieverEvalResult:
        """Retrieve for one query and score the result; works inside a running event loop too.

        Args:
            query: The text of the query.
            expected_ids: The judgments: ids, `{id: grade}`, groups `[[id, id], [id]]` that are all needed, each by any
                of its members, or graded groups. A `Quote`, `Text` or `Span` can replace an id.
            expected_texts: The texts of relevant nodes. Without ids, they are the judgments, each as a `Text` of the
                core, which any chunks can satisfy; otherwise they are only kept in the result and passed to metrics of
                LlamaIndex.
            mode: Kept in the result.
            **kwargs: Any other argument is an error.

        Returns:
            A result of LlamaIndex; if a metric is undefined, for example because nothing is relevant, its `metadata`
            says so.

        Raises:
            TypeError: If an argument is unknown, or the judgments are of the wrong type.
            ValueError: If a node has no value for `match`.
            Exception: What the retriever raises.
        """
        _refuse_unknown(kwargs)
        question = single_question(query, expected_ids, expected_texts)
        run = retrieve(**self._asking(question, mode, synchronously=True), workers=1, raise_on_error=True)
        return self._scorer.one(question, run, expected_texts, mode)

    async def aevaluate(
        self,
        query: str,
        expected_ids: Judgments | None = None,
        expected_texts: list[str] | None = None,
        mode: RetrievalEvalMode = RetrievalEvalMode.TEXT,
        **kwargs: Any,
    ) -> RetrieverEvalResult:
        """Retrieve for one query and score the result; the asynchronous twin of `evaluate`."""
        _refuse_unknown(kwargs)
        question = single_question(query, expected_ids, expected_texts)
        run = await aretrieve(**self._asking(question, mode), workers=1, raise_on_error=True)
        return self._scorer.one(question, run, expected_texts, mode)

    def evaluate_dataset(
        self,
        dataset: Any,
        workers: int = WORKERS,
        show_progress: bool = False,  # noqa: FBT001, FBT002  (likewise)
        *,
        timeout: float | None = None,
        retries: int = 0,
        raise_on_error: bool = False,
        stages: bool = False,
        clusters: ClustersBy = "source",
        resume: str | PathLike[str] | None = None,
    ) -> DatasetResult:
        """Evaluate the retriever on all queries of a dataset, several at a time; works in a running event loop too.

        Args:
            dataset: Pairs `(query, relevant)`, rows `{"query": ..., "relevant": ...}`, any object with `queries` and
                `relevant_docs`, or the path of the JSON file of an EmbeddingQAFinetuneDataset. The judgments are those
                of `evaluate`.
            workers: How many queries may be under way at once. A synchronous retriever runs in as many threads.
            show_progress: Show a progress bar.
            timeout: Seconds that one attempt may take; None sets no limit.
            retries: How often a failed query is repeated.
            raise_on_error: Raise the first failure. Otherwise a failed query has its `error` in its result, scores 0
                because nothing was retrieved, and is counted.
            stages: Also score the nodes before any postprocessor and after each; see `DatasetResult.stages`.
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
                for `match`, or `resume` is given with `stages=True`, which needs every answer anew.
            Exception: The first failure, if every query failed.

        Warns:
            RetrievalWarning: If nothing was retrieved for a query, or nothing that was retrieved is judged anywhere.
        """
        questions, mode = CheckedQuestions(as_evaluation_set(dataset), clusters), mode_of(dataset)
        noted = self._stages(mode, resume) if stages else None
        run = retrieve(
            **self._asking(questions, mode, noted, synchronously=True),
            workers=workers,
            timeout=timeout,
            retries=retries,
            show_progress=show_progress,
            raise_on_error=raise_on_error,
            resume=resume,
        )
        by_stage = None if noted is None else noted.runs(questions.texts, run.errors)
        return self._scorer.dataset(questions, run, mode, stages=by_stage, raise_on_error=raise_on_error)

    async def aevaluate_dataset(
        self,
        dataset: Any,
        workers: int = WORKERS,
        show_progress: bool = False,  # noqa: FBT001, FBT002  (likewise)
        *,
        timeout: float | None = None,  # noqa: ASYNC109  (of each query, not of the whole)
        retries: int = 0,
        raise_on_error: bool = False,
        stages: bool = False,
        clusters: ClustersBy = "source",
        resume: str | PathLike[str] | None = None,
    ) -> DatasetResult:
        """Evaluate the retriever on all queries of a dataset; the asynchronous twin of `evaluate_dataset`."""
        questions, mode = CheckedQuestions(as_evaluation_set(dataset), clusters), mode_of(dataset)
        noted = self._stages(mode, resume) if stages else None
        run = await aretrieve(
            **self._asking(questions, mode, noted),
            workers=workers,
            timeout=timeout,
            retries=retries,
            show_progress=show_progress,
            raise_on_error=raise_on_error,
            resume=resume,
        )
        # In a thread, because metrics of LlamaIndex may take long or call a service.
        by_stage = None if noted is None else noted.runs(questions.texts, run.errors)
        return await asyncio.to_thread(
            self._scorer.dataset, questions, run, mode, stages=by_stage, raise_on_error=raise_on_error
        )

    async def aget_retrieved_nodes(self, query: str) -> list[NodeWithScore]:
        """Retrieve and postprocess for one query; a subclass can override it to choose what is judged.

        Args:
            query: The text of the query.
        """
        return await self._retrieving().nodes(query)

    async def _aget_retrieved_ids_and_texts(
        self, query: str, mode: RetrievalEvalMode = RetrievalEvalMode.TEXT
    ) -> tuple[list[str], list[str]]:
        items = as_items(await self.aget_retrieved_nodes(query), mode, self.source)
        return [str(found) for found in ids_of(items, self.match)], [str(item.text) for item in items]

    def _asking(
        self,
        questions: CheckedQuestions,
        mode: RetrievalEvalMode,
        stages: Stages | None = None,
        *,
        synchronously: bool = False,
    ) -> dict[str, Any]:
        """Return the function for `retrieve`, the reader of its answers, and the check of the first."""
        self._scorer.refuse_pieces(questions)
        hook = self._hook(mode)
        if hook is not None and stages is not None:
            raise ValueError(
                f"stages=True needs the retriever and its postprocessors, and {type(self).__name__} overrides them; "
                "evaluate each stage by itself"
            )
        return {
            "retriever": hook or self._retrieving(stages).asker(synchronously=synchronously),
            "questions": questions.dataset,
            "match": self._compared,
            "items": self._reading(mode, one_document_each(self.source, questions.sources)),
            "check": self._scorer.check(questions),
        }

    def _reading(self, mode: RetrievalEvalMode, source: Source) -> Callable[[Any], list[Retrieved]]:
        return partial(as_items, mode=mode, source=source)

    def _stages(self, mode: RetrievalEvalMode, resume: object) -> Stages:
        if resume is not None:
            raise ValueError("stages=True needs every answer anew, so leave resume= out")
        return Stages(self.node_postprocessors or (), self._reading(mode, self.source))

    def _hook(self, mode: RetrievalEvalMode) -> Callable[[str], Awaitable[Any]] | None:
        """Return the extension point of the host that a subclass overrides, if it does."""

        async def ids_and_texts(text: str) -> IdsAndTexts:
            return IdsAndTexts(*await self._aget_retrieved_ids_and_texts(text, mode))

        if self._chooses_ids:
            return ids_and_texts
        if type(self).aget_retrieved_nodes is not RetrieverEvaluator.aget_retrieved_nodes:
            return self.aget_retrieved_nodes
        return None

    def _retrieving(self, stages: Stages | None = None) -> Retrieving:
        return Retrieving(self.retriever, self.node_postprocessors or (), stages)

    @property
    def _chooses_ids(self) -> bool:
        """Whether a subclass says itself by which ids nodes are judged."""
        return type(self)._aget_retrieved_ids_and_texts is not RetrieverEvaluator._aget_retrieved_ids_and_texts  # noqa: SLF001  (what subclasses override)

    @property
    def _compared(self) -> MatchBy:
        """What is compared with the ids of the judgments."""
        return "id" if self._chooses_ids else self.match

    @property
    def _scorer(self) -> NodeScorer:
        return NodeScorer(self.metrics, self._compared, partial(texts_by_name, self.documents, self.source))


def _refuse_unknown(arguments: Mapping[str, Any]) -> None:
    refuse_host_options(arguments)
    if arguments:
        raise TypeError(
            f"unknown argument {', '.join(map(repr, arguments))}; pass grades and groups as expected_ids: "
            "{'id': 2} or [['id', 'id'], ['id']]"
        )
