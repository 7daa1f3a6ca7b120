"""Simulate a gate over many builds: which rule finds drops without false alarms in months where nothing changed.

A retriever answers at random: each of 60 questions has its own chance that the relevant document comes first. Every
build is compared with the same baseline by the sign-flip test. In some builds the retriever is really worse, until the
drop is found, or for five builds.

    uv run --all-extras tests/benchmarks/many_builds.py
"""

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from retrieval_metrics.statistics import paired_differences

QUESTIONS, BUILDS, MONTH, RUNS, FLIPS, ALPHA = 60, 45, 30, 400, 20_000, 0.05
DROPS, LASTING = (2, 12, 25, 38), 5
WEIGHTS = np.arange(1, 1_000) ** -1.6 / np.sum(np.arange(1, 1_000_000) ** -1.6)


def _lord(at: int) -> float:
    return math.log(max(at, 2)) / (at * math.exp(math.sqrt(math.log(at))))


OF_LORD = np.array([_lord(at) for at in range(1, 1_000)]) / math.fsum(map(_lord, range(1, 200_000)))
Rule = Callable[[int, list[int]], float]
"""The level of a build from its number and the numbers of the builds that raised an alarm before."""


def lord(build: int, alarms: list[int]) -> float:
    """Return the level of LORD++ (Ramdas, Yang, Wainwright, Jordan 2017)."""
    level = OF_LORD[build] * ALPHA / 2
    for number, alarm in enumerate(alarms):
        level += OF_LORD[build - alarm - 1] * (ALPHA / 2 if number == 0 else ALPHA)
    return float(level)


RULES: dict[str, Rule] = {
    "0.05 for each build": lambda _build, _alarms: ALPHA,
    "0.05 for 30 builds": lambda _build, _alarms: ALPHA / MONTH,
    "spent over time, 1 / j^1.6": lambda build, _alarms: float(ALPHA * WEIGHTS[build]),
    "the same, anew after an alarm": lambda build, alarms: float(
        ALPHA * WEIGHTS[build - (alarms[-1] + 1 if alarms else 0)]
    ),
    "LORD++": lord,
}


def drawn(random: np.random.Generator, number: int, shares: Any) -> Any:
    """Return reciprocal ranks of each build and question, shape (number, questions)."""
    others = random.choice([1 / 2, 1 / 3, 0.0], size=(number, QUESTIONS))
    return np.where(random.random((number, QUESTIONS)) < shares, 1.0, others)


def month(rule: Rule, p_values: Any, means: Any, drops: tuple[int, ...]) -> tuple[bool, int, int]:
    """Return whether a build in which nothing changed raised an alarm, and the drops found at once, and at all."""
    alarms: list[int] = []
    found: dict[int, int] = {}
    false = False
    for build in range(BUILDS):
        drop = next((start for start in drops if start <= build < start + LASTING), None)
        mended = drop in found
        if mended or p_values[build] > rule(build, alarms) or means[build] >= 0:
            continue
        alarms.append(build)
        if drop is None:
            false |= build < MONTH
        else:
            found[drop] = build
    return false, sum(start == build for start, build in found.items()), len(found)


def simulate(drops: tuple[int, ...], less: float) -> dict[str, list[int]]:
    """Return for each rule the months with a false alarm, and the drops found at once and within five builds."""
    random = np.random.default_rng(1)
    signs = random.integers(0, 2, (FLIPS, QUESTIONS)).astype(np.float32) * 2 - 1
    counted = {name: [0, 0, 0] for name in RULES}
    worse = np.isin(np.arange(BUILDS), [start + at for start in drops for at in range(LASTING)])
    for _ in range(RUNS):
        shares = random.uniform(0.2, 0.9, QUESTIONS)
        baseline, same = drawn(random, 1, shares), drawn(random, BUILDS, shares)
        values = np.where(worse[:, None], drawn(random, BUILDS, np.maximum(shares - less, 0)), same) - baseline
        reached = np.abs(values.astype(np.float32) @ signs.T) >= np.abs(values.sum(axis=1))[:, None] - 1e-5
        p_values = (reached.sum(axis=1) + 1) / (FLIPS + 1)
        for name, rule in RULES.items():
            of_month = month(rule, p_values, values.mean(axis=1), drops)
            counted[name] = [before + int(more) for before, more in zip(counted[name], of_month, strict=True)]
    return counted


def chosen(histories: int = 300) -> tuple[float, float]:
    """Return how often the best of 30 builds beats the worst, in per cent, with the correction for the choice or not.

    Nothing changed between the builds.
    """
    random, pairs = np.random.default_rng(3), MONTH * (MONTH - 1) // 2
    found = np.zeros(2)
    for history in range(histories):
        values = drawn(random, MONTH, random.uniform(0.2, 0.9, QUESTIONS))
        means = values.mean(axis=1)
        difference = values[means.argmax()] - values[means.argmin()]
        (p_value,) = paired_differences(
            difference[:, None], spans=[1.0], level=1 - ALPHA / pairs, resamples=FLIPS, seed=history
        ).corrected
        found += [p_value * pairs <= ALPHA, p_value <= ALPHA]
    return 100 * float(found[0]) / histories, 100 * float(found[1]) / histories


def main() -> None:
    """Print a row per rule, and how often a choice of the best and the worst misleads."""
    nothing = simulate((), 0.0)
    small, large = simulate(DROPS, 0.25), simulate(DROPS, 0.42)
    lines = ["                               false alarms  drop 0.15: at once  in 5  drop 0.25: at once  in 5"]
    for name in RULES:
        drops = RUNS * len(DROPS)
        cells = [100 * nothing[name][0] / RUNS]
        cells += [100 * each[name][at] / drops for each in (small, large) for at in (1, 2)]
        lines.append("{:30} {:13.1f} {:19.1f} {:5.1f} {:19.1f} {:5.1f}".format(name, *cells))
    lines.append(
        "best of 30 better than the worst: {:.1f} % corrected for the choice, {:.1f} % without".format(*chosen())
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
