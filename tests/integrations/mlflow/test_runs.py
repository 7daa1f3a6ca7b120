"""Evaluations and comparisons as runs of a real store."""

from math import isnan
from pathlib import Path
from typing import Any

import mlflow
import pytest

import retrieval_metrics as rm
from conformance import CASES, bits
from mlflow_retrieval_metrics import log_comparison, log_evaluation

pytestmark = [
    pytest.mark.usefixtures("experiment"),
    pytest.mark.filterwarnings("ignore:.*judged queries:retrieval_metrics.RetrievalWarning"),
]

CASE_BY_NAME = {case.name: case for case in CASES}


def artifacts(run: str, folder: str) -> list[str]:
    return [Path(artifact.path).name for artifact in mlflow.MlflowClient().list_artifacts(run, folder)]


def fetched(run: str, path: str) -> Path:
    return Path(mlflow.artifacts.download_artifacts(run_id=run, artifact_path=path))


@pytest.fixture
def evaluation() -> rm.Evaluation:
    case = CASE_BY_NAME["flat"]
    return rm.evaluate(case.qrels, case.run, ["map", "ndcg@3"])


def test_an_evaluation_becomes_metrics_artifacts_and_a_table(evaluation: rm.Evaluation) -> None:
    run = log_evaluation(evaluation, corpus={"d7": "the text of d7"})
    stored = mlflow.get_run(run)
    low, high = evaluation.intervals()["ndcg@3"]
    assert stored.info.status == "FINISHED"
    assert stored.data.tags["retrieval_metrics._internal.version"] == rm.__version__
    assert {name: value for name, value in stored.data.metrics.items() if name.startswith("ndcg")} == {
        "ndcg_at_3/mean": evaluation.means["ndcg@3"],
        "ndcg_at_3/low_95": low,
        "ndcg_at_3/high_95": high,
        "ndcg_at_3/n": 4.0,
    }
    assert stored.data.metrics["counts/queries"] == 4.0
    assert artifacts(run, "retrieval") == [
        "evaluation.json",
        "overview.png",
        "per_query.json",
        "report.html",
        "summary.txt",
    ]
    assert fetched(run, "retrieval/overview.png").read_bytes().startswith(b"\x89PNG")
    assert "the text of d7" in fetched(run, "retrieval/report.html").read_text(encoding="utf-8")
    assert fetched(run, "retrieval/summary.txt").read_text(encoding="utf-8") == f"{evaluation}\n"
    table = mlflow.load_table("retrieval/per_query.json", run_ids=[run]).set_index("query")
    for metric, values in evaluation.per_query.items():
        assert table[metric].to_dict() == pytest.approx(values, abs=1e-9)  # MLflow writes ten digits


def test_what_is_loaded_again_is_the_same_to_the_last_bit() -> None:
    case = CASE_BY_NAME["many"]
    evaluation = rm.evaluate(case.qrels, case.run)
    loaded = rm.load(fetched(log_evaluation(evaluation), "retrieval/evaluation.json"))
    assert isinstance(loaded, rm.Evaluation)
    assert bits(loaded.per_query) == bits(evaluation.per_query)
    assert loaded.explain("q1").query == "q1"


def test_the_active_run_is_taken_and_stays_active(evaluation: rm.Evaluation) -> None:
    with mlflow.start_run() as active:
        assert log_evaluation(evaluation) == active.info.run_id
        assert log_evaluation(evaluation, name="again") == active.info.run_id
        logged = mlflow.get_run(active.info.run_id).data.metrics
        assert logged["again/map/mean"] == logged["map/mean"]
        still = mlflow.active_run()
        assert still is not None
        assert still.info.run_id == active.info.run_id
    finished = active.info.run_id
    assert log_evaluation(evaluation, run_id=finished, name="later") == finished
    assert mlflow.active_run() is None


def test_nothing_is_written_over(evaluation: rm.Evaluation) -> None:
    run = log_evaluation(evaluation)
    before = mlflow.get_run(run).data.metrics
    other = rm.evaluate({"q": ["d"]}, {"q": ["x", "d"]}, "mrr")
    with pytest.raises(ValueError, match="already has artifacts under 'retrieval'; pass another name="):
        log_evaluation(other, run_id=run)
    assert mlflow.get_run(run).data.metrics == before
    log_evaluation(other, run_id=run, name="other")
    assert mlflow.get_run(run).data.metrics.items() >= before.items()
    assert mlflow.get_run(run).data.metrics["other/mrr/mean"] == 0.5
    with pytest.raises(ValueError, match=r"name may hold letters, .* got 'a@1'"):
        log_evaluation(other, name="a@1")


def test_what_mlflow_evaluated_itself_is_not_written_over(evaluation: rm.Evaluation) -> None:
    with mlflow.start_run() as run:
        mlflow.log_metrics({"map/mean": 0.25, "loss": 1.0})
        with pytest.raises(
            ValueError, match="already has the metric 'map/mean', which would be replaced; pass another"
        ):
            log_evaluation(evaluation)
    assert mlflow.get_run(run.info.run_id).data.metrics == {"map/mean": 0.25, "loss": 1.0}
    assert not artifacts(run.info.run_id, "retrieval")
    log_evaluation(evaluation, run_id=run.info.run_id, name="dense")
    assert mlflow.get_run(run.info.run_id).data.metrics["map/mean"] == 0.25


def test_an_evaluation_of_totals_has_neither_table_nor_report(evaluation: rm.Evaluation) -> None:
    run = log_evaluation(rm.merge([evaluation.totals()]))
    assert artifacts(run, "retrieval") == ["evaluation.json", "overview.png", "summary.txt"]
    assert mlflow.get_run(run).data.metrics["map/mean"] == evaluation.means["map"]


def test_what_json_cannot_hold_is_left_out_with_a_warning() -> None:
    evaluation = rm.evaluate({"q": ["d"]}, {"q": [rm.Retrieved("d")]}, "mrr", match=lambda item: item.id)
    with pytest.warns(rm.RetrievalWarning, match=r"evaluation.json is left out") as caught:
        run = log_evaluation(evaluation)
    assert caught[0].filename == __file__
    assert "evaluation.json" not in artifacts(run, "retrieval")
    assert mlflow.get_run(run).data.metrics["mrr/mean"] == 1.0


def test_a_mean_of_nothing_is_not_a_metric() -> None:
    evaluation = rm.evaluate({"q": {"d": 0}}, {"q": ["d"]}, "mrr")
    metrics = mlflow.get_run(log_evaluation(evaluation)).data.metrics
    assert isnan(evaluation.means["mrr"])
    assert {name for name in metrics if name.startswith("mrr")} == {"mrr/n"}


@pytest.fixture
def comparison() -> rm.Comparison:
    queries = [f"q{number}" for number in range(12)]
    runs = {"dense": {query: ["d"] for query in queries}, "bm25@home": {query: ["x", "d"] for query in queries}}
    return rm.compare({query: ["d"] for query in queries}, runs, ["mrr", "ndcg@10"], baseline="bm25@home")


def test_a_comparison_is_a_run_with_a_nested_run_per_system(comparison: rm.Comparison) -> None:
    run = log_comparison(comparison)
    difference = comparison.difference("ndcg@10", "dense", "bm25@home")
    metrics = mlflow.get_run(run).data.metrics
    key = "ndcg_at_10/dense - bm25_home"
    assert metrics[f"{key}/difference"] == difference.mean
    assert (metrics[f"{key}/low"], metrics[f"{key}/high"]) == tuple(difference.interval)
    assert metrics[f"{key}/p"] == difference.p_corrected
    assert metrics[f"{key}/n"] == 12.0
    assert artifacts(run, "comparison") == [
        "comparison.json",
        "differences.json",
        "overview.png",
        "report.html",
        "summary.txt",
    ]
    nested_runs: Any = mlflow.search_runs(filter_string=f"tags.mlflow.parentRunId = '{run}'", output_format="list")
    assert {nested_run.info.run_name: nested_run.data.metrics["mrr/mean"] for nested_run in nested_runs} == {
        "dense": 1.0,
        "bm25@home": 0.5,
    }
    assert {nested_run.info.status for nested_run in nested_runs} == {"FINISHED"}
    assert isinstance(rm.load(fetched(run, "comparison/comparison.json")), rm.Comparison)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_systems_that_are_not_comparable_have_no_difference_and_no_p_value() -> None:
    qrels = {f"q{number}": [f"d{number}"] for number in range(12)}
    rebuilt = {query: [f"new-{query}"] for query in qrels}
    comparison = rm.compare(qrels, {"dense": qrels, "rebuilt": rebuilt}, "mrr")
    metrics = mlflow.get_run(log_comparison(comparison)).data.metrics
    assert [name for name in metrics if "rebuilt - dense" in name] == ["mrr/rebuilt - dense/n"]


def test_systems_that_mlflow_cannot_tell_apart_are_refused() -> None:
    evaluation = rm.evaluate({"q": ["d"], "p": ["d"]}, {"q": ["d"], "p": ["x"]}, "mrr")
    comparison = rm.compare({"a@1": evaluation, "a#1": evaluation}, metrics="mrr")
    with pytest.raises(ValueError, match="'a@1', 'a#1'; rename one"):
        log_comparison(comparison)
    assert not mlflow.search_runs(output_format="list")


def test_other_things_are_refused(evaluation: rm.Evaluation, comparison: rm.Comparison) -> None:
    with pytest.raises(TypeError, match="log_evaluation needs an Evaluation, got Comparison"):
        log_evaluation(comparison)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="log_comparison needs a Comparison, got Evaluation"):
        log_comparison(evaluation)  # type: ignore[arg-type]
