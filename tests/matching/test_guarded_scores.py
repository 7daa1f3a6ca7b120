"""A caller's long mapping of scores is not copied; after a change it cannot be read."""

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.kept_rankings import MAX_COPIED_SCORES

QUERIES = [f"q{number}" for number in range(10)]
QRELS: Any = {query: [f"d{query[1:]}"] for query in QUERIES}


def long_run() -> dict[str, dict[str, float]]:
    run = {}
    for query in QUERIES:
        scores = {f"x{number}": 1000.0 - number for number in range(MAX_COPIED_SCORES)}
        run[query] = {**scores, f"d{query[1:]}": 1.0}
    return run


def reverse_scores(scores: dict[str, float]) -> None:
    for document, score in list(scores.items()):
        scores[document] = -score


def rename_an_unjudged_document(scores: dict[str, float]) -> None:
    scores["renamed"] = scores.pop("x3")


def exchange_two_scores(scores: dict[str, float]) -> None:
    scores["x0"], scores["d0"] = scores["d0"], scores["x0"]


@pytest.mark.parametrize(
    "change",
    [reverse_scores, dict.clear, lambda scores: scores.pop("x5"), rename_an_unjudged_document, exchange_two_scores],
)
def test_a_long_mapping_cannot_be_read_after_a_change(change: Any, tmp_path: Path) -> None:
    run = long_run()
    evaluation = rm.evaluate(QRELS, run, "mrr")
    evaluation.save(tmp_path / "before.json")
    change(run["q0"])
    assert "d1" in str(evaluation.explain("q1"))
    for read in (lambda: evaluation.explain("q0"), lambda: evaluation.save(tmp_path / "after.json")):
        with pytest.raises(ValueError, match=r"'q0' was changed after it was evaluated.*dict\(scores\)"):
            read()
    assert not (tmp_path / "after.json").exists()
    copied = rm.evaluate(QRELS, {query: dict(scores) for query, scores in long_run().items()}, "mrr")
    assert copied.means == evaluation.means == rm.load(tmp_path / "before.json").means


def test_a_guarded_run_is_a_mapping_of_the_same_rankings() -> None:
    run: Any = {**long_run(), "short": {"x1": 1.0}, "list": ["x1", "x2"]}
    guarded: Any = rm.evaluate(QRELS, run, "mrr").scores.require_origin("read").run
    assert (list(guarded), len(guarded), "q3" in guarded, "q99" in guarded) == (list(run), len(run), True, False)
    assert guarded.get("q99") is None
    assert guarded["short"] == run["short"]
    assert tuple(guarded["list"]) == tuple(run["list"])
    for read in (dict(guarded), copy.deepcopy(guarded), pickle.loads(pickle.dumps(guarded))):
        assert read == {**run, "list": ("x1", "x2")}
    again = rm.evaluate(QRELS, guarded, "mrr")
    assert again.means == rm.evaluate(QRELS, run, "mrr").means
    run["q0"].clear()
    assert guarded["q1"] == run["q1"]
    for copied in (copy.deepcopy, pickle.dumps):
        with pytest.raises(ValueError, match="'q0' was changed"):
            copied(guarded)


def test_a_ranking_without_judgments_is_guarded() -> None:
    run = {**long_run(), "unjudged": {f"x{number}": float(number) for number in range(MAX_COPIED_SCORES + 1)}}
    evaluation = rm.evaluate(QRELS, run, "mrr")
    origin = evaluation.scores.require_origin("read")
    assert origin.run["unjudged"]["x1"] == 1.0
    assert pickle.loads(pickle.dumps(origin.run["unjudged"])) == run["unjudged"]
    run["unjudged"]["x1"] = 5.0
    with pytest.raises(ValueError, match="'unjudged' was changed"):
        dict(origin.run["unjudged"])
