"""Every way through LangChain gives the numbers of the core, to the last bit."""

import asyncio
from collections.abc import Sequence
from math import nan
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

import retrieval_metrics as rm
from conformance import Conformance, EvaluationConformance, Items, MatchConformance, Rankings, Scores, Truth
from langchain_hosts import Prepared, PreparedAsync
from langchain_retrieval_metrics import aevaluate_retriever, evaluate_retriever, langsmith_evaluators


class TestARetriever(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        return evaluate_retriever(Prepared(answers=run), dict(qrels), metrics)  # what is missing is a KeyError


class TestARetrieverAsynchronously(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        return asyncio.run(
            aevaluate_retriever(PreparedAsync(answers=run), dict(qrels), metrics, max_concurrency=3, match="id")
        )


def all_of(qrels: Truth, run: Rankings) -> dict[str, Sequence[str]]:
    """The rankings of all queries, of those that retrieve nothing too."""
    return {query: run.get(query, []) for query in {**qrels, **run}}


class TestARetrieverThroughTheCore(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        answers = all_of(qrels, run)
        return rm.evaluate(
            qrels, rm.retrieve(Prepared(answers=answers), dict(zip(answers, answers, strict=True))), metrics
        )


class TestAnAsynchronousRetrieverThroughTheCore(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        answers = all_of(qrels, run)
        texts = dict(zip(answers, answers, strict=True))
        return rm.evaluate(qrels, asyncio.run(rm.aretrieve(PreparedAsync(answers=answers), texts)), metrics)


class TestAnotherRunnableByMetadata(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        def retrieve(query: str) -> list[Document]:
            return [Document("a text", metadata={"parent": name}) for name in run.get(query, [])]

        return evaluate_retriever(RunnableLambda(retrieve), dict(qrels), metrics, match="metadata:parent")


class TestAFunctionByContent(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        return evaluate_retriever(
            lambda query: [Document(name) for name in run.get(query, [])],
            dict(qrels),
            metrics,
            match=lambda item: item.text,
        )


class TestAnAsynchronousFunctionByFunction(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        async def retrieve(query: str) -> list[Document]:
            return [Document(f"<{name}>") for name in run.get(query, [])]

        return evaluate_retriever(retrieve, dict(qrels), metrics, match=lambda item: str(item.text).strip("<>"))


class TestEvaluatorsOfLangSmith(Conformance):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        (evaluator,) = langsmith_evaluators(metrics)
        values: dict[str, dict[Any, float]] = {metric: {} for metric in metrics}
        for query, truth in qrels.items():
            results = evaluator({"documents": list(run.get(query, []))}, {"relevant": truth})["results"]
            add_scores(values, query, results)
        return values


def add_scores(values: dict[str, dict[Any, float]], query: Any, results: Any) -> None:
    """Add what an evaluator of LangSmith returned for a query; None is undefined."""
    for result in results:
        values[result["key"]][query] = nan if result["score"] is None else result["score"]


def as_document(item: rm.Retrieved) -> Document:
    return Document(str(item.text), id=str(item.id), metadata=dict(item.metadata or {}))


def documents(items: Items) -> dict[str, list[Document]]:
    return {query: list(map(as_document, retrieved)) for query, retrieved in items.items()}


def by_metric(evaluation: rm.Evaluation, metrics: Sequence[str]) -> Scores:
    return {metric: dict(evaluation.per_query[metric]) for metric in metrics}


class TestARetrieverThatIsMatched(MatchConformance):
    def matched(self, qrels: Truth, items: Items, metrics: Sequence[str], match: Any) -> Scores:
        documents_by_query = documents(items)
        return by_metric(
            evaluate_retriever(RunnableLambda(documents_by_query.__getitem__), dict(qrels), metrics, match=match),
            metrics,
        )


class TestARetrieverThatIsMatchedAsynchronously(MatchConformance):
    def matched(self, qrels: Truth, items: Items, metrics: Sequence[str], match: Any) -> Scores:
        documents_by_query = documents(items)
        evaluation = aevaluate_retriever(
            RunnableLambda(documents_by_query.__getitem__), dict(qrels), metrics, match=match
        )
        return by_metric(asyncio.run(evaluation), metrics)


class TestARetrieverThatIsMatchedByTheCore(MatchConformance):
    def matched(self, qrels: Truth, items: Items, metrics: Sequence[str], match: Any) -> Scores:
        retriever = RunnableLambda(documents(items).__getitem__)
        questions = rm.EvaluationSet({query: query for query in qrels}, qrels)
        return by_metric(
            rm.evaluate(questions, rm.retrieve(retriever, questions, match=match), metrics, match=match), metrics
        )


class TestEvaluatorsOfLangSmithThatMatch(MatchConformance):
    def matched(self, qrels: Truth, items: Items, metrics: Sequence[str], match: Any) -> Scores:
        (evaluator,) = langsmith_evaluators(metrics, match=match, prefix="")
        documents_by_query = documents(items)
        values: dict[str, dict[Any, float]] = {metric: {} for metric in metrics}
        for query, truth in qrels.items():
            results = evaluator({"documents": documents_by_query[query]}, {"relevant": truth})["results"]
            add_scores(values, query, results)
        return values
