"""Every way through ragas gives the numbers of the core, to the last bit."""

import asyncio
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from ragas import Dataset, EvaluationDataset, SingleTurnSample, aevaluate, evaluate, experiment
from ragas._analytics import do_not_track

import retrieval_metrics as rm
from conformance import Conformance, EvaluationConformance, Rankings, Scores, Truth
from ragas_retrieval_metrics import MRR, RetrievalMetric, to_evaluation

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")

NESTED = "valid string|string_type|validation errors? for SingleTurnSample"


def metrics_of(names: Sequence[str], **options: Any) -> list[RetrievalMetric]:
    return [RetrievalMetric(name, **options) for name in names]


def rows_of(qrels: Truth, run: Rankings) -> list[dict[str, Any]]:
    return [
        {"user_input": query, "retrieved_context_ids": run.get(query, []), "reference_context_ids": truth}
        for query, truth in qrels.items()
    ]


def values_by_query(rows: Sequence[dict[str, Any]], results: Sequence[Any]) -> dict[str, float]:
    return {row["user_input"]: result.value for row, result in zip(rows, results, strict=True)}


def dataset_of(run: Rankings, queries: Sequence[str]) -> EvaluationDataset:
    rows = [{"user_input": query, "retrieved_context_ids": run.get(query, [])} for query in queries]
    return EvaluationDataset.from_list(rows)


def test_the_fixture_blocks_the_network(network_attempts: list[Any]) -> None:
    with pytest.raises(AssertionError, match="reached for the network"):
        socket.create_connection(("127.0.0.1", 9))
    assert network_attempts.pop()[:2] == ("127.0.0.1", 9)
    assert do_not_track()


class TestEvaluate(EvaluationConformance):
    only_values = True  # the judgments are those of the metrics

    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        dataset = dataset_of(run, list(qrels))
        return to_evaluation(evaluate(dataset, metrics_of(metrics, qrels=qrels), show_progress=False))


class TestAevaluate(Conformance):
    metrics: ClassVar[tuple[str, ...]] = ("ndcg@3", "map", "mrr", "precision@3")

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        dataset = dataset_of(run, list(qrels))
        result: Any = asyncio.run(aevaluate(dataset, metrics_of(metrics, qrels=qrels), show_progress=False))
        return to_evaluation(result).per_query


class TestEvaluateWithReferenceIds(Conformance):
    """The columns of ragas hold flat lists; whatever else is refused before a number comes out."""

    metrics: ClassVar[tuple[str, ...]] = ("ndcg@3", "map", "mrr", "precision@3", "recall", "f1@3")
    refuses: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (
            "graded",
            "grouped",
            "many",
            "nothing relevant by grade",
            "grades that are no relevance",
            "what must not come back",
        ),
        NESTED,
    )

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        dataset = EvaluationDataset.from_list(rows_of(qrels, run))
        result: Any = evaluate(dataset, metrics_of(metrics), show_progress=False)
        return to_evaluation(result).per_query


class TestSingleTurnScore(Conformance):
    metrics: ClassVar[tuple[str, ...]] = ("ndcg@3", "map", "mrr", "precision@3")

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        def score_query(metric: RetrievalMetric, query: str) -> float:
            return metric.single_turn_score(
                SingleTurnSample(user_input=query, retrieved_context_ids=list(run.get(query, [])))
            )

        scores: dict[str, dict[Any, float]] = {}
        for name, metric in zip(metrics, metrics_of(metrics, qrels=qrels), strict=True):
            scores[name] = {query: score_query(metric, query) for query in qrels}
        return scores


class TestScore(Conformance):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        rows = rows_of(qrels, run)
        scores: dict[str, dict[Any, float]] = {}
        for name, metric in zip(metrics, metrics_of(metrics), strict=True):
            scores[name] = {row["user_input"]: metric.score(**row).value for row in rows}
        return scores


class TestAscore(Conformance):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        async def all_of(metric: RetrievalMetric) -> dict[str, float]:
            return {row["user_input"]: (await metric.ascore(**row)).value for row in rows_of(qrels, run)}

        chosen = zip(metrics, metrics_of(metrics), strict=True)
        return {name: asyncio.run(all_of(metric)) for name, metric in chosen}


class TestBatchScore(Conformance):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        rows = rows_of(qrels, run)
        return {name: values_by_query(rows, RetrievalMetric(name).batch_score(rows)) for name in metrics}


class TestAbatchScore(Conformance):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        rows = rows_of(qrels, run)
        return {name: values_by_query(rows, asyncio.run(RetrievalMetric(name).abatch_score(rows))) for name in metrics}


@experiment()
async def score_row(row: dict[str, Any], metrics: Sequence[RetrievalMetric]) -> dict[str, Any]:
    fields = {key: row[key] for key in ("user_input", "retrieved_context_ids", "reference_context_ids")}
    return {**row, **{metric.name: (await metric.ascore(**fields)).value for metric in metrics}}


class InAnExperiment(EvaluationConformance):
    backend: ClassVar[str]
    folder: Path

    @pytest.fixture(autouse=True)
    def keep_folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        options: dict[str, Any] = {} if self.backend == "inmemory" else {"root_dir": str(self.folder)}
        rows = rows_of(qrels, run)
        if self.backend == "local/jsonl":  # JSON knows no sets, and these cases hold none
            assert not any(isinstance(row["reference_context_ids"], set) for row in rows)
        dataset: Dataset[Any] = Dataset("questions", self.backend, data=rows, **options)
        dataset.save()
        dataset.reload()
        experiment_result = asyncio.run(score_row.arun(dataset, metrics=metrics_of(metrics)))
        experiment_result.reload()
        return to_evaluation(experiment_result, dataset)


class TestExperimentInMemory(InAnExperiment):
    backend = "inmemory"


class TestExperimentInJsonl(InAnExperiment):
    backend = "local/jsonl"


class TestExperimentInCsv(InAnExperiment):
    """A CSV file makes text of every list, grade, group and number; all of it is read back."""

    backend = "local/csv"


def test_the_synchronous_ways_work_in_a_running_loop() -> None:
    async def notebook() -> tuple[float, float, float]:
        row: dict[str, Any] = {"retrieved_context_ids": ["x", "d1"], "reference_context_ids": ["d1"]}
        metric = RetrievalMetric("mrr")
        return (
            metric.score(**row).value,
            metric.batch_score([row])[0].value,
            await metric.single_turn_ascore(SingleTurnSample(**row)),
        )

    assert asyncio.run(notebook()) == (0.5, 0.5, 0.5)


def test_rows_come_back_in_the_order_of_the_dataset() -> None:
    @experiment()
    async def slowest_first(row: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0.02 * row["place"])
        return {**row, "mrr": 1 / row["place"]}

    rows = [{"user_input": f"q{place}", "place": place} for place in (3, 1, 2)]
    dataset: Dataset[Any] = Dataset("questions", "inmemory", data=rows)
    result = asyncio.run(slowest_first.arun(dataset))
    assert [row["user_input"] for row in result] == ["q1", "q2", "q3"]
    evaluation = to_evaluation(result, dataset)
    assert evaluation.queries == ("q3", "q1", "q2")
    assert evaluation.per_query["mrr"] == {"q3": 1 / 3, "q1": 1.0, "q2": 0.5}


def test_every_surface_survives_the_removal_of_nest_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nest_asyncio", None)  # which makes its import fail
    row: dict[str, Any] = {"user_input": "q", "retrieved_context_ids": ["x", "d1"], "reference_context_ids": ["d1"]}
    dataset = EvaluationDataset.from_list([row])

    @experiment()
    async def run(fields: dict[str, Any]) -> dict[str, Any]:
        return {**fields, "mrr": (await MRR().ascore(**fields)).value}

    async def use_in_a_notebook() -> list[float]:
        result: Any = await aevaluate(dataset, [MRR()], show_progress=False)
        scored = await run.arun(Dataset("rows", "inmemory", data=[row]))
        return [*result["mrr"], scored[0]["mrr"], MRR().score(**row).value]

    result: Any = evaluate(dataset, [MRR()], show_progress=False)
    assert result["mrr"] == [0.5]
    assert asyncio.run(use_in_a_notebook()) == [0.5, 0.5, 0.5]
