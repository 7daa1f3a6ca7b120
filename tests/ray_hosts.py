"""One Ray for the tests of a process, and judgments and rankings as its datasets, cut into blocks in every way."""

from __future__ import annotations

import logging
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import ray
from ray.data import DataContext

from ray_retrieval_metrics import start

if TYPE_CHECKING:
    from ray.data import Dataset

Row = tuple[Any, Any, float]


def start_small() -> None:
    """Start Ray within this machine, unless it runs; with one processor, since each takes processes that import it."""
    start(num_cpus=1, logging_level="error", log_to_driver=False)
    DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)


def dataset(rows: Sequence[Row], number: str, blocks: int = 1, seed: int | None = None) -> Dataset:
    """Rows of query, document and number in blocks: as they stand, or shuffled."""
    rows = list(rows)
    if seed is not None:
        random.Random(seed).shuffle(rows)
    query, document, value = zip(*rows, strict=True)
    table = pa.table({"query_id": list(query), "doc_id": list(document), number: list(value)})
    step = -(-len(table) // blocks)
    return ray.data.from_arrow([table.slice(start, step) for start in range(0, len(table), step)])


def run_rows(run: Mapping[Any, Any]) -> tuple[list[Row], str]:
    """The rows of rankings, and what their number is."""
    if all(isinstance(ranking, Mapping) for ranking in run.values()):
        return [(query, document, score) for query in run for document, score in run[query].items()], "score"
    return [(query, document, rank) for query in run for rank, document in enumerate(run[query], start=1)], "rank"


def qrels_rows(qrels: Mapping[Any, Mapping[Any, float]]) -> list[Row]:
    return [(query, document, grade) for query in qrels for document, grade in qrels[query].items()]


def values(results: Dataset, metrics: Sequence[str]) -> dict[str, dict[Any, float]]:
    """The values of the judged queries, as they stand in the rows of a result."""
    rows = [row for row in results.take_all() if row["is_judged"]]
    return {metric: {row["query"]: row[metric] for row in rows} for metric in metrics}
