"""Wherever judgments are taken, so is the path of a file with judgments or questions."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.files.judgment_paths import is_path, resolve_judgments, resolve_texts

QRELS = {"q1": {"d7": 1}}
TABLE = "id,question,relevant\nq1,What does a bike cost?,d7\n"


@pytest.mark.parametrize("judgments", [QRELS, {}, [("q1", ["d7"])], "no such file", None])
def test_what_is_no_path_is_returned_as_it_is(judgments: Any) -> None:
    assert resolve_judgments(judgments) is judgments
    assert resolve_texts(judgments) is judgments


@pytest.mark.parametrize(
    ("name", "content"),
    [("questions.csv", TABLE), ("judgments.qrels", "q1 0 d7 1\n"), ("qrels.json", '{"q1": {"d7": 1}}')],
)
def test_a_path_is_read_whatever_its_file_holds(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    for source in (path, str(path)):
        judgments: Any = resolve_judgments(source)
        assert rm.evaluate(judgments, {"q1": ["d1", "d7"]}, "mrr").means == {"mrr": 0.5}
        assert rm.evaluate(source, {"q1": ["d1", "d7"]}, "mrr").means == {"mrr": 0.5}


def test_questions_of_a_path_have_their_texts(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text(TABLE)
    assert resolve_texts(path).queries == {"q1": "What does a bike cost?"}


def test_a_hyphen_is_standard_input() -> None:
    assert is_path("-")
    assert not is_path("questions of last week.csv")
