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

QUESTIONS = 60
BUILDS = 45
MONTH = 30
RUNS = 400
FLIPS = 20_000
ALPHA = 0.05

# The builds in which the retriever becomes worse, and for how many builds it stays so.
DROPS = (2, 12, 25, 38)
DROP_LENGTH = 5

WEIGHTS = np.arange(1, 1_000) ** -1.6 / np.sum(np.arange(1, 1_000_000) ** -1.6)


def lord_weight(build: int) -> float:
    return math.log(max(build, 2)) / (build * math.exp(math.sqrt(math.log(build))))


LORD_WEIGHTS = np.array(list(map(lord_weight, range(1, 1_000)))) / math.fsum(map(lord_weight, range(1, 200_000)))

# The level of a build from its number and the numbers of the builds that raised an alarm before.
Rule = Callable[[int, list[int]], float]


def lord(build: int, alarms: list[int]) -> float:
    """Return the level of LORD++ (Ramdas, Yang, Wainwright, Jordan 2017)."""
    level = LORD_WEIGHTS[build] * ALPHA / 2
    for number, alarm in enumerate(alarms):
        level += LORD_WEIGHTS[build - alarm - 1] * (ALPHA / 2 if number == 0 else ALPHA)
    return float(level)


def spend_anew(build: int, alarms: list[int]) -> float:
    """Return the level of a rule that spends over time, and begins anew after every alarm."""
    start = alarms[-1] + 1 if alarms else 0
    return float(ALPHA * WEIGHTS[build - start])


RULES: dict[str, Rule] = {
    "0.05 for each build": lambda _build, _alarms: ALPHA,
    "0.05 for 30 builds": lambda _build, _alarms: ALPHA / MONTH,
    "spent over time, 1 / j^1.6": lambda build, _alarms: float(ALPHA * WEIGHTS[build]),
    "the same, anew after an alarm": spend_anew,
    "LORD++": lord,
}


def draw_builds(random: np.random.Generator, number: int, shares: Any) -> Any:
    """Return reciprocal ranks of each build and question, shape (number, questions)."""
    other_ranks = random.choice([1 / 2, 1 / 3, 0.0], size=(number, QUESTIONS))
    return np.where(random.random((number, QUESTIONS)) < shares, 1.0, other_ranks)


def find_drop(build: int, drops: tuple[int, ...]) -> int | None:
    """Return the build in which the drop began that a build has; None if nothing changed in it."""
    for start in drops:
        if start <= build < start + DROP_LENGTH:
            return start
    return None


def simulate_month(rule: Rule, p_values: Any, means: Any, drops: tuple[int, ...]) -> list[int]:
    """Return whether a build in which nothing changed raised an alarm, and the drops found at once, and at all."""
    alarms: list[int] = []
    found_at: dict[int, int] = {}
    has_false_alarm = False
    for build in range(BUILDS):
        drop = find_drop(build, drops)
        is_mended = drop in found_at
        if is_mended or p_values[build] > rule(build, alarms) or means[build] >= 0:
            continue
        alarms.append(build)
        if drop is None:
            has_false_alarm |= build < MONTH
        else:
            found_at[drop] = build
    n_at_once = sum(start == build for start, build in found_at.items())
    return [int(has_false_alarm), n_at_once, len(found_at)]


def simulate(drops: tuple[int, ...], loss: float) -> dict[str, list[int]]:
    """Return for each rule the months with a false alarm, and the drops found at once and within five builds."""
    random = np.random.default_rng(1)
    signs = random.integers(0, 2, (FLIPS, QUESTIONS)).astype(np.float32) * 2 - 1
    counts = {name: np.zeros(3, np.int64) for name in RULES}
    is_worse = np.array([find_drop(build, drops) is not None for build in range(BUILDS)])
    for _ in range(RUNS):
        shares = random.uniform(0.2, 0.9, QUESTIONS)
        baseline = draw_builds(random, 1, shares)
        unchanged = draw_builds(random, BUILDS, shares)
        dropped = draw_builds(random, BUILDS, np.maximum(shares - loss, 0))
        values = np.where(is_worse[:, None], dropped, unchanged) - baseline
        reached = np.abs(values.astype(np.float32) @ signs.T) >= np.abs(values.sum(axis=1))[:, None] - 1e-5
        p_values = (reached.sum(axis=1) + 1) / (FLIPS + 1)
        for name, rule in RULES.items():
            counts[name] += simulate_month(rule, p_values, values.mean(axis=1), drops)
    return {name: count.tolist() for name, count in counts.items()}


def simulate_choices(histories: int = 300) -> tuple[float, float]:
    """Return how often the best of 30 builds beats the worst, in per cent, with the correction for the choice or not.

    Nothing changed between the builds.
    """
    random = np.random.default_rng(3)
    pairs = MONTH * (MONTH - 1) // 2
    n_significant = np.zeros(2)
    for history in range(histories):
        values = draw_builds(random, MONTH, random.uniform(0.2, 0.9, QUESTIONS))
        means = values.mean(axis=1)
        difference = values[means.argmax()] - values[means.argmin()]
        (p_value,) = paired_differences(
            difference[:, None], spans=[1.0], level=1 - ALPHA / pairs, resamples=FLIPS, seed=history
        ).corrected
        n_significant += [p_value * pairs <= ALPHA, p_value <= ALPHA]
    return 100 * float(n_significant[0]) / histories, 100 * float(n_significant[1]) / histories


def main() -> None:
    """Print a row per rule, and how often a choice of the best and the worst misleads."""
    nothing = simulate((), 0.0)
    small = simulate(DROPS, 0.25)
    large = simulate(DROPS, 0.42)
    lines = ["                               false alarms  drop 0.15: at once  in 5  drop 0.25: at once  in 5"]
    for name in RULES:
        drops = RUNS * len(DROPS)
        cells = [100 * nothing[name][0] / RUNS]
        for counts in (small, large):
            _, n_at_once, n_found = counts[name]
            cells += [100 * n_at_once / drops, 100 * n_found / drops]
        lines.append("{:30} {:13.1f} {:19.1f} {:5.1f} {:19.1f} {:5.1f}".format(name, *cells))
    lines.append(
        "best of 30 better than the worst: {:.1f}% corrected for the choice, {:.1f}% without".format(
            *simulate_choices()
        )
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
