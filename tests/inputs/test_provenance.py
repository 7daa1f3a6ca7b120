"""The provenance of questions is read from rows, saved and checked."""

import datetime as dt
import json
import pickle
from typing import Any

import pytest

import retrieval_metrics as rm

QUERIES = {"q1": "what is a closure?", "q2": "what is a generator?"}

RELEVANT = {"q1": ["d7"], "q2": {"d1": 2, "d2": 1}}

ROWS = [
    {
        "id": "q1",
        "query": "one?",
        "relevant": ["d7"],
        "source": "a.md",
        "model": "m",
        "prompt": "v3",
        "date": "2026-05-31",
    },
    {
        "id": "q2",
        "query": "two?",
        "relevant": {"d1": 2},
        "source": "b.md",
        "author": "Kim",
        "labels": {"team": "sales"},
    },
    {"id": "q3", "query": "three?", "relevant": [["d1", "d2"], ["d9"]]},
]


def test_rows_say_where_their_questions_come_from() -> None:
    questions = rm.EvaluationSet.from_dataset(ROWS)
    assert questions.provenance["q1"] == rm.Provenance(source="a.md", model="m", prompt="v3", date=dt.date(2026, 5, 31))
    assert questions.provenance["q2"].as_dict() == {"source": "b.md", "author": "Kim", "labels": {"team": "sales"}}
    assert "q3" not in questions.provenance
    assert questions.provenance_values("source") == {"q1": "a.md", "q2": "b.md"}
    assert questions.provenance_values("team") == {"q2": "sales"}
    with pytest.raises(
        ValueError, match=r"no question has a 'kind'; known are: author, date, model, prompt, source, team"
    ):
        questions.provenance_values("kind")
    with pytest.raises(ValueError, match="known are: none"):
        rm.EvaluationSet(QUERIES, RELEVANT).provenance_values("source")


@pytest.mark.parametrize("row", ROWS[:2])
def test_provenance_survives_json_and_pickles(row: dict[str, Any]) -> None:
    provenance = rm.EvaluationSet.from_dataset([row]).provenance[row["id"]]
    entries = json.loads(json.dumps(provenance.as_dict()))
    assert rm.Provenance(**entries) == provenance == pickle.loads(pickle.dumps(provenance))
    assert hash(rm.Provenance(**entries)) == hash(provenance)
    with pytest.raises(TypeError, match="does not support item assignment"):
        provenance.labels["team"] = "other"  # type: ignore[index]  # the point of the line


@pytest.mark.parametrize(
    ("entries", "error", "message"),
    [
        ({"source": 7}, TypeError, r"row 1: the source of a question must be a str, got 7 \(int\)"),
        ({"date": "May 2026"}, ValueError, "row 1: the date .* must be written as 2026-05-31, got 'May 2026'"),
        ({"date": 2026}, TypeError, "row 1: the date .* must be a date or a text"),
        ({"labels": ["sales"]}, TypeError, "row 1: the labels of a question must map names to values"),
        ({"labels": {"team": ["sales"]}}, TypeError, r"row 1: a label .* got 'team': \['sales'\]"),
        ({"labels": {"source": "a"}}, ValueError, "row 1: a label cannot be called 'source'"),
    ],
)
def test_what_says_nothing_about_a_question_is_refused(
    entries: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        rm.EvaluationSet.from_dataset([{"query": "?", "relevant": ["d"], **entries}])
