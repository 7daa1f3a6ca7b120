"""Score the nodes that were retrieved for questions, by metrics of this package and of LlamaIndex."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.evaluation.retrieval.metrics import CohereRerankRelevancyMetric

from llama_index.evaluation.retrieval_metrics.datasets import list_relevant_ids, refuse_nodes, to_json_judgments
from llama_index.evaluation.retrieval_metrics.metrics import RetrievalMetric, as_result
from llama_index.evaluation.retrieval_metrics.nodes import convert_nodes
from llama_index.evaluation.retrieval_metrics.results import DatasetResult, RetrieverEvalResult
from llama_index.evaluation.retrieval_metrics.source_names import read_source_texts, resolve_judged_source
from retrieval_metrics import DEFAULT_METRICS, Matching, Qrels, Span
from retrieval_metrics.integration_api import EvaluationTask, RetrieveArguments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric

    from llama_index.evaluation.retrieval_metrics.source_names import LoadedDocuments, Source
    from retrieval_metrics import EvaluationSet, Metric, Retrieved, RetrievedRun
    from retrieval_metrics.types import ClustersBy, DocumentId, Exclude, MatchBy, QueryId, QueryScore

# Metrics of LlamaIndex that read only texts and no judgments.
METRICS_OF_TEXTS = (CohereRerankRelevancyMetric,)


class NodeRetrieveArguments(RetrieveArguments):
    """The arguments of `rm.retrieve` with which a scorer of nodes has its questions asked.

    Attributes:
        convert: Reads what a retriever returned.
    """

    convert: Callable[[Any], list[Retrieved]]


class NodeScorer:
    """Scores the nodes retrieved for questions; questions and metrics are checked before anything is retrieved."""

    def __init__(
        self,
        metrics: Sequence[BaseRetrievalMetric],
        questions: EvaluationSet,
        match: MatchBy,
        *,
        mode: RetrievalEvalMode = RetrievalEvalMode.TEXT,
        source: Source = "ref_doc_id",
        documents: LoadedDocuments | None = None,
        clusters: ClustersBy = "source",
        exclude: Exclude | None = None,
    ) -> None:
        self._core_metrics = [metric for metric in metrics if isinstance(metric, RetrievalMetric)]
        self._host_metrics = [metric for metric in metrics if not isinstance(metric, RetrievalMetric)]
        self._metric_names = [metric.metric_name for metric in metrics]
        self._questions = questions
        self._mode = mode
        self._texts: Mapping[Any, str] = questions.queries
        refuse_nodes(questions)
        self._refuse_pieces_for_host_metrics()
        self._task = EvaluationTask(
            questions,
            [metric.spec for metric in self._core_metrics] or DEFAULT_METRICS,
            match,
            clusters=clusters,
            exclude=exclude,
            documents=_resolve_documents(documents, source, questions),
        )
        name_document = resolve_judged_source(self._task, questions, match, source)
        self.convert = partial(convert_nodes, mode=mode, name_document=name_document)
        self.retrieve_arguments: NodeRetrieveArguments = {**self._task.retrieve_arguments, "convert": self.convert}
        if not self._core_metrics:
            self.retrieve_arguments["check"] = None

    def _refuse_pieces_for_host_metrics(self) -> None:
        names = [metric.metric_name for metric in self._host_metrics if not isinstance(metric, METRICS_OF_TEXTS)]
        if names and Qrels(self._questions.qrels).has_pieces:
            raise TypeError(
                f"{names[0]!r} compares IDs, but the judgments hold quotes, texts or places; use "
                "the metrics of this package, RetrieverEvaluator.from_metric_names([...]), or judge by IDs"
            )

    def score_dataset(self, run: RetrievedRun, *, raise_on_error: bool) -> DatasetResult:
        """Return the results of a dataset, with the core's evaluation."""
        errors = dict(run.errors)
        evaluation = None
        scores: Mapping[Metric, Mapping[QueryId, QueryScore]] = {}
        if self._core_metrics:
            evaluation = self._task.evaluation(run)
            scores = self._task.query_scores(evaluation)
        return DatasetResult(
            self._make_results(run, scores, errors=None if raise_on_error else errors),
            evaluation,
            errors,
            seconds=run.seconds,
            names=self._metric_names,
            host_names=[metric.metric_name for metric in self._host_metrics],
        )

    def score_one_query(self, run: RetrievedRun, *, expected_texts: list[str] | None) -> RetrieverEvalResult:
        """Return the result of a single query, without the warnings that concern a whole run."""
        scores = self._task.query_scores(run) if self._core_metrics else {}
        (result,) = self._make_results(run, scores, expected_texts=expected_texts)
        result.query_id = None
        return result

    def _make_results(
        self,
        run: RetrievedRun,
        scores: Mapping[Metric, Mapping[QueryId, QueryScore]],
        *,
        expected_texts: list[str] | None = None,
        errors: dict[QueryId, Exception] | None = None,
    ) -> list[RetrieverEvalResult]:
        """Return a result per query; errors of LlamaIndex's metrics are added to `errors`, or raised if it is None."""
        qrels: Mapping[Any, Any] = self._questions.qrels
        results = []
        for query, text in self._texts.items():
            items = run[query]
            judgments = to_json_judgments(qrels[query])
            metric_results = {}
            for metric in self._core_metrics:
                metric_results[metric.metric_name] = as_result(scores[metric.spec][query], metric.spec)
            result = RetrieverEvalResult(
                query=text,
                query_id=query,
                expected_ids=list_relevant_ids(judgments),
                expected_texts=expected_texts,
                retrieved_ids=list_match_ids(items, self._task.key),
                retrieved_texts=[item.text for item in items],
                mode=self._mode,
                metric_dict=metric_results,
                judgments=judgments,
            )
            if self._host_metrics and query not in run.errors:
                self._add_host_metrics(result, errors)
            if errors and query in errors:
                result.error = f"{type(errors[query]).__name__}: {errors[query]}"
            results.append(result)
        return results

    def _add_host_metrics(self, result: RetrieverEvalResult, errors: dict[QueryId, Exception] | None) -> None:
        metric_results = dict(result.metric_dict)
        for metric in self._host_metrics:
            try:
                metric_results[metric.metric_name] = metric.compute(
                    result.query,
                    result.expected_ids,
                    result.retrieved_ids,
                    result.expected_texts,
                    result.retrieved_texts,
                )
            except Exception as error:
                error.add_note(f"while computing {metric.metric_name} for query {result.query!r}")
                if errors is None or result.query_id is None:
                    raise
                errors[result.query_id] = error
                result.failures[metric.metric_name] = f"{type(error).__name__}: {error}"
        result.metric_dict = {name: metric_results[name] for name in self._metric_names if name in metric_results}


def _resolve_documents(documents: LoadedDocuments | None, source: Source, questions: EvaluationSet) -> Any:
    """Return the documents, as texts by the names that judged spans use; otherwise as they are."""
    judges_spans = any(isinstance(document, Span) for document in Qrels(questions.qrels).documents)
    return read_source_texts(documents, source) if judges_spans else documents


def get_match_key(match: MatchBy) -> Callable[[Retrieved], DocumentId | None]:
    """Return the function that returns the id of an item that is compared with the judgments."""
    matching = match if isinstance(match, Matching) else Matching(by=match)
    return matching.key


def list_match_ids(items: Sequence[Retrieved], match_key: Callable[[Retrieved], DocumentId | None]) -> list[str]:
    """Return the ids by which items are judged, as text; the id of the node if an item has no such id."""
    ids = []
    for item in items:
        match_id = match_key(item)
        if match_id is None:
            match_id = item.id
        ids.append(str(match_id))
    return ids
