"""The file of answers: what is asked again, and which files are refused."""

import datetime as dt
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics._internal.append_log import AppendLog

EIGHT = {f"q{n}": f"question {n}" for n in range(8)}


class Retriever:
    """Counts what it is asked, and fails where it is told to."""

    def __init__(self, failing: set[str] = frozenset()) -> None:  # type: ignore[assignment]
        self.questions: list[str] = []
        self.failing = failing

    def __call__(self, text: str) -> Any:
        self.questions.append(text)
        if text in self.failing:
            raise ConnectionError(f"no answer to {text}")
        return [rm.Retrieved(f"d{len(text)}", f"about {text}", source="a.md", metadata={"page": 1}), rm.Retrieved(7)]


def test_only_what_failed_or_is_missing_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    first = Retriever({"question 2", "question 5"})
    run = rm.retrieve(first, EIGHT, resume=path)
    assert sorted(run.errors) == ["q2", "q5"]
    saved = rm.load(path)
    assert saved == run
    assert sorted(map(repr, saved.errors.values())) == sorted(map(repr, run.errors.values()))
    again = Retriever()
    complete_run = rm.retrieve(again, {**EIGHT, "q8": "question 8"}, resume=path)
    assert sorted(again.questions) == ["question 2", "question 5", "question 8"]
    assert complete_run == rm.retrieve(Retriever(), {**EIGHT, "q8": "question 8"})
    assert not complete_run.errors
    assert {query: complete_run.seconds[query] for query in ("q0", "q1")} == {
        query: run.seconds[query] for query in ("q0", "q1")
    }
    assert rm.load(path) == complete_run
    nobody = Retriever()
    assert rm.retrieve(nobody, EIGHT, resume=path) == {query: complete_run[query] for query in EIGHT}
    assert nobody.questions == []


def test_a_reworded_question_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    rm.retrieve(Retriever(), EIGHT, resume=path)
    again = Retriever()
    rm.retrieve(again, {**EIGHT, "q3": "in other words"}, resume=path)
    assert again.questions == ["in other words"]


@pytest.mark.parametrize("answer", [["a", "b"], [3, 1], {"a": 1 / 3, "b": 2}, {5: 0.1}, []])
def test_rankings_of_ids_come_back_as_they_were(tmp_path: Path, answer: Any) -> None:
    run = rm.retrieve(lambda _: answer, {1: "one", 2: "two"}, resume=tmp_path / "run.jsonl")
    assert rm.load(tmp_path / "run.jsonl") == run == {1: answer, 2: answer}


def test_resumed_and_new_answers_have_equal_metadata(tmp_path: Path) -> None:
    when = dt.datetime.fromisoformat("2026-05-31 08:00")
    metadata = {"when": when, "price": Decimal("1.10"), "file": Path("a.md"), "pages": (1, 2)}

    def retriever(_: str) -> Any:
        return [rm.Retrieved("d", metadata=metadata)]

    run = rm.retrieve(retriever, {"q1": "one"}, resume=tmp_path / "run.jsonl")
    resumed = rm.retrieve(retriever, {"q1": "one", "q2": "two"}, resume=tmp_path / "run.jsonl")
    assert resumed["q1"] == resumed["q2"] == run["q1"]
    qrels: Any = {"q1": [rm.Metadata(when=metadata["when"])], "q2": [rm.Metadata(pages=(1, 2))]}
    assert rm.evaluate(qrels, resumed, "mrr").means["mrr"] == 1


def test_metadata_that_a_file_cannot_hold_costs_one_question(tmp_path: Path) -> None:
    queries = []

    def retriever(text: str) -> Any:
        queries.append(text)
        return [rm.Retrieved("d", metadata={"when": object()})]

    with pytest.raises(ValueError, match="which a file cannot hold"):
        rm.retrieve(retriever, EIGHT, resume=tmp_path / "run.jsonl")
    assert len(queries) == 1


def test_kept_answers_are_checked_as_new_ones(tmp_path: Path) -> None:
    rm.retrieve(lambda _: ["a"], {"q": "one"}, resume=tmp_path / "run.jsonl")
    questions = rm.EvaluationSet({"q": "one"}, {"q": [1]})
    with pytest.raises(TypeError, match="document IDs in the judgments are int") as caught:
        rm.retrieve(lambda _: [1], questions, resume=tmp_path / "run.jsonl")
    assert "the saved answer for query 'q'" in caught.value.__notes__[0]


def test_another_file_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    rm.History(path).add(rm.evaluate({"q": ["a"]}, {"q": ["a"]}, "mrr"), "x")
    retriever = Retriever()
    with pytest.raises(ValueError, match="must be a file of kind 'journal of a run', but it is of kind 'history'"):
        rm.retrieve(retriever, EIGHT, resume=path)
    assert retriever.questions == []


def test_a_line_that_holds_no_answer_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    retriever = Retriever()
    AppendLog(path, "journal of a run").append({"query": "q1", "seconds": 0.1})
    with pytest.raises(ValueError, match=r"run.jsonl, line 2, holds no answer: KeyError\('question'\)"):
        rm.retrieve(retriever, EIGHT, resume=path)
    with pytest.raises(ValueError, match=r"run.jsonl, line 2, holds no answer: KeyError\('documents'\)"):
        rm.load(path)
    assert retriever.questions == []


KILLED = """
import sys, time
import retrieval_metrics as rm
def retriever(text):
    time.sleep(0.01)
    return [rm.Retrieved(text, "x" * 20_000)]
rm.retrieve(retriever, {n: f"question {n}" for n in range(100_000)}, resume=sys.argv[1])
"""


def test_a_killed_retrieval_loses_at_most_what_was_under_way(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    process = subprocess.Popen([sys.executable, "-c", KILLED, path])
    deadline = time.monotonic() + 60
    while (not path.exists() or path.stat().st_size < 400_000) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    lines = path.read_bytes().count(b"\n") - 1
    assert lines >= 15
    queries = []

    def retriever(text: str) -> Any:
        queries.append(text)
        return [rm.Retrieved(text, "x" * 20_000)]

    run = rm.retrieve(retriever, {n: f"question {n}" for n in range(lines + 20)}, resume=path)
    assert len(queries) <= lines + 20 - lines
    assert all(run[n] == [rm.Retrieved(f"question {n}", "x" * 20_000)] for n in run)


def test_a_folder_in_place_of_the_file_is_refused_with_a_file_that_works(tmp_path: Path) -> None:
    retriever = Retriever()
    with pytest.raises(ValueError, match="must be a file") as caught:
        rm.retrieve(retriever, EIGHT, resume=tmp_path)
    assert retriever.questions == []
    named_file = str(caught.value).rpartition("pass ")[2].strip("'")
    assert len(rm.retrieve(retriever, EIGHT, resume=named_file)) == len(EIGHT)
    assert Path(named_file).is_file()
