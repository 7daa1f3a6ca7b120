"""`retrieval-metrics generate`, as a user of a shell meets it."""

from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.command_line.main import main

RULES = "The vault may be opened at night by the duty officer. A second member of staff has to be present."
MODEL = """
import json
ASKED = []
def ask(prompt):
    ASKED.append(prompt)
    if "Can the question" in prompt:
        return json.dumps({"answerable": "opened at night" in prompt})
    return "Of course! " + json.dumps(
        {"question": "Who gets into the strong room after hours?", "quotes": ["opened at night by the duty officer"]}
    )
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "rules.md").write_text(RULES)
    (tmp_path / f"{tmp_path.name}_model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(folder: Path, *more: str) -> int:
    model = f"{folder.name}_model:ask"
    return main(["generate", "docs", "--model", model, "-n", "1", "-o", "questions.json", *more])


def test_a_folder_becomes_a_saved_set(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folder) == 0
    questions = rm.load("questions.json")
    assert list(questions.queries.values()) == ["Who gets into the strong room after hours?"]
    assert "1 questions of 1 wanted" in capsys.readouterr().out
    asked = __import__(f"{folder.name}_model").ASKED
    count = len(asked)
    assert call(folder) == 0
    assert len(asked) == count, "the second run found every reply beside the questions"


def test_kinds_and_personas_can_be_chosen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folder, "--kinds", "one_passage=3", "--persona", "an auditor", "--persona", "a guard") == 0
    assert [*rm.load("questions.json").labels("persona").values()] == ["an auditor"]
    assert call(folder, "--kinds", "riddles") == 2
    assert "got 'riddles'" in capsys.readouterr().err


def test_fewer_than_wanted_is_exit_code_1_and_an_empty_set_is_no_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "--budget", "1") == 1
    assert "the budget of 1 calls is spent" in capsys.readouterr().err
    assert not Path("questions.json").exists()


@pytest.mark.parametrize(
    ("model", "message"),
    [("ask", "must be MODULE:FUNCTION"), ("nowhere_at_all:ask", "neither in"), ("json:ask", "which is not in")],
)
@pytest.mark.usefixtures("folder")
def test_a_model_that_is_not_there_is_said(model: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "docs", "--model", model, "-o", "questions.json"]) == 2
    assert message in capsys.readouterr().err
