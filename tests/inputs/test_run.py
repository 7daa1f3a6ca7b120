"""Runs in columns are read in memory or streamed from a file."""

import os
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.run import StreamedRun

LINES = [f"q{number // 50} Q0 d{number} 1 {-number} t\n" for number in range(5000)]


def rewritten(path: Path, text: str, *, keep_time: bool) -> None:
    before = path.stat()
    path.write_text(text)
    if keep_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("keep_time", [False, True])
@pytest.mark.parametrize(
    "text",
    ["".join(LINES[:2500]), "".join(LINES[:-1]), "".join(LINES).replace("q7 ", "p7 "), "".join(LINES) + LINES[0]],
    ids=["cut in half", "a line less", "a query renamed", "a line more"],
)
def test_a_streamed_run_notices_that_its_file_changed(tmp_path: Path, text: str, keep_time: bool) -> None:
    path = tmp_path / "large.run"
    path.write_text("".join(LINES))
    run = rm.read_run(path, memory=1000)
    assert isinstance(run, StreamedRun)
    qrels = {f"q{query}": [f"d{query * 50 + 3}"] for query in range(100)}
    assert rm.evaluate(qrels, run, "mrr").means["mrr"] == 0.25
    rewritten(path, text, keep_time=keep_time)
    for use in (lambda: rm.evaluate(qrels, run, "mrr"), lambda: run["q99"], run.as_dict):
        with pytest.raises(ValueError, match=r"large.run has changed since it was read; read it again with read_run"):
            use()


def test_a_streamed_run_notices_other_scores_and_a_file_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "large.run"
    path.write_text("".join(LINES))
    run = rm.read_run(path, memory=1000)
    path.write_text("".join(LINES).replace(" -", " +"))  # as long as before
    with pytest.raises(ValueError, match="has changed"):
        rm.evaluate({"q1": ["d53"]}, run, "mrr")
    path.write_text("".join(LINES))
    run = rm.read_run(path, memory=1000)
    rewritten_beside = tmp_path / "new.run"
    rewritten_beside.write_text("".join(LINES))
    rewritten_beside.replace(path)
    with pytest.raises(ValueError, match="has changed"):
        rm.evaluate({"q1": ["d53"]}, run, "mrr")


def test_rankings_in_place_of_columns_are_refused_with_what_takes_them() -> None:
    with pytest.raises(TypeError, match=r"got 'q1' \(str\).*evaluate or compare.*Run\.from_frame"):
        rm.Run({"q1": ["d1"]})  # type: ignore[dict-item]  # what is refused
