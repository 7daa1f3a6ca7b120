from collections.abc import Sequence
from typing import Any

import pytest
from ray.data import Dataset

import retrieval_metrics as rm
from conformance import EvaluationConformance, Rankings, Scores, Truth
from ray_hosts import dataset, run_rows, values
from ray_retrieval_metrics import evaluate_dataset, evaluating, to_evaluation
from ray_retrieval_metrics.judgments import JudgmentRows, read_judgments


class TestRankedRowsAndJudgmentsInMemory(EvaluationConformance):
    blocks = partitions = 2  # each partition takes a process

    def results(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Dataset:
        rows, kind = run_rows(run)
        return evaluate_dataset(qrels, dataset(rows, kind, self.blocks), metrics, partitions=self.partitions)

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        return values(self.results(qrels, run, metrics), metrics)

    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        return to_evaluation(self.results(qrels, run, metrics))


@pytest.mark.usefixtures("many_judgments")
class TestJudgmentsThatAreShuffledToo(TestRankedRowsAndJudgmentsInMemory):
    """Here nothing is known beforehand of which queries are judged."""

    blocks = partitions = 1

    @pytest.fixture
    def many_judgments(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def many(*given: Any) -> JudgmentRows:
            return read_judgments(*given)._replace(judged=None)

        monkeypatch.setattr(evaluating, "read_judgments", many)
