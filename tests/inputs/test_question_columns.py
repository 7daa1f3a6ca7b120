"""Columns of questions with names of the user's own."""

from typing import Any

import pandas as pd
import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.question_columns import rename_columns


def test_a_named_column_takes_the_place_of_one_with_a_usual_name() -> None:
    rows = [{"nr": 1, "query_id": "x", "frage": "why?", "query": "y", "team": "a"}]
    assert rename_columns(rows, {"id": "nr", "query": "frage"}, "t") == [{"query_id": 1, "query": "why?", "team": "a"}]


def test_a_role_without_a_column_has_none() -> None:
    assert rename_columns([{"query": "why?", "score": 3}], {"grade": None}, "t") == [{"query": "why?"}]


def test_a_column_may_be_missing_in_some_rows_but_not_in_all() -> None:
    rows = [{"nr": 1}, {"frage": "why?"}]
    assert rename_columns(rows, {"id": "nr"}, "t") == [{"query_id": 1}, {"frage": "why?"}]
    with pytest.raises(ValueError, match="t has no column 'no'; it has 'nr', 'frage'"):
        rename_columns(rows, {"id": "no"}, "t")


def test_a_column_can_have_two_roles() -> None:
    renamed = rename_columns([{"q": "why?", "Query ID": 7}], {"id": "q", "query": "q"}, "t")
    assert renamed == [{"query_id": "why?", "query": "why?"}]


def test_a_role_without_a_column_has_none_however_a_usual_name_is_written() -> None:
    rows = [{"q": "why?", "Ground Truth": "because", " Expected Answer": "so"}]
    assert rename_columns(rows, {"query": "q", "answer": None}, "t") == [{"query": "why?"}]


@pytest.mark.parametrize(
    ("rows", "queries"),
    [
        (
            [{"query": "q1", "text": "How long?", "relevant": ["a"]}, {"query": "q2", "text": "Why?", "relevant": []}],
            {"q1": "How long?", "q2": "Why?"},
        ),
        ([{"query": 7, "text": "How long?", "relevant": ["a"]}], {7: "How long?"}),
        # The names of the ids say nothing, but the count of relevant documents is a column of `to_pandas()`.
        ([{"query": "long", "text": "How long?", "n_relevant": 1, "relevant": ["a"]}], {"long": "How long?"}),
        # The text may be that of a passage.
        ([{"query": "How long?", "text": "Two years.", "relevant": ["a"]}], {"How long?": "How long?"}),
        ([{"query": "refund", "text": "Refunds take long.", "relevant": ["a"]}], {"refund": "refund"}),
        ([{"query": "GPT-4", "text": "A model.", "document": "a", "grade": 1}], {"GPT-4": "GPT-4"}),
        (
            [{"query": "q1", "text": "a text", "relevant": ["a"]}, {"query": "the 2nd", "text": "b", "relevant": []}],
            {"q1": "q1", "the 2nd": "the 2nd"},
        ),
        ([{"query": "2026年?", "text": "a text", "relevant": ["a"]}], {"2026年?": "2026年?"}),
        ([{"id": "k", "query": "q1", "text": "a text", "relevant": ["a"]}], {"k": "q1"}),
    ],
)
def test_a_query_beside_a_text_is_the_id_if_it_looks_like_one(rows: list[Any], queries: dict[Any, str]) -> None:
    assert rm.read_questions(rows).queries == queries
    assert rm.read_questions(pd.DataFrame(rows)).queries == queries


def test_a_named_query_is_the_text_whatever_it_looks_like() -> None:
    rows = [{"query": "GPT-4", "text": "A model.", "relevant": ["a"]}]
    assert rm.read_questions(rows, columns={"query": "query"}).queries == {"GPT-4": "GPT-4"}


def test_the_table_of_questions_is_read_with_judgments_of_its_own() -> None:
    questions = rm.EvaluationSet({"1": "How long?", "2": "How wide?"}, {"1": ["a"], "2": ["b"]})
    table = questions.to_pandas().reset_index()
    table["relevant"] = [["a"], ["b"]]
    read_questions = rm.read_questions(table)
    assert read_questions.queries == questions.queries
    assert read_questions.qrels == questions.qrels
