"""The RetrieverEvaluator of LlamaIndex with grades, groups, whole datasets, and a choice of what identifies a node."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode

from llama_index.evaluation.retrieval_metrics.asking import stage_names
from llama_index.evaluation.retrieval_metrics.asking_evaluator import AskingEvaluator
from llama_index.evaluation.retrieval_metrics.datasets import content_of, mode_of, single_question
from llama_index.evaluation.retrieval_metrics.metrics import (
    RetrievalMetric,
    metrics_of_any_kind,
    refuse_host_options,
    refuse_unknown_scale,
)
from retrieval_metrics import EvaluationSet, aretrieve, retrieve
from retrieval_metrics.adapting.twins import WORKERS, arguments_of, passed_on

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from llama_index.evaluation.retrieval_metrics.results import DatasetResult, RetrieverEvalResult
    from retrieval_metrics import RetrievedRun
    from retrieval_metrics.adapting import Ways
    from retrieval_metrics.types import ClustersBy, Judgments


class Call(NamedTuple):
    """How to ask questions: in which ways, what `retrieve` is told, and what makes a result of the run."""

    ways: Ways
    asking: dict[str, Any]
    result: Callable[[RetrievedRun], Any]


class RetrieverEvaluator(AskingEvaluator):
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
        **kwargs: Any,
    ) -> Call:
        """Take the arguments of `evaluate`."""
        _refuse_unknown(kwargs)
        scorer = self._scorer(single_question(query, expected_ids, expected_texts), mode)
        own = [one.spec for one in self.metrics if isinstance(one, RetrievalMetric)]
        refuse_unknown_scale(own, [] if expected_ids is None else expected_ids)
        asking = scorer.asking | {"workers": 1, "raise_on_error": True}
        return Call(self._ways(mode), asking, partial(scorer.one, expected_texts=expected_texts))

    @arguments_of(_one)
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
            **kwargs: Any other argument is an error.

        Returns:
            A result of LlamaIndex; if a metric is undefined, for example because nothing is relevant, its `metadata`
            says so.

        Raises:
            TypeError: If an argument is unknown, or the judgments are of the wrong type.
            ValueError: If a node has no value for `match`, or a metric needs the largest grade of all judgments.
            Exception: What the retriever raises.
        """
        call = passed_on("evaluate", self._one, args, kwargs)
        result: RetrieverEvalResult = call.result(retrieve(call.ways, **call.asking))
        return result

    @arguments_of(_one)
    async def aevaluate(self, *args: Any, **kwargs: Any) -> RetrieverEvalResult:
        """Retrieve for one query and score the result; the asynchronous twin of `evaluate`."""
        call = passed_on("aevaluate", self._one, args, kwargs)
        result: RetrieverEvalResult = call.result(await aretrieve(call.ways, **call.asking))
        return result

    def _all(
        self,
        dataset: Any,
        workers: int = WORKERS,
        show_progress: bool = False,  # noqa: FBT001, FBT002  (as in LlamaIndex)
        *,
        timeout: float | None = None,
        retries: int = 0,
        raise_on_error: bool = False,
        stages: bool = False,
        clusters: ClustersBy = "source",
        resume: str | PathLike[str] | None = None,
    ) -> Call:
        """Take the arguments of `evaluate_dataset`."""
        if stages and resume is not None:
            raise ValueError("stages=True needs every answer anew, so leave resume= out")
        content = content_of(dataset)
        questions, mode = EvaluationSet.of(content), mode_of(content)
        names = stage_names(self.node_postprocessors or ()) if stages else ()
        scorer = self._scorer(questions, mode, clusters=clusters, stages=names)
        asking = scorer.asking | {
            "workers": workers,
            "timeout": timeout,
            "retries": retries,
            "show_progress": show_progress,
            "raise_on_error": raise_on_error,
            "resume": resume,
        }
        ways = self._ways(mode, scorer.note if stages else None)
        return Call(ways, asking, partial(scorer.dataset, raise_on_error=raise_on_error))

    @arguments_of(_all)
    def evaluate_dataset(self, *args: Any, **options: Any) -> DatasetResult:  # noqa: D417  (they are those of _all)
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
        call = passed_on("evaluate_dataset", self._all, args, options)
        result: DatasetResult = call.result(retrieve(call.ways, **call.asking))
        return result

    @arguments_of(_all)
    async def aevaluate_dataset(self, *args: Any, **options: Any) -> DatasetResult:
        """Evaluate the retriever on all queries of a dataset; the asynchronous twin of `evaluate_dataset`."""
        call = passed_on("aevaluate_dataset", self._all, args, options)
        run = await aretrieve(call.ways, **call.asking)
        # In a thread, because metrics of LlamaIndex may take long or call a service.
        result: DatasetResult = await asyncio.to_thread(call.result, run)
        return result


def _refuse_unknown(arguments: Mapping[str, Any]) -> None:
    refuse_host_options(arguments)
    if arguments:
        raise TypeError(
            f"unknown argument {', '.join(map(repr, arguments))}; pass grades and groups as expected_ids: "
            "{'id': 2} or [['id', 'id'], ['id']]"
        )
