# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "pytest-retrieval-metrics", "retrieval-metrics", "scipy"]
#
# [tool.uv.sources]
# pytest-retrieval-metrics = { path = "../../integrations/pytest", editable = true }
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Does the regression gate keep its promises? False alarms without a change, failures at the drop it claims to detect.

    uv run tests/benchmarks/gate.py --builds 2000

A simulated retriever finds the one relevant document of a query at a random rank. A build without a change ranks a
share of the queries anew, from the same distribution. A build with a drop of D ranks them anew as well, and then fails
a random choice of queries altogether, as many as make the true mean fall by D. The D of each build is what the gate
claimed in a build without a change, on other queries of the same kind.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval_metrics.sensitivity import detectable_drop
from retrieval_metrics.results.difference import Difference
from retrieval_metrics.statistics import paired_difference

Values = NDArray[np.float64]
RESAMPLES = 2_000  # random sign choices per simulated test
DEEPEST = 10
UPDATES = 5
"""Builds of which the best becomes the baseline, in the column `ratcheted`."""
FOUND = {"strong": 0.45, "weak": 0.12}
"""Chance that the relevant document stands at the next rank."""


def reciprocal_ranks(random: np.random.Generator, n: int, found: float) -> Values:
    """The reciprocal rank of each query, 0 beyond the tenth."""
    ranks = random.geometric(found, n)
    return np.where(ranks > DEEPEST, 0.0, 1 / ranks)


def reranked(random: np.random.Generator, values: Values, share: float, found: float) -> Values:
    anew = random.random(len(values)) < share
    return np.where(anew, reciprocal_ranks(random, len(values), found), values)


def compared(now: Values, before: Values, seed: int) -> Difference:
    """What the gate looks at, of a check of one metric."""
    paired = paired_difference(now, before, resamples=RESAMPLES, seed=seed)
    return Difference(
        metric="mrr@10",
        system="now",
        baseline="baseline",
        queries=range(len(now)),
        values=now - before,
        paired=paired,
        comparisons=1,
        p_corrected=paired.p_randomisation,
        test_level=1 - paired.level,
        span=1.0,
    )


def fails(difference: Difference) -> bool:
    return difference.significant and difference.mean < 0


def simulate(n: int, share: float, found: float, builds: int, random: np.random.Generator) -> str:
    mean = sum((1 - found) ** (rank - 1) * found / rank for rank in range(1, DEEPEST + 1))
    alarms, ratcheted, claims, found_drops = [], [], [], []
    for seed in range(builds):
        before = reciprocal_ranks(random, n, found)
        difference = compared(reranked(random, before, share, found), before, seed)
        alarms.append(fails(difference))
        builds_seen = [reranked(random, before, share, found) for _ in range(UPDATES)]
        best = max(builds_seen, key=np.mean)
        ratcheted.append(fails(compared(reranked(random, before, share, found), best, seed)))
        claim = detectable_drop(difference, float(before.max()))
        if math.isinf(claim):
            continue  # nothing is claimed
        claims.append(claim)
        fresh = reciprocal_ranks(random, n, found)
        lost = random.random(n) < claim / mean
        now = np.where(lost, 0.0, reranked(random, fresh, share, found))
        found_drops.append(fails(compared(now, fresh, seed)))
    rates = f"{100 * np.mean(alarms):7.1f}{100 * np.mean(ratcheted):12.1f}"
    return f"{rates}{np.mean(claims):8.3f}{100 * np.mean(found_drops):8.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builds", type=int, default=2_000, help="simulated builds per line")
    builds = parser.parse_args().builds
    started = time.perf_counter()
    random = np.random.default_rng(0)
    print("retriever  queries  changed  alarm %  ratcheted %   claim  fails %")
    for name, found in FOUND.items():
        for n in (25, 50, 200):
            for share in (0.1, 0.5):
                line = simulate(n, share, found, builds, random)
                print(f"{name:9}{n:9}{100 * share:7.0f} %  {line}", flush=True)
    error = 100 * math.sqrt(0.05 * 0.95 / builds)
    print(f"{builds} builds per line, one standard error at 5 % is {error:.1f}; {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
