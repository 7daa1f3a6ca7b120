# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "pytest-retrieval-metrics", "retrieval-metrics", "scipy"]
#
# [tool.uv.sources]
# pytest-retrieval-metrics = { path = "../../integrations/pytest", editable = true }
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Does the regression gate keep its promises? False alarms, power, and whether what is collected changes a verdict.

    uv run tests/benchmarks/gate.py --builds 1000
    uv run tests/benchmarks/gate.py --project
    uv run tests/benchmarks/gate.py --chains 200

A simulated retriever finds the one relevant document of a query at a random rank; a check has three metrics of that
rank. A build without a change ranks 20% of the queries anew. A build with a drop of D ranks them anew as well, and
then fails a random choice of queries altogether, so that the true mean of mrr@10 falls by D.

With --chains, each of eight updates lowers a metric a little, while the others stay, vary or rise. It prints the share
of chains that are refused, at which update on average, and what the stored mean of the metric lost; with one memory
that is forgotten as soon as any metric is better, and with a memory for each metric, as in `approval.keep_best`. The
line `nothing` is the share of chains refused where no metric changes but by chance.

With --project, pytest itself runs twelve builds of a project of four files, all together and file by file; in every
fourth build the retriever loses queries of one file. It prints whether any verdict differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval_metrics.statistics import PairedDifferences, paired_differences

Values = NDArray[np.float64]
RESAMPLES = 999  # random sign choices per simulated test
DEEPEST = 10
SHARE = 0.2
"""The share of queries that a build ranks anew."""
UPDATES = 5
"""Builds of which the best becomes the baseline, in the column `ratcheted`."""
FOUND_SHARES = {"strong": 0.45, "weak": 0.12}
"""Chance that the relevant document stands at the next rank."""
DROPS = (0.03, 0.05, 0.1)
ALPHA = 0.05


def measured(ranks: NDArray[np.int64]) -> Values:
    """Return mrr@10, recall@5 and ndcg@10 of each query, shape (queries, 3)."""
    within = ranks <= DEEPEST
    return np.column_stack([within / ranks, (ranks <= DEEPEST // 2) * 1.0, within / np.log2(ranks + 1)])


def reranked(random: np.random.Generator, ranks: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    anew = random.random(len(ranks)) < SHARE
    return np.where(anew, random.geometric(share, len(ranks)), ranks)


def fails(now: NDArray[np.int64], before: NDArray[np.int64], checks: int, seed: int) -> bool:
    """Whether a check of a project with so many fails, as in `gates.compared`: one-sided, all metrics together."""
    level = 1 - 2 * ALPHA / checks
    tested: PairedDifferences = paired_differences(
        measured(now) - measured(before), spans=[1.0] * 3, level=level, resamples=RESAMPLES * checks, seed=seed
    )
    return any(
        p <= 1 - level + 1e-12 and difference.mean < 0
        for p, difference in zip(tested.corrected, tested.differences, strict=True)
    )


def simulate(n: int, share: float, checks: int, builds: int) -> str:
    random = np.random.default_rng(n)
    mean = sum((1 - share) ** (rank - 1) * share / rank for rank in range(1, DEEPEST + 1))
    alarms = []
    ratcheted = []
    found_drops = []
    for seed in range(builds):
        before = random.geometric(share, n)
        alarms.append(fails(reranked(random, before, share), before, checks, seed))
        builds_seen = [reranked(random, before, share) for _ in range(UPDATES)]
        best = max(builds_seen, key=lambda ranks: measured(ranks)[:, 0].mean())
        ratcheted.append(fails(reranked(random, before, share), best, checks, seed))
        lost = random.random(n)
        now = reranked(random, before, share)
        worse = [np.where(lost < drop / mean, DEEPEST + 1, now) for drop in DROPS]
        found_drops.append([fails(build, before, checks, seed) for build in worse])
    rates = f"{100 * np.mean(alarms):9.1f}{100 * np.mean(ratcheted):12.1f}"
    return rates + "".join(f"{100 * rate:9.1f}" for rate in np.mean(found_drops, axis=0))


LONGEST = 8
LOST = 4
RISEN = 10
"""Updates of a chain, and how many of 100 queries an update lowers in the metric that falls, or raises in another."""
MIXED = (1.0, 1.0, 0.5, 0.0)
"""The values of a metric, equally often."""


def updated(random: np.random.Generator, values: Values, other_change: str, *, falls: bool) -> Values:
    """Return the values after an update, shape (queries, metrics), of which the first metric falls."""
    now = values.copy()
    if falls:
        now[random.choice(np.flatnonzero(values[:, 0] == 1), LOST, replace=False), 0] = 1 / 3
    for column in range(int(falls), values.shape[1]):
        if other_change == "rise":
            now[random.choice(np.flatnonzero(values[:, column] < 1), RISEN, replace=False), column] = 1.0
        elif other_change == "vary":
            anew = random.random(len(values)) < SHARE
            now[anew, column] = random.choice(MIXED, int(anew.sum()))
    return now


def chain(seed: int, metrics: int, other_change: str, *, per_metric: bool, falls: bool = True) -> tuple[int, float]:
    """Return at which update a chain is refused, 0 if at none, and what the stored mean of the first metric lost."""
    random = np.random.default_rng(seed)
    first = random.choice(MIXED, (100, metrics))
    first[:, 1:][random.random((100, metrics - 1)) < (other_change == "rise")] = 0.0
    stored = first
    best = [first] * metrics

    def tested(now: Values, before: Values) -> PairedDifferences:
        return paired_differences(now - before, spans=[1.0] * metrics, level=1 - 2 * ALPHA, resamples=RESAMPLES)

    for step in range(1, LONGEST + 1):
        now = updated(random, stored, other_change, falls=falls)
        of_best = [tested(now, before) for before in best]
        is_better = [bool(of_best[index].corrected[index] <= 2 * ALPHA) for index in range(metrics)]
        gains = [of_best[index].differences[index].mean for index in range(metrics)]
        replaced = tested(now, stored)
        drops = [
            p <= 2 * ALPHA and difference.mean < 0
            for p, difference in zip(replaced.corrected, replaced.differences, strict=True)
        ]
        if any(drops) or any(yes and gain < 0 for yes, gain in zip(is_better, gains, strict=True)):
            return step, float((first - stored)[:, 0].mean())
        better = [yes and gain > 0 for yes, gain in zip(is_better, gains, strict=True)]
        best = [now if (better[index] if per_metric else any(better)) else best[index] for index in range(metrics)]
        stored = now
    return 0, float((first - stored)[:, 0].mean())


def chains(number: int) -> None:
    print("metrics  others   memory     refused %  at update  lost before  nothing %")
    for metrics, other_change in [(1, "-"), *((m, o) for m in (2, 3, 5) for o in ("stay", "vary", "rise"))]:
        for per_metric in (False, True) if metrics > 1 else (True,):
            results = [chain(seed, metrics, other_change, per_metric=per_metric) for seed in range(number)]
            unchanged = [
                chain(seed, metrics, "vary", per_metric=per_metric, falls=False)[0] > 0 for seed in range(number)
            ]
            steps = [step for step, _ in results if step]
            lost = float(np.mean([loss for _, loss in results]))
            memory = "each" if per_metric else "one"
            refused = 100 * len(steps) / number
            print(
                f"{metrics:7}  {other_change:8} {memory:8}{refused:12.1f}{np.mean(steps or [0]):11.2f}{lost:13.3f}"
                f"{100 * np.mean(unchanged):11.1f}",
                flush=True,
            )


TEST = """
import json, os, random

N = 60
HERE = {name!r}
QRELS = {{f"q{{at}}": ["d"] for at in range(N)}}


def search(query):
    at, build = int(query[1:]), int(os.environ["BUILD"])
    anew = random.Random(f"{{HERE}} {{at}} {{build}}").random() < 0.2
    chance = random.Random(f"{{HERE}} {{at}} {{build if anew else 0}} ranks")
    rank = min(int(chance.expovariate(0.6)), 9)
    if HERE == os.environ["DROPPED"] and at % 3 == 0:
        return ["x"]
    return [f"x{{before}}" for before in range(rank)] + ["d"]


def test_it(retrieval_check):
    retrieval_check(QRELS, search, {{"mrr@10": None, "ndcg@10": None, "recall@5": None}}, baseline=True)
"""
FILES = [f"test_{name}" for name in ("first", "second", "third", "fourth")]


def verdicts(root: Path, build: int, *options: str) -> dict[str, list[str]]:
    """Run a build, and return the outcome of each metric of each test."""
    dropped = FILES[build // 4 % 4] if build % 4 == 3 else ""
    report = root / "report.json"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", f"--retrieval-report={report}", *options],
        cwd=root,
        env=os.environ | {"BUILD": str(build), "DROPPED": dropped, "PYTHONHASHSEED": "0"},
        check=False,
        capture_output=True,
    )
    checks = json.loads(report.read_text(encoding="utf-8"))["checks"]
    return {
        check["test"]: [f"{row['metric']} {row['outcome']} {row['p']}" for row in check["metrics"]] for check in checks
    }


def project() -> None:
    """Run twelve builds of four files, together and one by one."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        for name in FILES:
            (root / f"{name}.py").write_text(TEST.format(name=name), encoding="utf-8")
        verdicts(root, 0, "--retrieval-update")
        other = 0
        failed = []
        for build in range(1, 13):
            together = verdicts(root, build)
            alone: dict[str, list[str]] = {}
            for name in FILES:
                alone |= verdicts(root, build, f"{name}.py")
            other += sum(together[test] != alone[test] for test in together)
            failed += [(build, test) for test, rows in together.items() if any(" worse " in row for row in rows)]
        print(f"12 builds x {len(FILES)} files: {other} verdicts differ between all files and one; failed: {failed}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builds", type=int, default=1_000, help="simulated builds per line")
    parser.add_argument("--project", action="store_true", help="run pytest on a project of four files instead")
    parser.add_argument("--chains", type=int, default=0, help="simulate so many chains of updates instead")
    arguments = parser.parse_args()
    if arguments.chains:
        chains(arguments.chains)
        return
    if arguments.project:
        project()
        return
    started = time.perf_counter()
    print("retriever  files  queries  alarm %  ratcheted %" + "".join(f"{f'-{drop:g}':>9}" for drop in DROPS))
    for name, share in FOUND_SHARES.items():
        for checks in (1, 4):
            for n in (30, 100, 300):
                print(f"{name:9}{checks:7}{n:9}{simulate(n, share, checks, arguments.builds)}", flush=True)
    error = 100 * (0.05 * 0.95 / arguments.builds) ** 0.5
    seconds = time.perf_counter() - started
    print(f"{arguments.builds} builds per line, one standard error at 5% is {error:.1f}; {seconds:.0f} s")


if __name__ == "__main__":
    main()
