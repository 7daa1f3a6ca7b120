"""Every way through MLflow gives the numbers of the core, to the last bit."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

import mlflow
import pytest
from mlflow.entities import Document, Feedback
from mlflow.genai.scorers import Scorer

import retrieval_metrics as rm
from conformance import CASES, Conformance, Items, MatchConformance, Rankings, Scores, Truth, bits
from mlflow_retrieval_metrics import retrieval_scorers


def scored(scorers: Sequence[Scorer], metrics: Sequence[str], rows: Mapping[str, Mapping[str, Any]]) -> Scores:
    """Call each scorer with each row, as MLflow does."""
    runs: list[Any] = [scorer.run for scorer in scorers]  # of MLflow, and without types
    scores = {}
    for metric, run in zip(metrics, runs, strict=True):
        scores[metric] = {query: value_of(run(**row)) for query, row in rows.items()}
    return scores


def value_of(feedback: Any) -> float:
    assert isinstance(feedback, Feedback)
    return nan if feedback.value is None else float(feedback.value)  # type: ignore[arg-type]


class TestScorersOfOutputs(Conformance):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        rows = {
            query: {"outputs": list(run.get(query, [])), "expectations": {"relevant_ids": truth}}
            for query, truth in qrels.items()
        }
        return scored(retrieval_scorers(metrics, retrieved="outputs"), metrics, rows)


class TestScorersOfDocumentsByMetadata(Conformance):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        rows = {}
        for query, judgments in qrels.items():
            documents = [Document("a text", {"doc_uri": name}) for name in run.get(query, [])]
            rows[query] = {"outputs": {"found": documents}, "inputs": {"truth": {"needed": judgments}}}
        scorers = retrieval_scorers(
            metrics, relevant="inputs.truth.needed", retrieved="outputs.found", match="metadata:doc_uri"
        )
        return scored(scorers, metrics, rows)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")  # the cases are full of what it warns of
@pytest.mark.usefixtures("experiment")
@pytest.mark.parametrize("most_queries", [1, pytest.param(8, marks=pytest.mark.thorough)])
def test_genai_evaluate_gives_the_scores_of_the_core_in_every_case(most_queries: int) -> None:
    """All cases are one data set, and of many queries the first, as every row takes MLflow a tenth of a second."""
    qrels = {}
    run = {}
    for case in CASES:
        for query, judgments in list(case.qrels.items())[:most_queries]:
            qrels[f"{case.name}/{query}"] = judgments
            if query in case.run:
                run[f"{case.name}/{query}"] = case.run[query]
    metrics = ["precision@3", "map", "ndcg@3"]

    @mlflow.trace(span_type="RETRIEVER")
    def retrieve(query: str) -> list[Document]:
        return [Document("a text", id=name) for name in run[query]]  # what is missing is a KeyError

    @mlflow.trace
    def answer(query: str) -> str:
        return f"an answer from {len(retrieve(query))} documents"

    rows = [{"inputs": {"query": query}, "expectations": {"relevant_ids": truth}} for query, truth in qrels.items()]
    scorers = retrieval_scorers(metrics)
    result = mlflow.genai.evaluate(data=rows, predict_fn=answer, scorers=scorers)
    assert result.result_df is not None
    row_by_query = {row["request"]["query"]: row for row in result.result_df.to_dict(orient="records")}
    expected = rm.evaluate(qrels, run, metrics)
    values = {}
    for metric, scorer in zip(metrics, scorers, strict=True):
        values[metric] = {query: float(row_by_query[query][f"{scorer.name}/value"]) for query in qrels}
    assert bits(values) == bits(expected.per_query)
    for metric, scorer in zip(metrics, scorers, strict=True):
        assert result.metrics[f"{scorer.name}/mean"] == pytest.approx(expected.means[metric], rel=1e-12)
        assert result.metrics[f"{scorer.name}/n"] == expected.n[metric]


class TestScorersThatMatch(MatchConformance):
    sees_whole_runs = False

    def matched(self, qrels: Truth, items: Items, metrics: Sequence[str], match: Any) -> Scores:
        rows = {
            query: {"outputs": list(items[query]), "expectations": {"relevant_ids": truth}}
            for query, truth in qrels.items()
        }
        return scored(retrieval_scorers(metrics, retrieved="outputs", match=match), metrics, rows)
