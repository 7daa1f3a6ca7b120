"""`retrieval-metrics compare` says what Python says, plans, and fails where that is asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main


def test_a_comparison_is_that_of_python(systems: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    runs = {"good": rm.read_run(systems[1]), "bad": rm.read_run(systems[2])}
    expected = rm.compare(rm.read_qrels(systems[0]), runs, "mrr", baseline="good")
    assert main(["compare", *systems, "-m", "mrr", "--baseline", "good"]) == 0
    out = capsys.readouterr().out
    assert out == f"{expected}\n"
    assert "bad is worse than good in mrr by 0." in out
    main(["compare", *systems, "-m", "mrr", "--baseline", "good", "--format", "json"])
    content = json.loads(capsys.readouterr().out)
    assert content["means"]["mrr"] == {"good": 1.0, "bad": expected.means["mrr"]["bad"]}
    (conclusion,) = content["conclusions"]
    assert (conclusion["conclusion"], conclusion["p_corrected"]) == ("worse", expected.difference("mrr").p_corrected)
    assert conclusion == expected.conclusions.get("mrr").as_dict()
    assert content["summary"] == expected.summary


def test_the_runs_are_a_pilot_for_a_plan(systems: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    runs = {"good": rm.read_run(systems[1]), "bad": rm.read_run(systems[2])}
    difference = rm.compare(rm.read_qrels(systems[0]), runs, "mrr", baseline="good").difference("mrr")
    expected = rm.plan(0.05, "mrr", pilot=difference)
    call = ["compare", *systems, "-m", "mrr", "--baseline", "good", "--plan", "0.05"]
    assert main(call) == 0
    out = capsys.readouterr().out
    assert "questions needed to detect a difference of 0.05 with 80% power" in out
    assert f"{expected.n_questions:,}" in out
    main([*call, "--format", "json"])
    (planned,) = json.loads(capsys.readouterr().out)["plan"]
    assert (planned["n_questions"], planned["range"]) == (expected.n_questions, list(expected.range))


def test_a_run_proven_worse_than_the_baseline_fails_where_that_is_asked_for(
    systems: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["compare", *systems, "-m", "mrr", "--fail-if-worse", "--format", "markdown", "-o", str(tmp_path / "out.md")]
    assert main([*call, "--baseline", "good"]) == 1
    assert "FAILED: bad is worse than good in mrr by 0." in capsys.readouterr().err
    assert "| mrr |" in (tmp_path / "out.md").read_text()
    assert main([*call, "--baseline", "bad"]) == 0
    assert main(call) == 2
    assert "--fail-if-worse needs --baseline NAME" in capsys.readouterr().err


def test_a_run_whose_ids_nearly_match_fails_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels: Any = {f"q{number}": [f"d{number}"] for number in range(20)}
    rm.write_qrels(qrels, tmp_path / "qrels.trec")
    for name, suffix in (("old", ""), ("new", "#0")):
        run: Any = {query: [f"{documents[0]}{suffix}"] for query, documents in qrels.items()}
        run["q0"] = ["d0"]
        rm.write_run(run, tmp_path / f"{name}.trec")
    files = [str(tmp_path / name) for name in ("qrels.trec", "old.trec", "new.trec")]
    assert main(["compare", *files, "-m", "mrr", "--baseline", "old", "--fail-if-worse"]) == 1
    assert "not comparable in mrr" in capsys.readouterr().err


def test_a_warning_that_the_text_repeats_is_shown_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels: Any = {f"q{number}": {"a": 1, "b": 0} for number in range(10)}
    rm.write_qrels(qrels, tmp_path / "qrels.trec")
    rm.write_run({query: ["a", "b"] for query in qrels}, tmp_path / "old.json")
    rm.write_run({query: ["x", "a"] if query != "q0" else [] for query in qrels}, tmp_path / "new.json")
    call = ["compare", *(str(tmp_path / name) for name in ("qrels.trec", "old.json", "new.json")), "-m", "mrr@2"]
    main(call)
    shown = capsys.readouterr()
    assert "Judgment coverage differs" in shown.out
    assert "Judgment coverage differs" not in shown.err
    assert "'q0'" in shown.err
    main([*call, "--format", "csv"])
    assert "Judgment coverage differs" in capsys.readouterr().err
