"""Files are read as their options say: runs by name, columns, memory and views of traces."""

import json
from pathlib import Path
from typing import Any

import pytest

from retrieval_metrics.cli.main import main


@pytest.fixture
def traced(tmp_path: Path) -> list[str]:
    documents = [{"id": document_id, "text": f"the text of {document_id}"} for document_id in ("d1", "d7")]
    span_facts: Any = {"trace": "t", "parent": "1"}
    spans = [
        {"trace": "t", "span": "1", "parent": None, "kind": "other", "input": "q1", "output": "It is [d7]."},
        {**span_facts, "span": "2", "kind": "retriever", "input": "a", "output": documents[:1], "start": 1, "end": 2},
        {**span_facts, "span": "3", "kind": "retriever", "input": "b", "output": documents, "start": 3, "end": 4},
        {
            **span_facts,
            "span": "4",
            "kind": "model",
            "input": documents[1]["text"],
            "output": "It is [d7].",
            "start": 5,
            "end": 6,
        },
    ]
    (tmp_path / "spans.jsonl").write_text("\n".join(map(json.dumps, spans)))
    (tmp_path / "qrels.trec").write_text("q1 0 d7 1\nq1 0 d9 1\n")
    return [str(tmp_path / "qrels.trec"), str(tmp_path / "spans.jsonl"), "--question-id", "input", "--format", "json"]


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize(
    ("view", "metric", "value"),
    [
        ("union", "recall@1calls", 0.0),
        ("union", "recall@2calls", 0.5),
        ("interleaved", "mrr", 0.5),
        ("first", "recall", 0.0),
        ("last", "mrr", 0.5),
        ("context", "mrr", 1.0),
        ("cited", "recall", 0.5),
    ],
)
def test_a_view_of_traces_is_scored(
    traced: list[str], view: str, metric: str, value: float, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *traced, "--view", view, "--citations", r"\[(\w+)\]", "-m", metric]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"][metric]["mean"] == value


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--tool", "search"], "name a view of them with --view"),
        (["--view", "cited"], "--view cited needs --citations"),
        (["--view", "cited", "--citations", "("], "--citations is not a regular expression"),
        (["--view", "union", "--tool", "search"], "no tool named 'search' ran"),
    ],
)
def test_a_view_that_cannot_be_told_is_refused(
    traced: list[str], options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = traced if "--view" in options else traced[:2]
    assert main(["evaluate", *chosen, *options]) == 2
    assert says in capsys.readouterr().err


def test_without_the_place_of_the_questions_id_it_is_asked_for(
    traced: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *traced[:2], "--view", "union"]) == 2
    assert "only its own, such as 't'; pass where the ID is, such as --question-id" in capsys.readouterr().err
    assert main(["evaluate", *traced[:2], "--view", "union", "--question-id", "metadata.nope"]) == 2
    assert "none of 1 trace has 'metadata.nope', named in --question-id" in capsys.readouterr().err


def test_columns_and_formats_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels.txt").write_text("topic,passage\nq1,d1\n")
    (tmp_path / "run").write_text('{"q1": ["d2", "d1"]}')
    call = ["evaluate", str(tmp_path / "qrels.txt"), str(tmp_path / "run"), "-m", "mrr", "--qrels-format", "csv"]
    assert main([*call, "--qrels-column", "document=passage"]) == 0
    assert "mrr     0.500  [0.037, 0.963]  1" in capsys.readouterr().out
    assert main(call) == 2
    assert "has no document column" in capsys.readouterr().err
    assert main([*call, "--qrels-column", "passage"]) == 2
    assert "a column must be given as ROLE=NAME, such as query=qid, got 'passage'" in capsys.readouterr().err


def test_a_run_larger_than_its_memory_is_streamed_and_says_so(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *files, "-m", "mrr", "--memory", "0.01KB"]) == 0
    out, err = capsys.readouterr()
    assert "mrr     0.750  [0.123, 0.986]  2" in out
    assert "note: <StreamedRun: 2 queries, 5 documents, streamed from" in err


def test_runs_have_the_names_of_their_files_or_those_they_are_given(
    systems: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, good, _ = systems
    assert main(["compare", qrels, good, good]) == 2
    assert "two runs are named 'good'" in capsys.readouterr().err
    assert main(["compare", qrels, f"first={good}", f"second={good}", "-m", "mrr"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "first and second have identical values in mrr on every query" in out.replace(
        "second and first", "first and second"
    )
    assert main(["compare", *systems, "--baseline", "best"]) == 2
    assert "--baseline: no run is named 'best'; the runs are good, bad" in capsys.readouterr().err
    assert main(["compare", qrels, good]) == 2
    assert capsys.readouterr().err.startswith("retrieval-metrics: error: ")


def test_columns_that_are_not_there_and_what_is_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels.csv").write_text("query,document,judgement\nq,a,0\nq,b,1\n")
    (tmp_path / "run.csv").write_text("query,document,distance\nq,a ,1\nq,b,2\n")
    call = ["evaluate", str(tmp_path / "qrels.csv"), str(tmp_path / "run.csv"), "-m", "mrr", "--format", "csv"]
    assert main(call) == 2
    assert "'judgement' could be it" in capsys.readouterr().err
    call += ["--qrels-column", "grade=judgement", "--run-column", "score="]
    assert main(call) == 2
    assert "begins or ends with whitespace" in capsys.readouterr().err
    assert main([*call, "--allow", "blanks"]) == 0
    assert "mrr,0.5,1" in capsys.readouterr().out
    assert main([*call, "--reading", "line=5"]) == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.json", b'{"q":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        ("deep.jsonl", b'{"query":"q","documents":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        ("long.csv", b"query,document,score\nq," + b"d" * 3_000_000 + b",high\n"),
        ("huge.json", b'{"q": {"d": 1' + b"0" * 400 + b"}}"),
        ("digits.json", b'{"q": {"d": 1' + b"0" * 5000 + b"}}"),
        ("latin.csv", "query,document,score\nq,dé,1\n".encode("latin-1")),
        ("huge.csv", b"query,document,score\nq,d,1e400\n"),
        ("cut.parquet", b"PAR1" + b"\x15" * 200 + b"PAR1"),
        ("quote.csv", b'query,document,score\nq,"d,1\n'),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "convert"])
def test_a_broken_file_is_an_input_error(
    tmp_path: Path, two_runs: list[str], capsys: pytest.CaptureFixture[str], command: str, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    broken = str(tmp_path / name)
    for call in (
        [["evaluate", broken, two_runs[1]], ["evaluate", two_runs[0], broken]]
        if command == "evaluate"
        else [["convert", what, broken, str(tmp_path / "x.json")] for what in ("run", "qrels")]
    ):
        if name == "huge.json" and call[:2] == ["convert", "run"]:
            continue  # 1e400 as a whole number is a score too large for a float, and said to be
        assert main(call) == 2, call
        assert name in capsys.readouterr().err


@pytest.fixture
def own_ids(tmp_path: Path) -> list[str]:
    (tmp_path / "qrels.trec").write_text("".join(f"a{number} 0 b{number} 1\n" for number in range(6)))
    rows = [f"a{number} Q0 {document}{number} 1 {score} t\n" for number in range(6) for document, score in OWN_SCORES]
    (tmp_path / "run.trec").write_text("".join(rows))
    return ["evaluate", str(tmp_path / "qrels.trec"), str(tmp_path / "run.trec"), "-m", "mrr"]


OWN_SCORES = [("a", 0.9), ("b", 0.8), ("c", 0.7)]
ROWS_TO_EXCLUDE = [f"a{number}\ta{number}" for number in range(6)]


def test_own_ids_are_mentioned_with_the_option(own_ids: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(own_ids) == 0
    output = capsys.readouterr()
    assert "0.500" in output.out
    assert "--exclude query" in output.err


@pytest.mark.parametrize(
    "content", [None, ROWS_TO_EXCLUDE, ["query,document", *(row.replace("\t", ",") for row in ROWS_TO_EXCLUDE), ""]]
)
def test_documents_are_excluded_by_the_query_id_or_a_file(
    own_ids: list[str], content: list[str] | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = "query-id"
    if content is not None:
        value = str(tmp_path / "excluded")
        Path(value).write_text("\n".join(content))
    assert main([*own_ids, "--exclude", value, "--format", "json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["metrics"]["mrr"]["mean"] == 1.0
    assert result["counts"]["excluded"] == 6


def test_an_audit_and_a_lint_exclude_documents(
    own_ids: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, qrels, run, *_ = own_ids
    assert main(["audit", qrels, run, "-m", "mrr", "--exclude", "query-id"]) == 0
    assert "6 documents excluded from the rankings before scoring (--exclude)" in capsys.readouterr().out
    (tmp_path / "queries.tsv").write_text("".join(f"a{number}\twhat is a{number} made of?\n" for number in range(6)))
    assert main(["lint", str(tmp_path / "queries.tsv"), qrels, "--run", run, "--exclude", "query-id"]) == 0
    assert "6 documents excluded from the rankings before scoring" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a0 b c\n", "line 1: 'a0 b c' must hold a query and a document"),
        ("\n", "is empty"),
        ("query\tdoc_id\n", "no doc"),
    ],
)
def test_a_file_of_exclusions_has_two_columns(
    own_ids: list[str], content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "excluded").write_text(content)
    assert main([*own_ids, "--exclude", str(tmp_path / "excluded")]) != 0
    assert message in capsys.readouterr().err


QUESTION_TABLES = [
    ("question,document,useful\nwhy?,d1,no\nwhy?,d2,yes\n", ["document=document", "grade=useful"]),
    ("question,relevant,grade\nwhy?,d2,2\nhow?,d3,0\n", ["document=relevant", "grade=grade"]),
]


@pytest.mark.parametrize(("table", "columns"), QUESTION_TABLES)
def test_the_advice_on_grades_that_would_be_ignored_works(
    table: str, columns: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "questions.csv").write_text(table)
    (tmp_path / "run.json").write_text('{"why?": ["d1", "d2"], "how?": ["d3"]}')
    call = ["evaluate", str(tmp_path / "questions.csv"), str(tmp_path / "run.json"), "-m", "mrr", "--format", "csv"]
    options = [word for column in columns for word in ("--qrels-column", column)]
    assert main(call) == 2
    assert " ".join(options) in capsys.readouterr().err
    assert main([*call, *options]) == 0
    assert "mrr,0.5,1" in capsys.readouterr().out


def test_a_key_that_holds_no_rows_is_no_query(files: list[str], tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text('{"cases": []}')
    assert main(["evaluate", str(path), files[1]]) == 2
    assert main(["evaluate", files[0], str(path)]) == 2
