"""Runs whose ranks contradict their scores are warned of, in every form."""

import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import retrieval_metrics as rm

RANKED: dict[str, list[Any]] = {
    "query": ["q"] * 4 + ["r"] * 3,
    "document": list("abcdabc"),
    "rank": [1, 2, 3, 4, 1, 2, 3],
    "score": [0.1, 0.2, 0.2, 0.4, 0.3, 0.5, 0.6],
}


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet", "polars", "pandas", "arrow"])
def test_scores_that_rise_with_the_ranks_are_doubted_in_every_form(tmp_path: Path, form: str) -> None:
    def read(columns: Any) -> None:
        frame = pl.DataFrame(columns)
        path = tmp_path / f"run.{form}"
        if form in {"csv", "tsv"}:
            frame.write_csv(path, separator="," if form == "csv" else "\t")
        elif form == "jsonl":
            frame.write_ndjson(path)
        elif form == "parquet":
            frame.write_parquet(path)
        source: Any = {"polars": frame, "pandas": frame.to_pandas(), "arrow": frame.to_arrow()}.get(form, path)
        rm.read_run(source)

    with pytest.warns(rm.RetrievalWarning, match="its scores increase with rank: if they are distances, negate"):
        read(RANKED)
    with pytest.warns(rm.RetrievalWarning, match="ranks are not whole numbers but its scores are"):
        read({**RANKED, "rank": RANKED["score"], "score": RANKED["rank"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read({**RANKED, "score": [-rank for rank in RANKED["rank"]]})
        read({name: column for name, column in RANKED.items() if name != "rank"})
