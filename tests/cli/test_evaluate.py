"""`retrieval-metrics evaluate`, of one run and of several, and what ends it early."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main

COMMAND = [sys.executable, "-m", "retrieval_metrics.cli"]
Out = pytest.CaptureFixture[str]


def test_runs_stand_side_by_side(two_runs: list[str], capsys: Out) -> None:
    main(["evaluate", *two_runs, "-m", "mrr,ndcg@10"])
    header, mrr, *_ = capsys.readouterr().out.splitlines()
    assert header.split() == ["metric", "one", "two"]
    assert mrr.split() == ["mrr", "1.000", "0.833"]  # (1 + 1/2 + 1) / 3: d3 is tied with d2 and has the larger id
    main(["evaluate", *two_runs, "-m", "mrr", "-q", "--format", "json"])
    content = json.loads(capsys.readouterr().out)["runs"]
    assert content["two"]["per_query"]["mrr"] == {"q1": 1.0, "q2": 0.5, "q3": 1.0}
    main(["evaluate", *two_runs, "-m", "mrr", "-q", "--format", "csv"])
    assert capsys.readouterr().out.splitlines()[:2] == ["run,query,mrr", "one,q1,1.0"]
    main(["evaluate", *two_runs, "-m", "mrr", "-q"])
    assert "q2     1.000  0.500" in capsys.readouterr().out
    assert main(["evaluate", *two_runs, "-m", "mrr", "--fail-under", "mrr=0.9"]) == 1
    assert "mrr of two is 0.833, below 0.9" in capsys.readouterr().err


def test_ties_and_match(two_runs: list[str], tmp_path: Path, capsys: Out) -> None:
    main(["evaluate", two_runs[0], two_runs[2], "-m", "mrr", "--ties", "expected", "--format", "csv", "-q"])
    assert "q1,0.75" in capsys.readouterr().out  # the mean of 1 and 1/2
    rm.write_run({"q1": [rm.Retrieved("c1", source="d7")]}, tmp_path / "items.jsonl")
    rm.write_qrels({"q1": ["d7"]}, tmp_path / "small.qrels")
    for command in ("evaluate", "audit"):
        assert (
            main(
                [
                    command,
                    str(tmp_path / "small.qrels"),
                    str(tmp_path / "items.jsonl"),
                    "-m",
                    "mrr",
                    "--match",
                    "source",
                ]
            )
            == 0
        )
        assert "1.000" in capsys.readouterr().out


def test_a_defect_has_an_exit_code_of_its_own(
    two_runs: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr(rm, "evaluate", broken)
    assert main(["evaluate", *two_runs[:2]]) == 3
    stderr = capsys.readouterr().err
    assert stderr.startswith("retrieval-metrics: internal error: KeyError: 'oops' (test_evaluate.py:")
    assert "please report it" in stderr
    assert stderr.count("\n") == 1


def test_ctrl_c_is_one_line(tmp_path: Path, two_runs: list[str]) -> None:
    os.mkfifo(tmp_path / "never.run")
    running = subprocess.Popen(
        [*COMMAND, "evaluate", two_runs[0], tmp_path / "never.run"], stderr=subprocess.PIPE, text=True
    )
    writer = os.open(tmp_path / "never.run", os.O_WRONLY)  # returns once it is opened for reading
    time.sleep(0.2)
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=60)
    os.close(writer)
    assert (running.returncode, stderr) == (130, "retrieval-metrics: interrupted\n")


def test_ctrl_c_ends_the_wait_for_the_writer_of_a_pipe(tmp_path: Path, two_runs: list[str]) -> None:
    os.mkfifo(tmp_path / "nobody_writes.run")
    running = subprocess.Popen(
        [*COMMAND, "evaluate", two_runs[0], tmp_path / "nobody_writes.run"], stderr=subprocess.PIPE, text=True
    )
    waits = Path(f"/proc/{running.pid}/syscall")  # 257 is openat on x86-64; elsewhere some seconds must suffice
    end = time.monotonic() + (30 if waits.exists() else 5)
    call, times = "", 0  # imports open two_runs too, but none of them for a second
    while times < 10 and time.monotonic() < end:
        time.sleep(0.1)
        before, call = call, waits.read_text() if waits.exists() else ""
        times = times + 1 if call.startswith("257 ") and call == before else 0
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=60)
    assert (running.returncode, stderr) == (130, "retrieval-metrics: interrupted\n")


def test_ceilings_of_what_should_be_low(tmp_path: Path, capsys: Out) -> None:
    rm.write_qrels({f"q{number}": {"d": 1, "secret": -1} for number in range(26)}, tmp_path / "qrels.json")
    for name, first in (("good", "x"), ("bad", "secret")):
        rm.write_run(
            {f"q{number}": ["d", first if number == 3 else "x"] for number in range(26)}, tmp_path / f"{name}.json"
        )
    good, bad = ([str(tmp_path / "qrels.json"), str(tmp_path / f"{name}.json")] for name in ("good", "bad"))
    assert main(["evaluate", *good, "-m", "mrr", "--at-most", "leak@5=0"]) == 0
    assert "leak@5 passed: 0 of 26 queries, one-sided 95% upper bound 10.9%" in capsys.readouterr().out
    assert main(["evaluate", *bad, "-m", "mrr", "--at-most", "leak@5=0"]) == 1
    assert "leak@5 above the ceiling: 1 of 26 queries, one-sided 95% upper bound 17.0%" in capsys.readouterr().err
    assert main(["evaluate", *good, "-m", "mrr", "--at-most", "false_answer=0"]) == 1
    assert "false_answer not checked: every query has a relevant document" in capsys.readouterr().err
    for option, bound, advice in [
        (
            "--fail-under",
            "mrr=60",
            "--fail-under for mrr must be between 0 and 1, got 60: no value could pass. Did you mean 0.6?",
        ),
        (
            "--at-most",
            "leak@5=5",
            "--at-most for leak@5 must be between 0 and 1, got 5: every value would pass. Did you mean 0.05?",
        ),
    ]:
        assert main(["evaluate", *good, option, bound]) == 2
        assert f"error: {advice}" in capsys.readouterr().err
    assert main(["evaluate", *good, "--fail-under", "leak@5=0"]) == 2
    assert "lower is better for leak@5, so a floor has no effect; bound it: --at-most" in capsys.readouterr().err
    assert main(["evaluate", *good, "--at-most", "mrr=0.9"]) == 2
    assert "higher is better in mrr, so it has no ceiling; give it a floor: --fail-under" in capsys.readouterr().err
