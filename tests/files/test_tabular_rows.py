"""JSON and JSONL, for runs and judgments alike."""

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import retrieval_metrics as rm


def test_arrow_and_feather_files(tmp_path: Path) -> None:
    frame = pl.DataFrame({"query": ["q1", "q1"], "document": ["a", "b"], "score": [2.0, 3.0]})
    frame.write_ipc(tmp_path / "some.arrow")
    frame.write_ipc(tmp_path / "some.feather", compression="zstd")
    frame.write_ipc_stream(tmp_path / "unnamed")
    for name in ("some.arrow", "some.feather", "unnamed"):
        assert dict(rm.read_run(tmp_path / name)) == {"q1": {"a": 2.0, "b": 3.0}}


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('qid,docno,score\nq1,"a\nb",1\n\nq1,c,x\n', r"run.csv, line 5: q1,c,x: the line has 'x' as score"),
        (
            "qid,docno,score\nq1,a,1\nq1,b\n",
            r"run.csv, line 3: q1,b: 2 columns where the header has 3: qid docno score",
        ),
        ("qid,docno,score\nq1,a,1,7\nq1,b,2\n", r"run.csv, line 2: q1,a,1,7: 4 columns where the header has 3"),
        ("qid,docno,score\nq1,a,1\n,b,2\n", r"run.csv, line 3: ,b,2: the line has no query"),
        ("qid,docno,score\nq1,a,1\nq2,a,1\nq1,a,2\n", r"run.csv, line 4: q1,a,2: document 'a' appears twice for query"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, text: str, message: str, compress: Callable[[bytes], bytes]) -> None:
    (tmp_path / "run.csv").write_bytes(compress(text.encode()))
    with pytest.raises(ValueError, match=message):
        rm.read_run(tmp_path / "run.csv")


def test_empty_lines_and_empty_last_values_are_no_error(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("qid,docno,score,note\nq1,a,1,\n\nq1,b,2,x\n\n")
    assert dict(rm.read_run(tmp_path / "run.csv")) == {"q1": {"a": 1.0, "b": 2.0}}


def test_a_line_of_nothing_but_separators_is_no_empty_line(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("query,document,score\nq,a,1\n,,\nq,b,2\n")
    with pytest.raises(ValueError, match=r"x.csv, line 3: ,,: the line has only separators"):
        rm.read_run(tmp_path / "x.csv")
