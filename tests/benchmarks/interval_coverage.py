# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "retrieval-metrics", "scipy"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Do the statistics keep their promises? Coverage, width, false findings and power by population.

    uv run tests/benchmarks/interval_coverage.py --draws 400 --write

With --write the tables replace those of docs/explanation/statistics.md. Populations are made to look like per-query
values of retrieval metrics; each line draws that many samples from one. The seed of each line is fixed, so the table is
the same on every machine. It includes the populations for which a promise is not kept.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from retrieval_metrics.results.conclusions import flattered
from retrieval_metrics.statistics import (
    Sums,
    Units,
    detectable_difference,
    effective_sums,
    interval_from_sums,
    joint_sign_flips,
    mean_interval,
    paired_difference,
    paired_differences,
    rare_change,
    sign_flip_test,
    within_margins,
)
from retrieval_metrics.statistics.power import units_needed

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Values]

SIZES = (25, 50, 200)
DIFFERENCE_SIZES = (10, 25, 50, 100, 200)
BOOTSTRAP_RESAMPLES = 499
BOOTSTRAPPED = 100
"""Samples per line of which BCa intervals are computed, because they are slow."""
FLIPS = 999
"""Random sign choices per simulated test; more are taken where the test asks for them."""


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


def normal(deviation: float) -> Population:
    return Population(f"normal, sd {deviation:g}", lambda random, n: random.normal(0, deviation, n), 0.0)


def rare(share: float, size: float, noise: float = 0.02) -> Population:
    word = "gain" if size > 0 else "lose"
    name = f"{100 * share:g} % {word} {abs(size):g}" + (", noise" if noise else "")
    return Population(
        name, lambda random, n: size * (random.random(n) < share) + random.normal(0, noise, n), share * size
    )


def moved_ranks(random: np.random.Generator, n: int) -> Values:
    ours, theirs = 1 / random.integers(1, 11, (2, n))
    values: Values = np.where(random.random(n) < 0.2, ours - theirs, 0.0)
    return values


def just_missed(n: int) -> Population:
    """So few queries gain 1 that 7 % of samples hold none of them."""
    share = 2.6 / n
    return Population("2.6 / n gain 1", lambda random, n: (random.random(n) < share) * 1.0, share)


def skewed(n: int) -> Population:
    """A mean of 0: few queries gain 1, all others lose a little."""
    share = 4 / n
    return Population("4 / n gain 1, mean 0", lambda random, n: (random.random(n) < share) - share, 0.0)


DIFFERENCES = [
    normal(0.1),
    normal(0.2),
    discrete("0/1, 10 % flip", [1, -1, 0], [0.05, 0.05, 0.9]),
    Population("RR, 20 % move", moved_ranks, 0.0),
    mixture("NDCG, 60 % at 0", [(0.6, *ZERO), (0.4, lambda random, n: random.normal(0, 0.15, n), 0.0)]),
    rare(0.02, 1),
    rare(0.05, 1),
    rare(0.02, -1, noise=0.0),
    rare(0.01, 1),
    rare(0.03, -1, noise=0.1),
]
"""Differences of two systems, of which the largest possible is 1. The last two and rare gains are the hard ones."""


def students_t(values: Values) -> tuple[float, float]:
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return values.mean() - half, values.mean() + half


def bca_ends(samples: list[Values], random: np.random.Generator) -> Values:
    """Ends of the BCa bootstrap interval of each sample; NaN where its values do not vary."""
    found = []
    for values in samples:
        if np.ptp(values) == 0:
            found.append((values[0], values[0]))
            continue
        with np.errstate(all="ignore"):
            interval = stats.bootstrap(
                (values,), np.mean, n_resamples=BOOTSTRAP_RESAMPLES, method="BCa", random_state=random
            ).confidence_interval
        found.append((interval.low, interval.high))
    return np.array(found)


LINES: list[str] = []
"""What was printed of the current table."""


def line(name: str, n: int, cells: list[str]) -> None:
    LINES.append(f"{name:34}{n:5}{''.join(cells)}")
    print(LINES[-1], flush=True)


def covered(ends: Values, mean: float) -> float:
    # Sums of rounded floats: a mean that is an end on paper counts as covered.
    return 100 * float(((ends[:, 0] <= mean + 1e-12) & (mean - 1e-12 <= ends[:, 1])).mean())


def beside(ends: Values, mean: float, width: float) -> str:
    """Coverage in percent, and the width in multiples of another."""
    return f"{covered(ends, mean):9.1f}{np.ptp(ends, axis=1).mean() / width:7.2f}"


def others(population: Population, samples: list[Values], random: np.random.Generator) -> tuple[float, list[str]]:
    """Width of Student's interval; the cells of Student's and of BCa."""
    student = np.array([students_t(values) for values in samples])
    width = max(float(np.ptp(student, axis=1).mean()), np.finfo(float).tiny)
    bca = bca_ends(samples[:BOOTSTRAPPED], random)
    return width, [f"{covered(student, population.mean):9.1f}{width:8.3f}", beside(bca, population.mean, width)]


def intervals_of_means(draws: int) -> None:
    for n, population in itertools.product(SIZES, POPULATIONS):
        random = np.random.default_rng(n)
        samples = [population.draw(random, n) for _ in range(draws)]
        ours = np.array([mean_interval(values, binary=population.binary) for values in samples])
        width, cells = others(population, samples, random)
        line(population.name, n, [beside(ours, population.mean, width), *cells])


def intervals_of_differences(draws: int) -> None:
    """The printed interval, and together with the line on what n queries cannot have shown."""
    for n in DIFFERENCE_SIZES:
        for population in [*DIFFERENCES, just_missed(n), skewed(n)]:
            random = np.random.default_rng(n)
            samples = [population.draw(random, n) for _ in range(draws)]
            printed = np.array(
                [
                    paired_difference(values, np.zeros(n), span=2.0, resamples=FLIPS, seed=seed).interval
                    for seed, values in enumerate(samples)
                ]
            )
            shifts = np.array([rare_change(Units.of(values)).shift for values in samples])[:, None]
            width, cells = others(population, samples, random)
            both = [beside(ends, population.mean, width) for ends in (printed, printed + shifts * [-1, 1])]
            line(population.name, n, [*both, *cells])


def power_as_promised(draws: int) -> None:
    """Power at both ends of what a first sample of the same population says is detected; 80 % was promised.

    `found`: all queries differ by the lower end. `even`: by the upper end. `uneven`: as many queries as make the upper
    end change by 1.
    """
    for n, population in itertools.product(DIFFERENCE_SIZES, DIFFERENCES):
        random = np.random.default_rng(n)
        promised, found = [], []
        for seed in range(draws):
            claim = detectable_difference(population.draw(random, n))
            if not np.isfinite(claim.high):
                continue
            promised.append(claim)
            fresh = population.draw(random, n) - population.mean
            uneven = np.where(random.random(n) < claim.high, 1.0, fresh * random.choice([-1.0, 1.0], n))
            tried = (fresh + claim.low, fresh + claim.high, uneven)
            found.append([sign_flip_test(x, resamples=FLIPS, seed=seed).p_value <= 0.05 for x in tried])
        (low, high), (at_low, even, fewest) = np.mean(promised, axis=0), 100 * np.mean(found, axis=0)
        line(population.name, n, [f"{low:9.3f}{at_low:8.1f}{high:9.3f}{even:8.1f}{fewest:8.1f}"])


def plans(draws: int) -> None:
    """Power with as many queries as a pilot of n says are needed to find a difference of 0.4 standard deviations."""
    for n, population in itertools.product((15, 30, 60), [*DIFFERENCES[:5], DIFFERENCES[-1]]):
        random = np.random.default_rng(n)
        deviation = float(population.draw(random, 100_000).std())
        needed, found = [], []
        for seed in range(draws):
            pilot = population.draw(random, n)
            if not pilot.any():
                continue
            needed.append(units_needed(0.4 * deviation, float(pilot.var(ddof=1)), 0.0, 0.8, 0.05, freedom=n - 1))
            fresh = population.draw(random, needed[-1]) - population.mean + 0.4 * deviation
            found.append(sign_flip_test(fresh, resamples=FLIPS, seed=seed).p_value <= 0.05)
        ends = np.percentile(needed, [10, 50, 90])
        line(population.name, n, [f"{100 * np.mean(found):9.1f}", *(f"{end:9.0f}" for end in ends)])


def margins(draws: int) -> None:
    """How often "no worse by more than 0.02" is said where the true difference is just that, and where it is 0."""
    for n, population in itertools.product((50, 100, 150, 200, 500), [*DIFFERENCES, rare(0.03, -1, noise=0.0)]):
        random = np.random.default_rng(n)
        cells = []
        for mean in (-0.02, 0.0):
            samples = [np.clip(population.draw(random, n) - population.mean + mean, -1, 1) for _ in range(draws)]
            bounds = within_margins([Units.of(values) for values in samples], [1.0] * draws, 0.02)
            student = [stats.ttest_1samp(x, -0.02, alternative="greater").pvalue <= 0.05 for x in samples if np.ptp(x)]
            share = np.mean([one.outcome == "no worse" for one in bounds])
            cells += [f"{100 * share:9.1f}", f"{100 * np.mean(student):8.1f}"]
        line(population.name, n, cells)


def holm(p_values: Values) -> Values:
    order = np.argsort(p_values)
    corrected = np.empty_like(p_values)
    corrected[order] = np.minimum(1, np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1)))
    return corrected


def equal_systems(random: np.random.Generator, n: int, systems: int, kind: str) -> Values:
    """Values of systems that do not differ, shape (n, systems)."""
    if kind == "clones":
        return random.normal(0.5, 0.25, (n, 1)) + random.normal(0, 0.05, (n, systems))
    if kind == "sweep":  # each is the one before it, and a little more
        return 0.5 + np.cumsum(random.normal(0, 0.05, (n, systems)), axis=1)
    return random.beta(1.2, 0.8, (n, systems))


def family_wise(draws: int) -> None:
    """Share of comparisons of equal systems, all pairs, with any pair called different."""
    for kind, systems in itertools.product(("independent", "clones", "sweep"), (2, 4, 10)):
        random, n = np.random.default_rng(systems), 50
        rejected = []
        for seed in range(draws):
            values = equal_systems(random, n, systems, kind)
            pairs = np.column_stack([values[:, a] - values[:, b] for a, b in itertools.combinations(range(systems), 2)])
            found = joint_sign_flips(pairs, resamples=FLIPS, seed=seed)
            rejected.append((found.corrected.min() <= 0.05, holm(found.p_values).min() <= 0.05))
        rates = 100 * np.mean(rejected, axis=0)
        line(f"{systems} systems, {kind}", n, [f"{rate:9.1f}" for rate in rates])


def correlated(draws: int) -> None:
    """Share of true differences found: 3 systems, the third better by 0.3 sd, 6 metrics of a given correlation."""
    for correlation in (0.0, 0.5, 0.8, 0.95):
        random, n = np.random.default_rng(int(100 * correlation)), 50
        found = []
        for seed in range(draws):
            shared, own = random.normal(0, 1, (n, 3, 1)), random.normal(0, 1, (n, 3, 6))
            values = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
            values[:, 2] += 0.45
            rows = np.concatenate([values[:, b] - values[:, a] for a, b in ((0, 1), (0, 2), (1, 2))], axis=1)
            test = joint_sign_flips(rows, resamples=FLIPS, seed=seed)
            found.append(((test.corrected <= 0.05)[6:].mean(), (holm(test.p_values) <= 0.05)[6:].mean()))
        line(f"3 systems, 6 metrics, rho {correlation:g}", n, [f"{100 * rate:9.1f}" for rate in np.mean(found, axis=0)])


def rank_metrics(ranks: NDArray[np.int64]) -> Values:
    """Hit rate at 1, 3 and 5, reciprocal rank and NDCG at 10 of one relevant document, shape (queries, 5)."""
    within = ranks <= 10
    values: Values = np.stack(
        [ranks <= 1, ranks <= 3, ranks <= 5, within / ranks, within / np.log2(ranks + 1)], axis=-1
    ).astype(float)
    return values


def of_one_rank(draws: int) -> None:
    """Metrics that differ in how many queries move: true differences found, and any found where there is none."""
    for n, share, better in ((25, 0.3, 0.6), (40, 0.25, 0.6), (100, 0.2, 0.4), (200, 0.15, 0.3)):
        random = np.random.default_rng(n)
        found, false = [], []
        for seed in range(draws):
            for gain, into in ((better, found), (0.0, false)):
                before = random.geometric(0.35, n)
                after = np.where(random.random(n) < share, random.geometric(0.35, n), before)
                after = np.where(random.random(n) < gain * share, 1, after)
                test = joint_sign_flips(rank_metrics(after) - rank_metrics(before), resamples=FLIPS, seed=seed)
                into.append(((test.corrected <= 0.05), (holm(test.p_values) <= 0.05)))
        power = 100 * np.mean(found, axis=(0, 2))
        errors = 100 * np.any(false, axis=2).mean(axis=0)
        line(f"{100 * share:g} % move", n, [f"{rate:9.1f}" for rate in (*power, *errors)])


def simultaneous(draws: int) -> None:
    """Share of comparisons of all pairs of five systems, some of which differ, whose every interval holds the truth."""
    means = np.array([0.0, 0.0, 0.03, 0.06, 0.15])
    plus, minus = np.array(list(itertools.combinations(range(5), 2))).T
    for kind, n in itertools.product(("independent", "clones", "sweep"), (15, 50)):
        random = np.random.default_rng(n)
        together, widths = [], []
        for seed in range(draws):
            values = equal_systems(random, n, 5, kind) + means
            pairs = paired_differences(
                values[:, plus] - values[:, minus], spans=[2.0] * len(plus), resamples=FLIPS, seed=seed
            )
            ends = np.array([each.interval for each in pairs.each])
            truth = means[plus] - means[minus]
            student = np.array([students_t(values[:, a] - values[:, b]) for a, b in zip(plus, minus, strict=True)])
            together.append([((x[:, 0] <= truth) & (truth <= x[:, 1])).all() for x in (ends, student)])
            widths.append(np.ptp(ends, axis=1).mean() / np.ptp(student, axis=1).mean())
        rates = 100 * np.mean(together, axis=0)
        line(f"5 systems, {kind}", n, [f"{rates[0]:9.1f}{np.mean(widths):7.2f}{rates[1]:9.1f}"])


def flattery(draws: int) -> None:
    """The mean of the best of several systems, and what it is said to be worth, minus its true mean."""
    for kind, systems, n, ahead in itertools.product(("independent", "clones"), (5, 12), (40, 200), (0.0, 0.1)):
        random = np.random.default_rng(systems * n)
        names = [f"s{at}" for at in range(systems)]
        mean = 0.6 if kind == "independent" else 0.5
        own, worth = [], []
        for _ in range(draws):
            values = equal_systems(random, n, systems, kind)
            values[:, -1] += ahead
            best = flattered("ndcg", names, values.T, 1, None)
            assert best is not None
            true = mean + ahead * (best.system == names[-1])
            own.append(best.mean - true)
            worth.append(best.worth - true)
        error = np.std(worth) / np.sqrt(draws)
        cells = [f"{np.mean(own):+9.4f}{np.mean(worth):+9.4f}{error:9.4f}"]
        line(f"{systems} systems, {kind}, {f'one +{ahead:g}' if ahead else 'equal'}", n, cells)


SIZES_OF_CLUSTERS = {
    "40 documents x 5": lambda _: np.full(40, 5),
    "40 documents x 1 to 9": lambda random: random.integers(1, 10, 40),
    "20 documents x 10": lambda _: np.full(20, 10),
    "20 documents x 1 to 19": lambda random: random.integers(1, 20, 20),
    "10 documents x 10": lambda _: np.full(10, 10),
    "10 documents x 1 to 19": lambda random: random.integers(1, 20, 10),
    "40 documents, sizes of Zipf": lambda _: np.maximum(1, 50 // np.arange(1, 41)),
    "20 documents, one holds 60 %": lambda _: np.array([120, *[4] * 20]),
}


ALIKE = dict.fromkeys(list(SIZES_OF_CLUSTERS)[-2:], 0.6)
"""Correlations other than 0.3, of which these sizes are simulated as well."""


def clusters(draws: int) -> None:
    """Two equal systems on questions of the same documents, correlation 0.3: with clusters, and without."""
    rows = [*((at, name, 0.3) for at, name in enumerate(SIZES_OF_CLUSTERS)), *((0, *each) for each in ALIKE.items())]
    for at, name, correlation in rows:
        random = np.random.default_rng(at)
        drawn_sizes = SIZES_OF_CLUSTERS[name]
        sizes = drawn_sizes(random)
        labels = np.repeat(np.arange(len(sizes)), sizes)
        found = []
        for seed in range(draws):
            shared, own = random.normal(0, 1, len(sizes))[labels], random.normal(0, 1, len(labels))
            values = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
            cells = []
            for by in (labels, None):
                one = paired_difference(0.2 * values, np.zeros(len(values)), resamples=FLIPS, seed=seed, clusters=by)
                mean = stats.beta(1.2, 0.8).ppf(stats.norm.cdf(values))
                low, high = interval_from_sums(Sums.of(mean) if by is None else effective_sums(mean, by))
                cells += [one.interval.low <= 0 <= one.interval.high, one.p_randomisation <= 0.05, low <= 0.6 <= high]
            found.append(cells)
        of = name if correlation == 0.3 else f"{name}, {correlation:g}"
        line(of, len(labels), [f"{100 * rate:9.1f}" for rate in np.mean(found, axis=0)])


PARTS: dict[str, tuple[Callable[[int], None], str, str]] = {
    "difference": (
        intervals_of_differences,
        "Difference: coverage (%) of the 95 % interval, alone and with the line; widths beside t's",
        "  printed  width  +line   width        t   width      BCa  width",
    ),
    "detects": (
        power_as_promised,
        "Power (%) at the sizes that are said to be detected",
        "      low   found     high    even  uneven",
    ),
    "plan": (
        plans,
        "Power (%) with as many queries as a pilot of n asks for, and how many those are (10, 50, 90 % of pilots)",
        "    found     10 %     50 %     90 %",
    ),
    "margin": (
        margins,
        '"No worse by more than 0.02" (%), where the truth is -0.02 and where it is 0',
        "  at -.02       t     at 0       t",
    ),
    "family": (
        family_wise,
        "Equal systems, any pair called different at 5 % (%)",
        "    joint     Holm",
    ),
    "correlated": (correlated, "True differences found (%)", "    joint     Holm"),
    "ranks": (
        of_one_rank,
        "Metrics of which some move on few queries: true differences found, any found where there is none (%)",
        "    joint     Holm    joint     Holm",
    ),
    "simultaneous": (
        simultaneous,
        "All intervals of a comparison hold the truth (%); width beside t's",
        "     ours  width        t",
    ),
    "flattery": (
        flattery,
        "The best of several systems: its own mean minus the true one, and what it is said to be worth minus the same",
        "      own    worth       se",
    ),
    "clusters": (
        clusters,
        "Two equal systems, clustered questions: coverage of difference, false findings, coverage of mean (%)",
        "  covered    false     mean   (and without clusters)",
    ),
    "mean": (
        intervals_of_means,
        "Mean: coverage (%) of the 95 % interval; widths of ours and BCa beside t's",
        "    ours  width        t   width      BCa  width",
    ),
}
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "statistics.md"


def write(part: str, lines: list[str]) -> None:
    """Replace a table of the page: the block after the comment that names it."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(f"<!-- table: {part} -->\n```text\n")
    PAGE.write_text(
        f"{before}<!-- table: {part} -->\n```text\n{chr(10).join(lines)}\n```{after.partition('```')[2]}",
        encoding="utf-8",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=400, help="samples per line")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="parts of the simulation")
    parser.add_argument("--write", action="store_true", help="write the tables into the page of the documentation")
    arguments = parser.parse_args()
    started = time.perf_counter()
    error = 100 * np.sqrt(0.95 * 0.05 / arguments.draws)
    print(f"{arguments.draws} draws per line; one standard error at 5 or 95 % is {error:.1f} points")
    for part in arguments.only:
        simulate, title, columns = PARTS[part]
        print(f"\n{title}")
        LINES[:] = [f"{'':34}{'n':>5}{columns}"]
        print(LINES[0])
        simulate(arguments.draws)
        if arguments.write:
            write(part, LINES)
        print(f"{time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
