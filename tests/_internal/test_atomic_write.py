"""Files are written atomically: with links, modes, devices and signals, and after a writer was killed."""

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
from retrieval_metrics._internal.atomic_write import open_atomically, save_text

RUN = {"q": {"d": 2.5}}
LINE = "q Q0 d 1 2.5 t\n"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_link_is_followed_and_a_mode_is_kept(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    target = tmp_path / "inside" / "real.run"
    link = tmp_path / "link.run"
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
    mixed: Any = {f"q{index}": {"d": 1.0} for index in range(50)} | {"last": ["d"]}
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

    with pytest.raises(OSError, match=r"No space left on device: .*old"):
        fill()
    assert (tmp_path / "old").read_text() == "old"
    assert names(tmp_path) == ["old"]
    limited = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); import retrieval_metrics as rm; "
        "rm.write_run({f'q{i}': {'d': 1.0} for i in range(1000)}, 'old', format='trec')"
    )
    done = subprocess.run([sys.executable, "-c", limited], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert "File too large: 'old'" in done.stderr
    assert (tmp_path / "old").read_text() == "old"
    assert names(tmp_path) == ["old"]


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(FileNotFoundError, match="the name of the file is empty"):
        rm.save_run(RUN, "")


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


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path, number: int, code: int) -> None:
    (tmp_path / "in.run").write_text(
        "".join(f"q{index // 100} Q0 d{index} 1 {-index} t\n" for index in range(1_500_000))
    )
    (tmp_path / "old.csv.gz").write_text("old")
    command = [sys.executable, "-m", "retrieval_metrics.cli", "convert", "run", "in.run", "old.csv.gz"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while len(names(tmp_path)) < 3 and time.monotonic() < until and running.poll() is None:
        time.sleep(0.005)
    assert running.poll() is None, "it was done before it could be stopped"
    running.send_signal(number)
    _, errors = running.communicate(timeout=60)
    assert (tmp_path / "old.csv.gz").read_text() == "old"
    assert names(tmp_path) == ["in.run", "old.csv.gz"]
    assert running.returncode == code
    assert errors.count("\n") == 1
    assert "Traceback" not in errors


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    target = tmp_path / "x.run"
    code = (
        "import os, sys, time; from retrieval_metrics._internal.atomic_write import open_atomically\n"
        "with open_atomically(sys.argv[1]) as file:\n"
        " file.write(b'half'); file.flush(); print(flush=True); time.sleep(60)"
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
    remaining = [name for name in names(tmp_path) if name in before]
    assert len(remaining) == 1  # that of the process which is still writing
    writers[1].kill()
    writers[1].communicate()
    save_text(target, "whole")
    assert names(tmp_path) == [".x.run.0123456789abcdefg", "x.run"]


def test_the_content_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    real_sync = os.fsync
    real_replace = Path.replace

    def sync(file: int) -> None:
        steps.append("sync")
        real_sync(file)

    def rename(source: Path, target: Path) -> Path:
        steps.append("rename")
        return real_replace(source, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", rename)
    save_text(tmp_path / "x", "text")
    assert steps == ["sync", "rename"]
