"""What saving and loading an evaluation of 1,000,000 rows costs beside writing and reading the same rows as a run.

`uv run --all-extras tests/benchmarks/saving.py [ROWS]`
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import retrieval_metrics as rm

DEPTH = 100


def seconds(work: Callable[[], Any]) -> float:
    """Return the shortest of three times."""
    times = []
    for _ in range(3):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def main(rows: int) -> None:
    """Print the seconds, the sizes and the ratios."""
    random = Random(0)
    run = {
        f"q{query}": {f"d{random.randrange(10**6)}": random.random() for _ in range(DEPTH)}
        for query in range(rows // DEPTH)
    }
    qrels = {query: dict.fromkeys(list(ranking)[::20], 1) for query, ranking in run.items()}
    result = rm.evaluate(qrels, run, ["ndcg@10", "map"])
    folder = Path(tempfile.mkdtemp())
    saved = folder / "result.json"
    written = folder / "run.json"
    ratios = {
        "save beside write_run": (seconds(lambda: result.save(saved)), seconds(lambda: rm.write_run(run, written))),
        "load beside read_run": (seconds(lambda: rm.load(saved)), seconds(lambda: rm.read_run(written))),
    }
    for operation, (ours, theirs) in ratios.items():
        print(f"{operation}: {ours:.2f} s, {theirs:.2f} s, ratio {ours / theirs:.2f}")
    print(f"size: {saved.stat().st_size / 1e6:.1f} MB, {written.stat().st_size / 1e6:.1f} MB")
    assert rm.load(saved).values.tobytes() == result.values.tobytes()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
