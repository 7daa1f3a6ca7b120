# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[files]", "ray-retrieval-metrics"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ray-retrieval-metrics = { path = "../../integrations/ray", editable = true }
# ///
"""The metric stage on Ray, and what it takes to get there: `uv run tests/benchmarks/ray_evaluation.py`.

First single blocks of growing size, each scored in a process of its own with one thread: rows per CPU second, and
memory above the block. Then ten million rows (`--queries`) on a local Ray, the shuffle and the metric stage each by
itself, and the result against that of the core on the same rows, to the last bit.
"""

import argparse
import logging
import math
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

from measure import in_child, machine, use_one_thread

use_one_thread()

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import retrieval_metrics as rm
from ray_retrieval_metrics import evaluate_dataset, start, to_evaluation
from ray_retrieval_metrics.datasets import map_blocks
from ray_retrieval_metrics.evaluating import score_block, shuffle_by_query
from ray_retrieval_metrics.judgment_rows import read_judgments
from ray_retrieval_metrics.shuffled_rows import RowKind, read_run_columns, select_rows
from retrieval_metrics.integration_api.batches import BlockScorer, RowColumns
from retrieval_metrics.reports.tables import Table

DEPTH = 100
RELEVANT = 3
AT_LEAST = 1_000_000
"""Rows per second and core in the metric stage."""
BLOCKS = (100_000, 300_000, 1_000_000, 3_000_000)

SCORER = BlockScorer.create(rm.DEFAULT_METRICS)
METRICS = SCORER.metrics


def ids(prefix: str, numbers: Any) -> pa.Array:
    return pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "")


def run_of(queries: Any, *, shuffled: bool = True) -> pa.Table:
    """A hundred scored documents of each query, in no order."""
    rng = np.random.default_rng(queries[0])
    query = np.repeat(queries, DEPTH)
    place = np.tile(np.arange(DEPTH), len(queries))
    order = rng.permutation(len(query)) if shuffled else np.arange(len(query))
    document = ids("document-", (query * 7_919 + place * 80_021)[order] % 8_000_000 * DEPTH + place[order])
    score = rng.normal(-place, 10.0)[order]
    return pa.table({"query_id": ids("query-", query[order]), "doc_id": document, "score": score})


def qrels_of(queries: Any) -> pa.Table:
    """Three graded documents of each query, which mostly were retrieved."""
    rng = np.random.default_rng(queries[0])
    query = np.repeat(queries, RELEVANT)
    place = np.tile(np.arange(RELEVANT), len(queries)) * 40 + np.repeat(rng.integers(0, 40, len(queries)), RELEVANT)
    document = ids("document-", (query * 7_919 + place * 80_021) % 8_000_000 * DEPTH + place)
    return pa.table({"query_id": ids("query-", query), "doc_id": document, "grade": rng.integers(1, 4, len(query))})


def block_of(rows: int, *, ties: bool) -> pa.Table:
    queries = np.arange(rows // DEPTH)
    run = run_of(queries)
    if ties:
        run = run.set_column(2, "score", pc.round(pc.divide(run["score"], 4.0)))
    parts = [
        select_rows(run, RowColumns("query_id", "doc_id", "score", "score"), RowKind.RETRIEVED),
        select_rows(qrels_of(queries), RowColumns("query_id", "doc_id", "grade", "grade"), RowKind.JUDGED),
    ]
    return pa.concat_tables(parts).combine_chunks()


def score(block: pa.Table) -> dict[str, float]:
    return {"queries": len(score_block(block, SCORER))}


def measure_block() -> bool:
    """Score single blocks; return whether each is fast enough."""
    rows = []
    is_fast_enough = True
    for size in BLOCKS:
        for ties in (False, True):
            block = block_of(size, ties=ties)
            measured = in_child(lambda block=block: partial(score, block), repeats=3)  # type: ignore[misc]  # bound now
            speed = size / measured.warm
            is_fast_enough = is_fast_enough and speed >= AT_LEAST
            rows.append(
                [
                    f"{size:,}",
                    "every fifth or so" if ties else "none",
                    f"{speed / 1e6:.2f}",
                    f"{measured.first:.2f}",
                    f"{block.nbytes / 1e6:.0f}",
                    f"{measured.megabytes:.0f}",
                ]
            )
    head = ["rows in the block", "ties", "M rows/s/core", "first call, s", "MB of the block", "MB above it, at most"]
    print(Table(head, rows).markdown())
    return is_fast_enough


def weighed(block: pa.Table, scorer: BlockScorer) -> dict[str, list[float]]:
    """Score a block and return the memory that is the worker's own, in MB: before, and the most it was meanwhile."""
    before = largest = own_megabytes()
    done = threading.Event()

    def watch() -> None:
        nonlocal largest
        while not done.wait(0.005):
            largest = max(largest, own_megabytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    score_block(block, scorer)
    done.set()
    watcher.join()
    return {"rows": [len(block)], "before": [before], "most": [largest]}


def own_megabytes() -> float:
    """Return the memory of this process that is in no file and shared with nobody."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon:"))
    return int(line.split()[1]) / 1000


def on_ray(queries: int, partitions: int | None) -> bool:
    """Evaluate on a local Ray; return whether the metric stage is fast enough and the result that of the core."""
    import ray

    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    cores = int(ray.cluster_resources()["CPU"])  # type: ignore[no-untyped-call]
    pieces = np.array_split(np.arange(queries), max(1, queries // 1000))
    run = ray.data.from_arrow([run_of(piece) for piece in pieces])
    qrels = ray.data.from_arrow([qrels_of(piece) for piece in pieces])
    n_rows = run.count()
    partitions = partitions or max(cores, math.ceil(n_rows / 1_000_000))
    evaluate_dataset(qrels, run.limit(100_000), METRICS, partitions=cores).materialize()  # workers start

    began = time.perf_counter()
    rows = shuffle_by_query(read_judgments(qrels, None), run, read_run_columns(run, None), partitions)
    shuffled = rows.materialize()
    shuffle = time.perf_counter() - began
    began = time.perf_counter()
    results = map_blocks(shuffled, score_block, scorer=SCORER).materialize()
    stage = time.perf_counter() - began
    began = time.perf_counter()
    evaluation = to_evaluation(results)
    sums = time.perf_counter() - began
    figures = [
        ["shuffle", f"{shuffle:.1f}", f"{n_rows / shuffle / cores / 1e6:.2f}"],
        ["metric stage", f"{stage:.1f}", f"{n_rows / stage / cores / 1e6:.2f}"],
        ["means, intervals, counts", f"{sums:.1f}", f"{n_rows / sums / cores / 1e6:.2f}"],
    ]
    print(f"\n{n_rows:,} rows of {queries:,} queries in {partitions} partitions on {cores} cores:\n")
    print(Table(["stage", "seconds", "M rows/s/core"], figures).markdown())
    heaviest = max(map_blocks(shuffled, weighed, scorer=SCORER).take_all(), key=lambda row: row["most"])
    print(
        f"\nA worker with a block of {heaviest['rows']:,} rows takes at most {heaviest['most']:.0f} MB, the "
        f"{heaviest['before']:.0f} MB of Python and its libraries included."
    )
    began = time.perf_counter()
    truth, retrieved = (pa.concat_tables([make(piece) for piece in pieces]) for make in (qrels_of, run_of))
    evaluated_at_once = rm.evaluate(rm.Qrels.from_frame(truth), rm.Run.from_frame(retrieved), METRICS)
    is_same = str(evaluated_at_once) == str(evaluation) and dict(evaluated_at_once.means) == dict(evaluation.means)
    seconds = time.perf_counter() - began
    print(f"\nThe core in one process, {seconds:.0f} s: the same to the last bit: {is_same}\n\n{evaluation}")
    return is_same and n_rows / stage / cores >= AT_LEAST


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=100_000, help="on Ray, with 100 documents each")
    parser.add_argument("--partitions", type=int, help="into how many blocks they are cut; one for a million rows")
    arguments = parser.parse_args()
    print(f"{machine()}\n\nSingle blocks, one thread:\n")
    is_kept = measure_block()
    with start(logging_level="error"):
        is_kept = on_ray(arguments.queries, arguments.partitions) and is_kept
    print(f"\nAt least {AT_LEAST:,} rows/s/core in the metric stage: {'kept' if is_kept else 'NOT KEPT'}")
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
