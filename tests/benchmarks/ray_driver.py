# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[files]", "ray-retrieval-metrics"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ray-retrieval-metrics = { path = "../../integrations/ray", editable = true }
# ///
"""What the driver holds while Ray sums the values of single queries: `uv run tests/benchmarks/ray_driver.py 16000000`.

The rows of so many queries are made in the workers, with three metrics; `to_evaluation` sums them and looks for
repeated queries. The largest memory of the driver is measured against that before, several times a second. The last
number is one query that is there twice, at the far ends of the rows: it must be found.
"""

import argparse
import logging
import sys
import threading
import time
from pathlib import Path

from measure import machine, use_one_thread

use_one_thread()

import numpy as np
import pyarrow as pa
import ray
from ray.data import Dataset

from ray_retrieval_metrics import evaluate_dataset, start, to_evaluation

KINDS = 1_000
METRICS = ["mrr", "ndcg@10", "recall@10"]
MAX_MEGABYTES = 32.0
"""Megabytes that the driver may grow by."""


def own_megabytes() -> float:
    """Return the memory of this process that is in no file and shared with nobody."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon:"))
    return int(line.split()[1]) / 1000


class Watch(threading.Thread):
    """The largest memory of this process while it is watched."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.largest, self.done = own_megabytes(), threading.Event()

    def run(self) -> None:
        """Look several times a second."""
        while not self.done.wait(0.2):
            self.largest = max(self.largest, own_megabytes())


def rows_of(queries: int, *, twice: bool) -> Dataset:
    """Return the rows of so many queries, which have the values of a thousand in turn."""
    rng = np.random.default_rng(0)
    names = [f"k{number}" for number in range(KINDS)]
    run = pa.table(
        {
            "query_id": [name for name in names for _ in range(10)],
            "doc_id": [f"d{number}" for _ in names for number in range(10)],
            "score": rng.random(10 * KINDS),
        }
    )
    qrels = {name: [f"d{number}" for number in rng.choice(30, 3, replace=False)] for name in names}
    kinds = evaluate_dataset(qrels, ray.data.from_arrow(run), METRICS, partitions=1)
    template = pa.concat_tables(ray.get(kinds.to_arrow_refs()))

    def block(numbers: pa.Table) -> pa.Table:
        ids = numbers["id"].to_numpy()
        rows = template.take(ids % KINDS)
        named = ids if not twice else np.where(ids == queries - 1, 0, ids)
        query = pa.array([f"query-{number}" for number in named.tolist()], template.schema.field("query").type)
        return rows.set_column(rows.schema.get_field_index("query"), "query", query)

    return ray.data.range(queries).map_batches(block, batch_format="pyarrow", batch_size=100_000)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("queries", type=int, nargs="*", default=[100_000, 1_000_000, 4_000_000])
    sizes = parser.parse_args().queries
    print(machine())
    is_kept = True
    with start(logging_level="error"):
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        ray.data.DataContext.get_current().enable_progress_bars = False
        to_evaluation(rows_of(10_000, twice=False))  # workers start
        for queries in sizes:
            before = own_megabytes()
            began = time.perf_counter()
            watch = Watch()
            watch.start()
            evaluation = to_evaluation(rows_of(queries, twice=False))
            watch.done.set()
            seconds = time.perf_counter() - began
            is_kept &= evaluation.counts["queries"] == queries and watch.largest - before < MAX_MEGABYTES
            print(f"{queries:>12,} queries  {seconds:6.1f} s  driver {before:.0f} MB, at most {watch.largest:.0f} MB")
            print(f"{'':>12} {evaluation.means}", flush=True)
        try:
            to_evaluation(rows_of(sizes[0], twice=True))
        except ValueError as error:
            print(f"the first query once more at the end: {error}")
        else:
            is_kept = False
    print("kept" if is_kept else "NOT KEPT")
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
