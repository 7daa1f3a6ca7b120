"""Every source is opened once and read from its start; what it may ask of its reader is limited."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from backports import zstd

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main

TREC = "".join(f"q{number // 50} Q0 d{number} 1 {-number} t\n" for number in range(20_000))  # many pipe buffers
CSV = "query,document,score\n" + "".join(f"q{number // 50},d{number},{-number}\n" for number in range(20_000))
JSONL = "".join(f'{{"query": "q{number}", "documents": ["d{number * 50}"]}}\n' for number in range(400))


@contextmanager
def piped(path: Path, content: bytes) -> Iterator[Path]:
    """A named pipe into which somebody writes."""
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(content,))
    writer.start()
    yield path
    writer.join()


def parquet() -> bytes:
    file = io.BytesIO()
    pl.DataFrame({"query": ["q0", "q0"], "document": ["d0", "d1"], "score": [2.0, 1.0]}).write_parquet(file)
    return file.getvalue()


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize(
    "content",
    [TREC.encode(), CSV.replace(",", "\t").encode(), JSONL.encode(), parquet()],
    ids=["trec", "tsv", "jsonl", "parquet"],
)
def test_a_pipe_without_a_name_that_tells_is_read_from_its_start(
    tmp_path: Path, content: bytes, compress: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "regular").write_bytes(content)
    expected = dict(rm.read_run(tmp_path / "regular"))
    with piped(tmp_path / "pipe", compress(content)) as pipe:
        assert dict(rm.read_run(pipe)) == expected
    assert dict(rm.read_run(io.BytesIO(compress(content)))) == expected


def test_a_wrong_line_of_a_pipe_is_named_with_its_line(tmp_path: Path) -> None:
    for content, message in (
        (TREC + "q399 Q0 d19999 1 2 t\n", r"pipe, line 20001: q399 Q0 d19999 1 2 t: document 'd19999' appears twice"),
        (CSV + "q1,d1,high\n", r"pipe, line 20002: q1,d1,high: the line has 'high' as score"),
    ):
        with (
            piped(tmp_path / "pipe", content.encode()) as pipe,
            pytest.raises(ValueError, match=message),
        ):
            rm.read_run(pipe, format="csv" if content.startswith(CSV) else None)
        (tmp_path / "pipe").unlink()


def test_a_pipe_cannot_be_streamed(tmp_path: Path) -> None:
    with (
        piped(tmp_path / "pipe", TREC.encode()[: 1 << 15]) as pipe,
        pytest.raises(ValueError, match="only a regular file"),
    ):
        rm.read_run(pipe, memory=1000)


def test_an_open_file_is_read_from_where_it_stands_and_stays_open(tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_text("a heading\n" + TREC)
    with path.open("rb") as file:
        file.readline()
        assert len(rm.read_run(file)) == 400
        assert not file.closed
    with path.open() as text:
        text.readline()
        assert len(rm.read_run(text)) == 400
    with path.open() as text:
        next(text)  # after which its position is unknown
        assert len(rm.read_run(text)) == 400
    with path.open() as text:
        text.readline()
        with pytest.raises(ValueError, match=r"some.txt"):
            rm.read_run(text, format="json")
    path.write_text("q Q0 d\u00e9 1 2.5 t\n", "latin-1")
    with path.open(encoding="latin-1") as text:
        assert dict(rm.read_run(text)) == {"q": {"d\u00e9": 2.5}}
    assert dict(rm.read_run(io.StringIO("q Q0 d 1 2.5 t\n"))) == {"q": {"d": 2.5}}
    assert rm.read_queries(io.BytesIO(b"q1\twhat?\n")) == {"q1": "what?"}


@pytest.mark.thorough
def test_the_command_line_reads_pipes_of_any_size_and_standard_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "all.qrels").write_text("".join(f"q{query} 0 d{query * 50 + 1} 1\n" for query in range(400)))
    (tmp_path / "all.run").write_text(TREC)
    command = f"{sys.executable} -m retrieval_metrics.cli evaluate -m mrr --format csv"
    run = tmp_path / "all.run"
    qrels = tmp_path / "all.qrels"
    for arguments in (
        f"<(cat {qrels}) <(cat {run})",
        f"{qrels} - < {run}",
        f"- {run} < {qrels}",
        f"{qrels} <(gzip -c {run})",
        f"{qrels} /dev/stdin < {run}",
    ):
        done = subprocess.run(["bash", "-c", f"{command} {arguments}"], check=False, capture_output=True, text=True)
        assert done.stdout == "metric,mean,n\nmrr,0.5,400\n", (arguments, done.stderr)
    assert main(["evaluate", "-", "-"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("read", [rm.read_qrels, rm.read_queries, rm.read_corpus, rm.read_run])
def test_a_folder_is_refused_with_the_readers_of_its_files(tmp_path: Path, read: Any) -> None:
    with pytest.raises(IsADirectoryError, match=r"is a folder; pass the path of a file$"):
        read(tmp_path)
    questions = rm.EvaluationSet({"q1": "what?"}, {"q1": ["d1"]})
    questions.to_beir(tmp_path, {"d1": "text"})
    with pytest.raises(IsADirectoryError) as caught:
        read(tmp_path)
    calls = [f"read_corpus({str(tmp_path / 'corpus.jsonl')!r})", f"read_questions({str(tmp_path)!r})"]
    calls.append(f"read_qrels({str(tmp_path / 'qrels' / 'test.tsv')!r})")
    assert all(call in str(caught.value) for call in calls)


def test_a_parquet_path_is_no_pattern(tmp_path: Path) -> None:
    pl.DataFrame({"query": ["q"], "document": ["other"], "score": [1.0]}).write_parquet(tmp_path / "run1.parquet")
    (tmp_path / "run[1].parquet").write_bytes(parquet())
    assert dict(rm.read_run(tmp_path / "run[1].parquet")) == {"q0": {"d0": 2.0, "d1": 1.0}}


BOMB = """
import sys
import retrieval_metrics as rm
try:
    rm.read_run(sys.argv[1], format=sys.argv[2])
except ValueError as error:
    print(error)
# Not that of getrusage, which starts with the peak of the process that started this one.
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell a peak of its own")
@pytest.mark.parametrize(
    ("kind", "byte"),
    [
        ("trec", b"\x00"),
        pytest.param("trec", b"\n", marks=pytest.mark.thorough),
        pytest.param("trec", b"7", marks=pytest.mark.thorough),
        ("csv", b"\n"),
        ("json", b"7"),
        pytest.param("jsonl", b"\n", marks=pytest.mark.thorough),
    ],
)
def test_a_bomb_ends_early(tmp_path: Path, kind: str, byte: bytes) -> None:
    path = tmp_path / "bomb.gz"
    part = gzip.compress(byte * (64 << 20))
    path.write_bytes(part * 16)  # 1 GB in 1 MB
    done = subprocess.run(
        [sys.executable, "-c", BOMB, path, kind], check=True, capture_output=True, text=True, timeout=120
    )
    *messages, kilobytes = done.stdout.splitlines()
    assert int(kilobytes) < 500_000
    (message,) = messages
    assert "bomb.gz" in message
    assert "expands too much" in message or "binary" in message or "bytes" in message


@pytest.mark.thorough
def test_limits_are_options(tmp_path: Path) -> None:
    (tmp_path / "long.run").write_text(f"q Q0 {'d' * 5000} 1 2.5 t\n")
    with pytest.raises(ValueError, match=r"long.run, line 1: the line has more than 1,000 bytes"):
        rm.read_run(tmp_path / "long.run", limits=rm.Limits(line=1000))
    assert len(rm.read_run(tmp_path / "long.run", limits=rm.Limits(line=6000))) == 1
    (tmp_path / "many.run.gz").write_bytes(
        gzip.compress("".join(f"q Q0 d{number} 1 1.5 t{'x' * 990}\n" for number in range(80_000)).encode())
    )
    with pytest.raises(
        ValueError,
        match=r"many.run.gz expands too much .*more than 9 times as much; limits=Limits\(compression",
    ):
        rm.read_run(tmp_path / "many.run.gz", limits=rm.Limits(compression=9))
    assert rm.read_run(tmp_path / "many.run.gz", limits=rm.Limits(compression=float("inf"))).n_documents == 80_000  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="the limit of a line must be a positive integer"):
        rm.Limits(line=0)


@pytest.mark.parametrize("read", [rm.read_run, rm.read_qrels, rm.read_queries, rm.read_traces, rm.load])
def test_what_a_file_holds_in_place_of_its_path_is_named_as_that(read: Any) -> None:
    long = json.dumps([{"trace": "t", "output": [{"id": "x" * 99}] * 9}])
    for text in (long, '{"q1": ["d1"]}', "q1 0 d1 1\nq2 0 d2 1\n"):
        with pytest.raises(ValueError, match=r"is what a file holds and not its path; pass io\.StringIO\(text\)"):
            read(text)
    with pytest.raises(TypeError, match=r"b'q1 0 d1 1' is what a file .*; pass io\.BytesIO\(content\)"):
        read(b"q1 0 d1 1")
    with pytest.raises(FileNotFoundError):
        read("nothing.jsonl")


@pytest.mark.parametrize("source", [None, 5, ["run.trec"]])
@pytest.mark.parametrize("read", [rm.read_queries, rm.read_corpus, rm.load])
def test_what_is_neither_a_path_nor_a_file_is_named(read: Any, source: Any) -> None:
    with pytest.raises(TypeError, match="give the path of a file, or a file opened for reading, got"):
        read(source)


def test_a_file_whose_name_looks_like_a_text_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "[old].qrels").write_text("q1 0 d1 1\n")
    monkeypatch.chdir(tmp_path)
    assert list(rm.read_qrels("[old].qrels").queries) == ["q1"]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="only Linux has a device of zeros without end")
def test_devices_are_refused_and_pipes_are_read(tmp_path: Path) -> None:
    for read in (rm.read_run, rm.read_qrels, rm.read_questions, rm.read_corpus, rm.load, rm.read_traces):
        with pytest.raises(ValueError, match=r"^/dev/zero is a device; pass the path of a file"):
            read("/dev/zero")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"q Q0 d 1 2.5 t\n",))
    writer.start()
    assert dict(rm.read_run(pipe)) == {"q": {"d": 2.5}}
    writer.join()
