"""Retrieved items and judged pieces in tables: a row per query."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import strategies as st

import retrieval_metrics as rm

words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5).filter(
    lambda word: len(word.split()) == 1
)

queries = words.filter(lambda word: not word.startswith("#"))  # it would make a comment of its line in a TREC file


@pytest.mark.parametrize(
    ("queries", "texts", "says"),
    [
        (["q1", "q1"], ['[{"id": "d"}]', "[]"], "row 2, query 'q1': the query appears twice"),
        (["q1", "q2"], ["[]", '[{"id": "d'], "row 2, query 'q2': this is not JSON"),
        (["q1"], [None], "row 1, query 'q1': this is not JSON"),
        (["q1"], ['[{"id": "d", "place": 3}]'], "query 'q1': a retrieved item has id, .* not 'place'"),
    ],
)
def test_a_damaged_row_of_items_is_named(tmp_path: Path, queries: list[str], texts: list[Any], says: str) -> None:
    pl.DataFrame(
        {"query": queries, "documents_json": texts}, schema_overrides={"documents_json": pl.String}
    ).write_parquet(tmp_path / "run.parquet")
    with pytest.raises(ValueError, match=rf"run\.parquet.* {says}"):
        rm.read_run(tmp_path / "run.parquet")
