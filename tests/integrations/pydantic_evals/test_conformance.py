"""Every way through Pydantic Evals gives the numbers of the core, to the last bit."""

from collections.abc import Sequence
from math import nan
from typing import Any

from pydantic_evals import Case, Dataset

import retrieval_metrics as rm
from conformance import Conformance, EvaluationConformance, Items, MatchConformance, Rankings, Scores, Truth
from pydantic_evals_retrieval_metrics import RetrievalMetrics, to_evaluation


def dataset(qrels: Truth, **settings: Any) -> Dataset[Any, Any, Any]:
    cases = [Case(name=query, inputs=query, expected_output=truth) for query, truth in qrels.items()]
    return Dataset(name="conformance", cases=cases, **settings)


class TestScoresOfCases(Conformance):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        def find(query: str) -> list[str]:
            return list(run.get(query, []))  # a task that fails is no case of the report

        report = dataset(qrels, evaluators=[RetrievalMetrics(list(metrics))]).evaluate_sync(find, progress=False)
        assert not any(case.evaluator_failures for case in report.cases)
        scores = {case.name: case.scores for case in report.cases}
        labels = {case.name: case.labels for case in report.cases}
        for query, found in scores.items():
            assert found.keys() | labels[query].keys() == set(metrics)
        return {
            metric: {query: float(scores[query][metric].value) if metric in scores[query] else nan for query in qrels}
            for metric in metrics
        }


class TestTheEvaluationOfAReport(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        def find(query: str) -> list[str]:
            return list(run[query])  # what is missing is a KeyError

        report = dataset(qrels).evaluate_sync(find, progress=False)
        return to_evaluation(report, metrics)


class TestTheEvaluationOfAReportThatIsMatched(MatchConformance):
    def matched(self, qrels: Truth, items: Items, metrics: Sequence[str], match: Any) -> Scores:
        report = dataset(qrels).evaluate_sync(lambda query: list(items[query]), progress=False)
        per_query = to_evaluation(report, metrics, match=match).per_query
        return {metric: {query: per_query[metric][query] for query in qrels} for metric in metrics}
