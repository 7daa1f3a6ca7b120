"""A caller who changes his judgments afterwards changes nothing that was kept."""

import json
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm

TEXTS = {f"q{number}": f"question {number}" for number in range(10)}
QRELS: Any = {query: [f"d{query[1:]}"] for query in TEXTS}


def saved_content(path: Path) -> Any:
    """Return what a file holds, without its date and the digest of it."""
    content = json.loads(path.read_text())
    return {name: value for name, value in content.items() if name not in {"written", "digest"}}


@pytest.mark.parametrize("is_a_set", [False, True])
def test_judgments_are_copied(is_a_set: bool, tmp_path: Path) -> None:
    qrels: Any = {query: {document: 1} for query, (document,) in QRELS.items()}
    qrels["q1"] = [["d1"], ["z"]]
    kept: Any = rm.EvaluationSet(TEXTS, qrels) if is_a_set else rm.evaluate(qrels, QRELS, "mrr")
    kept.save(tmp_path / "before.json")
    qrels["q0"]["other"] = 1
    qrels["q1"][0][:] = ["nothing"]
    qrels["q2"] = ["nothing"]
    kept.save(tmp_path / "after.json")
    assert saved_content(tmp_path / "after.json") == saved_content(tmp_path / "before.json")


def test_questions_and_labels_are_copied() -> None:
    texts = {"q": "why?"}
    answers = {"q": "because"}
    grades = {"q": {"d": 2}}
    questions = rm.EvaluationSet(texts, grades, answers=answers)
    labels = rm.Labels.from_qrels(grades, grader="Ada")
    texts["q"] = answers["q"] = "changed"
    grades["q"]["d"] = 0
    assert (questions.queries, questions.answers) == ({"q": "why?"}, {"q": "because"})
    assert questions.qrels == labels.qrels == {"q": {"d": 2}}
