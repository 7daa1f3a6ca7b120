"""Exports of Quepid, in the forms that its controllers write."""

import json
import zipfile
from pathlib import Path

import pytest

import retrieval_metrics as rm


@pytest.mark.parametrize(
    ("name", "text", "qrels", "unrated"),
    [
        (
            "basic.csv",
            'query,docid,rating\nreset,d1,3.0\nreset,d2,\n"a, b",d3,0.0\n -5 degrees,d4,1.0\nfoo,,',
            {"reset": {"d1": 3.0}, "a, b": {"d3": 0.0}, "-5 degrees": {"d4": 1.0}},
            (("reset", "d2"), ("foo", None)),
        ),
        (
            "detailed.csv",
            "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating\r\nt,c,1,reset,d1,1,T,2\r\n",
            {"reset": {"d1": 2.0}},
            (),
        ),
        (
            "trec.txt",
            "\n12 0 d1 3.0\n\n12 0 d2\n\n13 0 d1 0.0\n",
            {"12": {"d1": 3.0}, "13": {"d1": 0.0}},
            (("12", "d2"),),
        ),
    ],
)
def test_a_case_is_rated_by_one_grader(name: str, text: str, qrels: object, unrated: object, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    labels = rm.Labels.from_quepid(tmp_path / name, grader="Ada")
    assert labels.qrels == qrels
    assert labels.unrated == unrated
    assert labels.graders == ("Ada",)


def test_a_book_has_a_column_for_each_judge(tmp_path: Path) -> None:
    path = tmp_path / "book.csv"
    path.write_text(
        "query,docid,Ada,Ada,Anonymous\nreset,d1,3.0,2.0,\nreset,d1,3.0,2.0,\nreset,d2,,,\nprice,d1,,,1.0\n"
    )
    labels = rm.Labels.from_quepid(path, relevant_from=2)
    assert [(label.query, label.document, label.grade, label.grader) for label in labels] == [
        ("reset", "d1", 3.0, "Ada"),
        ("reset", "d1", 2.0, "Ada (2)"),
        ("price", "d1", 1.0, "Anonymous"),
    ]
    assert labels.unrated == (("reset", "d2"),)
    assert labels.scale is not None
    assert labels.scale.relevant_from == 2


def test_the_json_of_a_book_says_what_could_not_be_rated_and_why(tmp_path: Path) -> None:
    judgements = [
        {"rating": 3.0, "unrateable": False, "judge_later": False, "user_email": "ada@x.org", "explanation": "exact"},
        {"rating": None, "unrateable": True, "judge_later": False, "explanation": ""},
        {"rating": None, "unrateable": False, "judge_later": True, "user_email": "ben@x.org", "explanation": None},
    ]
    book = {
        "name": "Book",
        "query_doc_pairs": [
            {"query_text": "reset", "doc_id": "d1", "position": 1, "judgements": judgements},
            {"query_text": "reset", "doc_id": "d2", "position": 2, "judgements": judgements[2:]},
        ],
    }
    with zipfile.ZipFile(tmp_path / "book_export_1.json.zip", "w") as archive:
        archive.writestr("book_export_1.json", json.dumps(book))
    labels = rm.Labels.from_quepid(tmp_path / "book_export_1.json.zip")
    assert [(label.grade, label.grader, label.reason) for label in labels] == [
        (3.0, "ada@x.org", "exact"),
        (None, "Anonymous", None),
    ]
    assert labels.unrated == (("reset", "d2"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,docid,rating\nreset,d1,good\n", "line 2.*'good' is not a number"),
        ("query,docid,rating\nreset,d1,1,2\n", "4 columns where the header has 3"),
        ("query,title,rating\nreset,d1,1\n", "no column named docid"),
        ("reset,d1,1\n", "line 1.*neither CSV"),
        ('{"pairs": []}', "no 'query_doc_pairs'.*'pairs'"),
        ("query,docid,Ada\nreset,d1,1\nreset,d1,2\n", "Ada graded document 'd1' for query 'reset' 1.0 and 2.0"),
        ("query,docid,rating\n", "no documents to grade"),
    ],
)
def test_another_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "export.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        rm.Labels.from_quepid(tmp_path / "export.csv")


def test_unrated_rows_survive_saving_merging_and_selection(tmp_path: Path) -> None:
    (tmp_path / "basic.csv").write_text("query,docid,rating\nreset,d1,3\nreset,d2,\nfoo,,\n")
    labels = rm.Labels.from_quepid(tmp_path / "basic.csv")
    labels.save(tmp_path / "labels.json")
    assert rm.load(tmp_path / "labels.json") == labels
    assert labels.for_queries(["foo"]).unrated == (("foo", None),)
    further = rm.Labels.from_qrels({"reset": {"d2": 0}}, grader="Ben")
    assert labels.merge(further).unrated == (("foo", None),)
    assert labels.resolved("lowest").unrated == labels.unrated
    assert "2 rows of the export without a grade: .unrated" in str(labels)
