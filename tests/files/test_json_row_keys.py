"""A key that holds a list of rows is no query, and the reader of such a file is named."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm


@pytest.mark.parametrize(
    "text", ['{"cases": []}', '{"cases": null}', '{"Data": [{}], "metadata": {}}', '{"results": []}']
)
@pytest.mark.parametrize("read", [rm.read_qrels, rm.read_run, rm.read_questions])
def test_a_key_for_rows_that_holds_none_is_no_query(text: str, read: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"rows\.json.* is empty: .* holds no rows"):
        read(path)


def test_rows_under_a_key_are_refused_with_the_reader_that_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text('{"cases": [{"query": "why?", "relevant": ["d1"]}]}')
    for read in (rm.read_qrels, rm.read_run):
        with pytest.raises(ValueError, match=r"rows of questions in 'cases', which read_questions\(path\) reads"):
            read(path)
    assert rm.read_questions(path).qrels == {"why?": ["d1"]}
    rows = '[{"query": "q1", "document": "d1", "grade": 1, "score": 2}]'
    path.write_text(f'{{"data": {rows}}}')
    for read in (rm.read_qrels, rm.read_run):
        with pytest.raises(ValueError, match="rows with a query and a document in 'data'; write this list alone"):
            read(path)
    path.write_text(rows)
    assert rm.read_qrels(path, columns={"grade": "grade"}).as_dict() == {"q1": {"d1": 1}}
    assert dict(rm.read_run(path)) == {"q1": {"d1": 2}}


def test_queries_named_like_a_key_for_rows_are_queries(tmp_path: Path) -> None:
    path = tmp_path / "queries.json"
    path.write_text('{"data": ["d1"], "q2": []}')
    assert rm.read_qrels(path).as_dict() == {"data": {"d1": 1}, "q2": {}}
    path.write_text('{"data": [], "q2": ["d1"]}')
    assert dict(rm.read_run(path)) == {"data": [], "q2": ["d1"]}
