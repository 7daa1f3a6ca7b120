"""Cells of judgments are lists written as text or ids with a separator, and nothing is guessed that is not certain."""

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.judgment_cells import read_cells


def judgments_of(questions: rm.EvaluationSet) -> Any:
    """Return the judgments of the question that the tests look at."""
    qrels: Any = questions.qrels
    return qrels["how?"]


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


def test_a_whole_number_in_a_table_is_the_one_id_of_its_cell(tmp_path: Path) -> None:
    frame = pd.DataFrame({"query": ["how?", "why?", "who?"], "relevant": [7, 8, None], "forbidden": [None, 9, 9]})
    questions = rm.read_questions(frame)
    assert questions.qrels == {"how?": [7], "why?": {8: 1, 9: -1}, "who?": {9: -1}}
    assert rm.evaluate(questions, {"how?": [7], "why?": [1, 8], "who?": [1]}, "mrr").per_query["mrr"]["why?"] == 0.5
    path = tmp_path / "questions.xlsx"
    frame[["query", "relevant"]].to_excel(path, index=False)
    assert judgments_of(rm.read_questions(path)) == [7]
    path = tmp_path / "questions.json"
    path.write_text('[{"query": "how?", "relevant": 7}, {"query": "why?", "relevant": [8, 9]}]')
    assert rm.read_questions(path).qrels == {"how?": [7], "why?": [8, 9]}


@pytest.mark.parametrize("cell", [7.5, True])
@pytest.mark.parametrize("other", [8, "d1"])
def test_another_number_in_a_table_is_no_id(cell: Any, other: Any) -> None:
    frame = pd.DataFrame({"query": ["how?", "why?"], "relevant": pd.Series([other, cell], dtype=object)})
    with pytest.raises(ValueError, match=f"row 2, 'relevant': {cell} is not an ID"):
        rm.read_questions(frame)


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("cell", [DEEP, f"[{DEEP}", DEEP.replace("[", "{").replace("]", "}"), "(d1)"])
def test_a_cell_that_cannot_be_read_is_an_error_with_its_place(cell: str) -> None:
    with pytest.raises(ValueError, match=r"row 1, 'relevant': .* cannot be read as a list") as caught:
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


def write_questions(folder: Path, column: str, cell: str) -> Path:
    path = folder / "questions.csv"
    rows = [("Question", column), ("how?", cell), ("why?", "c.md"), ("when?", "")]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


SHAPES = ["relevant", "document", "Document", "file", "Filename", "document_id", "Document ID"]


@pytest.mark.parametrize("column", SHAPES)
@pytest.mark.parametrize("cell", ["a.md; b.md", "a.md|b.md", "a.md \nb.md"])
def test_a_cell_that_looks_like_a_list_is_split_with_a_warning(tmp_path: Path, column: str, cell: str) -> None:
    with pytest.warns(rm.RetrievalWarning, match="are read as lists of IDs"):
        questions = rm.read_questions(write_questions(tmp_path, column, cell))
    assert {query: list(relevant) for query, relevant in questions.qrels.items()} == {
        "how?": ["a.md", "b.md"],
        "why?": ["c.md"],
        "when?": [],
    }


@pytest.mark.parametrize("column", SHAPES)
@pytest.mark.parametrize("cell", ['["a.md", "b.md"]', "['a.md', 'b.md']", "('a.md', 'b.md')"])
def test_a_list_in_a_cell_is_read(tmp_path: Path, column: str, cell: str) -> None:
    questions = rm.read_questions(write_questions(tmp_path, column, cell))
    assert list(judgments_of(questions)) == ["a.md", "b.md"]


@pytest.mark.parametrize("column", ["relevant", "document"])
def test_a_separator_splits_and_commas_need_one(tmp_path: Path, column: str) -> None:
    path = write_questions(tmp_path, column, "a.md, b.md")
    with pytest.raises(ValueError, match="can hold one ID or several"):
        rm.read_questions(path)
    assert list(judgments_of(rm.read_questions(path, separator=","))) == ["a.md", "b.md"]
    assert list(judgments_of(rm.read_questions(path, separator=""))) == ["a.md, b.md"]
    with pytest.raises(ValueError, match="';' occurs in no cell, but ',' does"):
        rm.read_questions(path, separator=";")
    assert list(judgments_of(rm.read_questions(write_questions(tmp_path, column, "[]")))) == []


@pytest.mark.parametrize(
    "dataset",
    [{"how?": ["d1"]}, [("how?", ["d1"])], [{"query": "how?", "relevant": ["d1"]}], rm.EvaluationSet({"q": "?"}, {})],
)
def test_a_separator_without_cells_of_text_is_refused(dataset: Any) -> None:
    with pytest.raises(ValueError, match="leave it out"):
        rm.read_questions(dataset, separator=";")


@pytest.mark.parametrize("column", ["relevant", "document"])
def test_an_invalid_id_in_a_file_is_an_error_with_its_line(tmp_path: Path, column: str) -> None:
    path = tmp_path / "questions.jsonl"
    rows = [{"question": "how?", column: ["d1"]}, {"question": "why?", column: ["d2 "]}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"questions.jsonl: line 2, '{column}': 'd2 ' .* write 'd2'$"):
        rm.read_questions(path)
    blanks = rm.read_questions(write_questions(tmp_path, column, "a.md "))
    assert list(judgments_of(blanks)) == ["a.md"]


@pytest.mark.parametrize("column", ["relevant", "document"])
def test_lists_and_null_in_json(tmp_path: Path, column: str) -> None:
    path = tmp_path / "questions.jsonl"
    rows = [{"question": "how?", column: ["d1", "d2"]}, {"question": "why?", column: None}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    questions = rm.read_questions(path)
    assert [list(relevant) for relevant in questions.qrels.values()] == [["d1", "d2"], []]


def test_a_document_that_only_some_rows_name() -> None:
    with pytest.raises(ValueError, match="row 2 has no 'document', as other rows have"):
        rm.read_questions([{"query": "how?", "document": "d1"}, {"query": "why?"}])
    with pytest.raises(ValueError, match="row 1: 'document' holds 'd1' twice"):
        rm.read_questions([{"query": "how?", "document": ["d1", "d1"]}])
    with pytest.raises(ValueError, match="are groups"):
        rm.read_questions([{"query": "how?", "document": [["d1"], ["d2"]]}])
    with pytest.raises(ValueError, match=r"row 1 has a grade, 1, but 'document' is empty"):
        rm.read_questions([{"query": "how?", "document": [], "grade": 1}])
