# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "retrieval-metrics", "scipy"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../.." }
# ///
"""Do the statistics keep their promises? Coverage of intervals, rejection of true nulls, power at the promised size.

    uv run tests/benchmarks/interval_coverage.py --draws 2000

Populations are made to look like per-query values of retrieval metrics; each line draws that many samples from one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from retrieval_metrics.statistics import (
    detectable_difference,
    mean_interval,
    paired_difference,
    queries_needed,
    sign_flip_test,
    tukey_hsd,
)

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Values]

SIZES = (25, 50, 200)
BOOTSTRAP_RESAMPLES = 1_000
NULL_RESAMPLES = 2_000  # random sign choices and deals per simulated test


class Population(NamedTuple):
    """Something to draw per-query values from, with its true mean."""

    name: str
    draw: Draw
    mean: float
    binary: bool = False


def discrete(name: str, values: list[float], weights: list[float], *, binary: bool = False) -> Population:
    support, chances = np.array(values), np.array(weights) / sum(weights)
    return Population(name, lambda random, n: random.choice(support, n, p=chances), float(support @ chances), binary)


def zero_one(rate: float) -> Population:
    return discrete(f"0/1, mean {rate}", [0.0, 1.0], [1 - rate, rate], binary=True)


def reciprocal_rank(mean: float, *, never: float, decay: float = 0.7) -> Population:
    """Ranks 1 to 10: geometric beyond the first, `never` the share of those that are not found at all."""
    beyond_first = np.array([0.0, *(1 / np.arange(2, 11))])
    chances = np.array([never, *((1 - never) * decay ** np.arange(9) / (decay ** np.arange(9)).sum())])
    elsewhere = float(beyond_first @ chances)
    first = (mean - elsewhere) / (1 - elsewhere)
    return discrete(f"reciprocal rank, mean {mean}", [1.0, *beyond_first], [first, *((1 - first) * chances)])


def mixture(name: str, parts: list[tuple[float, Draw, float]]) -> Population:
    """Parts are (share, draw, mean)."""

    def draw(random: np.random.Generator, n: int) -> Values:
        part = random.choice(len(parts), n, p=[share for share, _, _ in parts])
        columns = np.array([drawn(random, n) for _, drawn, _ in parts])
        values: Values = columns[part, np.arange(n)]
        return values

    return Population(name, draw, sum(share * mean for share, _, mean in parts))


def beta(a: float, b: float) -> tuple[Draw, float]:
    return (lambda random, n: random.beta(a, b, n)), a / (a + b)


def constant(value: float) -> tuple[Draw, float]:
    return (lambda _, n: np.full(n, value)), value


PERFECT, ZERO = constant(1.0), constant(0.0)
BIMODAL_AP = mixture("AP, bimodal, mean 0.59", [(0.45, *beta(1.2, 6)), (0.4, *PERFECT), (0.15, *beta(6, 2))])
HARD_AP = mixture("AP, hard, mean 0.2", [(0.2, *ZERO), (0.8, *beta(0.7, 2.1))])
RR_65, RR_95 = reciprocal_rank(0.65, never=0.3), reciprocal_rank(0.95, never=0.15)
RR_20, RR_30 = reciprocal_rank(0.2, never=0.75), reciprocal_rank(0.3, never=0.7)
POPULATIONS = [
    zero_one(0.8),
    zero_one(0.98),
    RR_65,
    RR_95,
    reciprocal_rank(0.98, never=0.15),
    RR_20,
    BIMODAL_AP,
    HARD_AP,
    mixture("AP, very hard, mean 0.05", [(0.3, *ZERO), (0.7, *beta(0.4, 5))]),
    mixture("NDCG, mean 0.57", [(0.05, *ZERO), (0.95, *beta(3, 2))]),
    mixture("NDCG, mean 0.95", [(0.7, *PERFECT), (0.3, *beta(5, 1))]),
    discrete("recall of 2, mean 0.85", [0, 0.5, 1], [0.1, 0.1, 0.8]),
    discrete("precision@5, mean 0.3", [i / 5 for i in range(6)], stats.binom.pmf(range(6), 5, 0.3).tolist()),
    mixture("all alike: 0.5 +- 0.08", [(1.0, *beta(20, 20))]),
]


def difference(name: str, ours: Population, theirs: Population, *, same: float) -> Population:
    """Differences of two systems which agree on the share `same` of the queries."""

    def draw(random: np.random.Generator, n: int) -> Values:
        both = ours.draw(random, n) - theirs.draw(random, n)
        return np.where(random.random(n) < same, 0.0, both)

    return Population(name, draw, (1 - same) * (ours.mean - theirs.mean))


def small_differences(mean: float) -> Population:
    return Population("NDCG, most queries by a little", lambda random, n: random.normal(mean, 0.05, n), mean)


DIFFERENCES = [
    difference("RR .65 against RR .65, 60 % same", RR_65, RR_65, same=0.6),
    difference("RR .95 against RR .65, 60 % same", RR_95, RR_65, same=0.6),
    difference("RR .95 against RR .95, 60 % same", RR_95, RR_95, same=0.6),
    difference("RR .30 against RR .20, 50 % same", RR_30, RR_20, same=0.5),
    difference("AP, bimodal against hard", BIMODAL_AP, HARD_AP, same=0.3),
    discrete("0/1, 15 % won, 5 % lost", [1, -1, 0], [0.15, 0.05, 0.8]),
    discrete("0/1, 6 % won, 2 % lost", [1, -1, 0], [0.06, 0.02, 0.92]),
    small_differences(0.01),
    mixture(
        "a little noise, 10 % large gains",
        [(0.5, *ZERO), (0.4, lambda random, n: random.normal(0, 0.1, n), 0.0), (0.1, *beta(4, 2))],
    ),
]
NULLS = [
    difference("RR .65, 60 % same", RR_65, RR_65, same=0.6),
    difference("RR .95, 60 % same", RR_95, RR_95, same=0.6),
    difference("AP, bimodal (continuous)", BIMODAL_AP, BIMODAL_AP, same=0.0),
    difference("AP, hard (continuous)", HARD_AP, HARD_AP, same=0.0),
    discrete("0/1, 10 % won, 10 % lost", [1, -1, 0], [0.1, 0.1, 0.8]),
    small_differences(0.0),
]


def students_t(values: Values, _: np.random.Generator) -> tuple[float, float]:
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return values.mean() - half, values.mean() + half


def percentile_bootstrap(values: Values, random: np.random.Generator) -> tuple[float, float]:
    means = values[random.integers(len(values), size=(BOOTSTRAP_RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return low, high


def heading(title: str, columns: str) -> None:
    print(f"\n{title}\n{'':36}{'n':>5}{columns}")


def coverage(
    populations: list[Population], ours: Callable[[Population, Values], tuple[float, float]], draws: int
) -> None:
    """Coverage in percent and mean width of the nominal 95 % interval, beside two common ones."""
    for n in SIZES:
        for population in populations:
            random = np.random.default_rng(n)
            methods = [lambda x, _, p=population: ours(p, x), students_t, percentile_bootstrap]
            cells = []
            samples = [population.draw(random, n) for _ in range(draws)]
            for method in methods:
                ends = np.array([method(values, random) for values in samples])
                # Sums of rounded floats: a mean that is an end on paper counts as covered.
                covered = (ends[:, 0] <= population.mean + 1e-12) & (population.mean - 1e-12 <= ends[:, 1])
                cells.append(f"{100 * covered.mean():8.1f} {(ends[:, 1] - ends[:, 0]).mean():6.3f}")
            print(f"{population.name:36}{n:5}{''.join(cells)}", flush=True)


def null_rejection(draws: int) -> None:
    """Share of comparisons between equal systems that are called significant at 5 %."""
    for n in SIZES:
        for population in NULLS:
            random = np.random.default_rng(n)
            results = []
            for seed in range(draws):
                values = population.draw(random, n)
                found = paired_difference(values, np.zeros(n), resamples=NULL_RESAMPLES, seed=seed)
                low, high = found.interval
                results.append((found.p_randomisation <= 0.05, found.p_t <= 0.05, not low <= 0 <= high))
            rates = 100 * np.array(results).mean(axis=0)
            print(f"{population.name:36}{n:5}" + "".join(f"{rate:9.1f}" for rate in rates), flush=True)


def tukey_null_rejection(draws: int) -> None:
    """Share of comparisons of several equal systems in which any pair is called significant at 5 %."""
    for n in SIZES:
        for population, systems in ((RR_65, 3), (BIMODAL_AP, 3), (HARD_AP, 5)):
            random = np.random.default_rng(n)
            rejected = []
            for seed in range(draws):
                values = np.column_stack([population.draw(random, n) for _ in range(systems)])
                rejected.append(tukey_hsd(values, resamples=NULL_RESAMPLES, seed=seed).min() <= 0.05)
            name = f"{systems} systems, {population.name}"
            print(f"{name:36}{n:5}{100 * np.mean(rejected):9.1f}", flush=True)


def t_test_finds(differences: Values) -> bool:
    return paired_difference(differences, np.zeros(len(differences)), resamples=1).p_t <= 0.05


def power(draws: int) -> None:
    """Share of samples, shifted to the promised difference, in which the tests find it; 80 % was promised.

    The promise is made once from 100,000 differences, whose spread is that of the population, and once per sample from
    a pilot of the same size, as a user makes it. `needed` asks for the queries that half the difference needs.
    """
    for n in SIZES:
        for population in NULLS:
            random = np.random.default_rng(n)
            known = population.draw(random, 100_000)
            shape = np.linspace(-1, 1, n)
            promised = detectable_difference(shape / shape.std(ddof=1) * known.std(ddof=1))
            needed = queries_needed(known, promised / 2)
            results = []
            for seed in range(draws):
                values, pilot = population.draw(random, n), population.draw(random, n)
                shifted, larger = values + promised, population.draw(random, needed) + promised / 2
                piloted = values + detectable_difference(pilot)
                results.append(
                    (
                        sign_flip_test(shifted, resamples=NULL_RESAMPLES, seed=seed).p_value <= 0.05,
                        t_test_finds(shifted),
                        t_test_finds(larger),
                        t_test_finds(piloted),
                    )
                )
            rates = 100 * np.array(results).mean(axis=0)
            cells = "".join(f"{rate:9.1f}" for rate in rates)
            print(f"{population.name:36}{n:5}{promised:9.3f}{cells[:18]}{needed:9}{cells[18:]}", flush=True)


def intervals_of_means(draws: int) -> None:
    coverage(POPULATIONS, lambda p, x: mean_interval(x, binary=p.binary), draws)


def intervals_of_differences(draws: int) -> None:
    coverage(DIFFERENCES, lambda _, x: paired_difference(x, np.zeros(len(x)), resamples=1).interval, draws)


THREE_METHODS = "".join(f"{name:>15}" for name in ("ours", "Student's t", "bootstrap"))
PARTS = {
    "mean": (intervals_of_means, "Mean: coverage (%) and width of the 95 % interval", THREE_METHODS),
    "difference": (intervals_of_differences, "Difference: coverage (%) and width of the 95 % interval", THREE_METHODS),
    "null": (null_rejection, "Equal systems called different at 5 % (%)", "  randomi.        t interval"),
    "tukey": (tukey_null_rejection, "Several equal systems, any pair called different at 5 % (%)", "    Tukey"),
    "power": (
        power,
        "Power (%) at the promised difference",
        "  promised randomi.       t   needed   needed t  pilot t",
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2_000, help="samples per line")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="parts of the simulation")
    arguments = parser.parse_args()
    started = time.perf_counter()
    error = 100 * np.sqrt(0.95 * 0.05 / arguments.draws)
    print(f"{arguments.draws} draws per line; one standard error at 5 or 95 % is {error:.1f} points")
    for part in arguments.only:
        simulate, title, columns = PARTS[part]
        heading(title, columns)
        simulate(arguments.draws)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
