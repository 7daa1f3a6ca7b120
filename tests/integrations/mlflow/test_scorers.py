"""What a scorer says of a row: where it looks, and what it does when there is nothing to see."""

import json
from contextlib import suppress
from typing import Any

import mlflow
import numpy as np
import pandas as pd
import pytest
from mlflow.genai.evaluation.entities import EvaluationResult
from mlflow.genai.scorers import Scorer, get_scorer, list_scorers
from mlflow.utils import validation

import retrieval_metrics as rm
from conformance import call_with_warnings
from mlflow_hosts import score
from mlflow_retrieval_metrics import RetrievalScorer, retrieval_scorers
from mlflow_retrieval_metrics.rows import Row


def test_undefined_is_no_value_with_a_reason() -> None:
    feedback = score(outputs=["d1"], retrieved="outputs", expectations={"relevant_ids": []})
    assert feedback.value is None
    assert feedback.rationale == ("undefined, excluded from the mean: no relevant document, 1 retrieved")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"metrics": "ndgc@10"}, "did you mean ndcg"),
        ({"relevant": "expected.ids"}, "relevant must begin with inputs, outputs, expectations"),
        ({"relevant": "trace.ids"}, "relevant must begin with"),
        ({"retrieved": "documents"}, "retrieved must begin with inputs, outputs, expectations, trace"),
        ({"calls": "all"}, "calls must be one of 'interleaved', 'union', 'first', 'last', 'context', 'cited', got 'a"),
        ({"calls": "cited"}, "calls='cited' and citations=, the path of what the answer cites, need each other"),
        ({"citations": "outputs.citations"}, "need each other; got calls='interleaved' and citations='outputs.cit"),
        ({"calls": "cited", "citations": "trace.x"}, "citations must begin with inputs, outputs, expectations"),
        ({"calls": "context", "retrieved": "outputs"}, "calls='context' needs the spans of a model, so retrieved="),
        ({"match": "uri"}, "uri"),
        ({"rules": "ml-flow"}, "unknown rules 'ml-flow'"),
        ({"metrics": "err@10"}, "pass max_grade="),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        retrieval_scorers(**settings)


@pytest.mark.usefixtures("experiment")
def test_ids_that_nearly_match_are_said_once_when_a_run_ends() -> None:
    data: Any = [{"inputs": {"q": "found"}, "outputs": ["e"], "expectations": {"relevant_ids": ["e"]}}]
    for number in range(3):
        expectations = {"relevant_ids": [f"d{number}"]}
        data.append({"inputs": {"q": f"q{number}"}, "outputs": ["x", f"D{number}"], "expectations": expectations})
    scorers = retrieval_scorers(["mrr", "recall@5"], retrieved="outputs")
    for _ in range(2):
        result, warning_text = call_with_warnings(lambda: mlflow.genai.evaluate(data=data, scorers=scorers))
        assert result.metrics["mrr-retrieved-outputs/mean"] == 0.25
        assert warning_text.count("3 of 3 missing relevant documents were retrieved under a slightly different ID") == 1
        assert "for query 'q" in warning_text


@pytest.mark.usefixtures("experiment")
def test_cutoffs_that_no_ranking_reaches_are_said_once_when_a_run_ends() -> None:
    data: Any = []
    for number in range(5):
        expectations = {"relevant_ids": [f"d{number}"]}
        data.append({"inputs": {"q": f"q{number}"}, "outputs": ["x", f"d{number}"], "expectations": expectations})
    scorers = retrieval_scorers(["recall@10", "mrr@20", "precision@2"], retrieved="outputs", prefix="")
    for _ in range(2):
        result, warning_text = call_with_warnings(lambda: mlflow.genai.evaluate(data=data, scorers=scorers))
        assert result.metrics["recall_at_10/mean"] == 1.0
        assert warning_text.count("no ranking has more than 2 results") == 1
        assert "recall@10 and mrr@20 equal their values at cutoff 2; retrieve 20 or more" in warning_text


def test_the_query_of_a_row_is_the_first_text_of_its_inputs() -> None:
    inputs: list[Any] = ["why?", {"k": 3, "question": "why?", "other": "x"}, {"k": 3}, None]
    assert [Row(inputs=value).query for value in inputs] == ["why?", "why?", "", ""]


def test_the_largest_grade_of_all_rows_is_given() -> None:
    value = score("err", outputs=["d7"], retrieved="outputs", max_grade=3, expectations={"relevant_ids": {"d7": 2}})
    assert value.value == (2**2 - 1) / 2**3


def test_every_metric_has_a_name_that_mlflow_allows() -> None:
    names = [scorer.name for scorer in retrieval_scorers(["ndcg(gain=exponential)@10", "recall@2000chars", "map"])]
    assert names == ["ndcg_at_10-gain-exponential", "recall_at_2000chars", "map"]
    check: Any = validation._validate_metric_name
    for name in names:
        check(f"{name}/mean")


def test_a_name_says_everything_that_was_chosen_or_what_the_user_says() -> None:
    def name(**chosen: Any) -> str:
        return retrieval_scorers("mrr", **chosen)[0].name

    assert name() == name(match=rm.Matching()) == "mrr"
    assert name(retrieved="trace.rerank", calls="last") == "mrr-retrieved-trace.rerank-calls-last"
    assert name(match="metadata:doc_uri", rules="mlflow") == "mrr-match-metadata:doc_uri-rules-mlflow"
    assert name(match=rm.Matching(by="source", min_coverage=0.5)) == "mrr-match-source min_coverage 0.5"
    assert name(max_grade=4, prefix="dense/") == "dense/mrr"
    with pytest.raises(TypeError, match="prefix must be a text, got 7"):
        name(prefix=7)


def test_ids_of_numpy_are_ids_and_a_set_is_no_ranking() -> None:
    (scorer,) = retrieval_scorers("mrr", retrieved="outputs")
    run: Any = scorer
    assert run(outputs=[np.int64(3), np.int64(7)], expectations={"relevant_ids": [7]}).value == 0.5
    with pytest.raises(TypeError, match=r"outputs must hold a list of documents or IDs, got .*set"):
        run(outputs={"d7"}, expectations={"relevant_ids": ["d7"]})


ROW: dict[str, Any] = {
    "outputs": {"found": ["d3", "d7"]},
    "expectations": {"relevant_ids": {"d7": 2}},
}


SETTINGS: list[dict[str, Any]] = [
    {},
    {"rules": "mlflow"},
    {"max_grade": 4},
    {"calls": "union"},
    {"prefix": "index "},
]


@pytest.mark.parametrize("options", SETTINGS)
@pytest.mark.parametrize("name", ["ndcg@10", "precision(rel=2)@5", "err@5"])
def test_what_is_written_is_read_with_the_same_value(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], name: str
) -> None:
    monkeypatch.setenv("MLFLOW_SERVER_ENABLE_CUSTOM_SCORERS", "true")
    if name == "err@5":
        options = {"max_grade": 3} | options
    (scorer,) = retrieval_scorers(name, retrieved="outputs.found", **options)
    assert isinstance(scorer, RetrievalScorer)
    written = json.loads(json.dumps(scorer.model_dump()))
    run: Any = Scorer.model_validate(written).run
    expected: Any = scorer.run
    feedback = run(**ROW)
    own = expected(**ROW)
    assert (feedback.name, feedback.value, feedback.rationale) == (own.name, own.value, own.rationale)
    assert feedback.metadata == own.metadata


def test_a_scorer_is_registered_and_found_again(experiment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_SERVER_ENABLE_CUSTOM_SCORERS", "true")
    for scorer in retrieval_scorers(["ndcg@10", "mrr"], retrieved="outputs.found", prefix=""):
        scorer.register()
    again = retrieval_scorers("mrr", retrieved="outputs.found")[0].register(name="another mrr")
    assert again.name == "another mrr"
    assert {scorer.name for scorer in list_scorers(experiment_id=experiment)} == {"ndcg_at_10", "mrr", "another mrr"}
    run: Any = get_scorer(name="another mrr", experiment_id=experiment).run
    feedback = run(**ROW)
    assert (feedback.name, feedback.value) == ("another mrr", 0.5)
    result = mlflow.genai.evaluate([ROW | {"inputs": {"q": 1}}], [get_scorer(name="mrr", experiment_id=experiment)])
    assert result.metrics["mrr/mean"] == 0.5


@pytest.mark.parametrize("options", [{"match": lambda item: item.text}, {"rules": rm.Rules(name="own")}])
def test_what_mlflow_cannot_store_is_refused(options: dict[str, Any]) -> None:
    (scorer,) = retrieval_scorers("mrr", retrieved="outputs", **options)
    with pytest.raises(TypeError, match=rf"a scorer with {next(iter(options))}=.* cannot be registered"):
        scorer.model_dump()


def test_a_loaded_scorer_logs_0_where_the_application_always_failed_and_each_row_says_why(
    experiment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLflow keeps names of aggregations only, and rebuilds no class of another package, so the mean is its own."""
    monkeypatch.setenv("MLFLOW_SERVER_ENABLE_CUSTOM_SCORERS", "true")

    failed: Any = mlflow.trace({}.__getitem__, name="app")
    with suppress(KeyError):
        failed("why?")
    trace = mlflow.get_trace(str(mlflow.get_last_active_trace_id()))
    row = {"trace": trace, "expectations": {"relevant_ids": ["d7"]}}
    (scorer,) = retrieval_scorers("mrr")
    scorer.register()
    loaded = get_scorer(name="mrr", experiment_id=experiment)
    for evaluating_scorer, logged in ((scorer, {}), (loaded, {"mrr/mean": 0.0})):
        result: Any = mlflow.genai.evaluate(pd.DataFrame([row]), scorers=[evaluating_scorer])
        assert result.metrics == logged
        assert "the application failed: KeyError" in result.result_df["mrr/rationale"][0]


def test_a_row_without_a_value_cannot_pass() -> None:
    feedback = score(outputs=["d1"], retrieved="outputs", expectations={"relevant_ids": []}, pass_if=0.5)
    assert feedback.value is None
    assert feedback.error is not None
    assert feedback.error.error_code == "NO_VALUE"


def test_a_row_passes_from_its_limit_on() -> None:
    (floor,) = retrieval_scorers("ndcg@10", pass_if=0.5)
    (ceiling,) = retrieval_scorers("leak@5", pass_if={"leak@5": 0.2})
    for scorer, passing, failing in ((floor, 0.5, 0.49), (ceiling, 0.2, 0.21)):
        passes: Any = scorer.pass_if
        assert passes(passing)
        assert not passes(failing)
    assert retrieval_scorers("mrr")[0].pass_if is None
    assert "limit=0.5" in floor.model_dump()["call_source"]


@pytest.mark.parametrize(
    ("pass_if", "error", "says"),
    [
        ({"mrr": 0.5}, ValueError, "no number for recall@5"),
        ({"mrr": 0.5, "recall@5": 0.5, "map": 0.5}, ValueError, "map, which is not among the metrics, mrr, recall@5"),
        (50, ValueError, "Did you mean 0.5"),
        ("0.5", TypeError, "must be a number, or the number of each metric, got '0.5'"),
    ],
)
def test_limits_that_decide_nothing_are_refused(pass_if: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        retrieval_scorers(["mrr", "recall@5"], pass_if=pass_if)


@pytest.mark.skipif(not hasattr(EvaluationResult, "passed"), reason="this MLflow has no result.passed")
@pytest.mark.parametrize(
    ("ranking", "relevant", "passed"),
    [
        (["x", "d7"], ["d7"], True),
        (["d7", "x"], ["d7"], True),  # improved
        (["x", "y", "d7"], ["d7"], False),  # broken
        (["d7"], [], False),  # nothing is relevant
    ],
)
@pytest.mark.usefixtures("experiment")
def test_a_build_fails_where_retrieval_is_broken(ranking: list[str], relevant: list[str], passed: bool) -> None:
    row = {"inputs": {"question": "q"}, "outputs": ranking, "expectations": {"relevant_ids": relevant}}
    result = mlflow.genai.evaluate([row], retrieval_scorers("mrr", pass_if=0.5))
    assert result.passed is passed
    assert bool(result.reason) is not passed
