"""The append-only file: several processes at once, and what a crash leaves."""

import itertools
import json
import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from retrieval_metrics.checks import RetrievalWarning
from retrieval_metrics.journal import Journal


def append_many(path: Path, who: int, times: int) -> None:
    journal = Journal(path, "test")
    for number in range(times):
        journal.append({"who": who, "n": number, "pad": "x" * 5000})


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
    entries = Journal(path, "test").entries()
    assert len(entries) == 200
    for who in range(5):
        assert [entry["n"] for entry in entries if entry["who"] == who] == list(range(40))


ENDLESS = """
import sys
from retrieval_metrics.journal import Journal
journal = Journal(sys.argv[1], "test")
for number in range(10**9):
    journal.append({"n": number, "pad": "x" * 100_000})
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
    found = [json.loads(line) for line in path.read_bytes().split(b"\n")[1:-1]]
    runs = "".join("|" if entry["n"] == 0 else "." for entry in found)
    assert runs.count("|") == 4
    for before, after in itertools.pairwise(found):
        assert after["n"] in {0, before["n"] + 1}


@pytest.mark.parametrize("torn", [b'{"n": 2, "a": "x', b"\xff\xfe", b'{"n": 3}x'])
def test_a_torn_last_line_is_dropped_and_said(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, "test")
    journal.append({"n": 1})
    with path.open("ab") as file:
        file.write(torn)
    with pytest.warns(RetrievalWarning, match="last line is incomplete"):
        assert journal.entries() == [{"n": 1}]
    with pytest.warns(RetrievalWarning, match="last line is incomplete"):
        journal.append({"n": 2})
    assert journal.entries() == [{"n": 1}, {"n": 2}]


def test_every_place_at_which_the_first_entry_can_tear(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path, "test").append({"n": 1})
    whole = path.read_bytes()
    for size in range(1, len(whole)):
        path.write_bytes(whole[:size])
        if whole[size - 1 : size] == b"\n" or size == len(whole) - 1:
            Journal(path, "test").append({"n": 2})  # a whole line, with its line break or without
        else:
            with pytest.warns(RetrievalWarning, match="last line is incomplete"):
                Journal(path, "test").append({"n": 2})
        assert Journal(path, "test").entries()[-1] == {"n": 2}


def test_a_last_line_without_a_line_break_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, "test")
    journal.append({"n": 1})
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert journal.entries() == [{"n": 1}]
    journal.append({"n": 2})
    assert journal.entries() == [{"n": 1}, {"n": 2}]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, "test")
    journal.append({"n": 1})
    journal.append({"n": 2})
    path.write_bytes(path.read_bytes().replace(b'"n": 1', b'"n": '))
    with pytest.raises(ValueError, match=r"journal\.jsonl, line 2: this is not an entry"):
        journal.entries()


def test_other_files_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("q1 Q0 d1 1 2.0 tag")
    with pytest.raises(
        ValueError, match="of kind 'test', but its first line was not written by this package; nothing was changed"
    ):
        Journal(path, "test").append({"n": 1})
    assert path.read_text() == "q1 Q0 d1 1 2.0 tag"
    other = Journal(tmp_path / "other.jsonl", "poem")
    other.append({})
    with pytest.raises(ValueError, match="must be a file of kind 'test', but it is of kind 'poem'"):
        Journal(other.path, "test").entries()


def test_a_newer_version_is_refused_and_what_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, "test")
    for wrong in ({"x": float("nan")}, {"x": object()}):
        with pytest.raises((TypeError, ValueError)):
            journal.append(wrong)
    assert not path.exists()
    journal.append({"n": 1})
    path.write_bytes(path.read_bytes().replace(b'"version": 2', b'"version": 3'))
    with pytest.raises(ValueError, match="has format version 3"):
        journal.append({"n": 2})
    with pytest.raises(ValueError, match="cannot be compressed"):
        Journal("a.jsonl.gz", "test")


def test_a_changed_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, "test")
    for number in (1, 2):
        journal.append({"n": number, "digest of": "x"})
    journal.append({})
    assert journal.entries() == [{"n": 1, "digest of": "x"}, {"n": 2, "digest of": "x"}, {}]
    path.write_bytes(path.read_bytes().replace(b'"n": 2', b'"n": 3'))
    with pytest.raises(ValueError, match=r"journal\.jsonl, line 3: the line was changed after it was written"):
        journal.entries()


def test_files_that_git_joined_are_one_and_a_conflict_is_refused(tmp_path: Path) -> None:
    ours, theirs, path = (Journal(tmp_path / f"{name}.jsonl", "test") for name in ("ours", "theirs", "merged"))
    ours.append({"n": 1})
    theirs.append({"n": 2})
    one, other = ours.path.read_bytes(), theirs.path.read_bytes()
    path.path.write_bytes(one + b"\n" + other + b"\r\n")
    assert path.entries() == [{"n": 1}, {"n": 2}]
    path.append({"n": 3})
    assert path.entries() == [{"n": 1}, {"n": 2}, {"n": 3}]
    conflict = one + b"<<<<<<< HEAD\n" + one.splitlines(keepends=True)[1] + b"=======\n" + other + b">>>>>>> branch\n"
    path.path.write_bytes(conflict)
    for use in (path.entries, lambda: path.append_after(lambda _: {"n": 4})):
        with pytest.raises(ValueError, match=r"merged\.jsonl, line 3: '<<<<<<< HEAD' marks a conflict .* merge=union"):
            use()
    assert path.path.read_bytes() == conflict
