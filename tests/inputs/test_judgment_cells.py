"""Cells of judgments are lists written as text or ids with a separator, and nothing is guessed that is not certain."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import retrieval_metrics as rm
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
    rows = read_cells([{"relevant": cell}, {"relevant": "d1"}], None, is_table=True)
    assert rows == [{"relevant": expected}, {"relevant": ["d1"]}]


def test_rows_without_text_are_returned_as_they_are() -> None:
    rows = [{"relevant": ["d1"]}, {"relevant": {"d1": 1}}, ("q", ["d1"]), {"relevant": [7]}]
    assert read_cells(rows, None, is_table=True) == read_cells(rows, None, is_table=False) == rows


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("cell", [DEEP, f"[{DEEP}", DEEP.replace("[", "{").replace("]", "}"), "(d1)"])
def test_a_cell_that_cannot_be_read_is_an_error_with_its_place(cell: str) -> None:
    with pytest.raises(ValueError, match=r"row 1, 'relevant': .* is no list that can be read") as caught:
        read_cells([{"relevant": cell}], None, is_table=True)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("d1", r"write a list: \['d1'\]"),
        ("d1; d2", r"text.split\(';'\)"),
        ("['d1', 'd2']", "is a list that was written as text"),
        ("", r"write an empty list, \[\]"),
        (DEEP, "write a list"),
    ],
)
@pytest.mark.parametrize("column", ["relevant", "relevant_docs", "forbidden"])
def test_text_in_rows_of_python_is_refused_unless_there_is_a_separator(cell: str, advice: str, column: str) -> None:
    row = {"query": "why?", "relevant": ["d0"]} | {column: cell}
    for rows in ([row], {"q1": row}):
        with pytest.raises(TypeError, match=f"row 1: '{column}' is the bare string .*{advice}"):
            rm.EvaluationSet.from_dataset(rows)


def test_a_separator_says_that_text_is_meant() -> None:
    rows = [{"query": "why?", "relevant": "d1; d2"}, {"query": "how?", "relevant": "d3"}]
    expected = {"why?": ["d1", "d2"], "how?": ["d3"]}
    assert rm.EvaluationSet.from_dataset(rows, separator=";").qrels == expected
    assert rm.EvaluationSet.from_dataset(rows[1:], separator="").qrels == {"how?": ["d3"]}


def test_text_in_files_and_frames_is_a_cell(tmp_path: Path) -> None:
    rows = [{"query": "why?", "relevant": "['d1', 'd2']"}, {"query": "how?", "relevant": "d3"}]
    expected = {"why?": ["d1", "d2"], "how?": ["d3"]}
    frame = pl.DataFrame(rows)
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_ndjson(tmp_path / "rows.jsonl")
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    for source in (frame, tmp_path / "rows.csv", tmp_path / "rows.jsonl", tmp_path / "rows.json"):
        assert rm.EvaluationSet.from_dataset(source).qrels == expected
