"""Cells of judgments are lists written as text or ids with a separator, and nothing is guessed that is not certain."""

from typing import Any

import pytest

from retrieval_metrics.inputs.judgment_cells import read_cells


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ('["d1", "d2"]', ["d1", "d2"]),
        ("['d1', 'd2']", ["d1", "d2"]),
        ("{'d2', 'd1'}", ["d1", "d2"]),
        ("('d1',)", ["d1"]),
        ("('d1')", ["d1"]),
        ("[1, 2.0]", ["1", "2"]),
        ('{"d1": 2}', {"d1": 2}),
        ("{1: 2}", {"1": 2}),
        ("[['d1', 'd2'], ['d9']]", [["d1", "d2"], ["d9"]]),
        ("[]", []),
        ("", []),
        (7, ["7"]),
    ],
)
def test_a_cell(cell: Any, expected: Any) -> None:
    rows = read_cells([{"relevant": cell}, {"relevant": "d1"}], None)
    assert rows == [{"relevant": expected}, {"relevant": ["d1"]}]


def test_rows_without_text_are_returned_as_they_are() -> None:
    rows = [{"relevant": ["d1"]}, {"relevant": {"d1": 1}}, ("q", ["d1"]), {"relevant": [7]}]
    assert read_cells(rows, None) == rows
