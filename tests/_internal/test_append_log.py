"""Append-only logs keep every entry with several processes at once, and after a crash."""

import itertools
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics._internal.append_log import AppendLog


def append_many(path: Path, who: int, times: int) -> None:
    log = AppendLog(path, "test")
    for number in range(times):
        log.append({"who": who, "n": number, "pad": "x" * 5000})


def test_processes_and_threads_append_at_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=append_many, args=(path, who, 40)) for who in range(3)]
    threads = [threading.Thread(target=append_many, args=(path, who, 40)) for who in (3, 4)]
    appending: list[Any] = [*workers, *threads]
    for worker in appending:
        worker.start()
    for worker in appending:
        worker.join()
    entries = AppendLog(path, "test").read_entries()
    assert len(entries) == 200
    for who in range(5):
        assert [entry["n"] for entry in entries if entry["who"] == who] == list(range(40))


ENDLESS = """
import sys
from retrieval_metrics._internal.append_log import AppendLog
log = AppendLog(sys.argv[1], "test")
for number in range(10**9):
    log.append({"n": number, "pad": "x" * 100_000})
"""


def test_a_process_that_is_killed_loses_at_most_the_entry_under_way(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    for _ in range(4):
        process = subprocess.Popen([sys.executable, "-c", ENDLESS, path])
        start = path.stat().st_size if path.exists() else 0
        deadline = time.monotonic() + 60
        while (path.stat().st_size if path.exists() else 0) <= start + 1_000_000 and time.monotonic() < deadline:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
    entries = [json.loads(line) for line in path.read_bytes().split(b"\n")[1:-1]]
    assert [entry["n"] for entry in entries].count(0) == 4
    for before, after in itertools.pairwise(entries):
        assert after["n"] in {0, before["n"] + 1}


@pytest.mark.parametrize("torn", [b'{"n": 2, "a": "x', b"\xff\xfe", b'{"n": 3}x'])
def test_a_torn_last_line_is_dropped_and_said(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    log = AppendLog(path, "test")
    log.append({"n": 1})
    with path.open("ab") as file:
        file.write(torn)
    with pytest.warns(rm.RetrievalWarning, match="last line is incomplete"):
        assert log.read_entries() == [{"n": 1}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was said already
        log.append({"n": 2})
    assert log.read_entries() == [{"n": 1}, {"n": 2}]


def test_a_torn_last_line_that_nobody_has_read_is_said_when_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    AppendLog(path, "test").append({"n": 1})
    with path.open("ab") as file:
        file.write(b'{"n": 2')
    with pytest.warns(rm.RetrievalWarning, match="last line is incomplete"):
        AppendLog(path, "test").append({"n": 3})
    assert AppendLog(path, "test").read_entries() == [{"n": 1}, {"n": 3}]


def test_every_place_at_which_the_first_entry_can_tear(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    AppendLog(path, "test").append({"n": 1})
    content = path.read_bytes()
    for size in range(1, len(content)):
        path.write_bytes(content[:size])
        if content[size - 1 : size] == b"\n" or size == len(content) - 1:
            AppendLog(path, "test").append({"n": 2})  # a whole line, with its line break or without
        else:
            with pytest.warns(rm.RetrievalWarning, match="last line is incomplete"):
                AppendLog(path, "test").append({"n": 2})
        assert AppendLog(path, "test").read_entries()[-1] == {"n": 2}


def test_a_last_line_without_a_line_break_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    log = AppendLog(path, "test")
    log.append({"n": 1})
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert log.read_entries() == [{"n": 1}]
    log.append({"n": 2})
    assert log.read_entries() == [{"n": 1}, {"n": 2}]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    log = AppendLog(path, "test")
    log.append({"n": 1})
    log.append({"n": 2})
    path.write_bytes(path.read_bytes().replace(b'"n": 1', b'"n": '))
    with pytest.raises(ValueError, match=r"journal\.jsonl, line 2: this is not an entry"):
        log.read_entries()


def test_other_files_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("q1 Q0 d1 1 2.0 tag")
    with pytest.raises(
        ValueError, match="of kind 'test', but its first line was not written by this package; nothing was changed"
    ):
        AppendLog(path, "test").append({"n": 1})
    assert path.read_text() == "q1 Q0 d1 1 2.0 tag"
    poems = AppendLog(tmp_path / "other.jsonl", "poem")
    poems.append({})
    with pytest.raises(ValueError, match="must be a file of kind 'test', but it is of kind 'poem'"):
        AppendLog(poems.path, "test").read_entries()


def test_a_newer_version_is_refused_and_what_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    log = AppendLog(path, "test")
    for unwritable in ({"x": float("nan")}, {"x": object()}):
        with pytest.raises((TypeError, ValueError)):
            log.append(unwritable)
    assert not path.exists()
    log.append({"n": 1})
    path.write_bytes(path.read_bytes().replace(b'"version": 1', b'"version": 2'))
    with pytest.raises(ValueError, match="has format version 2"):
        log.append({"n": 2})
    with pytest.raises(ValueError, match="cannot be compressed"):
        AppendLog("a.jsonl.gz", "test")


def test_a_changed_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    log = AppendLog(path, "test")
    for number in (1, 2):
        log.append({"n": number, "digest of": "x"})
    log.append({})
    assert log.read_entries() == [{"n": 1, "digest of": "x"}, {"n": 2, "digest of": "x"}, {}]
    path.write_bytes(path.read_bytes().replace(b'"n": 2', b'"n": 3'))
    with pytest.raises(ValueError, match=r"journal\.jsonl, line 3: the line was changed after it was written"):
        log.read_entries()


def test_files_that_git_joined_are_one_and_a_conflict_is_refused(tmp_path: Path) -> None:
    ours = AppendLog(tmp_path / "ours.jsonl", "test")
    theirs = AppendLog(tmp_path / "theirs.jsonl", "test")
    merged = AppendLog(tmp_path / "merged.jsonl", "test")
    ours.append({"n": 1})
    theirs.append({"n": 2})
    our_lines = ours.path.read_bytes()
    their_lines = theirs.path.read_bytes()
    merged.path.write_bytes(our_lines + b"\n" + their_lines + b"\r\n")
    assert merged.read_entries() == [{"n": 1}, {"n": 2}]
    merged.append({"n": 3})
    assert merged.read_entries() == [{"n": 1}, {"n": 2}, {"n": 3}]
    conflict = (
        our_lines
        + b"<<<<<<< HEAD\n"
        + our_lines.splitlines(keepends=True)[1]
        + b"=======\n"
        + their_lines
        + b">>>>>>> branch\n"
    )
    merged.path.write_bytes(conflict)
    for use in (merged.read_entries, lambda: merged.append_after(lambda _: {"n": 4})):
        with pytest.raises(ValueError, match=r"merged\.jsonl, line 3: '<<<<<<< HEAD' marks a conflict .* merge=union"):
            use()
    assert merged.path.read_bytes() == conflict


@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no file sizes")
def test_a_line_that_does_not_fit_on_the_disk_names_the_log_and_leaves_it_whole(tmp_path: Path) -> None:
    limited = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); "
        "from retrieval_metrics._internal.append_log import AppendLog; log = AppendLog('log.jsonl', 'run log'); "
        "[log.append({'text': 'x' * 400}) for _ in range(9)]"
    )
    done = subprocess.run([sys.executable, "-c", limited], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert "File too large: 'log.jsonl'" in done.stderr
    entries = AppendLog(tmp_path / "log.jsonl", "run log").read_entries()
    assert [entry["text"] for entry in entries] == ["x" * 400] * len(entries)
    assert 2 <= len(entries) < 9


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
def test_devices_and_pipes_are_refused_before_they_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in ("/dev/full", "/dev/null", pipe):
        log = AppendLog(path, "test")
        for use_log in (log.read_entries, log.require_writable, lambda log=log: log.append({"n": 1})):
            with pytest.raises(ValueError, match=f"^{path} is a device or a pipe"):
                use_log()
    questions = rm.EvaluationSet({"q": "which?"}, {"q": ["d"]})
    with pytest.raises(ValueError, match=r"^/dev/full is a device or a pipe"):
        rm.retrieve(lambda _: pytest.fail("a question was asked"), questions, resume="/dev/full")
