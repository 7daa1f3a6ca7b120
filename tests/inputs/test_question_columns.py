"""Columns of questions with names of the user's own."""

import pytest

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
