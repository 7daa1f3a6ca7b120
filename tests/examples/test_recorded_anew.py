"""Traces recorded now, with the instrumentations as they are released now, read as those that were recorded once."""

import re
import subprocess
from pathlib import Path

import pytest

import retrieval_metrics as rm

pytestmark = pytest.mark.examples

RECORDERS = Path(__file__).parent.parent / "recorders"
FORMS = [
    ("record_langchain", "openinference", ()),
    ("record_langchain", "langfuse", ()),
    ("record_llama_index", "openinference", ()),
    ("record_pydantic_ai", "otel", "search"),
]
NOT_TO_BE_HAD = re.compile("Failed to fetch|error sending request|No solution found|dns error|Network connectivity")


def cited(answer: str) -> list[str]:
    return re.findall(r"\[(\w+)\]", answer)


@pytest.mark.parametrize(("script", "form", "tools"), FORMS, ids=[f"{script}-{form}" for script, form, _ in FORMS])
def test_the_same_agent_reads_the_same(script: str, form: str, tools: str, tmp_path: Path) -> None:
    spans = tmp_path / "spans.jsonl"
    command = ["uv", "run", "--quiet", "--no-project", str(RECORDERS / f"{script}.py"), form, str(spans)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode and (said := NOT_TO_BE_HAD.search(done.stderr)):
        pytest.skip(f"the packages of {script} cannot be installed here: {said[0]}")
    assert done.returncode == 0, done.stderr
    (one,) = rm.read_traces(spans, citations=cited, tools=tools).values()
    assert [(call.query, [item.id for item in call.ranking]) for call in one.calls] == [  # type: ignore[union-attr]
        ("close a file", ["d2", "d1"]),
        ("exit method", ["d3", "d1"]),
        ("suppress exceptions", ["d7", "d4"]),
        ("index offline", []),
        ("suppress exceptions", ["d7", "d4"]),
    ]
    assert [call.error is not None for call in one.calls] == [False, False, False, True, False]
    assert "index offline" in str(one.calls[3].error)
    assert [call.turn for call in one.calls] == [1, 2, 2, 3, 4]
    assert [item.id for item in one.context or ()] == ["d2", "d1", "d3", "d7", "d4"]  # type: ignore[union-attr]
    assert one.citations == ["d2", "d3", "d4"]
