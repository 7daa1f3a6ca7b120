"""`retrieval-metrics lint`, as a user of a shell meets it."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main

QUERIES = {"q1": "Who may unlock the strong room after hours?", "q2": "who may unlock the strong room after hours"}
QRELS = {"q1": {"d1": 1}, "q2": {"d1": 1}}
# The advice that differs from the one in Python.
FIXED_IN_PYTHON = ": EvaluationSet.lint().fixed() in Python"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    rm.EvaluationSet(QUERIES, QRELS).to_beir(
        tmp_path, {"d1": "The duty officer opens the vault.", "d2": "Tea is served."}
    )
    (tmp_path / "one.run").write_text("q1 Q0 d1 1 2.0 one\nq2 Q0 d2 1 2.0 one\n")
    return [str(tmp_path / name) for name in ("queries.jsonl", "qrels/test.tsv", "corpus.jsonl", "one.run")]


def test_it_prints_what_python_prints(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    queries, qrels, corpus, _ = files
    assert main(["lint", queries, qrels, "--corpus", corpus]) == 0
    expected = rm.EvaluationSet.from_dataset(Path(queries).parent).lint(rm.read_corpus(corpus))
    in_options = str(expected).replace("runs=", "--run").replace(": .fixed()", FIXED_IN_PYTHON)
    assert capsys.readouterr().out.split() == in_options.split()  # long sentences go on in a line of their own
    assert "duplicate_question" in str(expected)


@pytest.mark.parametrize(("severity", "code"), [("error", 0), ("warning", 1), ("note", 1)])
def test_findings_as_severe_as_wanted_fail(files: list[str], severity: str, code: int) -> None:
    assert main(["lint", *files[:2], "--corpus", files[2], "--fail-on", severity]) == code


def test_csv_and_json_have_a_row_per_finding(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["lint", *files[:2], "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert (rows[0]["name"], rows[0]["query"], rows[0]["severity"]) == ("duplicate_question", "q2", "warning")
    assert "removed, a duplicate of" in rows[0]["fix"]
    assert rows[-1]["query"] == ""
    main(["lint", *files[:2], "--format", "json"])
    content = json.loads(capsys.readouterr().out)
    assert content["questions"] == 2
    assert content["findings"][0]["evidence"] == {"other": "q1", "judged_alike": True}
    assert len(content["skipped"]) == 3


def test_runs_are_named(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["lint", *files[:2], "--run", f"bm25={files[3]}", "--format", "csv"])
    out = capsys.readouterr().out
    assert " is retrieved by bm25: the question may be hard, unanswerable" in out
    assert " ranks first in bm25, so the question does not discriminate" in out


def test_a_saved_set_holds_the_texts_and_the_judgments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    provenance: Any = {"q1": rm.Provenance(source="vault"), "q2": rm.Provenance(source="vault")}
    quoted = rm.EvaluationSet(QUERIES, {query: [rm.Quote("opens the safe")] for query in QUERIES}, provenance)
    quoted.save(tmp_path / "questions.json")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "vault.txt").write_text("The duty officer opens the vault.")
    saved = str(tmp_path / "questions.json")
    folder = str(tmp_path / "texts")
    assert main(["lint", saved, saved, "--corpus", folder]) == 0
    out = capsys.readouterr().out
    assert (
        out.split() == str(quoted.lint(folder)).replace("runs=", "--run").replace(": .fixed()", FIXED_IN_PYTHON).split()
    )
    assert "q1" in out
    rm.EvaluationSet({1: "why?", 2: "when?"}, {1: ["d1"], 2: ["d1"]}).save(tmp_path / "numbers.json")
    (tmp_path / "texts.jsonl").write_text('{"_id": "1", "text": "why?"}\n')
    assert main(["lint", str(tmp_path / "texts.jsonl"), str(tmp_path / "numbers.json"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["questions"] == 1
    rm.evaluate(QRELS, {query: ["d1"] for query in QRELS}, "mrr").save(tmp_path / "scores.json")
    assert main(["lint", saved, str(tmp_path / "scores.json")]) == 2
    assert "scores.json holds an evaluation, not judgments" in capsys.readouterr().err


def test_queries_of_another_set_are_an_error(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.jsonl").write_text('{"_id": "x9", "text": "why?"}\n')
    assert main(["lint", str(tmp_path / "other.jsonl"), files[1]]) == 2
    assert "no query of" in capsys.readouterr().err


def test_two_runs_of_one_name_are_an_error(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", *files[:2], "--run", f"a={files[3]}", "--run", f"a={files[3]}"]) == 2
    assert "two runs are named 'a'" in capsys.readouterr().err


def test_the_name_of_a_run_file_may_hold_an_equals_sign(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k=10.run").write_bytes(Path(files[3]).read_bytes())
    assert main(["lint", *files[:2], "--run", "k=10.run", "--format", "csv"]) == 0
    assert "No such file" not in capsys.readouterr().err
