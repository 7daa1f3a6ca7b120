"""A caller who changes his objects afterwards changes nothing that was kept: one test for each door, some of them in
`test_kept_judgments.py` and `matching/test_guarded_scores.py`.

| door | what the caller changes | what is kept |
| --- | --- | --- |
| `retrieve`, `aretrieve`, `compare_retrievers` | what it returned: list, scores, stages | a copy, as the journal |
| `Retrieved` | its metadata, and lists, sets and dicts in it | copies |
| `evaluate`, `compare`: run | lists, arrays, series, items, short mappings | tuples and copies |
| `evaluate`, `compare`: run | mappings of more than 64 scores | a guard: reading after a change is an error |
| `evaluate`: judgments | grades, lists, groups | columns |
| `EvaluationSet` | texts, judgments, answers | copies |
| `Labels` | judgments | labels of their own |
| `changes` | both runs | copies |
| `SearchCall`, `Trajectory` | results, calls, context, citations | copies |
| `record` | what a host handed over, such as the list of messages | copies of lists and dicts |
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.traces.recording import TraceRecording

TEXTS = {f"q{number}": f"question {number}" for number in range(10)}
QRELS: Any = {query: [f"d{query[1:]}"] for query in TEXTS}


def answer(text: str) -> str:
    return "d" + text.split()[1]


def saved_content(path: Path) -> Any:
    """Return what a file holds, without its date and the digest of it."""
    content = json.loads(path.read_text())
    return {name: value for name, value in content.items() if name not in {"written", "digest"}}


class ReusingRetriever:
    """Returns the same object for every question, with other contents."""

    def __init__(self, form: str) -> None:
        self.form = form
        self.found: list[str] = []
        self.scores: dict[str, float] = {}
        self.metadata: dict[str, str] = {}
        self.tags: list[str] = []
        self.array = np.array(["unknown document"])

    def __call__(self, text: str) -> Any:
        self.found[:] = [answer(text)]
        self.scores.clear()
        self.scores[answer(text)] = 1.0
        self.metadata["id"] = answer(text)
        self.tags[:] = [answer(text)]
        self.array[:] = [answer(text)]
        answers: dict[str, Any] = {
            "list": self.found,
            "scores": self.scores,
            "metadata": [rm.Retrieved("c", "text", metadata=self.metadata)],
            "array": self.array,
            "tags": [rm.Retrieved(answer(text), "text", metadata={"id": self.tags})],
            "stages": {"bm25": self.found, "reranked": self.scores},
        }
        return answers[self.form]


@pytest.mark.parametrize("form", ["list", "array", "scores", "metadata", "stages"])
def test_an_answer_is_what_it_was_when_it_arrived(form: str, tmp_path: Path) -> None:
    match = "metadata:id" if form == "metadata" else "id"
    journal = tmp_path / "run.jsonl"
    live = rm.retrieve(ReusingRetriever(form), TEXTS, workers=1, resume=journal)
    for run in (live, rm.load(journal)):
        assert rm.evaluate(QRELS, run, "mrr", match=match).means == {"mrr": 1.0}
    assert all(len(stage["q0"]) == 1 and "d0" in stage["q0"] for stage in live.stages.values())


def test_a_list_in_the_metadata_is_what_it_was_when_the_item_was_made() -> None:
    run = rm.retrieve(ReusingRetriever("tags"), TEXTS, workers=1)
    assert [run[query][0].metadata for query in TEXTS] == [{"id": [f"d{query[1:]}"]} for query in TEXTS]


def test_the_same_answers_in_one_list_and_in_new_lists_compare_equal() -> None:
    async def search(text: str) -> Any:
        return [answer(text)]

    reusing = ReusingRetriever("list")
    questions = rm.EvaluationSet(TEXTS, QRELS)
    comparison = rm.compare_retrievers({"reused": reusing, "new": search}, questions, "mrr", workers=1)
    assert comparison.means == {"mrr": {"reused": 1.0, "new": 1.0}}
    run = asyncio.run(rm.aretrieve(reusing, questions, workers=1))
    assert rm.evaluate(questions, run, "mrr").means == {"mrr": 1.0}


def reverse_list(ranking: Any) -> None:
    ranking.reverse()


def reverse_scores(ranking: dict[str, float]) -> None:
    for document, score in list(ranking.items()):
        ranking[document] = -score


def reverse_array(ranking: Any) -> None:
    ranking[:] = ranking[::-1].copy()


FORMS: dict[str, tuple[Callable[[str], Any], Callable[[Any], None]]] = {
    "list": (lambda query: ["x", "y", f"d{query[1:]}"], reverse_list),
    "items": (lambda query: [rm.Retrieved("x", "a"), rm.Retrieved(f"d{query[1:]}", "b")], reverse_list),
    "series": (lambda query: pd.Series(["x", "y", f"d{query[1:]}"]), reverse_array),
    "array": (lambda query: np.array(["x", "y", f"d{query[1:]}"]), reverse_array),
    "scores": (lambda query: {"x": 3.0, "y": 2.0, f"d{query[1:]}": 1.0}, reverse_scores),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("with_stages", [False, True])
def test_an_evaluation_does_not_follow_the_run(form: str, with_stages: bool, tmp_path: Path) -> None:
    make, reverse = FORMS[form]
    rankings: Any = {query: make(query) for query in TEXTS}
    earlier: Any = {query: make(query) for query in TEXTS}
    run: Any = RetrievedRun(rankings, stages={"first": earlier, "last": rankings}) if with_stages else rankings
    evaluation = rm.evaluate(QRELS, run, ["mrr", "recall@1"])
    before = (str(evaluation.explain("q0")), str(evaluation.worst("mrr", 2)), evaluation.means)
    evaluation.save(tmp_path / "before.json")
    for changed in (rankings, earlier):
        for ranking in changed.values():
            reverse(ranking)
    assert (str(evaluation.explain("q0")), str(evaluation.worst("mrr", 2)), evaluation.means) == before
    evaluation.save(tmp_path / "after.json")
    assert saved_content(tmp_path / "after.json") == saved_content(tmp_path / "before.json")
    assert rm.load(tmp_path / "after.json").means == evaluation.means
    evaluation.report(tmp_path / "report.html")


def test_an_evaluation_does_not_follow_the_metadata_that_it_matched(tmp_path: Path) -> None:
    run = {query: [rm.Retrieved("c", "t", metadata={"id": f"d{query[1:]}"})] for query in TEXTS}
    evaluation = rm.evaluate(QRELS, run, "mrr", match="metadata:id")
    for ranking in run.values():
        ranking[0].metadata["id"] = "other"  # type: ignore[index]  # it is a dict
    evaluation.save(tmp_path / "evaluation.json")
    assert rm.load(tmp_path / "evaluation.json").means == {"mrr": 1.0}


def test_changes_are_those_of_the_runs_as_they_were() -> None:
    before = {"q": ["a", "b"]}
    after = {"q": ["b", "a"]}
    changes = rm.changes(before, after, "overlap@1")
    shown = str(changes.explain("q"))
    before["q"][:] = after["q"][:] = ["z"]
    assert str(changes.explain("q")) == shown


def test_trajectories_are_copied() -> None:
    ranking = ["d1"]
    calls = [rm.SearchCall("a", ranking, inner_rankings=[ranking])]
    context = ["d1"]
    citations = ["d1"]
    trajectory = rm.Trajectory(calls, context, citations)
    for changed in (ranking, calls, context, citations):
        changed.clear()
    assert (trajectory.calls[0].ranking, trajectory.calls[0].inner_rankings) == (["d1"], (["d1"],))
    assert (trajectory.context, trajectory.citations) == (["d1"], ["d1"])


def test_a_recording_keeps_messages_as_they_were() -> None:
    messages = [{"role": "user", "content": "why?"}]
    recording = TraceRecording()
    recording.start("1", None, "model", "chat", messages)
    items = [rm.Retrieved("d1", "text")]
    recording.end("1", output=items)
    messages.append({"role": "assistant", "content": "because"})
    messages[0]["content"] = "changed"
    items.clear()
    assert recording.spans[0]["input"] == [{"role": "user", "content": "why?"}]
    assert len(recording.spans[0]["output"]) == 1
