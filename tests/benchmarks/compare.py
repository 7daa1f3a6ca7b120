# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics", "ranx>=0.3.20"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""How long does a comparison of three systems take, printed table and all, and how long does ranx's?

    uv run tests/benchmarks/compare.py --data FOLDER    (FOLDER/cranfield holds qrels and runs; without it: generated)

ranx compares with one test and no intervals; its time is that of its first call, which compiles, and of its second.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any

import retrieval_metrics as rm
from generated import Qrels, Run, Shape, generate

LARGE = Shape("6,980 queries x 100, 3 systems", 6_980, 100, (1, 2))
RANX_METRICS = ["hit_rate@5", "recall@10", "precision@5", "mrr@10", "map", "ndcg@10", "r-precision"]


def worsened(run: Run, share: float, seed: int) -> Run:
    """Return the run with the scores of some queries dealt out anew: a system that is worse on these."""
    rng = random.Random(seed)
    result = {}
    for query, scores in run.items():
        values = list(scores.values())
        if rng.random() < share:
            rng.shuffle(values)
        result[query] = dict(zip(scores, values, strict=True))
    return result


def cranfield(folder: Path) -> tuple[Qrels, dict[str, Run]]:
    """Read the judgments and the three runs of the Cranfield collection."""
    qrels: Qrels = {}
    for line in (folder / "qrels.graded.trec").read_text().splitlines():
        query, _, document, grade = line.split()
        qrels.setdefault(query, {})[document] = int(grade)
    runs: dict[str, Run] = {}
    for path in sorted(folder.glob("run.*.trec")):
        run = runs.setdefault(path.name.split(".")[1], {})
        for line in path.read_text().splitlines():
            query, _, document, _, score, _ = line.split()
            run.setdefault(query, {})[document] = float(score)
    return qrels, runs


def seconds(work: Any) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ranx_compare(qrels: Qrels, runs: dict[str, Run]) -> None:
    """Compare with ranx, its conversion of the dicts included, as ours is."""
    import ranx

    ranx.compare(
        ranx.Qrels(qrels), [ranx.Run(run, name=name) for name, run in runs.items()], RANX_METRICS, stat_test="fisher"
    )


def main() -> None:
    """Print a line per collection: the first call in a fresh process, which imports scipy, and the second."""
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=Path, help="a folder with cranfield/")
    options.add_argument("--ranx", action="store_true", help="time ranx's compare too, with Fisher's randomisation")
    chosen = options.parse_args()
    collections = []
    if chosen.data:
        collections.append(("Cranfield, 225 queries x 100, 3 systems", *cranfield(chosen.data / "cranfield")))
    qrels, run = generate(LARGE)
    runs = {"best": run, "worse": worsened(run, 0.02, 1), "worst": worsened(run, 0.1, 2)}
    collections.append((LARGE.name, qrels, runs))
    for name, truth, systems in collections:
        times = [seconds(lambda truth=truth, systems=systems: str(rm.compare(truth, systems))) for _ in range(2)]
        line = f"{name}, {len(rm.DEFAULT_METRICS)} metrics: {times[0]:.2f} s first, {times[1]:.2f} s again"
        if chosen.ranx:
            peer = [seconds(lambda truth=truth, systems=systems: ranx_compare(truth, systems)) for _ in range(2)]
            line += f"; ranx {peer[0]:.2f} s first, {peer[1]:.2f} s again"
        print(line)


if __name__ == "__main__":
    main()
