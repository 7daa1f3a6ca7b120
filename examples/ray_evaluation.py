# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[files]", "ray-retrieval-metrics"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# ray-retrieval-metrics = { path = "../integrations/ray", editable = true }
# ///
"""Evaluate ten million retrieved documents on Ray, which this script starts on this machine and shuts down.

Run it with `uv run examples/ray_evaluation.py`, or with `--queries 1000000` for a hundred million documents. The data
are generated block by block, so they are never all in memory.
"""

import argparse
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ray_retrieval_metrics import evaluate_dataset, start, to_evaluation

DEPTH = 100
"""The number of documents retrieved for a query."""
QUERIES_IN_A_BLOCK = 1_000
FORGOTTEN = 50
"""One in this many queries has nothing retrieved."""


def named(prefix: str, numbers: Any) -> pa.Array:
    """Return an id such as q17 for each number."""
    return pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "")


def queries_of(block: Any) -> Any:
    """Return the numbers of the queries of some blocks."""
    return (block["id"][:, np.newaxis] * QUERIES_IN_A_BLOCK + np.arange(QUERIES_IN_A_BLOCK)).ravel()


def retrieved(block: Any) -> Any:
    """Return a hundred scored documents for each query of some blocks, in random order."""
    rng = np.random.default_rng(block["id"])
    queries = queries_of(block)
    query = np.repeat(queries[queries % FORGOTTEN > 0], DEPTH)
    place = np.tile(np.arange(DEPTH), len(query) // DEPTH)
    score = rng.normal(-place, 10.0)
    order = rng.permutation(len(query))
    return {"query_id": named("q", query[order]), "doc_id": named("d", place[order]), "score": score[order]}


def relevant(block: Any) -> Any:
    """Return two graded documents for each of these queries; some are not among the retrieved."""
    rng = np.random.default_rng(block["id"])
    query = np.repeat(queries_of(block), 2)
    first = rng.geometric(0.05, len(query) // 2)
    place = np.column_stack([first, first + rng.geometric(0.05, len(first))]).ravel()
    return {"query_id": named("q", query), "doc_id": named("d", place), "grade": rng.integers(1, 4, len(query))}


def main() -> None:
    """Print the metrics of all queries, and of those for which everything relevant was retrieved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=100_000, help="the number of queries, with 100 documents each")
    parser.add_argument("--address", help="the address of a Ray cluster; by default Ray is started here")
    arguments = parser.parse_args()
    blocks = max(1, arguments.queries // QUERIES_IN_A_BLOCK)

    with start(arguments.address):
        import ray  # noqa: PLC0415  (after start, which tells Ray to report to nobody)

        ids = ray.data.range(blocks, override_num_blocks=blocks)
        run = ids.map_batches(retrieved, batch_size=None)
        qrels = ids.map_batches(relevant, batch_size=None)

        began = time.perf_counter()
        metrics = ["ndcg@10", "mrr@10", "recall@100", "hit_rate@10"]
        partitions = max(2, blocks // 10)  # of a million rows; by default rows are generated to count them
        results = evaluate_dataset(qrels, run, metrics, partitions=partitions).materialize()
        evaluation = to_evaluation(results)
        print(f"{results.sum('n_retrieved'):,} documents in {time.perf_counter() - began:.0f} s, generation included")
        print(f"\nAll queries:\n{evaluation}\n")
        complete_rows = results.filter(lambda row: row["n_found"] == row["n_relevant"])
        print(f"Queries for which everything relevant was retrieved:\n{to_evaluation(complete_rows)}\n")
        print("The rows behind it:")
        for row in results.select_columns(["query", "n_retrieved", "n_relevant", "n_found", "ndcg@10"]).take(3):
            print(row)


if __name__ == "__main__":
    main()
