"""Files that grow by entries, and files that are written whole: with several processes, and after a crash."""

import itertools
import json
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics._internal.append_log import AppendLog, open_atomically, save_text


def append_many(path: Path, who: int, times: int) -> None:
    journal = AppendLog(path, "test")
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
    entries = AppendLog(path, "test").entries()
    assert len(entries) == 200
    for who in range(5):
        assert [entry["n"] for entry in entries if entry["who"] == who] == list(range(40))


ENDLESS = """
import sys
from retrieval_metrics._internal.append_log import AppendLog
journal = AppendLog(sys.argv[1], "test")
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
    journal = AppendLog(path, "test")
    journal.append({"n": 1})
    with path.open("ab") as file:
        file.write(torn)
    with pytest.warns(rm.RetrievalWarning, match="last line is incomplete"):
        assert journal.entries() == [{"n": 1}]
    with pytest.warns(rm.RetrievalWarning, match="last line is incomplete"):
        journal.append({"n": 2})
    assert journal.entries() == [{"n": 1}, {"n": 2}]


def test_every_place_at_which_the_first_entry_can_tear(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    AppendLog(path, "test").append({"n": 1})
    whole = path.read_bytes()
    for size in range(1, len(whole)):
        path.write_bytes(whole[:size])
        if whole[size - 1 : size] == b"\n" or size == len(whole) - 1:
            AppendLog(path, "test").append({"n": 2})  # a whole line, with its line break or without
        else:
            with pytest.warns(rm.RetrievalWarning, match="last line is incomplete"):
                AppendLog(path, "test").append({"n": 2})
        assert AppendLog(path, "test").entries()[-1] == {"n": 2}


def test_a_last_line_without_a_line_break_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = AppendLog(path, "test")
    journal.append({"n": 1})
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert journal.entries() == [{"n": 1}]
    journal.append({"n": 2})
    assert journal.entries() == [{"n": 1}, {"n": 2}]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = AppendLog(path, "test")
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
        AppendLog(path, "test").append({"n": 1})
    assert path.read_text() == "q1 Q0 d1 1 2.0 tag"
    other = AppendLog(tmp_path / "other.jsonl", "poem")
    other.append({})
    with pytest.raises(ValueError, match="must be a file of kind 'test', but it is of kind 'poem'"):
        AppendLog(other.path, "test").entries()


def test_a_newer_version_is_refused_and_what_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = AppendLog(path, "test")
    for wrong in ({"x": float("nan")}, {"x": object()}):
        with pytest.raises((TypeError, ValueError)):
            journal.append(wrong)
    assert not path.exists()
    journal.append({"n": 1})
    path.write_bytes(path.read_bytes().replace(b'"version": 1', b'"version": 2'))
    with pytest.raises(ValueError, match="has format version 2"):
        journal.append({"n": 2})
    with pytest.raises(ValueError, match="cannot be compressed"):
        AppendLog("a.jsonl.gz", "test")


def test_a_changed_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = AppendLog(path, "test")
    for number in (1, 2):
        journal.append({"n": number, "digest of": "x"})
    journal.append({})
    assert journal.entries() == [{"n": 1, "digest of": "x"}, {"n": 2, "digest of": "x"}, {}]
    path.write_bytes(path.read_bytes().replace(b'"n": 2', b'"n": 3'))
    with pytest.raises(ValueError, match=r"journal\.jsonl, line 3: the line was changed after it was written"):
        journal.entries()


def test_files_that_git_joined_are_one_and_a_conflict_is_refused(tmp_path: Path) -> None:
    ours, theirs, path = (AppendLog(tmp_path / f"{name}.jsonl", "test") for name in ("ours", "theirs", "merged"))
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


RUN = {"q": {"d": 2.5}}
LINE = "q Q0 d 1 2.5 t\n"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_link_is_followed_and_a_mode_is_kept(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    target, link = tmp_path / "inside" / "real.run", tmp_path / "link.run"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    rm.write_run(RUN, link, tag="t")
    assert link.is_symlink()
    assert target.read_text() == LINE
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    link.unlink()
    link.symlink_to(tmp_path / "inside" / "new.run")
    rm.write_run(RUN, link, tag="t")
    assert (tmp_path / "inside" / "new.run").read_text() == LINE
    assert names(tmp_path) == ["inside", "link.run"]
    assert names(tmp_path / "inside") == ["new.run", "real.run"]


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    rm.write_run(RUN, tmp_path / "new.run")
    (tmp_path / "plain").touch()
    assert (tmp_path / "new.run").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_with_the_name_of_an_older_temporary_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / ".x.run.partial").symlink_to(tmp_path / "victim")
    rm.write_run(RUN, tmp_path / "x.run")
    assert (tmp_path / "victim").read_text() == "precious"
    assert names(tmp_path) == [".x.run.partial", "victim", "x.run"]


def test_a_pipe_and_a_device_are_written_into(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.run")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe.run").read_text()))
    reader.start()
    rm.write_run(RUN, tmp_path / "pipe.run", tag="t")
    reader.join()
    assert read == [LINE]
    assert stat.S_ISFIFO((tmp_path / "pipe.run").stat().st_mode)
    rm.write_run(RUN, "/dev/null", format="trec")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_what_cannot_be_written_is_said_before_anything_is(capfdbinary: Any) -> None:
    mixed: Any = {f"q{at}": {"d": 1.0} for at in range(50)} | {"last": ["d"]}
    with pytest.raises(ValueError, match="scores for all queries or for none"):
        rm.write_run(mixed, "-", format="csv")
    assert capfdbinary.readouterr().out == b""


def test_standard_output(tmp_path: Path) -> None:
    code = "import retrieval_metrics as rm; rm.write_run({'q': {'d': 2.5}}, '-', format='trec', tag='t')"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == LINE
    into = code.replace("'-'", "'/dev/stdout'")
    with (tmp_path / "out").open("w") as out:
        command = f'echo first; {sys.executable} -c "{into}"; echo last'
        subprocess.run(["bash", "-c", command], check=True, stdout=out)
    assert (tmp_path / "out").read_text() == f"first\n{LINE}last\n"
    assert names(tmp_path) == ["out"]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    save_text(tmp_path / "old", "old")

    def fill() -> None:
        with open_atomically(tmp_path / "old") as file:
            file.write(b"new")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        fill()
    assert (tmp_path / "old").read_text() == "old"
    assert names(tmp_path) == ["old"]
    limited = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); import retrieval_metrics as rm; "
        "rm.write_run({f'q{i}': {'d': 1.0} for i in range(1000)}, 'old', format='trec')"
    )
    done = subprocess.run([sys.executable, "-c", limited], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert "File too large" in done.stderr
    assert (tmp_path / "old").read_text() == "old"
    assert names(tmp_path) == ["old"]


def test_a_file_that_may_not_be_written_and_a_folder_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(IsADirectoryError):
        rm.write_run(RUN, tmp_path, format="trec")
    (tmp_path / "kept.run").write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # the superuser of this test may write anything
    with pytest.raises(PermissionError, match=r"kept.run"):
        rm.write_run(RUN, tmp_path / "kept.run")
    assert names(tmp_path) == ["kept.run"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path, number: int, code: int) -> None:
    (tmp_path / "in.run").write_text("".join(f"q{at // 100} Q0 d{at} 1 {-at} t\n" for at in range(1_500_000)))
    (tmp_path / "old.csv.gz").write_text("old")
    command = [sys.executable, "-m", "retrieval_metrics.cli", "convert", "run", "in.run", "old.csv.gz"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while len(names(tmp_path)) < 3 and time.monotonic() < until and running.poll() is None:
        time.sleep(0.005)
    assert running.poll() is None, "it was done before it could be stopped"
    running.send_signal(number)
    _, said = running.communicate(timeout=60)
    assert (tmp_path / "old.csv.gz").read_text() == "old"
    assert names(tmp_path) == ["in.run", "old.csv.gz"]
    assert running.returncode == code
    assert said.count("\n") == 1
    assert "Traceback" not in said


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    target = tmp_path / "x.run"
    code = (
        "import os, sys, time; from retrieval_metrics._internal.append_log import open_atomically\n"
        "with open_atomically(sys.argv[1]) as file:\n file.write(b'half'); file.flush(); print(flush=True); time.sleep(60)"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, target], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    before = names(tmp_path)
    assert len(before) == 2
    writers[0].kill()
    writers[0].communicate()
    for name in before:
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / ".x.run.0123456789abcdefg").write_text("somebody else's")
    save_text(target, "whole")
    left = [name for name in names(tmp_path) if name in before]
    assert len(left) == 1  # that of the process which is still writing
    writers[1].kill()
    writers[1].communicate()
    save_text(target, "whole")
    assert names(tmp_path) == [".x.run.0123456789abcdefg", "x.run"]


def test_the_content_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    real_sync, real_replace = os.fsync, Path.replace

    def sync(file: int) -> None:
        steps.append("sync")
        real_sync(file)

    def rename(one: Path, other: Path) -> Path:
        steps.append("rename")
        return real_replace(one, other)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", rename)
    save_text(tmp_path / "x", "text")
    assert steps == ["sync", "rename"]
