"""The provenance of questions is read from rows, saved and checked."""

import datetime as dt
import json
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
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
        ValueError, match=r"no question has a 'kind'; the known names are: author, date, model, prompt, source, team"
    ):
        questions.provenance_values("kind")
    with pytest.raises(ValueError, match="the known names are: none"):
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


MADE_IN_MAY: list[Any] = [
    dt.date(2026, 5, 31),
    dt.datetime(2026, 5, 31, 23, 30),  # noqa: DTZ001  (as openpyxl reads a cell)
    dt.datetime(2026, 5, 31, 23, 30, tzinfo=dt.timezone(dt.timedelta(hours=9))),
    pd.Timestamp("2026-05-31 23:30"),
    pd.Timestamp("2026-05-31 23:30", tz="UTC"),
    np.datetime64("2026-05-31"),
    np.datetime64("2026-05-31T23:30"),
    "2026-05-31",
    "2026-05-31 23:30:00",
    "2026-05-31T23:30:00Z",
]


@pytest.mark.parametrize("date", MADE_IN_MAY)
def test_every_date_with_or_without_a_time_is_saved_as_its_day(tmp_path: Path, date: Any) -> None:
    questions = rm.EvaluationSet.from_dataset([{"id": "q1", "query": "why?", "relevant": ["d1"], "date": date}])
    assert questions.provenance["q1"].date == dt.date(2026, 5, 31)
    assert type(questions.provenance["q1"].date) is dt.date
    questions.save(tmp_path / "set.json")
    assert rm.load(tmp_path / "set.json").provenance == questions.provenance
    evaluation = rm.evaluate(questions, {"q1": ["d1"]}, "mrr")
    evaluation.save(tmp_path / "evaluation.json")
    assert rm.load(tmp_path / "evaluation.json").means == {"mrr": 1.0}


def test_a_missing_date_of_pandas_is_no_date() -> None:
    missing_values: list[Any] = [pd.NaT, pd.NA, float("nan")]
    assert [rm.Provenance(date=missing).date for missing in missing_values] == [None, None, None]


def test_dates_and_decimals_of_a_table_become_labels(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "query": ["why?", "how?"],
            "relevant": ["d1", "d2"],
            "asked": [pd.Timestamp("2026-05-31"), pd.NaT],
            "changed": [pd.Timestamp("2026-05-31 08:30").to_pydatetime(), dt.date(2026, 6, 1)],
            "price": [Decimal("1.5"), None],
        }
    )
    questions = rm.read_questions(table)
    labels = [dict(provenance.labels) for provenance in questions.provenance.values()]
    first = {"asked": "2026-05-31", "changed": "2026-05-31 08:30:00", "price": 1.5}
    assert labels == [first, {"changed": "2026-06-01"}]
    questions.save(tmp_path / "set.json")
    assert rm.load(tmp_path / "set.json") == questions


@pytest.mark.parametrize("value", [np.int64(3), np.float32(0.5), np.bool_(True), np.str_("x")])
def test_labels_of_numpy_become_plain_and_are_saved(tmp_path: Path, value: Any) -> None:
    provenance = rm.Provenance(labels={"weight": value})
    assert provenance.labels == {"weight": value.item()}
    assert type(provenance.labels["weight"]) is type(value.item())
    questions = rm.EvaluationSet({"q1": "why?"}, {"q1": ["d1"]}, provenance={"q1": provenance})
    questions.save(tmp_path / "set.json")
    assert rm.load(tmp_path / "set.json").provenance == {"q1": provenance}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), dt.date(2026, 5, 31), b"x", Path("a"), (1, 2), {"a": 1}])
def test_labels_that_cannot_be_saved_are_refused_on_entry(value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="label"):
        rm.Provenance(labels={"weight": value})


@pytest.mark.parametrize("value", [dt.time(3), 20260531, b"2026-05-31", ("2026", "05")])
def test_what_is_no_date_is_refused_on_entry(value: Any) -> None:
    with pytest.raises(TypeError, match="the date of a question must be a date"):
        rm.Provenance(date=value)
