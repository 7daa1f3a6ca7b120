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
    """Return rows of query, document and number in blocks: as they stand, or shuffled."""
    rows = list(rows)
    if seed is not None:
        random.Random(seed).shuffle(rows)
    query, document, value = zip(*rows, strict=True)
    table = pa.table({"query_id": list(query), "doc_id": list(document), number: list(value)})
    step = -(-len(table) // blocks)
    return ray.data.from_arrow([table.slice(start, step) for start in range(0, len(table), step)])


def run_rows(run: Mapping[Any, Any]) -> tuple[list[Row], str]:
    """Return the rows of rankings, and what their number is."""
    rows: list[Row] = []
    if all(isinstance(ranking, Mapping) for ranking in run.values()):
        for query, scores in run.items():
            rows += [(query, document, score) for document, score in scores.items()]
        return rows, "score"
    for query, ranking in run.items():
        rows += [(query, document, rank) for rank, document in enumerate(ranking, start=1)]
    return rows, "rank"


def qrels_rows(qrels: Mapping[Any, Mapping[Any, float]]) -> list[Row]:
    """Return the rows of judgments."""
    rows: list[Row] = []
    for query, grades in qrels.items():
        rows += [(query, document, grade) for document, grade in grades.items()]
    return rows


def values(results: Dataset, metrics: Sequence[str]) -> dict[str, dict[Any, float]]:
    """Return the values of the judged queries, as they stand in the rows of a result."""
    values_by_metric: dict[str, dict[Any, float]] = {metric: {} for metric in metrics}
    for row in results.take_all():
        if row["is_judged"]:
            for metric in metrics:
                values_by_metric[metric][row["query"]] = row[metric]
    return values_by_metric
