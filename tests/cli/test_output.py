"""Results in every format, for a file, a pipe or a terminal."""

import csv
import fcntl
import io
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main
from retrieval_metrics.cli.output import FORMATS, CommandOutput


def test_json_holds_the_numbers_to_the_last_bit(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", *files, "-m", "ndcg@10", "--format", "json", "--per-query"]) == 0
    content = json.loads(capsys.readouterr().out)
    expected = rm.evaluate(rm.read_qrels(files[0]), rm.read_run(files[1]), "ndcg@10")
    assert content["metrics"] == {"ndcg@10": {"mean": expected.means["ndcg@10"], "n": 2}}
    assert content["per_query"]["ndcg@10"] == {**expected.per_query["ndcg@10"], "q3": None}
    assert content["counts"]["no_relevant"] == 1


def test_csv_is_a_table_of_means_or_of_queries(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["evaluate", *files, "-m", "mrr", "-m", "precision(rel=2)@5", "--format", "csv"])
    assert list(csv.reader(io.StringIO(capsys.readouterr().out)))[:2] == [["metric", "mean", "n"], ["mrr", "0.75", "2"]]
    main(["evaluate", *files, "-m", "mrr", "--format", "csv", "--per-query"])
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows == [["query", "mrr"], ["q1", "1.0"], ["q2", "0.5"], ["q3", ""]]


def test_text_and_markdown_hold_the_queries_too(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for kind, row in (("text", "q2     0.500"), ("markdown", "| q2 | 0.500 |")):
        main(["evaluate", *files, "-m", "mrr", "--format", kind, "--per-query"])
        out = capsys.readouterr().out
        assert row in out
        assert "0.750" in out


def test_the_output_may_go_to_a_file(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", *files, "-m", "mrr", "--format", "markdown", "-o", str(tmp_path / "out.md")]) == 0
    assert capsys.readouterr().out == ""
    assert "| mrr | 0.750 | [0.123, 0.986] | 2 |" in (tmp_path / "out.md").read_text()


def test_a_reader_that_stops_early_is_no_error(files: list[str]) -> None:
    command = f"{sys.executable} -m retrieval_metrics.cli evaluate {' '.join(files)} --per-query | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], check=False, capture_output=True, text=True)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


@pytest.fixture
def many(tmp_path: Path) -> list[str]:
    """Judgments and a run whose values per query fill a pipe several times."""
    queries = range(3000)
    (tmp_path / "q.trec").write_text("".join(f"q{query} 0 d{query % 3} 1\n" for query in queries))
    (tmp_path / "r.trec").write_text(
        "".join(f"q{query} Q0 d{rank} {rank} {-rank} t\n" for query in queries for rank in (5, 1))
    )
    return [str(tmp_path / "q.trec"), str(tmp_path / "r.trec")]


@pytest.mark.parametrize(
    ("reader", "environment", "redirected"),  # of two of them, every pair
    [
        ("head -1", {}, ""),
        pytest.param("head -1", {"PYTHONUNBUFFERED": "1"}, "2>&1", marks=pytest.mark.thorough),
        pytest.param("true", {}, "2>&1", marks=pytest.mark.thorough),
        pytest.param("true", {"PYTHONUNBUFFERED": "1"}, "", marks=pytest.mark.thorough),
        ("cat", {}, "2>&1"),
        pytest.param("cat", {"PYTHONUNBUFFERED": "1"}, "", marks=pytest.mark.thorough),
    ],
)
def test_the_exit_code_is_the_gates_whatever_reads_the_output(
    many: list[str], tmp_path: Path, reader: str, environment: dict[str, str], redirected: str
) -> None:
    call = [sys.executable, "-m", "retrieval_metrics.cli", "evaluate", *many, "-q", "-m", "mrr,map,ndcg@10"]
    options = ["--fail-under", "mrr=0.9", "--save", str(tmp_path / "s.json"), "--report", str(tmp_path / "r.html")]
    line = f"set -o pipefail; {' '.join([*call, *options])} {redirected} | {reader}"
    done = subprocess.run(
        ["bash", "-c", line], check=False, capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
    if not redirected:
        assert "FAILED: mrr is" in done.stderr
    assert rm.load(tmp_path / "s.json").n["mrr"] == 3000
    assert (tmp_path / "r.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("name", "begins"),
    [("a.json", "{"), ("a.CSV", "metric,"), ("a.md", "| metric"), ("a.html", "metric ")],
)
def test_the_extension_of_the_output_says_its_format(files: list[str], tmp_path: Path, name: str, begins: str) -> None:
    assert main(["evaluate", *files, "-m", "mrr", "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_text().startswith(begins)
    assert main(["evaluate", *files, "-m", "mrr", "-o", str(tmp_path / name), "--format", "text"]) == 0
    assert (tmp_path / name).read_text().startswith("metric   mean")


def test_a_target_without_a_folder_is_named_as_it_was_given(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *files, "-m", "mrr", "-o", str(tmp_path / "no" / "x.txt")]) == 2
    assert capsys.readouterr().err.endswith(f"No such file or directory: '{tmp_path}/no/x.txt'\n")


COMMAND = [sys.executable, "-m", "retrieval_metrics.cli"]
HOSTILE = "q\x1b[31m|7\nrow\x9b2J\u202e"


@pytest.mark.parametrize("command", ["evaluate", "compare", "audit"])
@pytest.mark.parametrize("kind", ["text", "json", "csv", "markdown"])
def test_every_command_writes_every_format_and_a_report(
    two_runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, kind: str
) -> None:
    runs = two_runs[1:] if command == "compare" else two_runs[1:2]
    written = ["-o", str(tmp_path / "out"), "--report", str(tmp_path / "report.html")]
    assert main([command, two_runs[0], *runs, "-m", "mrr", "--format", kind, *written]) == 0
    assert capsys.readouterr().out == ""
    text = (tmp_path / "out").read_text()
    assert "mrr" in text
    if kind == "json":
        assert isinstance(json.loads(text), dict)
    if kind == "csv":
        assert len({len(row) for row in csv.reader(io.StringIO(text))}) == 1
    assert (tmp_path / "report.html").read_text().lower().startswith("<!doctype html>")


def test_a_closed_or_full_output_is_an_error_in_one_line(two_runs: list[str]) -> None:
    line = " ".join([*COMMAND, "evaluate", *two_runs[:2]])
    closed = subprocess.run(["bash", "-c", f"{line} >&-"], check=False, capture_output=True, text=True)
    assert closed.returncode == 2
    full = subprocess.run(["bash", "-c", f"{line} > /dev/full"], check=False, capture_output=True, text=True)
    assert full.returncode == 2
    assert full.stderr.splitlines()[-1].endswith("No space left on device")
    assert "Traceback" not in full.stderr + closed.stderr


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


@pytest.mark.thorough
def test_a_terminal_gets_colours_unless_it_asks_for_none(two_runs: list[str]) -> None:
    call = [*COMMAND, "evaluate", *two_runs[:2], "-m", "mrr"]
    assert "\x1b[36mmrr" in on_a_terminal(call, 100)
    assert "\x1b" not in on_a_terminal(call, 100, NO_COLOR="1")
    assert "\x1b" not in subprocess.run(call, check=True, capture_output=True, text=True).stdout


def test_a_narrow_terminal_wraps_cells_and_no_row(two_runs: list[str]) -> None:
    out = on_a_terminal([*COMMAND, "evaluate", *two_runs, "-m", "mrr,ndcg@10,map", "-q"], 30, NO_COLOR="1")
    assert "\x1b" not in out
    assert max(len(line) for line in out.splitlines()) <= 30
    wide = on_a_terminal([*COMMAND, "audit", *two_runs[:2], "-m", "mrr"], 40, NO_COLOR="1")
    assert max(len(line) for line in wide.splitlines()) <= 40
    assert "compared with the standard rules" in " ".join(wide.split())


EVERY_FORMAT = """
import sys
from retrieval_metrics.cli.main import main
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
    assert [line.split()[0] for line in written] == ["text", "markdown", "json", "csv"]
    assert all("7" in line for line in written)


def test_an_id_breaks_no_row_of_markdown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
            len([position for position in range(len(line)) if line[position] == "|" and not escaped_at(line, position)])
            for line in (header, rule, row)
        ]
        assert bars == [3, 3, 3], row


def escaped_at(line: str, position: int) -> bool:
    """Whether an odd number of backslashes stands before a place."""
    before = line[:position]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1"])
def test_csv_for_spreadsheets_holds_no_formulas(text: str) -> None:
    result = CommandOutput([], {}, [{"query": text, "mrr": -0.5}])
    assert list(csv.reader(io.StringIO(FORMATS["csv"](result))))[1] == [f"'{text}", "-0.5"]
    assert list(csv.reader(io.StringIO(FORMATS["raw_csv"](result))))[1] == [text, "-0.5"]
