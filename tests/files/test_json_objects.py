"""The objects of a file, a frame and a list, whatever form they are kept in."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from retrieval_metrics.files.json_objects import iterate_objects

SPANS: list[dict[str, Any]] = [{"trace": "t", "span": "1", "output": ["d1"]}, {"trace": "t", "span": "2"}]
LINES = "\n".join(map(json.dumps, SPANS))


@pytest.mark.parametrize(
    "text",
    [
        LINES,
        f"\n\n{LINES}\n",
        f"\ufeff{LINES}",
        LINES.replace("\n", "\n\n"),
        LINES.replace("\n", "\r\n"),
        json.dumps(SPANS),
        json.dumps(SPANS, indent=1),
    ],
    ids=["lines", "blank at the ends", "a mark of the encoding", "blank between", "of Windows", "a list", "indented"],
)
def test_a_text_holds_the_same_objects_however_it_is_written(tmp_path: Path, text: str) -> None:
    (tmp_path / "spans.jsonl").write_text(text, encoding="utf-8", newline="")
    (tmp_path / "spans.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    assert list(iterate_objects(tmp_path / "spans.jsonl")) == SPANS
    assert list(iterate_objects(str(tmp_path / "spans.jsonl.gz"))) == SPANS
    assert list(iterate_objects(io.BytesIO(text.encode()))) == SPANS


def test_an_indented_object_is_one_and_each_line_may_be_a_list(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"messages": SPANS}, indent=1))
    assert list(iterate_objects(path)) == [{"messages": SPANS}]
    path.write_text(f"{json.dumps(SPANS)}\n{json.dumps(SPANS[:1])}\n")
    assert list(iterate_objects(path)) == [SPANS, SPANS[:1]]


def test_frames_and_parquet_have_a_row_for_each_object_without_what_is_missing(tmp_path: Path) -> None:
    scored = [{"span": "1", "score": 0.5}, {"span": "2"}]
    assert list(iterate_objects(pd.DataFrame(scored))) == scored
    assert list(iterate_objects(pd.DataFrame(scored).set_index("span"))) == scored
    pl.DataFrame(scored).write_parquet(tmp_path / "spans.parquet")
    assert list(iterate_objects(tmp_path / "spans.parquet")) == [scored[0], {"span": "2", "score": None}]
    assert list(iterate_objects(pl.DataFrame(scored))) == [scored[0], {"span": "2", "score": None}]


def test_a_text_that_was_cut_names_the_line_or_the_file(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_text(LINES[:-5])
    with pytest.raises(ValueError, match=r"spans\.jsonl, line 2.*was cut short"):
        list(iterate_objects(path))
    path.write_text(json.dumps(SPANS, indent=1)[:-5])
    with pytest.raises(ValueError, match=r"spans\.jsonl cannot be read as JSON"):
        list(iterate_objects(path))


def test_what_holds_no_objects_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a file, a DataFrame, or a list of spans, got int"):
        list(iterate_objects(3))
