"""Rows of a page are as short as what is known of them, because a page may hold a hundred thousand of them."""

from typing import Any

import pytest

from retrieval_metrics.evaluation.page_data import DetailsRow, NeededRow, OutcomeRow, ResultRow, TextRow


@pytest.mark.parametrize(
    ("row", "shortest"),
    [
        (TextRow("a"), ["a"]),
        (TextRow(None), [None]),
        (TextRow("a", "", ""), ["a"]),
        (TextRow("a", None, "text"), ["a", None, "text"]),
        (TextRow("a", "s.md", "te … ", is_shortened=True), ["a", "s.md", "te … ", 1]),
        (ResultRow(4), 4),
        (ResultRow(4, judgment=0), [4, 0]),
        (ResultRow(4, grade=0.0), [4, 3, None, 0.0]),
        (ResultRow(4, satisfied=(0,), marks=((10, 25),)), [4, 3, None, None, (0,), ((10, 25),)]),
        (ResultRow(4, call=(1, 2)), [4, 3, None, None, (), (), (1, 2)]),
    ],
)
def test_a_row_leaves_out_what_the_page_fills_in(row: TextRow | ResultRow, shortest: Any) -> None:
    assert row.as_json() == shortest


def test_a_query_has_searches_only_if_a_system_is_an_agent() -> None:
    needed = NeededRow(text_number=0, grade=1, groups=None, outcomes=[OutcomeRow(1, rank=2, sentence=0), None])
    row = DetailsRow([needed], [[ResultRow(1)], None])
    assert row.as_json() == {"needed": [(0, 1, None, [(1, 2, 0), None])], "results": [[1], None]}
    of_agent = DetailsRow([needed], [[ResultRow(1)], None], [[("first", "")], None])
    assert of_agent.as_json()["searches"] == [[("first", "")], None]
