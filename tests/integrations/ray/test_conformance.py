from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from conformance import EvaluationConformance, Rankings, Scores, Truth
from ray_hosts import dataset, run_rows, values
from ray_retrieval_metrics import evaluate_dataset, evaluating, to_evaluation
from ray_retrieval_metrics.judgment_rows import JudgmentRows, read_judgments


class TestRankedRowsAndJudgmentsInMemory(EvaluationConformance):
    keeps_its_run = False
    blocks = partitions = 2  # each partition takes a process
    holds_silence = False  # a query without documents has no row
    alone: ClassVar[tuple[str, ...]] = ("hit_rate@1", "precision@3", "map", "ndcg")

    def results(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> tuple[Scores, rm.Evaluation]:
        rows, kind = run_rows(run)
        run_dataset = dataset(rows, kind, self.blocks)
        scored = evaluate_dataset(qrels, run_dataset, metrics, partitions=self.partitions).materialize()
        return values(scored, metrics), to_evaluation(scored)


@pytest.mark.usefixtures("many_judgments")
class TestJudgmentsThatAreShuffledToo(TestRankedRowsAndJudgmentsInMemory):
    """Here nothing is known beforehand of which queries are judged."""

    blocks = partitions = 1
    alone = ("f1@3",)

    @pytest.fixture
    def many_judgments(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def read_as_many(*arguments: Any) -> JudgmentRows:
            return replace(read_judgments(*arguments), judged_queries=None)

        monkeypatch.setattr(evaluating, "read_judgments", read_as_many)
