"""A fixture that builds the same table in every form that can be read."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from table_forms import Source


@pytest.fixture(params=["mapping", "pandas", "polars", "lazy", "arrow", "csv", "tsv", "parquet", "jsonl"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    """The same rows in every form that has columns."""

    def build(columns: dict[str, list[Any]]) -> Any:
        kind = request.param
        path = tmp_path / f"table.{request.param}"
        in_memory: dict[str, Source] = {
            "mapping": dict,
            "pandas": pd.DataFrame,
            "polars": pl.DataFrame,
            "lazy": pl.LazyFrame,
            "arrow": pa.table,
        }
        if kind in in_memory:
            return in_memory[kind](columns)
        frame = pl.DataFrame(columns)
        if kind == "jsonl":
            frame.write_ndjson(path)
        elif kind == "parquet":
            frame.write_parquet(path)
        else:
            frame.write_csv(path, separator="," if kind == "csv" else "\t")
        return path

    return build
