"""The same rows in every form that has columns, and what is read from them."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

import retrieval_metrics as rm

Source = Callable[[dict[str, list[Any]]], Any]
IDS = {"query": ["q", "q"], "document": ["a", "b"]}
COLUMNS = {"query": ["q1", "q1", "q2"], "document": ["d3", "d7", "d1"], "score": [2.0, 1.5, 9.0]}
RUN = {"q1": {"d3": 2.0, "d7": 1.5}, "q2": {"d1": 9.0}}
FRAMES: list[Callable[[Any], Any]] = [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table]


def judgments(qrels: rm.Qrels) -> dict[Any, Any]:
    """Return judgments as a dict."""
    return {query: qrels.judgments(position) for position, query in enumerate(qrels.queries)}
