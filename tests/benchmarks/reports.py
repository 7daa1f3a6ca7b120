# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""How long a report takes to write, and how large it is.

    uv run tests/benchmarks/reports.py

Two cases: eight systems, four metrics and 120 queries over ids; two systems with 1,000 queries and 20 passages of 600
characters each, no two of them alike.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

import retrieval_metrics as rm

METRICS = ["ndcg@10", "recall@10", "mrr@10", "hit_rate@5"]
WORDS = "several words that fill the passage up to its usual length and say nothing of interest at all, "


def of_ids(systems: int, queries: int, documents: int = 3000, depth: int = 20) -> rm.Comparison:
    """Return a comparison of systems that find ever more of what is relevant."""
    luck = random.Random(7)
    qrels = {f"q{at}": {f"d{luck.randrange(documents)}": luck.randint(1, 3) for _ in range(3)} for at in range(queries)}
    runs: dict[str, dict[str, list[str]]] = {}
    for at in range(systems):
        runs[f"system {at}"] = run = {}
        for query, truth in qrels.items():
            found = [document for document in truth if luck.random() < 0.3 + 0.07 * at]
            ranking = list(dict.fromkeys([f"d{luck.randrange(documents)}" for _ in range(depth - 2)] + found))
            luck.shuffle(ranking)
            run[query] = ranking
    return rm.compare(qrels, runs, METRICS)


def of_passages(queries: int, depth: int = 20, length: int = 600) -> rm.Comparison:
    """Return a comparison of two systems that retrieve passages, no two of them alike."""

    def passage(system: str, at: int, part: int, needed: int) -> rm.Retrieved:
        own = f"d{at}" if part == needed else f"d{at}-{part}-{system}"
        return rm.Retrieved(own, f"{system} {at} {part} {WORDS * (length // len(WORDS) + 1)}"[:length])

    qrels = {f"q{at}": [f"d{at}"] for at in range(queries)}
    runs = {
        system: {query: [passage(system, at, part, needed) for part in range(depth)] for at, query in enumerate(qrels)}
        for needed, system in ((3, "one"), (4, "two"))
    }
    return rm.compare(qrels, runs, ["mrr@20"])


def main() -> None:
    """Print seconds and bytes of both cases."""
    cases = {"8 systems, 120 queries, ids": of_ids(8, 120), "2 systems, 1,000 queries, passages": of_passages(1000)}
    for name, comparison in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.html"
            start = time.perf_counter()
            comparison.report(path)
            sys.stdout.write(f"{name}: {time.perf_counter() - start:.1f} s, {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
