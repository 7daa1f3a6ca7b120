"""Every way through Haystack gives the numbers of the core, to the last bit."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from haystack import Document, Pipeline

import retrieval_metrics as rm
from conformance import (
    NO_IDS_IN_LISTS,
    Conformance,
    EvaluationConformance,
    Items,
    MatchConformance,
    Rankings,
    Scores,
    Truth,
)
from haystack_hosts import Prepared, PreparedAsync, make_pipeline
from haystack_integrations.components.evaluators.retrieval_metrics import RetrievalEvaluator


def make_expected(judgments: Any, field: str) -> list[Document]:
    """The judgments of a query as documents: grades are their scores, groups stand in their metadata."""
    if isinstance(judgments, Mapping):
        return [make_document(name, field, score=grade) for name, grade in judgments.items()]
    documents = []
    for index, entry in enumerate(judgments):
        if isinstance(entry, str):
            documents.append(make_document(entry, field))
        else:
            grades = entry if isinstance(entry, Mapping) else dict.fromkeys(entry)
            documents += [make_document(name, field, score=grade, group=f"g{index}") for name, grade in grades.items()]
    return documents


def make_document(name: str, field: str, score: float | None = None, **meta: Any) -> Document:
    if field == "content":
        return Document(content=name, score=score, meta=meta)
    if field == "id":
        return Document(id=name, content="any text", score=score, meta=meta)
    return Document(content="any text", score=score, meta={**meta, "file": {"name": name}})


def make_rows(qrels: Truth, run: Rankings, field: str) -> dict[str, Any]:
    retrieved: list[list[Document] | None] = []
    for query in qrels:
        if query in run:
            retrieved.append([make_document(name, field, score=0.5) for name in run[query]])
        else:
            retrieved.append(None)
    return {
        "ground_truth_documents": [make_expected(judgments, field) for judgments in qrels.values()],
        "retrieved_documents": retrieved,
    }


def name_scores(qrels: Truth, outputs_by_metric: Mapping[str, Mapping[str, Any]]) -> Scores:
    return {
        metric: dict(zip(qrels, outputs["individual_scores"], strict=True))
        for metric, outputs in outputs_by_metric.items()
    }


class TestTheEvaluatorByContent(Conformance):
    cannot_express = NO_IDS_IN_LISTS
    field = "content"

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        return name_scores(
            qrels, {metric: self.evaluator(metric).run(**make_rows(qrels, run, self.field)) for metric in metrics}
        )

    def evaluator(self, metric: str) -> Any:
        return RetrievalEvaluator(metric, document_comparison_field=self.field, group_field="meta.group")


class TestTheEvaluatorById(TestTheEvaluatorByContent):
    field = "id"


class TestTheEvaluatorByMetadataLoadedFromItsDictionary(TestTheEvaluatorByContent):
    field = "meta.file.name"

    def evaluator(self, metric: str) -> Any:
        return RetrievalEvaluator.from_dict(super().evaluator(metric).to_dict())


class TestOneEvaluatorForAllMetrics(Conformance):
    cannot_express = NO_IDS_IN_LISTS

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        evaluator = RetrievalEvaluator(list(metrics), document_comparison_field="id", group_field="meta.group")
        return name_scores(qrels, evaluator.run(**make_rows(qrels, run, "id"))["results"])


class TestEvaluatorsInAPipeline(Conformance):
    cannot_express = NO_IDS_IN_LISTS

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        pipeline = Pipeline()
        for metric in metrics:
            pipeline.add_component(
                metric, RetrievalEvaluator(metric, document_comparison_field="id", group_field="meta.group")
            )
        data = make_rows(qrels, run, "id")
        return name_scores(qrels, pipeline.run(dict.fromkeys(metrics, data)))


def complete_run(qrels: Truth, run: Rankings) -> dict[str, Sequence[str]]:
    """The rankings of all queries, of those that retrieve nothing too."""
    return {query: run.get(query, []) for query in {**qrels, **run}}


def texts(qrels: Truth, run: Rankings) -> dict[str, str]:
    return {query: query for query in complete_run(qrels, run)}


class TestARetriever(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        return rm.evaluate(qrels, rm.retrieve(Prepared(complete_run(qrels, run)), texts(qrels, run)), metrics)


class TestAnAsynchronousRetriever(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        retrieved_run = asyncio.run(rm.aretrieve(PreparedAsync(complete_run(qrels, run)), texts(qrels, run)))
        return rm.evaluate(qrels, retrieved_run, metrics)


class TestAPipeline(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        return rm.evaluate(qrels, rm.retrieve(make_pipeline(complete_run(qrels, run)), texts(qrels, run)), metrics)


class TestARetrieverThatIsMatched(MatchConformance):
    def matched(self, qrels: Truth, items: Items, metrics: Sequence[str], match: Any) -> Scores:
        def make_document(item: rm.Retrieved) -> Document:
            metadata = {name: value for name, value in (item.metadata or {}).items() if name == "page"}
            meta = {"source_id": item.source, "split_idx_start": item.start, **metadata}
            return Document(id=str(item.id), content=item.text, meta=meta)

        answers = {query: [make_document(item) for item in ranking] for query, ranking in items.items()}
        questions = rm.EvaluationSet({query: query for query in qrels}, qrels)
        per_query = rm.evaluate(
            questions, rm.retrieve(Prepared(answers), questions, match=match), metrics, match=match
        ).per_query
        return {metric: dict(per_query[metric]) for metric in metrics}
