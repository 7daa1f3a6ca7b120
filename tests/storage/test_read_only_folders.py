"""Whatever writes says that a folder is read-only, before a call is made whose answer it could not keep."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# A program of its own: an administrator may write everywhere, and a process cannot take that right back from itself.
PROGRAM = """
from collections.abc import Callable
from typing import Any

import retrieval_metrics as rm

queries = {f"q{number}": "text" for number in range(6)}
qrels = {query: ["d"] for query in queries}
runs = {name: {query: ["x", "d"] for query in qrels} for name in ("a", "b")}
evaluation = rm.evaluate(qrels, runs["a"], "mrr")
comparison = rm.compare(qrels, runs, "mrr")
calls = []


def search(text: str) -> list[str]:
    calls.append(text)
    return ["d"]


def say(prompt: str) -> str:
    calls.append(prompt)
    return "{}"


def generate() -> None:
    texts = {"a": "Refunds take five days, and they are paid by bank transfer to the account of the order."}
    rm.generate_questions(texts, rm.Model(say, "m", cache="folder/replies.jsonl"), 1)


writers: dict[str, Callable[[], Any]] = {
    "evaluation": lambda: evaluation.save("folder/e.json"),
    "comparison": lambda: comparison.save("folder/c.json.gz"),
    "report": lambda: comparison.report("folder/r.html"),
    "run": lambda: rm.write_run(runs["a"], "folder/run.jsonl"),
    "qrels": lambda: rm.write_qrels(qrels, "folder/qrels.trec"),
    "journal": lambda: rm.retrieve(search, queries, resume="folder/new/j.jsonl"),
    "stored journal": lambda: rm.retrieve(search, {**queries, "new": "text"}, resume="folder/stored.jsonl"),
    "history": lambda: rm.History("folder/h.jsonl").add(evaluation),
    "replies": generate,
}
for name, write in writers.items():
    try:
        write()
    except PermissionError as error:
        assert str(error.filename), error
        print(name)
# All answers are there, so nothing needs to be written.
assert len(rm.retrieve(search, queries, resume="folder/stored.jsonl")) == len(queries)
print(f"{len(calls)} calls")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not read-only there")
def test_a_read_only_folder_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            pytest.skip("the tests run as root, who may write everywhere, and setpriv is not installed")
        command = [setpriv, "--bounding-set", "-dac_override", "--", *command]
    folder = tmp_path / "folder"
    folder.mkdir()
    fill = 'import retrieval_metrics as rm; rm.retrieve(lambda _: ["d"], {f"q{n}": "text" for n in range(6)}, resume='
    subprocess.run([sys.executable, "-c", f"{fill}'folder/stored.jsonl')"], cwd=tmp_path, check=True)
    (folder / "stored.jsonl").chmod(0o400)
    folder.chmod(0o500)
    try:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    finally:
        folder.chmod(0o700)
    assert done.returncode == 0, done.stderr
    *refused, n_calls = done.stdout.splitlines()
    assert refused == [
        "evaluation",
        "comparison",
        "report",
        "run",
        "qrels",
        "journal",
        "stored journal",
        "history",
        "replies",
    ]
    assert n_calls == "0 calls"
