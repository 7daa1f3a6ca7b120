"""Rows that hold one judgment each become rows that hold all judgments of a question."""

from typing import Any

import pytest

from retrieval_metrics.inputs.judgment_rows import gather_judgment_rows


def find_id(row: Any, number: int) -> Any:
    return row["id"]


def test_judgments_are_gathered_in_order() -> None:
    rows = [
        {"id": "q1", "query": "a?", "docid": "d1", "rel": "2", "source": "a.md"},
        {"id": "q2", "query": "b?", "docid": "d1", "rel": 0},
        {"id": "q1", "query": "a?", "docid": "d2", "rel": 1},
    ]
    assert gather_judgment_rows(rows, find_id).rows == [
        {"id": "q1", "query": "a?", "source": "a.md", "relevant": {"d1": 2.0, "d2": 1.0}},
        {"id": "q2", "query": "b?", "relevant": {"d1": 0.0}},
    ]


@pytest.mark.parametrize(
    "rows", [[], [("a?", ["d1"])], [{"id": "q1", "doc": "d1", "relevant": ["d2"]}], [{"id": "q1"}]]
)
def test_other_rows_are_left_alone(rows: list[Any]) -> None:
    assert gather_judgment_rows(rows, find_id).rows == rows


@pytest.mark.parametrize("grade", ["", "high", [1]])
def test_a_grade_that_is_no_number_is_refused(grade: Any) -> None:
    with pytest.raises(ValueError, match="row 1: the grade must be a number"):
        gather_judgment_rows([{"id": "q1", "doc": "d1", "grade": grade}], find_id)
