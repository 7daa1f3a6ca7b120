"""Traces recorded now, with the instrumentations as they are released now, read as those that were recorded once."""

import json
import re
import subprocess
from pathlib import Path

import pytest

import retrieval_metrics as rm
from agent_scenarios import check

pytestmark = pytest.mark.examples

RECORDERS = Path(__file__).parent.parent / "recorders"
CONVERSATIONS = Path(__file__).parent.parent / "traces" / "conversations"
FORMS = [
    ("record_langchain", "openinference", ()),
    ("record_langchain", "langfuse", ()),
    ("record_langsmith", "runs", ()),
    ("record_mlflow", "frame", ()),
    ("record_mlflow", "trace", ()),
    ("record_phoenix", "all", ()),
    ("record_llama_index", "openinference", ()),
    ("record_pydantic_ai", "otel", "search"),
    ("record_openai_agents", "export", "search"),
    ("record_haystack", "tool", "search"),
    ("record_haystack", "pipeline", ()),
]
NOT_TO_BE_HAD = re.compile("Failed to fetch|error sending request|No solution found|dns error|Network connectivity")
SEARCHES = [
    ("close a file", ["d2", "d1"]),
    ("exit method", ["d3", "d1"]),
    ("suppress exceptions", ["d7", "d4"]),
    ("index offline", []),
    ("suppress exceptions", ["d7", "d4"]),
]


def cited(answer: str) -> list[str]:
    return re.findall(r"\[(\w+)\]", answer)


def recorded(script: str, form: str, folder: Path) -> list[Path]:
    """Run a recorder in an environment of its own, and return the files that it wrote."""
    command = [
        "uv",
        "run",
        "--quiet",
        "--no-project",
        str(RECORDERS / f"{script}.py"),
        form,
        str(folder / "spans.jsonl"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode and (missing := NOT_TO_BE_HAD.search(done.stderr)):
        pytest.skip(f"the packages of {script} cannot be installed here: {missing[0]}")
    assert done.returncode == 0, done.stderr
    return sorted(folder.iterdir())


@pytest.mark.parametrize(("script", "form", "tools"), FORMS, ids=[f"{script}-{form}" for script, form, _ in FORMS])
def test_the_same_agent_reads_the_same(script: str, form: str, tools: str, tmp_path: Path) -> None:
    for file in recorded(script, form, tmp_path):
        (trajectory,) = rm.read_traces(file, citations=cited, tools=tools).values()
        assert [(call.query, [item.id for item in call.ranking]) for call in trajectory.calls] == SEARCHES, file  # type: ignore[union-attr]
        assert [call.error is not None for call in trajectory.calls] == [False, False, False, True, False]
        assert [call.turn for call in trajectory.calls] == [1, 2, 2, 3, 4]
        assert [item.id for item in trajectory.context or ()] == ["d2", "d1", "d3", "d7", "d4"]  # type: ignore[union-attr]
        assert trajectory.citations == ["d2", "d3", "d4"]


def test_openllmetry_keeps_no_ids_but_texts(tmp_path: Path) -> None:
    (file,) = recorded("record_openllmetry", "traceloop", tmp_path)
    (trajectory,) = rm.read_traces(file, citations=cited).values()
    assert [(call.query, len(call.ranking), call.turn) for call in trajectory.calls] == [
        (query, len(documents), turn) for (query, documents), turn in zip(SEARCHES, (1, 2, 2, 3, 4), strict=True)
    ]
    view = rm.Trajectories({"q": trajectory}).union()
    quotes = {"q": [rm.Quote("the with keyword closes properly"), rm.Quote("the exception is suppressed")]}
    assert rm.evaluate(quotes, view, "recall").means["recall"] == 1.0
    with pytest.raises(ValueError, match="has no ID"):
        rm.evaluate({"q": ["d2"]}, view, "recall")


def test_conversations_count_as_those_that_were_recorded_once(tmp_path: Path) -> None:
    files = recorded("record_messages", "all", tmp_path)
    assert {file.stem for file in files} == {file.stem for file in CONVERSATIONS.glob("*.json")}
    for file in files:
        for name, messages in json.loads(file.read_text(encoding="utf-8"))["conversations"].items():
            tool = "ask" if name == "nested" and file.stem != "claude_code" else "search"
            check(messages, name, file.stem, tool)


def test_the_helpers_of_opentelemetry_keep_ids_but_no_texts(tmp_path: Path) -> None:
    (file,) = recorded("record_otel_genai", "spans", tmp_path)
    (trajectory,) = rm.read_traces(file).values()
    assert [(call.query, [item.id for item in call.ranking]) for call in trajectory.calls] == SEARCHES  # type: ignore[union-attr]
    assert trajectory.calls[3].error == "index offline"
    assert trajectory.context is None
