"""A saved run is loaded as it was, with its errors and times."""

import json
import pickle
from typing import Any

import pytest
from hypothesis import given

import retrieval_metrics as rm
from retrieval_metrics._internal.append_log import AppendLog
from retrieval_metrics.integration_api import StageRankings
from saved_inputs import inputs, quick

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


@quick
@given(inputs())
def test_a_run(tmp_path: Any, judged_run: Any) -> None:
    _, run = judged_run
    rm.save_run(run, tmp_path / "run.json.gz")
    loaded = rm.load(tmp_path / "run.json.gz")
    assert loaded == run
    assert list(loaded) == list(run)
    assert [list(ranking) for ranking in loaded.values()] == [list(ranking) for ranking in run.values()]


def test_what_failed_and_how_long_it_took(tmp_path: Any) -> None:
    class ClientError(Exception):
        pass

    errors: dict[str | int, Exception] = {
        "q2": TimeoutError("too slow"),
        "q3": ClientError("no key"),
        "q4": KeyError("x"),
        "q5": OSError(5, "broken"),
    }
    run = rm.RetrievedRun({"q1": ["a"], **{query: [] for query in errors}}, errors, {"q1": 0.1})
    rm.save_run(run, tmp_path / "run.json")
    loaded = rm.load(tmp_path / "run.json")
    assert isinstance(loaded, rm.RetrievedRun)
    assert (loaded, loaded.seconds) == (run, run.seconds)
    assert [repr(error) for error in loaded.errors.values()] == [
        "TimeoutError('too slow')",
        "RuntimeError('ClientError: no key')",
        "KeyError('x')",
        "OSError('[Errno 5] broken')",
    ]


def test_stages_are_kept_with_what_takes_documents(tmp_path: Any) -> None:
    stages = {"bm25": {"q": ["a"]}, "dense": {"q": ["b"]}, "fused": {"q": ["b", "a"]}}
    run = rm.RetrievedRun(stages["fused"], stages=stages, sources=["bm25", "dense"])
    rm.save_run(run, tmp_path / "run.json")
    saved_stages = json.loads((tmp_path / "run.json").read_text())["run"]["stages"]
    assert list(saved_stages) == ["bm25", "dense", "fused"]
    assert saved_stages["fused"] is None  # the run itself
    assert rm.load(tmp_path / "run.json").stages == run.stages
    expected = {"bm25": False, "dense": False, "fused": True}
    assert rm.load(tmp_path / "run.json").takes_documents == expected
    assert pickle.loads(pickle.dumps(run)).takes_documents == expected


def test_a_resumed_retrieval_knows_which_stages_take_documents(tmp_path: Any) -> None:
    def search(text: str) -> Any:
        return StageRankings({"bm25": ["a"], "cut": [text]}, {"bm25": False, "cut": True})

    questions = {"q": "a"}
    path = tmp_path / "run.jsonl"
    run = rm.retrieve(search, questions, resume=path)
    resumed = rm.retrieve(search, questions, resume=path)
    for same in (run, resumed, rm.load(path)):
        assert same.takes_documents == {"bm25": False, "cut": True}


def test_a_journal_of_another_kind_is_named(tmp_path: Any) -> None:
    path = tmp_path / "replies.jsonl"
    AppendLog(path, "replies of models").append({"asked": "a", "model": None, "reply": "b"})
    with pytest.raises(ValueError, match=r"replies.jsonl is of kind 'replies of models', which load does not read"):
        rm.load(path)
    AppendLog(path.with_name("history.jsonl"), "history").append({"label": "monday"})
    with pytest.raises(ValueError, match=r"history.jsonl is a history; rm.History\(path\) reads it"):
        rm.load(path.with_name("history.jsonl"))
