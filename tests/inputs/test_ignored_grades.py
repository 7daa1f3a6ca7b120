"""A column that says that a document is not relevant is read as its grade, or the table is refused with a remedy."""

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import retrieval_metrics as rm

QUERIES = ["why?", "why?", "how?"]
DOCUMENTS = ["d1", "d2", "d3"]
FLAGS = [[True, False, True], [1, 0, 1], ["yes", "no", "yes"]]


def judgment_rows(**columns: list[Any]) -> list[dict[str, Any]]:
    rows = []
    for index, (query, document) in enumerate(zip(QUERIES, DOCUMENTS, strict=True)):
        row: dict[str, Any] = {"query": query, "document": document}
        row.update({name: values[index] for name, values in columns.items()})
        rows.append(row)
    return rows


def question_rows(relevant: list[Any], **columns: list[Any]) -> list[dict[str, Any]]:
    rows = []
    for index, judged in enumerate(relevant):
        row: dict[str, Any] = {"query": f"question {index}", "relevant": judged}
        row.update({name: values[index] for name, values in columns.items()})
        rows.append(row)
    return rows


def as_every_source(rows: list[dict[str, Any]], folder: Path) -> list[Any]:
    jsonl = folder / "rows.jsonl"
    jsonl.write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = folder / "rows.csv"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return [rows, pd.DataFrame(rows), jsonl, table]


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("columns", [None, {"document": "document"}])
def test_is_relevant_is_a_grade(flags: list[Any], columns: Any, tmp_path: Path) -> None:
    for source in as_every_source(judgment_rows(is_relevant=flags), tmp_path):
        questions = rm.read_questions(source, columns=columns)
        assert questions.qrels == {"why?": {"d1": 1, "d2": 0}, "how?": {"d3": 1}}
        if not isinstance(source, list):
            assert rm.read_qrels(source, columns=columns).as_dict() == {"why?": {"d1": 1, "d2": 0}, "how?": {"d3": 1}}


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("name", ["relevant", "correct", "useful"])
@pytest.mark.parametrize("columns", [None, {"document": "document"}])
def test_other_flags_are_refused_with_the_call_that_reads_them(
    flags: list[Any], name: str, columns: Any, tmp_path: Path
) -> None:
    for source in as_every_source(judgment_rows(**{name: flags}), tmp_path):
        with pytest.raises(ValueError, match=rf"columns={{'document': 'document', 'grade': '{name}'}}"):
            rm.read_questions(source, columns=columns)
        questions = rm.read_questions(source, columns={"document": "document", "grade": name})
        assert questions.qrels == {"why?": {"d1": 1, "d2": 0}, "how?": {"d3": 1}}
        without_grades = rm.read_questions(source, columns={"document": "document", "grade": None})
        assert without_grades.qrels == {"why?": {"d1": 1, "d2": 1}, "how?": {"d3": 1}}


def test_truth_values_that_differ_within_a_question_are_about_its_documents() -> None:
    with pytest.raises(ValueError, match="row 2 has False in 'checked', beside the document 'd2'"):
        rm.read_questions(judgment_rows(checked=[True, False, True]))
    labels: list[dict[str, list[Any]]] = [
        {"is_hard": [True, True, False]},
        {"chunk": [1, 0, 1]},
        {"useful": [True, True, True]},
        {"checked": [True, "later", True]},
    ]
    for columns in labels:
        questions = rm.read_questions(judgment_rows(**columns))
        assert questions.qrels == {"why?": {"d1": 1, "d2": 1}, "how?": {"d3": 1}}


@pytest.mark.parametrize("second", [{"is_relevant": [True, False, True]}, {"label": [0, 0, 1]}])
def test_two_columns_of_grades_are_refused_unless_they_agree(second: dict[str, list[Any]], tmp_path: Path) -> None:
    (second_name,) = second
    rows = judgment_rows(grade=[2, 2, 1], **second)
    for source in as_every_source(rows, tmp_path):
        with pytest.raises(ValueError, match=rf"'grade' and '{second_name}', either of which could be the grade"):
            rm.read_questions(source)
        questions = rm.read_questions(source, columns={"grade": "grade"})
        assert questions.qrels == {"why?": {"d1": 2, "d2": 2}, "how?": {"d3": 1}}
    agreeing = judgment_rows(grade=[1, 0, 1], is_relevant=["yes", "no", "yes"])
    assert rm.read_questions(agreeing).qrels == {"why?": {"d1": 1, "d2": 0}, "how?": {"d3": 1}}
    with_level = judgment_rows(label=["easy", "hard", "easy"], grade=[2, 0, 1])
    assert rm.read_questions(with_level).qrels == {"why?": {"d1": 2, "d2": 0}, "how?": {"d3": 1}}


def test_judgments_with_a_grade_and_a_flag_are_refused(tmp_path: Path) -> None:
    for source in as_every_source(judgment_rows(grade=[2, 2, 1], relevant=[True, False, True]), tmp_path)[1:]:
        with pytest.raises(ValueError, match="'grade', 'relevant', any of which could be the grade"):
            rm.read_qrels(source)
        assert rm.read_qrels(source, columns={"grade": "relevant"}).as_dict()["why?"] == {"d1": 1, "d2": 0}


@pytest.mark.parametrize("name", ["grade", "relevance", "is_relevant"])
def test_a_grade_beside_a_list_is_refused_with_the_call_that_reads_it(name: str, tmp_path: Path) -> None:
    rows = question_rows([["d1"], ["d2"], ["d3"]], **{name: [2, 0, 1]})
    for source in as_every_source(rows, tmp_path):
        with pytest.raises(ValueError, match=rf"columns={{'document': 'relevant', 'grade': '{name}'}}"):
            rm.read_questions(source)
        questions = rm.read_questions(source, columns={"document": "relevant", "grade": name})
        assert list(questions.qrels.values()) == [{"d1": 2}, {"d2": 0}, {"d3": 1}]
        without_grades = rm.read_questions(source, columns={"relevant": "relevant", "grade": None})
        assert list(without_grades.qrels.values()) == [["d1"], ["d2"], ["d3"]]


@pytest.mark.parametrize("grades", [[[2], [0, 1]], ["2", "0;1"], [["2"], ["0", "1"]]])
def test_a_list_of_grades_beside_a_list_is_refused(grades: list[Any], tmp_path: Path) -> None:
    for source in as_every_source(question_rows([["d1"], ["d2", "d3"]], grades=grades), tmp_path):
        with pytest.raises(ValueError, match=r"in 'grades', beside the documents in 'relevant'"):
            rm.read_questions(source)


def test_what_is_no_grade_beside_a_list_stays_a_column_of_the_question(tmp_path: Path) -> None:
    rows = question_rows([["d1"], ["d2"]], label=["easy", "hard"], score=[1, 0], grade=["A", "B"])
    for source in as_every_source(rows, tmp_path):
        assert list(rm.read_questions(source).qrels.values()) == [["d1"], ["d2"]]
    with pytest.raises(ValueError, match="row 2 has 0 in 'label'"):
        rm.read_questions(question_rows([["d1"], ["d2"]], label=[1, 0]))


def test_a_named_column_of_documents_is_named_in_the_advice() -> None:
    rows = [{"query": "why?", "pages": ["d1"], "grade": 0}]
    with pytest.raises(ValueError, match=r"columns={'document': 'pages', 'grade': 'grade'}"):
        rm.read_questions(rows, columns={"relevant": "pages"})
    assert rm.read_questions(rows, columns={"document": "pages", "grade": "grade"}).qrels == {"why?": {"d1": 0}}


def test_a_grade_beside_the_documents_of_a_line_of_judgments_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "qrels.jsonl"
    path.write_text(
        '{"query": "q1", "documents": ["d1"], "grade": 1}\n{"query": "q2", "documents": ["d2"], "grade": 0}\n'
    )
    with pytest.raises(ValueError, match=r"qrels\.jsonl, line 2: .*: 0 in 'grade' stands beside the documents"):
        rm.read_qrels(path)


@pytest.mark.parametrize(
    ("judged", "complaint"),
    [
        ({"doc_id": "d2", "relevant": True, "grade": 0}, "has two grades, 'relevant' and 'grade'"),
        ({"doc_id": "d2", "correct": False}, "has no grade, but False in 'correct'"),
    ],
)
def test_an_object_that_contradicts_itself_is_refused(judged: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        rm.read_questions(question_rows([[{"doc_id": "d1", "grade": 1}, judged]]))
    agreeing = [{"doc_id": "d1", "is_relevant": True}, {"doc_id": "d2", "is_relevant": False}]
    assert list(rm.read_questions(question_rows([agreeing])).qrels.values()) == [{"d1": 1, "d2": 0}]
