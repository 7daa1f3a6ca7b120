"""Every way through LlamaIndex gives the numbers of the core, to the last bit."""

import asyncio
from collections.abc import Mapping, Sequence
from math import nan
from typing import Any, ClassVar

from llama_index.core.evaluation import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.evaluation.retrieval.base import RetrievalEvalResult
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

import retrieval_metrics as rm
from conformance import Conformance, EvaluationConformance, Items, MatchConformance, Rankings, Scores, Truth
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator, ranking_metrics, register
from llama_index_hosts import Deliver, DeliverAsync, Prepared, PreparedAsync, with_sources


def by_metric(results: Mapping[str, RetrievalEvalResult], metrics: Sequence[str]) -> Scores:
    values: dict[str, dict[str, float]] = {metric: {} for metric in metrics}
    for query, result in results.items():
        for metric in metrics:
            metric_result = result.metric_dict[metric]
            values[metric][query] = nan if metric_result.metadata.get("undefined") else metric_result.score
    return values


def delivered(run: Rankings) -> Any:
    """Node ids that may repeat can only come out of a postprocessor: retrievers of LlamaIndex drop repeated ids."""
    return {
        "retriever": Prepared({}),
        "node_postprocessors": [Deliver(answers={query: list(ranking) for query, ranking in run.items()})],
    }


class TestMetricsInTheStockEvaluator(Conformance):
    refuses: ClassVar[Mapping[str, str]] = dict.fromkeys(
        [  # the results of LlamaIndex hold lists of ids only
            "graded",
            "grouped",
            "nothing relevant by grade",
            "many",
            "grades that are no relevance",
            "what must not come back",
        ],
        "validation error",
    )

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        evaluator = StockRetrieverEvaluator(metrics=ranking_metrics(metrics), **delivered(run))
        return by_metric({query: evaluator.evaluate(query, truth) for query, truth in qrels.items()}, metrics)


class TestMetricsInTheStockEvaluatorAsynchronously(TestMetricsInTheStockEvaluator):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        evaluator = StockRetrieverEvaluator(metrics=ranking_metrics(metrics), **delivered(run))

        async def gathered() -> list[RetrievalEvalResult]:
            return await asyncio.gather(*(evaluator.aevaluate(query, truth) for query, truth in qrels.items()))

        return by_metric(dict(zip(qrels, asyncio.run(gathered()), strict=True)), metrics)


class TestMetricsByNameInTheStockEvaluator(TestMetricsInTheStockEvaluator):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        with register(metrics, override=True):
            evaluator = StockRetrieverEvaluator.from_metric_names(list(metrics), **delivered(run))
        return by_metric({query: evaluator.evaluate(query, truth) for query, truth in qrels.items()}, metrics)


class TestOurEvaluatorQueryByQuery(Conformance):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        evaluator = RetrieverEvaluator.from_metric_names(list(metrics), **delivered(run))
        return by_metric({query: evaluator.evaluate(query, truth) for query, truth in qrels.items()}, metrics)


class TestOurEvaluatorQueryByQueryAsynchronously(Conformance):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        answers = {query: list(ranking) for query, ranking in run.items()}
        evaluator = RetrieverEvaluator.from_metric_names(
            list(metrics), retriever=PreparedAsync({}), node_postprocessors=[DeliverAsync(answers=answers)]
        )

        async def gathered() -> Any:
            return await asyncio.gather(*(evaluator.aevaluate(query, truth) for query, truth in qrels.items()))

        return by_metric(dict(zip(qrels, asyncio.run(gathered()), strict=True)), metrics)


class TestOurEvaluatorOnADataset(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        evaluator = RetrieverEvaluator.from_metric_names(list(metrics), **delivered(run))
        return evaluator.evaluate_dataset(dict(qrels)).evaluation


class TestOurEvaluatorOnADatasetBySourceAsynchronously(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        retriever = PreparedAsync(with_sources(run))
        evaluator = RetrieverEvaluator.from_metric_names(list(metrics), retriever=retriever, match="source")
        return asyncio.run(evaluator.aevaluate_dataset(dict(qrels), workers=3)).evaluation


class TestOurResultsOnADataset(Conformance):
    """The results beside the evaluation say the same; queries that are missing fail."""

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        answers: dict[str, Any] = {query: KeyError(query) for query in qrels} | with_sources(run)
        evaluator = RetrieverEvaluator.from_metric_names(
            list(metrics), retriever=Prepared(answers), match=lambda item: item.source
        )
        results = evaluator.evaluate_dataset(dict(qrels))
        assert set(results.errors) == set(qrels) - set(run)
        values: dict[str, dict[str, float]] = {metric: {} for metric in metrics}
        for result in results:
            for metric in metrics:
                values[metric][str(result.query_id)] = result.metric_vals_dict[metric]
        return values


class TestARetrieverThroughTheCore(EvaluationConformance):
    """Chunks judged by their source, so that a document can come back twice, which ids of nodes cannot."""

    def retriever(self, run: Rankings) -> Prepared:
        return Prepared(with_sources(run))

    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        retrieved_run = rm.retrieve(self.retriever(run), {query: query for query in {**qrels, **run}})
        return rm.evaluate(qrels, retrieved_run, metrics, match="source")


class TestAnAsynchronousRetrieverThroughTheCore(TestARetrieverThroughTheCore):
    def retriever(self, run: Rankings) -> Prepared:
        return PreparedAsync(with_sources(run))


def nodes(items: Items) -> dict[str, list[NodeWithScore]]:
    return {query: list(map(as_node, retrieved)) for query, retrieved in items.items()}


def as_node(item: rm.Retrieved) -> NodeWithScore:
    relationships: dict[Any, Any] = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=str(item.source))}
    metadata = {name: value for name, value in (item.metadata or {}).items() if name == "page"}
    text_node = TextNode(id_=str(item.id), text=str(item.text), metadata=metadata, relationships=relationships)
    text_node.start_char_idx = item.start
    text_node.end_char_idx = item.end
    return NodeWithScore(node=text_node)


class TestOurEvaluatorOnADatasetThatIsMatched(MatchConformance):
    def matched(self, qrels: Truth, items: Items, metrics: Sequence[str], match: Any) -> Scores:
        evaluator = RetrieverEvaluator.from_metric_names(list(metrics), retriever=Prepared(nodes(items)), match=match)
        per_query = evaluator.evaluate_dataset(dict(qrels)).evaluation.per_query
        return {metric: dict(per_query[metric]) for metric in metrics}


class TestOurEvaluatorQueryByQueryThatMatches(MatchConformance):
    sees_whole_runs = False

    def matched(self, qrels: Truth, items: Items, metrics: Sequence[str], match: Any) -> Scores:
        evaluator = RetrieverEvaluator.from_metric_names(list(metrics), retriever=Prepared(nodes(items)), match=match)
        return by_metric({query: evaluator.evaluate(query, truth) for query, truth in qrels.items()}, metrics)
