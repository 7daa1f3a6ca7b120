"""Files of questions as people have them: shape by format by encoding, each read alike."""

import ast
import csv
import io
import json
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main

QUERIES = {"q1": "Wie öffne ich den Tresor?", "q2": "Was kostet ein Platz?", "q3": "Wo ist Atlantis?"}
BINARY = {"q1": {"d1": 1.0}, "q2": {"d2": 1.0, "d3": 1.0}, "q3": {}}
GRADED = {"q1": {"d1": 2.0}, "q2": {"d2": 1.0, "d3": 0.0}, "q3": {}}
IDS = [["d1"], ["d2", "d3"], []]
GRADES = [{"d1": 2}, {"d2": 1, "d3": 0}, {}]


def one_row_per_question(cells: list[Any]) -> list[dict[str, Any]]:
    return [
        {"id": query, "query": text, "relevant": cell}
        for (query, text), cell in zip(QUERIES.items(), cells, strict=True)
    ]


def one_row_per_judgment() -> list[dict[str, Any]]:
    rows = []
    for query, grades in zip(QUERIES, GRADES, strict=True):
        for document, grade in grades.items():
            rows.append({"id": query, "query": QUERIES[query], "document": document, "grade": grade})
    return rows


# The shapes of a table, each with what is read from it.
SHAPES: dict[str, tuple[list[dict[str, Any]], dict[str, dict[str, float]]]] = {
    "json lists": (one_row_per_question([json.dumps(ids) for ids in IDS]), BINARY),
    "python lists": (one_row_per_question([repr(ids) for ids in IDS]), BINARY),
    "python tuples": (one_row_per_question(["('d1',)", "('d2', 'd3')", "()"]), BINARY),
    "json grades": (one_row_per_question([json.dumps(grades) for grades in GRADES]), GRADED),
    "python grades": (one_row_per_question([repr(grades) for grades in GRADES]), GRADED),
    "semicolons": (one_row_per_question(["d1", "d2; d3;", ""]), BINARY),
    "bars": (one_row_per_question(["d1", "d2|d3", ""]), BINARY),
    "row per judgment": (one_row_per_judgment(), {query: GRADED[query] for query in ("q1", "q2")}),
}
WITH_LINE_BREAKS = (one_row_per_question(["d1", "d2\nd3", ""]), BINARY)


def write_csv(path: Path, rows: list[dict[str, Any]], separator: str, encoding: str, newline: str) -> None:
    text = io.StringIO()
    quoting: Any = csv.QUOTE_NONE if separator == "\t" else csv.QUOTE_MINIMAL
    quote = None if separator == "\t" else '"'
    writer = csv.DictWriter(
        text, list(rows[0]), delimiter=separator, lineterminator=newline, quoting=quoting, quotechar=quote
    )
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))


def write_json(path: Path, rows: list[dict[str, Any]], encoding: str) -> None:
    path.write_bytes(json.dumps(rows, ensure_ascii=False).encode(encoding))


def write_jsonl(path: Path, rows: list[dict[str, Any]], encoding: str) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_bytes(text.encode(encoding))


Writer = Callable[[Path, list[dict[str, Any]]], None]
WRITERS: dict[str, Writer] = {
    "plain.csv": lambda path, rows: write_csv(path, rows, ",", "utf-8", "\n"),
    "excel.csv": lambda path, rows: write_csv(path, rows, ",", "utf-8-sig", "\r\n"),
    "plain.tsv": lambda path, rows: write_csv(path, rows, "\t", "utf-8", "\n"),
    "windows.tsv": lambda path, rows: write_csv(path, rows, "\t", "utf-8-sig", "\r\n"),
    "plain.json": lambda path, rows: write_json(path, rows, "utf-8"),
    "powershell.json": lambda path, rows: write_json(path, rows, "utf-8-sig"),
    "plain.jsonl": lambda path, rows: write_jsonl(path, rows, "utf-8"),
    "powershell.jsonl": lambda path, rows: write_jsonl(path, rows, "utf-8-sig"),
    "table.parquet": lambda path, rows: pd.DataFrame(rows).to_parquet(path),
    "table.feather": lambda path, rows: pd.DataFrame(rows).to_feather(path),
}
MATRIX = [(shape, name) for shape in SHAPES for name in WRITERS]
# A value of TSV cannot hold a line break.
MATRIX_OF_LINE_BREAKS = [name for name in WRITERS if not name.endswith(".tsv")]


def read_grades(source: Any, **options: Any) -> dict[Any, dict[Any, float]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        questions = rm.read_questions(source, **options)
    assert questions.queries == {query: QUERIES[str(query)] for query in questions.queries}
    return {query: dict(grades) for query, grades in rm.Qrels(questions).graded().items()}


@pytest.mark.parametrize(("shape", "name"), MATRIX)
def test_the_matrix_of_files(tmp_path: Path, shape: str, name: str) -> None:
    rows, expected = SHAPES[shape]
    WRITERS[name](tmp_path / name, rows)
    assert read_grades(tmp_path / name) == expected
    assert read_grades(str(tmp_path / name)) == expected


@pytest.mark.parametrize("name", MATRIX_OF_LINE_BREAKS)
def test_the_matrix_of_line_breaks(tmp_path: Path, name: str) -> None:
    rows, expected = WITH_LINE_BREAKS
    WRITERS[name](tmp_path / name, rows)
    assert read_grades(tmp_path / name) == expected


@pytest.mark.parametrize("shape", SHAPES)
def test_a_data_frame_is_read_like_its_file(tmp_path: Path, shape: str) -> None:
    rows, expected = SHAPES[shape]
    assert read_grades(pd.DataFrame(rows)) == expected
    pd.DataFrame(rows).to_csv(tmp_path / "table.csv", index=False)
    assert read_grades(pd.read_csv(tmp_path / "table.csv")) == expected


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
@pytest.mark.parametrize("name", ["questions.csv", "questions.tsv", "questions.json", "questions.jsonl"])
def test_other_encodings_are_refused_with_the_command_that_converts_them(
    tmp_path: Path, name: str, encoding: str
) -> None:
    rows, _ = SHAPES["json lists"]
    if name.endswith("json"):
        write_json(tmp_path / name, rows, encoding)
    elif name.endswith("jsonl"):
        write_jsonl(tmp_path / name, rows, encoding)
    else:
        write_csv(tmp_path / name, rows, "," if name.endswith("csv") else "\t", encoding, "\n")
    with pytest.raises(ValueError, match=rf"{name}.*iconv -f (WINDOWS-1252|UTF-16)"):
        rm.read_questions(tmp_path / name)


def test_a_workbook(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    rows = one_row_per_question([7, "8; 9", None])
    pd.DataFrame(rows).to_excel(tmp_path / "questions.xlsx", index=False)
    expected = {"q1": {"7": 1.0}, "q2": {"8": 1.0, "9": 1.0}, "q3": {}}
    assert read_grades(tmp_path / "questions.xlsx") == expected


def test_a_separator_that_is_recognised_is_said_and_one_that_is_passed_is_not(tmp_path: Path) -> None:
    rows, expected = SHAPES["semicolons"]
    WRITERS["plain.csv"](tmp_path / "questions.csv", rows)
    with pytest.warns(rm.RetrievalWarning, match="pass separator=';' if that is right"):
        rm.read_questions(tmp_path / "questions.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        questions = rm.read_questions(tmp_path / "questions.csv", separator=";")
        assert rm.Qrels(questions).graded() == expected
        one_id = rm.read_questions(tmp_path / "questions.csv", separator="")
        qrels: Any = one_id.qrels
        assert qrels["q2"] == ["d2; d3;"]


@pytest.mark.parametrize(
    ("cells", "message", "separator", "expected"),
    [
        (["Smith, J.pdf", "d2", ""], "one ID or several; pass separator=','", ",", ["Smith", "J.pdf"]),
        (["Smith, J.pdf", "d2", ""], "separator='' if one", "", ["Smith, J.pdf"]),
        (["d1;d2", "d3|d4", ""], "hold different separators", ";", ["d1", "d2"]),
    ],
)
def test_cells_that_can_be_read_in_two_ways_are_refused_and_the_advice_works(
    tmp_path: Path, cells: list[str], message: str, separator: str, expected: list[str]
) -> None:
    WRITERS["plain.csv"](tmp_path / "questions.csv", one_row_per_question(cells))
    with pytest.raises(ValueError, match=message):
        rm.read_questions(tmp_path / "questions.csv")
    qrels: Any = rm.read_questions(tmp_path / "questions.csv", separator=separator).qrels
    assert qrels["q1"] == expected


@pytest.mark.parametrize("cell", ["['d1' 'd2']", "[d1, d2]", "[1.5]", "[true]"])
def test_a_list_that_cannot_be_read_is_refused(tmp_path: Path, cell: str) -> None:
    WRITERS["plain.csv"](tmp_path / "questions.csv", one_row_per_question([cell, "", ""]))
    with pytest.raises(ValueError, match="row 2, 'relevant'"):
        rm.read_questions(tmp_path / "questions.csv")


def test_quotes_in_a_cell() -> None:
    cell = json.dumps([{"type": "quote", "text": "opens at nine"}])
    questions = rm.read_questions([{"id": "q1", "query": "When?", "relevant": cell}], separator="")
    assert questions.qrels == {"q1": [rm.Quote("opens at nine")]}


@pytest.mark.parametrize("name", ["row.json", "row.jsonl"])
def test_one_row_is_one_question(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"id": "q1", "query": "why?", "relevant": ["d1"]}')
    questions = rm.read_questions(tmp_path / name)
    assert (questions.queries, questions.qrels) == ({"q1": "why?"}, {"q1": ["d1"]})


def test_rows_by_id(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text('{"q1": {"query": "why?", "relevant": ["d1"]}}')
    questions = rm.read_questions(tmp_path / "rows.json")
    assert (questions.queries, questions.qrels) == ({"q1": "why?"}, {"q1": ["d1"]})


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.csv", "id;query;relevant\nq1;why?;d1\n", "only the column .*separated by ';'"),
        ("q.csv", "id,query\nq1,why?\n", "row 2 has no 'relevant'"),
        ("q.csv", "id,query,relevant\n1,a?,d1\n1,b?,d2\n", "query '1' appears in rows 2 and 3"),
        ("q.csv", "id,query,document,grade\n1,a?,d1,x\n", "row 2: the grade must be a number, got 'x'"),
        ("q.csv", "id,query,document\n1,a?,d1\n1,a?,d1\n", "row 3: document 'd1' is judged twice for query '1'"),
        ("q.csv", "id,query,document\n1,a?,d1\n1,b?,d2\n", "row 3: 'query' of query '1' is 'b"),
        ("q.trec", "q1 0 d1 1\n", "is read as trec, which holds no texts of questions"),
        ("q.json", "[1]", "must hold one object"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message) as error:
        rm.read_questions(tmp_path / name)
    assert name in str(error.value)


def test_a_saved_set_is_named(tmp_path: Path) -> None:
    rm.EvaluationSet({"q1": "why?"}, {"q1": ["d1"]}).save(tmp_path / "set.json")
    with pytest.raises(ValueError, match=r"read it with rm\.load\("):
        rm.read_questions(tmp_path / "set.json")


def test_float_ids_of_pandas_are_explained() -> None:
    frame = pd.DataFrame({"id": [1.0, 2.0], "query": ["a?", "b?"], "relevant": ["d1", "d2"]})
    with pytest.raises(TypeError, match=r"the 'id' of the question 'a\?' is 1\.0, as pandas writes"):
        rm.read_questions(frame)


DOOR_ROWS = [
    '{"id": "q1", "query": "why?", "relevant": ["d1"]}',
    '{"id": "q2", "query": "how?", "relevant": ["d2"]}',
]
# A file that a function with judgments takes, each with a recall of 0.5 for a run with d1 and d9.
DOOR_FILES = {
    "questions.csv": "id,query,relevant\nq1,why?,d1\nq2,how?,d2\n",
    "questions.jsonl": "\n".join(DOOR_ROWS),
    "rows.json": "[" + ",\n".join(DOOR_ROWS) + "]",
    "llama.json": '{"queries": {"q1": "why?", "q2": "how?"}, "relevant_docs": {"q1": ["d1"], "q2": ["d2"]}}',
    "qrels.json": '{"q1": {"d1": 1}, "q2": {"d2": 1}}',
    "qrels.trec": "q1 0 d1 1\nq2 0 d2 1\n",
    "qrels.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n",
}


@pytest.mark.parametrize("name", DOOR_FILES)
@pytest.mark.parametrize("as_path", [Path, str])
def test_judgments_may_be_a_path_of_questions_or_qrels(tmp_path: Path, name: str, as_path: Any) -> None:
    (tmp_path / name).write_text(DOOR_FILES[name])
    path = as_path(tmp_path / name)
    run = {"q1": ["d1"], "q2": ["d9"]}
    assert rm.evaluate(path, run, "recall").means == {"recall": 0.5}
    assert rm.compare(path, {"a": run, "b": {**run, "q2": ["d2"]}}, "recall").evaluations["b"].means == {"recall": 1}
    assert rm.audit(path, run, "recall", rules=["standard"]).values["standard"].mean() == 0.5
    runs = {"a": run, "b": {**run, "q2": ["d2"]}}
    assert rm.tune(runs, path, "recall", default="a").evaluations["a"].means["recall"] == 0.5


def test_questions_of_a_path_are_asked_and_pooled_with_their_texts(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text(DOOR_FILES["questions.csv"])
    run = rm.retrieve({"why?": ["d1"], "how?": ["d9"]}.__getitem__, path)
    assert run["q2"] == ["d9"]
    assert rm.evaluate(path, run, "recall").explain("q2").text == "how?"
    pooled = rm.pool(str(path), {"a": run}, {"d1": "one", "d9": "nine"})
    assert [(item.query, item.document) for item in pooled] == [("q2", "d9")]
    with pytest.raises(ValueError, match=r"unanswerable questions, but every question has a relevant document"):
        rm.threshold(path, {"q1": {"d1": 1.0}, "q2": {"d9": 1.0}})


def test_a_saved_set_or_a_missing_file_is_named_where_judgments_are_taken(tmp_path: Path) -> None:
    rm.EvaluationSet({"q1": "why?"}, {"q1": ["d1"]}).save(tmp_path / "set.json")
    with pytest.raises(ValueError, match=r"read it with rm\.load\("):
        rm.evaluate(tmp_path / "set.json", {"q1": ["d1"]})
    with pytest.raises(FileNotFoundError):
        rm.evaluate(tmp_path / "none.csv", {"q1": ["d1"]})


NAMED: dict[str, str | int | None] = {"id": "nr", "query": "frage", "relevant": "gold"}


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("named.csv", "nr,frage,gold,query\nq1,why?,d1,other\nq2,how?,d2;d3,other\n", {"columns": NAMED}),
        (
            "named.jsonl",
            '{"nr": "q1", "frage": "why?", "gold": ["d1"]}\n{"nr": "q2", "frage": "how?", "gold": ["d2", "d3"]}\n',
            {"columns": NAMED},
        ),
        (
            "headless.csv",
            "why?,q1,d1\nhow?,q2,d2;d3\n",
            {"columns": {"id": 2, "query": 1, "relevant": 3}, "header": False},
        ),
        (
            "judgments.tsv",
            "q1\twhy?\td1\nq2\thow?\td2\nq2\thow?\td3\n",
            {"columns": {"id": 1, "query": 2, "document": 3}, "header": False},
        ),
    ],
)
def test_columns_are_named_or_numbered(tmp_path: Path, name: str, text: str, options: dict[str, Any]) -> None:
    (tmp_path / name).write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        questions = rm.read_questions(tmp_path / name, **options)
    assert questions.queries == {"q1": "why?", "q2": "how?"}
    assert rm.Qrels(questions).as_dict() == {"q1": {"d1": 1.0}, "q2": {"d2": 1.0, "d3": 1.0}}


def test_a_workbook_may_have_no_header(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    workbook = openpyxl.Workbook()
    workbook.active.append(["q1", "why?", "d1"])
    workbook.save(tmp_path / "questions.xlsx")
    columns: dict[str, str | int | None] = {"id": 1, "query": 2, "relevant": 3}
    questions = rm.read_questions(tmp_path / "questions.xlsx", header=False, columns=columns)
    assert questions.qrels == {"q1": ["d1"]}


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("a.csv", "nr,frage,gold\nq1,why?,d1\n", {"columns": {"id": "no"}}, "no column 'no'; it has 'nr', 'frage'"),
        ("a.csv", "nr,frage,gold\nq1,why?,d1\n", {"columns": {"text": "frage"}}, "takes id, query, .*, not 'text'"),
        ("a.csv", "q1,why?,d1\nq2,how?,d2\n", {"columns": {"id": "q1"}}, "no header: .*'id': 1, 'query': 2"),
        ("a.csv", "q1,why?,d1\nq2,how?,d2\n", {"header": False}, "header=False needs the positions"),
        ("a.json", '{"why?": ["d1"]}', {"columns": {"id": "nr"}}, "but the JSON object has none"),
        ("a.jsonl", '{"query": "a"}\n', {"columns": {"id": 1}, "header": False}, "jsonl, which has no header"),
        ("a.csv", "nr,frage,gold\nq1,why?,d1\n", {}, r"has no 'query' .* columns=\{'query': \.\.\.\}"),
    ],
)
def test_columns_that_are_not_used_are_refused(
    tmp_path: Path, name: str, text: str, options: dict[str, Any], message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        rm.read_questions(tmp_path / name, **options)


def test_only_rows_have_columns(tmp_path: Path) -> None:
    rows = [{"nr": "q1", "frage": "why?", "gold": ["d1"]}]
    assert rm.read_questions(rows, columns=NAMED).qrels == {"q1": ["d1"]}
    assert rm.read_questions(pd.DataFrame(rows), columns=NAMED).qrels == {"q1": ["d1"]}
    with pytest.raises(ValueError, match="columns= names the columns of rows, but the dict has none"):
        rm.read_questions({"why?": ["d1"]}, columns=NAMED)
    with pytest.raises(TypeError, match=r"row 1 of the list is \('why\?', \['d1'\]\)"):
        rm.read_questions([("why?", ["d1"])], columns=NAMED)
    with pytest.raises(ValueError, match="header=False is for CSV, TSV and Excel"):
        rm.read_questions(rows, header=False)
    with pytest.raises(ValueError, match="BEIR folder, whose columns have fixed names"):
        rm.read_questions(tmp_path, columns=NAMED)


def test_the_shell_names_columns_of_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "named.csv").write_text("nr,frage,gold\nq1,why?,d1\nq2,how?,d2;d3\n")
    (tmp_path / "headless.csv").write_text("q1,why?,d1\nq2,how?,d2;d3\n")
    rm.write_run({"q1": ["d1"], "q2": ["d2"]}, tmp_path / "run.json")
    for name, columns in (("named.csv", ("nr", "frage", "gold")), ("headless.csv", ("1", "2", "3"))):
        command = ["evaluate", str(tmp_path / name), str(tmp_path / "run.json"), "-m", "recall", "--format", "json"]
        for role, column in zip(NAMED, columns, strict=True):
            command += ["--qrels-column", f"{role}={column}"]
        assert main(command) == 0
        output = capsys.readouterr()
        assert json.loads(output.out)["metrics"]["recall"]["mean"] == 0.75
        assert "pass --reading 'separator=;' if that is right, --reading separator= if each" in output.err


def test_every_door_takes_a_path(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text("id,query,relevant\nq1,why?,d1\nq2,how?,d2\n")

    def retriever(text: str) -> list[str]:
        return ["d1"] if text == "why?" else ["d9"]

    comparison = rm.compare_retrievers({"a": retriever, "b": retriever}, path, ["recall"])
    assert comparison.evaluations["a"].means["recall"] == 0.5
    assert rm.EvaluationSet.from_dataset(path).qrels == {"q1": ["d1"], "q2": ["d2"]}


@pytest.mark.parametrize("name", ["questions.csv", "questions.tsv", "questions.parquet"])
def test_the_shell_takes_questions_as_judgments(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    writer = {"csv": "plain.csv", "tsv": "plain.tsv", "parquet": "table.parquet"}[name.rpartition(".")[2]]
    WRITERS[writer](tmp_path / name, SHAPES["semicolons"][0])
    rm.write_run({"q1": ["d1"], "q2": ["d2", "d3"], "q3": ["d4"]}, tmp_path / "run.json")
    command = ["evaluate", str(tmp_path / name), str(tmp_path / "run.json"), "-m", "recall", "--format", "json"]
    assert main([*command, "--reading", "separator=;"]) == 0
    metric = json.loads(capsys.readouterr().out)["metrics"]["recall"]
    assert (metric["mean"], metric["n"]) == (1.0, 2)


def test_without_openpyxl_the_message_says_what_to_install_or_to_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "questions.xlsx").write_bytes(b"PK")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"save it as CSV UTF-8.*retrieval-metrics\[excel\]"):
        rm.read_questions(tmp_path / "questions.xlsx")


def test_further_columns_are_labels_and_numbers_are_answers(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "id": ["q1", "q2"],
            "query": ["why?", "how many?"],
            "relevant": ["d1", "d2"],
            "category": ["billing", None],
            "answer": [None, 12.0],
        }
    )
    frame.to_parquet(tmp_path / "questions.parquet")
    for source in (frame, tmp_path / "questions.parquet"):
        questions = rm.read_questions(source)
        assert questions.provenance_values("category") == {"q1": "billing"}
        assert questions.answers == {"q2": "12"}


def test_columns_about_the_document_are_left_out_of_rows_per_judgment(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text("id,query,document,text,rank,team\nq1,why?,d1,one,1,a\nq1,why?,d2,two,2,a\n")
    questions = rm.read_questions(path)
    assert questions.qrels == {"q1": {"d1": 1.0, "d2": 1.0}}
    assert questions.queries == {"q1": "why?"}
    assert dict(questions.provenance["q1"].labels) == {"team": "a"}


SQUAD_PARAGRAPH = {
    "context": "It is blue.",
    "qas": [
        {"id": "q1", "question": "Why?", "answers": [{"text": "blue", "answer_start": 6}]},
        {"id": "q2", "question": "Who?", "answers": [], "is_impossible": True},
    ],
}


@pytest.mark.parametrize(
    ("name", "text", "qrels", "answers"),
    [
        (
            "autorag.csv",
            "qid,query,generation_gt,retrieval_gt\nq1,Why?,\"['Because.']\",\"[['d1'], ['d2']]\"\n",
            {"q1": [["d1"], ["d2"]]},
            {},
        ),
        (
            "golden.csv",
            "question_id,question,expected_doc_ids,expected_answer\nq1,Why?,d1;d2,So.\n",
            {"q1": ["d1", "d2"]},
            {"q1": "So."},
        ),
        (
            "pairs.csv",
            "query_id,query,relevant_doc_id,label\nq1,Why?,d1,1\nq1,Why?,d2,0\n",
            {"q1": {"d1": 1.0, "d2": 0.0}},
            {},
        ),
        (
            "testset.csv",
            "user_input,reference_contexts,reference,synthesizer_name\nWhy?,\"['It is so.']\",So.,single_hop\n",
            {"Why?": [rm.Text("It is so.")]},
            {"Why?": "So."},
        ),
        (
            "golden.jsonl",
            '{"id": "q1", "question": "Why?", "ground_truth": "So.", "gold_chunk_ids": ["c1"], "fy": "FY24"}',
            {"q1": ["c1"]},
            {"q1": "So."},
        ),
        ("rows.json", '[{"query": "Why?", "relevant_doc_ids": ["d1"]}]', {"Why?": ["d1"]}, {}),
        ("wrapped.json", '{"queries": [{"id": "q1", "query": "Why?", "relevant_docs": ["d1"]}]}', {"q1": ["d1"]}, {}),
        (
            "squad.json",
            json.dumps({"version": "2", "data": [{"title": "Sky", "paragraphs": [SQUAD_PARAGRAPH]}]}),
            {"q1": [rm.Text("It is blue.")], "q2": []},
            {"q1": "blue"},
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_files_of_public_repositories_are_read_as_they_are(
    tmp_path: Path, name: str, text: str, qrels: Any, answers: Any
) -> None:
    (tmp_path / name).write_text(text)
    questions = rm.read_questions(tmp_path / name)
    assert questions.qrels == qrels
    assert questions.answers == answers
    results = [rm.Retrieved("x", text="nothing"), rm.Retrieved("y", text="else")]
    assert rm.evaluate(tmp_path / name, dict.fromkeys(qrels, results), "hit_rate").means == {"hit_rate": 0}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "answers.csv",
            "question,expected_answer,\nWhy?,So.,\n",
            "row 2 has no 'relevant' .*'question', 'expected_answer'",
        ),
        (
            "mteb.jsonl",
            '{"query-id": "q1", "corpus-id": "d1", "score": 1}',
            "without the text .* read_qrels reads such rows",
        ),
    ],
)
def test_files_without_judgments_or_texts_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        rm.read_questions(tmp_path / name)


# Rows of a spreadsheet with the header in its second row; the row after the next question is blank.
BLANK_ROWS: list[list[str | None]] = [
    [None, None, None, None],
    ["id", "query", "document", "grade"],
    ["q1", "Why?\nAnd how?", "d1", "1"],
    [None, None, None, None],
    [None, None, None, None],
    ["q2", "Who?", "d2", "1"],
]
FAULTY_ROWS: list[tuple[list[str | None], str]] = [
    (["q2", "Who?", "d3", "much"], "row 7: the grade must be a number"),
    (["q1", "Why?\nAnd how?", "d1", "1"], "row 7: document 'd1' is judged twice"),
    (["q3", None, "d3", "1"], "row 7 has no 'query'"),
    (["q3", "Where?", "[1.5]", "1"], "row 7, 'document': 1.5 is not an ID"),
]


def write_spreadsheet(path: Path, rows: list[list[str | None]], *, separators: bool) -> None:
    """Write rows as a workbook, or as CSV in which blank rows are empty lines or separators."""
    if path.suffix == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        workbook = openpyxl.Workbook()
        for row in rows:
            workbook.active.append(row)
        workbook.save(path)
        return
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        for row in rows:
            writer.writerow(row if any(row) or separators else [])


@pytest.mark.parametrize(("name", "separators"), [("q.xlsx", False), ("q.csv", False), ("q.csv", True)])
def test_messages_count_rows_as_a_spreadsheet_does(tmp_path: Path, name: str, separators: bool) -> None:
    path = tmp_path / name
    write_spreadsheet(path, BLANK_ROWS, separators=separators)
    assert rm.read_questions(path).qrels == {"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}
    for faulty_row, message in FAULTY_ROWS:
        write_spreadsheet(path, [*BLANK_ROWS, faulty_row], separators=separators)
        with pytest.raises(ValueError, match=message):
            rm.read_questions(path)


def test_messages_about_a_frame_count_its_empty_rows() -> None:
    frame = pd.DataFrame({"query": ["Why?", None, "Who?"], "document": ["d1", None, "d2"], "grade": ["1", None, "x"]})
    with pytest.raises(ValueError, match="row 3: the grade must be a number"):
        rm.read_questions(frame)


def test_a_separator_alone_in_a_line_of_judgments_is_refused(tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("query,document,grade\nq1,d1,1\n,,\n")
    with pytest.raises(ValueError, match="line 3: ,,: the line has only separators"):
        rm.read_qrels(tmp_path / "qrels.csv")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({"name": "set", "entries": [{"query": "Why?", "expected_docs": ["a.md"]}]}, {"a.md": 1.0}),
        ({"items": [{"query_id": "Why?", "query_text": "Why?", "expected_sources": ["a.md"]}]}, {"a.md": 1.0}),
        ({"cases": [{"question": "Why?", "type": "short", "gold_docs": ["a.md"]}]}, {"a.md": 1.0}),
        ({"examples": [{"query": "Why?", "relevant_doc_ids": ["d1", "d2"]}]}, {"d1": 1.0, "d2": 1.0}),
        ([{"question": "Why?", "ground_truth_doc_ids": ["d1"]}], {"d1": 1.0}),
        ([{"question": "Why?", "ground_truth_sources": ["a.md"], "expected_chunk_ids": ["c1"]}], {"c1": 1.0}),
        ([{"query": "Why?", "relevant": [{"doc_id": "d1", "gain": 2}, {"doc_id": "d2", "gain": 0.5}]}], None),
        ([{"query": "Why?", "relevant": [{"rank": 1, "chunk_id": "d1"}, {"rank": 2, "chunk_id": "d2"}]}], None),
    ],
)
def test_json_of_other_shapes_is_read(tmp_path: Path, rows: Any, expected: dict[str, float] | None) -> None:
    (tmp_path / "q.json").write_text(json.dumps(rows))
    grades = read_qrels_of(rm.read_questions(tmp_path / "q.json"))
    if expected is None:
        expected = {"d1": 2.0, "d2": 0.5} if "gain" in json.dumps(rows) else {"d1": 1.0, "d2": 1.0}
    assert grades == {"Why?": expected}


def read_qrels_of(questions: rm.EvaluationSet) -> dict[Any, Any]:
    return dict(rm.Qrels(questions).graded())


def test_the_context_of_a_golden_is_judged_by_its_text(tmp_path: Path) -> None:
    golden = {"input": "Why?", "expected_output": "So.", "actual_output": None, "retrieval_context": ["other"]}
    (tmp_path / "goldens.json").write_text(json.dumps([{**golden, "context": ["It is so because of that."]}]))
    questions = rm.read_questions(tmp_path / "goldens.json")
    assert questions.qrels == {"Why?": [rm.Text("It is so because of that.")]}
    assert questions.answers == {"Why?": "So."}
    (tmp_path / "goldens.json").write_text(json.dumps([{**golden, "context": []}]))
    with pytest.raises(ValueError, match=r"the golden 'Why\?' has no context, .* leave it out"):
        rm.read_questions(tmp_path / "goldens.json")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "q.json",
            '{"cases": [{"prompt": "Why?", "docs": ["a"]}]}',
            "'cases' holds 1 row with the keys 'prompt', 'docs'",
        ),
        ("q.json", '{"name": "x", "rows": [{"question": "Why?", "hits": ["a"]}]}', "row 1 has no 'relevant' .*'hits'"),
        (
            "q.json",
            '[{"query": "Why?", "relevant": [{"doc_id": "d1"}, {"path": "a.md"}]}]',
            r"row 1: {'path': 'a.md'} names no document",
        ),
        (
            "q.json",
            '[{"query": "Why?", "relevant": [{"doc_id": "d1", "gain": 1}, {"doc_id": "d2"}]}]',
            "row 1: 1 of 2 judged documents have a grade",
        ),
        ("q.json", '[{"query": "Why?", "relevant": [{"doc_id": "d1"}, {"doc_id": "d1"}]}]', "'d1' is judged twice"),
        ("q.yaml", "- question: Why?\n  relevant: [a]\n", r"is YAML, which is not supported; .* yaml.safe_load"),
        ("q.csv", "question;relevant\nWhy?;a\n", r"pass pandas.read_csv\(path, sep=';', dtype=str\)"),
    ],
)
def test_the_message_says_what_the_shape_lacks(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        rm.read_questions(tmp_path / name)


def test_the_advice_on_a_shape_reads_the_file(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_text('{"cases": [{"prompt": "Why?", "docs": ["a"]}]}')
    questions = rm.read_questions(path, columns={"query": "prompt", "relevant": "docs"})
    assert read_qrels_of(questions) == {"Why?": {"a": 1.0}}
    path.write_text('{"train": [{"query": "Why?"}], "test": [{"query": "Who?"}]}')
    with pytest.raises(ValueError, match="several lists of them, 'train', 'test'; pass one of the lists"):
        rm.read_questions(path, columns={"relevant": "docs"})
    (tmp_path / "q.csv").write_text("question;relevant\nWhy?;a\n")
    frame = pd.read_csv(tmp_path / "q.csv", sep=";", dtype=str)
    assert read_qrels_of(rm.read_questions(frame)) == {"Why?": {"a": 1.0}}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.csv", "question,document\nWhy?,a.md\n"),
        ("q.csv", "Question,File\nWhy?,a.md\n"),
        ("q.tsv", "question\texpected_source\nWhy?\ta.md\n"),
        ("q.jsonl", '{"question": "Why?", "expected_sources": ["a.md"]}\n'),
        ("q.json", '{"cases": [{"question": "Why?", "gold_docs": ["a.md"]}]}'),
    ],
)
def test_files_of_questions_are_judgments_wherever_judgments_are(
    tmp_path: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_text(text)
    run = {"Why?": ["x.md", "a.md"]}
    assert rm.evaluate(path, run, "mrr").means == {"mrr": 0.5}
    assert rm.compare(path, {"one": run, "other": run}, "mrr").n["mrr"] == 1
    rm.write_run(run, tmp_path / "run.json")
    assert main(["evaluate", str(path), str(tmp_path / "run.json"), "-m", "mrr"]) == 0
    assert "0.500" in capsys.readouterr().out


def test_the_first_of_several_answers_is_kept(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"qid": ["q1"], "query": ["Why?"], "retrieval_gt": [[["d1"]]], "generation_gt": [["So.", "x"]]}
    )
    frame.to_parquet(tmp_path / "qa.parquet")
    questions = rm.read_questions(tmp_path / "qa.parquet")
    assert questions.answers == {"q1": "So."}
    assert read_qrels_of(questions) == {"q1": {"d1": 1.0}}


def test_a_query_id_beside_a_document_is_of_qrels(tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("query,document\nq1,d1\n")
    assert rm.evaluate(tmp_path / "qrels.csv", {"q1": ["d1"]}, "mrr").means == {"mrr": 1.0}


# Tables with a column twice: the names of all columns, and what the message says of two of them.
REPEATED_COLUMNS = [
    (["query", "relevant", "relevant"], "'relevant'; remove or rename one"),
    (["query", "Relevant", "relevant"], r"'Relevant' and 'relevant'; .* columns=\{'relevant': 'relevant'\}"),
    (["query", "document", "document"], "'document'; remove or rename one"),
    (["query", "Doc ID", "doc_id"], r"'Doc ID' and 'doc_id'; .* columns=\{'document': 'doc_id'\}"),
    (["Question", "question", "relevant"], r"'Question' and 'question'; .* columns=\{'query': 'question'\}"),
    (["question", "expected_source", "expected_source"], "'expected_source'; remove or rename one"),
]


def write_table(path: Path, names: list[str], cells: list[str]) -> None:
    """Write a table of one row."""
    if path.suffix == ".xlsx":
        pd.DataFrame([cells], columns=names).to_excel(path, index=False)
        return
    separator = "\t" if path.suffix == ".tsv" else ","
    path.write_text(f"{separator.join(names)}\n{separator.join(cells)}\n")


@pytest.mark.parametrize("name", ["q.csv", "q.tsv", "q.xlsx"])
@pytest.mark.parametrize(("names", "message"), REPEATED_COLUMNS)
def test_a_column_twice_is_refused(tmp_path: Path, name: str, names: list[str], message: str) -> None:
    path = tmp_path / name
    write_table(path, names, ["a?", "d1", "d2"])
    with pytest.raises(ValueError, match=f"{name} has two columns named .*{message}"):
        rm.read_questions(path)


@pytest.mark.parametrize(("names", "message"), REPEATED_COLUMNS)
def test_a_column_twice_in_a_frame_is_refused(names: list[str], message: str) -> None:
    frame = pd.DataFrame([["a?", "d1", "d2"]], columns=names)
    with pytest.raises(ValueError, match=f"the DataFrame has two columns named .*{message}"):
        rm.read_questions(frame)


@pytest.mark.parametrize(
    "columns", [("text", "text.1"), ("Text", "text"), ("score", "score.1"), ("file", "File"), ("context", "context.1")]
)
def test_a_column_twice_that_is_not_read_does_not_matter(tmp_path: Path, columns: tuple[str, str]) -> None:
    names = ["query", "relevant", *columns]
    write_table(tmp_path / "q.csv", names, ["a?", "d1", "x", "y"])
    for source in (tmp_path / "q.csv", pd.DataFrame([["a?", "d1", "x", "y"]], columns=names)):
        questions = rm.read_questions(source)
        assert (questions.queries, questions.qrels) == ({"a?": "a?"}, {"a?": ["d1"]})
    # Where it is read, it counts: the text of a question without another, and the grade of a document.
    with pytest.raises(ValueError, match="row 2 has two columns named 'text'"):
        rm.read_questions(pd.DataFrame({"query": ["a?", None], "relevant": "d1", "text": "x", "text.1": "y"}))
    with pytest.raises(ValueError, match="two columns named 'score'"):
        rm.read_questions(pd.DataFrame({"query": ["a?"], "document": "d1", "score": 1, "score.1": 2}))


@pytest.mark.parametrize("name", ["q.csv", "q.xlsx"])
def test_the_advice_on_a_column_twice_reads_the_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_table(path, ["query", "Relevant", "relevant", "note", "note"], ["a?", "d1", "d2", "x", "y"])
    for column, document in (("Relevant", "d1"), ("relevant", "d2")):
        assert rm.read_questions(path, columns={"relevant": column}).qrels == {"a?": [document]}
    write_table(path, ["q", "rel", "rel"], ["a?", "d1", "d2"])
    with pytest.raises(ValueError, match="two columns named 'rel'; remove or rename one"):
        rm.read_questions(path, columns={"query": "q", "relevant": "rel"})


def test_a_column_twice_in_rows_of_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"query": "a?", "Relevant": ["d1"], "relevant": ["d2"]}\n')
    with pytest.raises(ValueError, match=r"line 1 has two .* 'Relevant' and 'relevant'"):
        rm.read_questions(path)
    assert rm.read_questions(path, columns={"relevant": "Relevant"}).qrels == {"a?": ["d1"]}


@pytest.mark.parametrize("column", ["relevant", "document", "query", "Relevant"])
def test_a_column_that_pandas_renamed_is_a_column_twice(tmp_path: Path, column: str) -> None:
    names = [*dict.fromkeys(["query", "relevant" if column == "query" else column, column]), f"{column}.1"]
    cells = {"query": "a?", "relevant": "d1", "document": "d1", "Relevant": "d1"}
    row = [cells.get(name, "d2") for name in names]
    write_table(tmp_path / "q.csv", names, row)
    (tmp_path / "q.json").write_text(json.dumps([dict(zip(names, row, strict=True))]))
    frame = pd.read_csv(tmp_path / "q.csv")
    sources: list[Any] = [tmp_path / "q.csv", frame, frame.to_dict("records"), tmp_path / "q.json"]
    for source in sources:
        with pytest.raises(ValueError, match=f"named '{column}', of which pandas names the second '{column}.1'"):
            rm.read_questions(source)
    if column in {"relevant", "Relevant"}:
        for source in (tmp_path / "q.csv", frame, tmp_path / "q.json"):
            for name, document in ((column, "d1"), (f"{column}.1", "d2")):
                assert rm.read_questions(source, columns={"relevant": name}).qrels == {"a?": [document]}
    write_table(tmp_path / "labels.csv", ["query", "relevant", "team", "team.1"], ["a?", "d1", "x", "y"])
    assert rm.read_questions(tmp_path / "labels.csv").qrels == {"a?": ["d1"]}


@pytest.mark.parametrize(
    ("relevant", "document", "is_refused"),
    [
        ("d1", "d2", True),
        ("d1;d3", "d2", True),
        ("", "d2", True),
        ("1", "d2", True),
        ("d1", "d1", False),
        ("d1;d2", "d2", False),
        ("d1;d2", "d1;d2", False),
        ("d1", "", False),
    ],
)
@pytest.mark.parametrize("columns", [("relevant", "doc_id"), ("expected_ids", "document")])
def test_a_document_that_is_not_among_the_relevant_ones_is_refused(
    tmp_path: Path, columns: tuple[str, str], relevant: str, document: str, is_refused: bool
) -> None:
    path = tmp_path / "q.csv"
    path.write_text(f"query,{columns[0]},{columns[1]}\na?,{relevant},{document}\nb?,d8;d9,d9\n")
    listed = {"a?": [part for part in relevant.split(";") if part], "b?": ["d8", "d9"]}
    if not is_refused:
        assert rm.read_questions(path, separator=";").qrels == listed
        return
    for source in (path, pd.read_csv(path, dtype=str)):
        with pytest.raises(ValueError, match=rf"different judgments in '{columns[0]}' and '{columns[1]}'") as caught:
            rm.read_questions(source, separator=";")
        choices = [ast.literal_eval(choice) for choice in re.findall(r"columns=({.*?})", str(caught.value))]
        assert choices == [{"relevant": columns[0]}, {"document": columns[1]}]
        assert rm.read_questions(source, separator=";", columns=choices[0]).qrels == listed
        assert rm.read_questions(path, columns=choices[1]).qrels == {"a?": {document: 1.0}, "b?": {"d9": 1.0}}


@pytest.mark.parametrize("names", [("doc_id", "relevant"), ("Document", "Relevant"), ("file_name", "relevant")])
@pytest.mark.parametrize("flags", [(True, False), ("yes", "No"), ("Y", "N"), ("true", " FALSE"), (1, 0), ("1", "0")])
def test_a_flag_of_relevance_is_a_grade_and_no_list_of_documents(
    tmp_path: Path, names: tuple[str, str], flags: tuple[Any, Any]
) -> None:
    if names[0] == "file_name" and str(flags[0]) == "1":
        return  # a number beside the name of a file may be that of a page
    document_name, relevant_name = names
    rows: list[dict[str, Any]] = []
    for flag, document in zip((None, *flags), ("d0", "d1", "d2"), strict=True):
        rows.append({"query": "a?", document_name: document, relevant_name: flag})
    judged_table = pd.DataFrame(rows[1:])
    judged_table.to_csv(tmp_path / "q.csv", index=False)
    (tmp_path / "q.json").write_text(json.dumps(rows[1:]))
    for source in (rows[1:], judged_table, tmp_path / "q.csv", tmp_path / "q.json"):
        columns = find_offered_columns(source)
        assert columns.keys() == {"document", "grade"}
        assert rm.read_questions(source, columns=columns).qrels == {"a?": {"d1": 1.0, "d2": 0.0}}
    # A document without a flag was not judged, and is relevant under no advice.
    table = pd.DataFrame(rows)
    with pytest.raises(ValueError, match="document 'd0' has no 'grade'"):
        rm.read_questions(table, columns=find_offered_columns(table))
    renamed = judged_table.rename(columns={"query": "query_id"})
    judgments = rm.read_qrels(renamed, columns={"document": document_name, "grade": relevant_name})
    assert judgments.as_dict() == {"a?": {"d1": 1.0, "d2": 0.0}}


def find_offered_columns(source: Any) -> dict[str, str]:
    """Return the only columns that the refusal of a dataset offers."""
    with pytest.raises(ValueError, match="columns=") as caught:
        rm.read_questions(source)
    (choice,) = re.findall(r"columns=({.*?})", str(caught.value))
    columns: dict[str, str] = ast.literal_eval(choice)
    return columns


def test_numbers_beside_a_document_are_grades_or_ids_and_never_ignored() -> None:
    rows: Any = [{"query": "a?", "doc_id": "d1", "relevant": 0}, {"query": "a?", "doc_id": "d2", "relevant": 3}]
    with pytest.raises(ValueError, match="if these are grades") as caught:
        rm.read_questions(rows)
    choices = [ast.literal_eval(choice) for choice in re.findall(r"columns=({.*?})", str(caught.value))]
    assert choices == [{"relevant": "relevant"}, {"document": "doc_id", "grade": "relevant"}]
    assert rm.read_questions(rows, columns=choices[1]).qrels == {"a?": {"d1": 0.0, "d2": 3.0}}
    flagged: Any = [{"doc_id": "d1", "relevant": True}, {"doc_id": "d2", "relevant": False}]
    assert rm.read_questions([{"query": "a?", "relevant": flagged}]).qrels == {"a?": {"d1": 1.0, "d2": 0.0}}


def test_columns_that_leave_no_question_or_judgments_are_refused_with_the_names_of_the_user(tmp_path: Path) -> None:
    frame = pd.DataFrame({"question": ["a?", "b?"], "gold": ["d1", "d2"]})
    frame.to_csv(tmp_path / "q.csv", index=False)
    for source in (frame, tmp_path / "q.csv"):
        with pytest.raises(ValueError, match=r"no 'query' column; it has 'question', 'gold'; .*'query': \.\.\."):
            rm.read_questions(source, columns={"relevant": "gold", "id": "question"})
        with pytest.raises(ValueError, match=r"no 'relevant' column; it has 'question', 'gold'; .*'relevant': \.\.\."):
            rm.read_questions(source, columns={"query": "question"})
        with pytest.raises(ValueError, match="'question' as the query and as the relevant"):
            rm.read_questions(source, columns={"query": "question", "relevant": "question"})
        columns = {"relevant": "gold", "id": "question", "query": "question"}
        assert rm.read_questions(source, columns=columns).qrels == {"a?": ["d1"], "b?": ["d2"]}


def test_a_document_beside_quotes_says_where_they_are_from() -> None:
    rows: Any = [{"query": "a?", "relevant": [rm.Quote("a lantern in the vault")], "document": "vault.md"}]
    assert rm.EvaluationSet.from_dataset(rows).qrels == {"a?": [rm.Quote("a lantern in the vault")]}


OPENED: dict[str, Callable[[Path], Any]] = {
    "text": lambda path: path.open(encoding="utf-8"),
    "bytes": lambda path: path.open("rb"),
    "StringIO": lambda path: io.StringIO(path.read_text(encoding="utf-8")),
    "BytesIO": lambda path: io.BytesIO(path.read_bytes()),
}


@pytest.mark.parametrize("opened", OPENED)
@pytest.mark.parametrize("name", ["q.csv", "q.tsv", "q.json", "q.jsonl"])
def test_an_open_file_is_read_like_its_path(tmp_path: Path, opened: str, name: str) -> None:
    path = tmp_path / name
    if name.endswith(("csv", "tsv")):
        write_table(path, ["id", "query", "relevant"], ["q1", "Wie öffne ich den Tresor?", "d1"])
    else:
        path.write_text(json.dumps({"id": "q1", "query": "Wie öffne ich den Tresor?", "relevant": ["d1"]}))
    readers: list[Callable[[Any], Any]] = [rm.read_questions, rm.EvaluationSet.from_dataset]
    for read in readers:
        with OPENED[opened](path) as file:
            assert read(file) == read(path)
    with OPENED[opened](path) as file:
        assert dict(rm.retrieve(lambda _: ["d1"], file)) == {"q1": ["d1"]}


@pytest.mark.parametrize("mode", ["r", "rb"])
def test_an_open_workbook_is_read_and_what_was_saved_is_named(tmp_path: Path, mode: str) -> None:
    write_table(tmp_path / "q.xlsx", ["query", "relevant"], ["a?", "d1"])
    with (tmp_path / "q.xlsx").open(mode) as file:
        assert rm.read_questions(file).qrels == {"a?": ["d1"]}
    rm.EvaluationSet(queries={"q": "a?"}, qrels={"q": ["d1"]}).save(tmp_path / "saved.json")
    with (tmp_path / "saved.json").open(mode) as file:
        with pytest.raises(ValueError, match=r"rm\.load\(path\)"):
            rm.read_questions(file)
        with pytest.raises(TypeError, match=r"load takes the path of a file, .* pass '.*saved\.json'"):
            rm.load(file)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"History takes the path of a file, .* pass '.*saved\.json'"):
            rm.History(file)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="write its content to a file"):
        rm.load(io.BytesIO(b""))  # type: ignore[arg-type]


def test_the_advice_on_an_open_file_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    write_table(path, ["query", "relevant"], ["a?", "d1"])
    run = {"a?": ["d1"]}
    with path.open(encoding="utf-8") as file:
        with pytest.raises(
            TypeError, match=r"read_qrels\(file\) or, if it holds questions, with read_questions\(file\)"
        ):
            rm.evaluate(file, run, "mrr")  # type: ignore[arg-type]
        assert rm.evaluate(rm.read_questions(file), run, "mrr").means == {"mrr": 1.0}
        refused: list[Callable[[], Any]] = [
            lambda: rm.evaluate({"a?": ["d1"]}, file, "mrr"),  # type: ignore[arg-type]
            lambda: rm.changes(file, run),  # type: ignore[arg-type]
        ]
        for call in refused:
            with pytest.raises(TypeError, match=r"read_run\(file\)"):
                call()
    (tmp_path / "questions").write_bytes(path.read_bytes())  # without an extension
    assert rm.read_questions(tmp_path / "questions").qrels == {"a?": ["d1"]}


GOOD_LINE = '{"query": "a?", "relevant": ["d1"]}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"query": "b?"}', "line 4 has no 'relevant'"),
        ('{"relevant": ["d1"]}', "line 4 has no 'query'"),
        (GOOD_LINE, "query 'a\\?' appears in lines 1 and 4; give each line its own 'id'"),
        ('{"query": "b?", "relevant": ["d1"], "Relevant": ["d2"]}', "line 4 has two columns named 'relevant'"),
        ('{"query": "b?", "relevant": ["d1"], "gold_ids": ["d2"]}', "line 4 has different judgments"),
        ('{"query": "b?", "relevant": ["d1"], "document": "d2"}', "line 4 has different judgments"),
        ('{"query": "b?", "relevant": ["d1"], "kind": 3}', "line 4: the kind of a question"),
        ('{"query": "b?", "relevant": ["d1 "]}', "line 4, 'relevant': 'd1 '"),
        ('{"query":', 'line 4: {"query":: this is not JSON'),
    ],
)
def test_messages_about_json_lines_count_blank_lines(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(f"{GOOD_LINE}\n\n  \n{line}\n")
    with pytest.raises(ValueError, match=f"q.jsonl[:,] {message}"):
        rm.read_questions(path)


def test_a_judgment_of_a_later_line_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('\n{"query": "a?", "document": "d1"}\n\n{"query": "a?", "document": "d1"}\n')
    with pytest.raises(ValueError, match=r"q\.jsonl: line 4: document 'd1' is judged twice"):
        rm.read_questions(path)
    path.write_text('{"prompt": "a?", "relevant": ["d1"]}\n\n{"prompt": "b?"}\n')
    with pytest.raises(ValueError, match=r"q\.jsonl: line 3 has no 'relevant'"):
        rm.read_questions(path, columns={"query": "prompt"})
