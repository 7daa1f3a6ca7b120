# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics",
#   "ragas-retrieval-metrics",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ragas-retrieval-metrics = { path = "../../integrations/ragas", editable = true }
# ///
"""What 28 metrics cost on a dataset of ragas: row by row in `ragas.evaluate`, and in one pass of the core.

Run it with `uv run tests/benchmarks/ragas_evaluation.py`, or with the number of rows as an argument. Both ways run in
turn, in one process, and must give the same numbers to the last bit; the ratio of their CPU seconds is what counts.
"""

import os

os.environ["RAGAS_DO_NOT_TRACK"] = "true"

import gc
import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from measure import use_one_thread

use_one_thread()

from ragas import EvaluationDataset, evaluate

from ragas_retrieval_metrics import evaluate_dataset, metric_suite, to_evaluation

if TYPE_CHECKING:
    import retrieval_metrics as rm

ROWS = 1_000
RETRIEVED = 10
FAST_CALLS = 5


def dataset_of(n: int) -> EvaluationDataset:
    """Return rows with ten texts and ids each, of which none, some or all are relevant."""
    rng = random.Random(0)
    documents = [f"document {number}" for number in range(200)]
    rows = []
    for number in range(n):
        retrieved = rng.sample(documents, RETRIEVED)
        rows.append(
            {
                "user_input": f"question {number}",
                "retrieved_context_ids": retrieved,
                "retrieved_contexts": [f"the text of {id_}, a sentence or two" for id_ in retrieved],
                "reference_context_ids": rng.sample(retrieved, rng.randint(0, 3)) + rng.sample(documents, 1),
                "response": "an answer",
            }
        )
    return EvaluationDataset.from_list(rows)


def seconds(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns, and the CPU seconds of this process that it took."""
    gc.collect()  # of what importing ragas left behind, which is 0.2 s for whoever comes first
    start = time.process_time()
    returned = call()
    return returned, time.process_time() - start


def main() -> None:
    """Print what both ways cost."""
    warnings.simplefilter("ignore", DeprecationWarning)  # of ragas.evaluate
    n = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    dataset = dataset_of(n)
    suite = metric_suite()
    one_pass: list[float] = []
    fast: rm.Evaluation | None = None
    for _ in range(FAST_CALLS):
        fast, took = seconds(lambda: evaluate_dataset(dataset, suite))
        one_pass.append(took)
    result, by_row = seconds(lambda: evaluate(dataset, suite, show_progress=False))
    again, converted = seconds(lambda: to_evaluation(result))
    if fast is None or fast.values.tobytes() != again.values.tobytes():
        raise SystemExit("the two ways disagree")
    print(f"{n:,} rows x {len(suite)} metrics, CPU seconds")
    print(f"ragas.evaluate    {by_row:9.3f}")
    print(f"  to_evaluation   {converted:9.3f}")
    print(f"evaluate_dataset  {statistics.median(one_pass):9.3f}  (first call {one_pass[0]:.3f})")
    print(f"ratio             {by_row / statistics.median(one_pass):9.0f}  (first call {by_row / one_pass[0]:.0f})")


if __name__ == "__main__":
    main()
