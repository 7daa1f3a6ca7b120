"""Datasets in the shapes their owners keep them in."""

import datetime as dt
import json
import pickle
from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pytest

import retrieval_metrics as rm

QUERIES = {"q1": "what is a closure?", "q2": "what is a generator?"}
RELEVANT = {"q1": ["d7"], "q2": {"d1": 2, "d2": 1}}


@pytest.mark.parametrize(
    "dataset",
    [
        [
            {"id": "q1", "query": QUERIES["q1"], "relevant": ["d7"]},
            {"id": "q2", "query": QUERIES["q2"], "relevant": RELEVANT["q2"]},
        ],
        ({"query_id": q, "question": QUERIES[q], "expected_ids": RELEVANT[q]} for q in QUERIES),
        [{"_id": q, "user_input": QUERIES[q], "reference_context_ids": RELEVANT[q]} for q in QUERIES],
        SimpleNamespace(queries=QUERIES, relevant_docs=RELEVANT, corpus={}),
        json.loads(json.dumps({"queries": QUERIES, "corpus": {}, "relevant_docs": RELEVANT, "mode": "text"})),
        rm.EvaluationSet(QUERIES, RELEVANT),
    ],
)
def test_every_shape_gives_the_same_queries_and_judgments(dataset: Any) -> None:
    read = rm.EvaluationSet.from_dataset(dataset)
    assert (read.queries, read.qrels) == (QUERIES, RELEVANT)
    assert len(read) == 2


@pytest.mark.parametrize(
    "dataset",
    [
        [("what?", ["a"]), ("why?", [["a"], ["b"]])],
        [["what?", ["a"]], ["why?", [["a"], ["b"]]]],
        [{"query": "what?", "relevant": ["a"]}, {"query": "why?", "relevant": [["a"], ["b"]], "id": None}],
        {"what?": ["a"], "why?": [["a"], ["b"]]},
    ],
)
def test_without_an_id_the_text_is_the_id(dataset: Any) -> None:
    read = rm.EvaluationSet.from_dataset(dataset)
    assert read.queries == {"what?": "what?", "why?": "why?"}
    assert read.qrels == {"what?": ["a"], "why?": [["a"], ["b"]]}


@pytest.mark.parametrize(
    ("dataset", "error", "message"),
    [
        ("questions.json", TypeError, "a dataset is a list of .* got str"),
        (7, TypeError, "got int"),
        ([], ValueError, "the dataset is empty"),
        (["what?"], TypeError, r"row 1 must be a \(query, relevant\) pair .* got 'what\?'"),
        ([("what?", ["a"], 3)], TypeError, "row 1 must be"),
        ([{"relevant": ["a"]}], ValueError, "row 1 has no 'query' .*; it has 'relevant'"),
        ([{"query": "what?"}], ValueError, r"row 1 has no 'relevant' \(nor relevant_docs"),
        (
            [("what?", ["a"]), ("what?", ["b"])],
            ValueError,
            r"query 'what\?' appears in rows 1 and 2; give each row its own 'id'",
        ),
        ([(3, ["a"])], TypeError, "the text of query 3 must be a str, got 3"),
        (
            SimpleNamespace(queries={"q": "?"}, relevant_docs={"q": [], "p": []}),
            ValueError,
            "judgments for 1 queries without a text, for example 'p'",
        ),
        (
            SimpleNamespace(queries={"q": "?"}, relevant_docs={}),
            ValueError,
            "no judgments for 1 of 1 queries, for example 'q'; leave",
        ),
    ],
)
def test_another_shape_is_refused_with_its_place(dataset: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.EvaluationSet.from_dataset(dataset)


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
RUN = {"q1": ["d7"], "q2": ["x", "d1"], "q3": ["d2"]}


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
    made = rm.EvaluationSet.from_dataset([row]).provenance[row["id"]]
    entries = json.loads(json.dumps(made.as_dict()))
    assert rm.Provenance(**entries) == made == pickle.loads(pickle.dumps(made))  # noqa: S301  (our own bytes)
    assert hash(rm.Provenance(**entries)) == hash(made)
    with pytest.raises(TypeError, match="does not support item assignment"):
        made.labels["team"] = "other"  # type: ignore[index]  # the point of the line


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


def test_questions_take_the_place_of_judgments() -> None:
    questions = rm.EvaluationSet.from_dataset(ROWS)
    result, plain = (rm.evaluate(truth, RUN, ["mrr", "recall"]) for truth in (questions, questions.qrels))
    assert result.per_query == plain.per_query
    truth = result.scores.require_origin("asked").judged.qrels
    assert truth.provenance is questions.provenance
    assert truth.flattened().provenance is truth.without_negative_grades().provenance is questions.provenance
    assert result.group_by(questions.provenance_values("source"))["b.md"].means["mrr"] == 0.5
    runs = {"one": RUN, "other": {query: ranking[::-1] for query, ranking in RUN.items()}}
    compared = [str(rm.compare(each, runs, "mrr", ties="input")) for each in (questions, questions.qrels)]
    assert compared[0] == compared[1]
    assert str(rm.audit(questions, RUN, "mrr")) == str(rm.audit(questions.qrels, RUN, "mrr"))
    assert list(rm.match(questions, RUN)) == list(rm.match(questions.qrels, RUN))
    assert rm.relabel(questions, [], []).qrels == rm.relabel(questions.qrels, [], []).qrels


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, lambda columns: pl.DataFrame(columns).to_arrow()])
def test_a_table_is_read_first(kind: Any) -> None:
    qrels, run = (kind({"query": ["q1"], "document": ["d7"]}) for _ in range(2))
    with pytest.raises(TypeError, match=r"got a (DataFrame|Table); read it with Qrels.from_frame\(frame\)"):
        rm.evaluate(qrels, {"q1": ["d7"]})
    with pytest.raises(TypeError, match=r"got a (DataFrame|Table); read it with Run.from_frame\(frame\)"):
        rm.evaluate({"q1": ["d7"]}, run)
    assert rm.evaluate(rm.Qrels.from_frame(qrels), rm.Run.from_frame(run), "mrr").means == {"mrr": 1.0}
