"""What people know from trec_eval, ir_measures and other tools, and what a terminal may be sent."""

import csv
import fcntl
import io
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.command_line.main import main

COMMAND = [sys.executable, "-m", "retrieval_metrics.command_line"]
HOSTILE = "q\x1b[31m|7\nrow\x9b2J\u202e"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    rm.write_qrels({"q1": {"d7": 1, "d3": 2}, "q2": {"d1": 1}, "q3": {"d9": 1}}, tmp_path / "all.qrels")
    rm.write_run({"q1": {"d7": 9.5, "d2": 9.0, "d3": 8.0}, "q2": {"d1": 2.0}, "q3": {"d9": 1.0}}, tmp_path / "one.run")
    rm.write_run(
        {"q1": {"d2": 9.5, "d3": 9.5}, "q2": {"d4": 2.0, "d1": 1.0}, "q3": {"d9": 1.0}}, tmp_path / "two.run.gz"
    )
    return [str(tmp_path / name) for name in ("all.qrels", "one.run", "two.run.gz")]


Out = pytest.CaptureFixture[str]


def test_several_metrics_after_one_option(files: list[str], capsys: Out) -> None:
    assert main(["evaluate", *files[:2], "-m", "ndcg@10,precision(rel=2)@5", "-m", "map", "--format", "csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert [row[0] for row in rows] == ["metric", "ndcg@10", "precision(rel=2)@5", "map"]


def test_runs_stand_side_by_side(files: list[str], capsys: Out) -> None:
    main(["evaluate", *files, "-m", "mrr,ndcg@10"])
    header, mrr, *_ = capsys.readouterr().out.splitlines()
    assert header.split() == ["metric", "one", "two"]
    assert mrr.split() == ["mrr", "1.000", "0.833"]  # (1 + 1/2 + 1) / 3: d3 is tied with d2 and has the larger id
    main(["evaluate", *files, "-m", "mrr", "-q", "--format", "json"])
    content = json.loads(capsys.readouterr().out)["runs"]
    assert content["two"]["per_query"]["mrr"] == {"q1": 1.0, "q2": 0.5, "q3": 1.0}
    main(["evaluate", *files, "-m", "mrr", "-q", "--format", "csv"])
    assert capsys.readouterr().out.splitlines()[:2] == ["run,query,mrr", "one,q1,1.0"]
    main(["evaluate", *files, "-m", "mrr", "-q"])
    assert "q2     1.000  0.500" in capsys.readouterr().out
    assert main(["evaluate", *files, "-m", "mrr", "--fail-under", "mrr=0.9"]) == 1
    assert "mrr of two is 0.833, below 0.9" in capsys.readouterr().err


def test_ties_and_match(files: list[str], tmp_path: Path, capsys: Out) -> None:
    main(["evaluate", files[0], files[2], "-m", "mrr", "--ties", "expected", "--format", "csv", "-q"])
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


@pytest.mark.parametrize("command", ["evaluate", "compare", "audit"])
@pytest.mark.parametrize("kind", ["text", "json", "csv", "markdown"])
def test_every_command_writes_every_format_and_a_report(
    files: list[str], tmp_path: Path, capsys: Out, command: str, kind: str
) -> None:
    runs = files[1:] if command == "compare" else files[1:2]
    written = ["-o", str(tmp_path / "out"), "--report", str(tmp_path / "report.html")]
    assert main([command, files[0], *runs, "-m", "mrr", "--format", kind, *written]) == 0
    assert capsys.readouterr().out == ""
    text = (tmp_path / "out").read_text()
    assert "mrr" in text
    if kind == "json":
        assert isinstance(json.loads(text), dict)
    if kind == "csv":
        assert len({len(row) for row in csv.reader(io.StringIO(text))}) == 1
    assert (tmp_path / "report.html").read_text().lower().startswith("<!doctype html>")


def test_columns_that_are_not_there_and_what_is_allowed(tmp_path: Path, capsys: Out) -> None:
    (tmp_path / "qrels.csv").write_text("query,document,judgement\nq,a,0\nq,b,1\n")
    (tmp_path / "run.csv").write_text("query,document,distance\nq,a ,1\nq,b,2\n")
    call = ["evaluate", str(tmp_path / "qrels.csv"), str(tmp_path / "run.csv"), "-m", "mrr", "--format", "csv"]
    assert main(call) == 2
    assert "'judgement' could be it" in capsys.readouterr().err
    call += ["--qrels-column", "grade=judgement", "--run-column", "score="]
    assert main(call) == 2
    assert "begins or ends with a blank" in capsys.readouterr().err
    assert main([*call, "--allow", "blanks"]) == 0
    assert "mrr,0.5,1" in capsys.readouterr().out
    assert main([*call, "--reading", "line=5"]) == 2


@pytest.mark.parametrize("floor", ["mrr=nan", "mrr=inf", "mrr=-inf"])
def test_a_floor_that_no_mean_can_be_compared_with_is_a_usage_error(files: list[str], floor: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["evaluate", *files[:2], "--fail-under", floor])
    assert stopped.value.code == 2


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
def test_a_broken_file_is_an_input_error(  # noqa: PLR0917  (fixtures and parameters)
    tmp_path: Path, files: list[str], capsys: Out, command: str, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    broken = str(tmp_path / name)
    for call in (
        [["evaluate", broken, files[1]], ["evaluate", files[0], broken]]
        if command == "evaluate"
        else [["convert", what, broken, str(tmp_path / "x.json")] for what in ("run", "qrels")]
    ):
        if name == "huge.json" and call[:2] == ["convert", "run"]:
            continue  # 1e400 as a whole number is a score too large for a float, and said to be
        assert main(call) == 2, call
        assert name in capsys.readouterr().err


def test_a_defect_has_an_exit_code_of_its_own(files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr(rm, "evaluate", broken)
    assert main(["evaluate", *files[:2]]) == 3
    said = capsys.readouterr().err
    assert said.startswith("retrieval-metrics: internal error: KeyError: 'oops' (test_evaluate.py:")
    assert "please report it" in said
    assert said.count("\n") == 1


def test_a_closed_or_full_output_is_an_error_in_one_line(files: list[str]) -> None:
    line = " ".join([*COMMAND, "evaluate", *files[:2]])
    closed = subprocess.run(["bash", "-c", f"{line} >&-"], check=False, capture_output=True, text=True)
    assert closed.returncode == 2
    full = subprocess.run(["bash", "-c", f"{line} > /dev/full"], check=False, capture_output=True, text=True)
    assert full.returncode == 2
    assert full.stderr.splitlines()[-1].endswith("No space left on device")
    assert "Traceback" not in full.stderr + closed.stderr


def test_ctrl_c_is_one_line(tmp_path: Path, files: list[str]) -> None:
    os.mkfifo(tmp_path / "never.run")
    running = subprocess.Popen(
        [*COMMAND, "evaluate", files[0], tmp_path / "never.run"], stderr=subprocess.PIPE, text=True
    )
    writer = os.open(tmp_path / "never.run", os.O_WRONLY)  # returns once it is opened for reading
    time.sleep(0.2)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    os.close(writer)
    assert (running.returncode, said) == (130, "retrieval-metrics: interrupted\n")


def test_ctrl_c_ends_the_wait_for_the_writer_of_a_pipe(tmp_path: Path, files: list[str]) -> None:
    os.mkfifo(tmp_path / "nobody_writes.run")
    running = subprocess.Popen(
        [*COMMAND, "evaluate", files[0], tmp_path / "nobody_writes.run"], stderr=subprocess.PIPE, text=True
    )
    waits = Path(f"/proc/{running.pid}/syscall")  # 257 is openat on x86-64; elsewhere some seconds must suffice
    end = time.monotonic() + (30 if waits.exists() else 5)
    call, times = "", 0  # imports open files too, but none of them for a second
    while times < 10 and time.monotonic() < end:
        time.sleep(0.1)
        before, call = call, waits.read_text() if waits.exists() else ""
        times = times + 1 if call.startswith("257 ") and call == before else 0
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (130, "retrieval-metrics: interrupted\n")


def on_a_terminal(call: list[str], columns: int, **environment: str) -> str:
    """What a command writes to a terminal of so many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    inherited = {
        name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}
    }
    shell = {**inherited, "TERM": "xterm", **environment}
    subprocess.run(call, env=shell, check=True, stdout=slave, stderr=subprocess.DEVNULL)
    os.close(slave)
    parts = []
    while True:
        try:
            part = os.read(master, 1 << 16)
        except OSError:  # the other side is closed and everything is read
            break
        if not part:
            break
        parts.append(part)
    os.close(master)
    return b"".join(parts).decode()


def test_a_terminal_gets_colours_unless_it_asks_for_none(files: list[str]) -> None:
    call = [*COMMAND, "evaluate", *files[:2], "-m", "mrr"]
    assert "\x1b[36mmrr" in on_a_terminal(call, 100)
    assert "\x1b" not in on_a_terminal(call, 100, NO_COLOR="1")
    assert "\x1b" not in subprocess.run(call, check=True, capture_output=True, text=True).stdout


def test_a_narrow_terminal_wraps_cells_and_no_row(files: list[str]) -> None:
    out = on_a_terminal([*COMMAND, "evaluate", *files, "-m", "mrr,ndcg@10,map", "-q"], 30, NO_COLOR="1")
    assert "\x1b" not in out
    assert max(len(line) for line in out.splitlines()) <= 30
    wide = on_a_terminal([*COMMAND, "audit", *files[:2], "-m", "mrr"], 40, NO_COLOR="1")
    assert max(len(line) for line in wide.splitlines()) <= 40
    assert "compared with standard" in " ".join(wide.split())


EVERY_FORMAT = """
import sys
from retrieval_metrics.command_line.main import main
for kind in ["text", "markdown", "json", "csv"]:
    print(f"== {kind}", flush=True)
    assert main(["evaluate", *sys.argv[1:], "-m", "mrr", "-q", "--format", kind]) == 0
"""


def test_no_control_character_of_an_id_reaches_the_terminal(tmp_path: Path) -> None:
    rm.write_qrels({HOSTILE: {"d": 1}}, tmp_path / "qrels.jsonl")
    rm.write_run({HOSTILE: ["d"]}, tmp_path / "run.jsonl")
    files = [str(tmp_path / "qrels.jsonl"), str(tmp_path / "run.jsonl")]
    out = on_a_terminal([sys.executable, "-c", EVERY_FORMAT, *files], 200, NO_COLOR="1")
    assert not {"\x1b", "\x9b", "\u202e"} & set(out)
    _, *written = out.split("== ")
    assert [each.split()[0] for each in written] == ["text", "markdown", "json", "csv"]
    assert all("7" in each for each in written)


def test_an_id_breaks_no_row_of_markdown(tmp_path: Path, capsys: Out) -> None:
    for awkward in (HOSTILE, "a|b", "a\\|b", "a\\", "two\r\nlines"):
        rm.write_qrels({awkward: {"d": 1}}, tmp_path / "qrels.jsonl")
        rm.write_run({awkward: ["d"]}, tmp_path / "run.jsonl")
        main(
            [
                "evaluate",
                str(tmp_path / "qrels.jsonl"),
                str(tmp_path / "run.jsonl"),
                "-m",
                "mrr",
                "-q",
                "--format",
                "markdown",
            ]
        )
        header, rule, row, *_ = capsys.readouterr().out.splitlines()
        bars = [
            len([at for at in range(len(line)) if line[at] == "|" and not escaped_at(line, at)])
            for line in (header, rule, row)
        ]
        assert bars == [3, 3, 3], row


def escaped_at(line: str, at: int) -> bool:
    """Whether an odd number of backslashes stands before a place."""
    before = line[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def test_ceilings_of_what_should_be_low(tmp_path: Path, capsys: Out) -> None:
    rm.write_qrels({f"q{at}": {"d": 1, "secret": -1} for at in range(26)}, tmp_path / "qrels.json")
    for name, first in (("good", "x"), ("bad", "secret")):
        rm.write_run({f"q{at}": ["d", first if at == 3 else "x"] for at in range(26)}, tmp_path / f"{name}.json")
    good, bad = ([str(tmp_path / "qrels.json"), str(tmp_path / f"{name}.json")] for name in ("good", "bad"))
    assert main(["evaluate", *good, "-m", "mrr", "--at-most", "leak@5=0"]) == 0
    assert "leak@5 passed: 0 of 26 queries; up to 10.9 % of new ones could (95 %)" in capsys.readouterr().out
    assert main(["evaluate", *bad, "-m", "mrr", "--at-most", "leak@5=0"]) == 1
    assert "leak@5 above the ceiling: 1 of 26 queries; up to 17.0 % of new ones" in capsys.readouterr().err
    assert main(["evaluate", *good, "-m", "mrr", "--at-most", "false_answer=0"]) == 1
    assert "false_answer not checked: every query has a relevant document" in capsys.readouterr().err
    assert main(["evaluate", *good, "--fail-under", "leak@5=0"]) == 2
    assert "lower is better in leak@5, so a floor says nothing of it; bound it: --at-most" in capsys.readouterr().err
