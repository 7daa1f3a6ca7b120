"""`retrieval-metrics evaluate QUESTIONS TRACES --view VIEW`."""

import json
from pathlib import Path
from typing import Any

import pytest

from retrieval_metrics.command_line.main import main


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    found = [{"id": one, "text": f"the text of {one}"} for one in ("d1", "d7")]
    kept: Any = {"trace": "t", "parent": "1"}
    spans = [
        {"trace": "t", "span": "1", "parent": None, "kind": "other", "input": "q1", "output": "It is [d7]."},
        {**kept, "span": "2", "kind": "retriever", "input": "a", "output": found[:1], "start": 1, "end": 2},
        {**kept, "span": "3", "kind": "retriever", "input": "b", "output": found, "start": 3, "end": 4},
        {
            **kept,
            "span": "4",
            "kind": "model",
            "input": found[1]["text"],
            "output": "It is [d7].",
            "start": 5,
            "end": 6,
        },
    ]
    (tmp_path / "spans.jsonl").write_text("\n".join(map(json.dumps, spans)))
    (tmp_path / "qrels.trec").write_text("q1 0 d7 1\nq1 0 d9 1\n")
    return [str(tmp_path / "qrels.trec"), str(tmp_path / "spans.jsonl"), "--question-id", "input", "--format", "json"]


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize(
    ("view", "metric", "value"),
    [
        ("union", "recall@1calls", 0.0),
        ("union", "recall@2calls", 0.5),
        ("interleaved", "mrr", 0.5),
        ("first", "recall", 0.0),
        ("last", "mrr", 0.5),
        ("context", "mrr", 1.0),
        ("cited", "recall", 0.5),
    ],
)
def test_a_view_of_traces_is_scored(
    files: list[str], view: str, metric: str, value: float, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *files, "--view", view, "--citations", r"\[(\w+)\]", "-m", metric]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"][metric]["mean"] == value


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--tool", "search"], "name a view of them with --view"),
        (["--view", "cited"], "--view cited needs --citations"),
        (["--view", "cited", "--citations", "("], "--citations is no regular expression"),
        (["--view", "union", "--tool", "search"], "no tool is called 'search'"),
    ],
)
def test_what_is_refused(files: list[str], options: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = files if "--view" in options else files[:2]
    assert main(["evaluate", *chosen, *options]) == 2
    assert says in capsys.readouterr().err


def test_without_the_place_of_the_questions_id_it_is_asked_for(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *files[:2], "--view", "union"]) == 2
    assert "only its own, such as 't'; --question-id says where the id is" in capsys.readouterr().err
    assert main(["evaluate", *files[:2], "--view", "union", "--question-id", "metadata.nope"]) == 2
    assert "of 1 trace, none has 'metadata.nope', which --question-id names" in capsys.readouterr().err
