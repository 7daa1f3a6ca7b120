"""Scorers are registered, listed, loaded, written and read as MLflow does with its own."""

import json
from contextlib import suppress
from typing import Any

import mlflow
import pandas as pd
import pytest
from mlflow.genai.scorers import Scorer, get_scorer, list_scorers

import retrieval_metrics as rm
from mlflow_retrieval_metrics import RetrievalScorer, retrieval_scorers

ROW: dict[str, Any] = {
    "outputs": {"found": ["d3", "d7"]},
    "expectations": {"relevant_ids": {"d7": 2}},
}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"semantics": "mlflow"},
    {"max_grade": 4},
    {"calls": "union"},
    {"prefix": "index "},
]


@pytest.mark.parametrize("given", SETTINGS)
@pytest.mark.parametrize("name", ["ndcg@10", "precision(rel=2)@5", "err@5"])
def test_what_is_written_is_read_with_the_same_value(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], name: str
) -> None:
    monkeypatch.setenv("MLFLOW_SERVER_ENABLE_CUSTOM_SCORERS", "true")
    if name == "err@5":
        given = {"max_grade": 3} | given
    (scorer,) = retrieval_scorers(name, retrieved="outputs.found", **given)
    assert isinstance(scorer, RetrievalScorer)
    written = json.loads(json.dumps(scorer.model_dump()))
    run: Any = Scorer.model_validate(written).run
    expected: Any = scorer.run
    feedback, own = run(**ROW), expected(**ROW)
    assert (feedback.name, feedback.value, feedback.rationale) == (own.name, own.value, own.rationale)
    assert feedback.metadata == own.metadata


def test_a_scorer_is_registered_and_found_again(experiment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_SERVER_ENABLE_CUSTOM_SCORERS", "true")
    for one in retrieval_scorers(["ndcg@10", "mrr"], retrieved="outputs.found", prefix=""):
        one.register()
    again = retrieval_scorers("mrr", retrieved="outputs.found")[0].register(name="another mrr")
    assert again.name == "another mrr"
    assert {one.name for one in list_scorers(experiment_id=experiment)} == {"ndcg_at_10", "mrr", "another mrr"}
    run: Any = get_scorer(name="another mrr", experiment_id=experiment).run
    feedback = run(**ROW)
    assert (feedback.name, feedback.value) == ("another mrr", 0.5)
    result = mlflow.genai.evaluate([ROW | {"inputs": {"q": 1}}], [get_scorer(name="mrr", experiment_id=experiment)])
    assert result.metrics["mrr/mean"] == 0.5


@pytest.mark.parametrize("given", [{"match": lambda item: item.text}, {"semantics": rm.Rules(name="own")}])
def test_what_mlflow_cannot_store_is_refused(given: dict[str, Any]) -> None:
    (scorer,) = retrieval_scorers("mrr", retrieved="outputs", **given)
    with pytest.raises(TypeError, match=rf"a scorer with {next(iter(given))}=.* cannot be registered"):
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
    for each, logged in ((scorer, {}), (loaded, {"mrr/mean": 0.0})):
        result: Any = mlflow.genai.evaluate(pd.DataFrame([row]), scorers=[each])
        assert result.metrics == logged
        assert "the application failed: KeyError" in result.result_df["mrr/rationale"][0]
