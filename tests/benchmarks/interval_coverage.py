# /// script
# requires-python = ">=3.11"
# dependencies = ["bm25s>=0.2.14", "numpy", "retrieval-metrics", "scikit-learn>=1.4", "scipy"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Do the statistics keep their promises? Coverage, width, false findings and power by population.

    RETRIEVAL_METRICS_DATA=folder uv run tests/benchmarks/interval_coverage.py --write

writes every table of docs/explanation/statistics-tables.md. Populations are made to look like per-query values of
retrieval metrics, or are those of real rankings, drawn with replacement: our questions about Python and, where
RETRIEVAL_METRICS_DATA names a folder with it, Cranfield. Each line draws samples from one of them. `+-` is one standard
error of its first percentage. The seed of each line is fixed, so the tables are the same on every machine. They have a
usual population and those for which a promise is kept least, or not at all.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import judge_driven_samples
import label_estimates

import retrieval_metrics as rm
from retrieval_metrics.comparison.selection_bias import MetricOfSystems, estimate_selection_bias
from retrieval_metrics.statistics import (
    Sums,
    Units,
    cohens_kappa,
    detectable_difference,
    effective_sums,
    interval_from_sums,
    joint_sign_flips,
    kappa_by_cluster,
    mean_interval,
    paired_difference,
    paired_differences,
    rare_change,
    share_by_cluster,
    sign_flip_test,
    within_margins,
)
from retrieval_metrics.statistics.mean_intervals import beta_interval
from retrieval_metrics.statistics.power import min_units_for_power

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Values]

SIZES = (25, 200)
DRAWS = 2_000

# Tables of which a sample takes long, and by what the number of their samples is divided.
SLOW = {
    "clusters": 4,
    "needed": 20,
}
WITHOUT_ERROR = ("flattery", "tuned")
BOOTSTRAP_RESAMPLES = 499

# Random sign choices per simulated test; more are taken where the test asks for them.
FLIPS = 999


class Population(NamedTuple):
    """Something to draw per-query values from, with its true mean."""

    name: str
    draw: Draw
    mean: float
    binary: bool = False


def discrete(name: str, values: list[float], weights: list[float], *, binary: bool = False) -> Population:
    support = np.array(values)
    chances = np.array(weights) / sum(weights)
    return Population(name, lambda random, n: random.choice(support, n, p=chances), float(support @ chances), binary)


def zero_one(rate: float) -> Population:
    return discrete(f"0/1, mean {rate}", [0.0, 1.0], [1 - rate, rate], binary=True)


def mixture(name: str, parts: list[tuple[float, Draw, float]]) -> Population:
    """Parts are (share, draw, mean)."""

    def draw(random: np.random.Generator, n: int) -> Values:
        part = random.choice(len(parts), n, p=[share for share, _, _ in parts])
        columns = np.array([draw_part(random, n) for _, draw_part, _ in parts])
        values: Values = columns[part, np.arange(n)]
        return values

    return Population(name, draw, sum(share * mean for share, _, mean in parts))


def beta(a: float, b: float) -> tuple[Draw, float]:
    return (lambda random, n: random.beta(a, b, n)), a / (a + b)


def constant(value: float) -> tuple[Draw, float]:
    return (lambda _, n: np.full(n, value)), value


ZERO = constant(0.0)
POPULATIONS = [
    zero_one(0.98),
    mixture("AP, very hard, mean 0.05", [(0.3, *ZERO), (0.7, *beta(0.4, 5))]),
    discrete("recall of 2, mean 0.85", [0, 0.5, 1], [0.1, 0.1, 0.8]),
]


def normal(deviation: float) -> Population:
    return Population(f"normal, sd {deviation:g}", lambda random, n: random.normal(0, deviation, n), 0.0)


def rare(share: float, size: float, noise: float = 0.02) -> Population:
    verb = "gain" if size > 0 else "lose"
    name = f"{100 * share:g}% {verb} {abs(size):g}"
    if noise:
        name += ", noise"
    return Population(
        name, lambda random, n: size * (random.random(n) < share) + random.normal(0, noise, n), share * size
    )


def skewed(n: int) -> Population:
    """A mean of 0: few queries gain 1, all others lose a little."""
    share = 4 / n

    def draw(random: np.random.Generator, n: int) -> Values:
        gains = (random.random(n) < share).astype(np.float64)
        return gains - share

    return Population("4 / n gain 1, mean 0", draw, 0.0)


# Differences of two systems, of which the largest possible is 1. The last two are the hard ones.
DIFFERENCES = [
    normal(0.2),
    discrete("0/1, 10% flip", [1, -1, 0], [0.05, 0.05, 0.9]),
    rare(0.02, 1),
    rare(0.03, -1, noise=0.1),
]
EASY_DIFFERENCES = DIFFERENCES[:3]
HEAVY_TAILS = Population("heavy tails", lambda random, n: np.clip(0.05 * random.standard_t(1.5, n), -1, 1), 0.0)


def evaluate_python() -> list[rm.Evaluation]:
    """BM25 and latent semantic analysis on our 123 questions about Python."""
    import questions
    from corpus import passages
    from retrievers import BM25, Dense

    pieces = passages()
    qrels = questions.qrels(pieces)
    evaluations = []
    for search in (BM25(pieces).search, Dense(pieces).search):
        run = {query: search(text, 100) for query, text in questions.queries().items()}
        evaluations.append(rm.evaluate(qrels, run, REAL_METRICS))
    return evaluations


def evaluate_cranfield() -> list[rm.Evaluation]:
    """Three retrievers and two fusions on the 225 questions of Cranfield."""
    if "RETRIEVAL_METRICS_DATA" not in os.environ:
        return []
    import spreads

    return spreads.cranfield()


REAL_METRICS = ["recall@5", "ndcg@10"]
REAL = {"Python": evaluate_python, "Cranfield": evaluate_cranfield}


def real_columns() -> Iterator[tuple[str, list[Values]]]:
    """The NDCG of every system, by collection."""
    for name, evaluate in REAL.items():
        evaluations = evaluate()
        if evaluations:
            columns = [query_values(evaluation, "ndcg@10") for evaluation in evaluations]
            yield f"{name}, ndcg@10", columns


def query_values(evaluation: rm.Evaluation, metric: str) -> Values:
    return np.array(list(evaluation.per_query[metric].values()))


def drawn_from(name: str, values: Values) -> Population:
    return Population(name, lambda random, n: random.choice(values, n), float(values.mean()))


def real_means() -> list[Population]:
    return [drawn_from(name, columns[0]) for name, columns in real_columns()]


def real_differences() -> list[Population]:
    return [drawn_from(name, columns[1] - columns[0]) for name, columns in real_columns()]


def with_real(
    artificial: Sequence[Population | Callable[[int], Population]], real: list[Population]
) -> Iterator[tuple[int, Population]]:
    """Populations with the sizes of their samples: real ones, which are the easy ones, in the smaller size."""
    for n in SIZES:
        for population in artificial:
            yield n, population if isinstance(population, Population) else population(n)
        if n == SIZES[0]:
            for population in real:
                yield n, population


def students_t(values: Values) -> tuple[float, float]:
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return values.mean() - half, values.mean() + half


def bca_ends(samples: list[Values]) -> Values:
    """Ends of the BCa bootstrap interval of each sample; a point where its values do not vary."""
    table = np.array(samples)
    blocks = []
    for start in range(0, len(table), 100):
        with np.errstate(all="ignore"):
            block = table[start : start + 100]
            ends = stats.bootstrap(
                (block,), np.mean, axis=1, n_resamples=BOOTSTRAP_RESAMPLES, batch=50, random_state=start
            )
        is_constant = np.ptp(block, axis=1) == 0
        pair = np.array([ends.confidence_interval.low, ends.confidence_interval.high]).T
        blocks.append(np.where(is_constant[:, None], block[:, :1], pair))
    return np.concatenate(blocks)


# What was printed of the current table.
LINES: list[str] = []

# The width of its first column.
NAME_WIDTH = 30


def line(name: str, n: int, cells: list[str], samples: int, rate: float) -> None:
    """Print a line of a table, with the standard error of its first percentage."""
    error = 100 * np.sqrt(max(rate, 1.0) * max(100 - rate, 1.0)) / 100 / np.sqrt(max(samples, 1))
    LINES.append(f"{name:{NAME_WIDTH}}{n:5}{''.join(cells)}{error:6.1f}")
    print(LINES[-1], flush=True)


def covered(ends: Values, mean: float) -> float:
    # Sums of rounded floats: a mean that is an end on paper counts as covered.
    return 100 * float(((ends[:, 0] <= mean + 1e-12) & (mean - 1e-12 <= ends[:, 1])).mean())


def coverages(intervals: list[Values], mean: float) -> list[str]:
    """Coverage of each kind of interval, in percent."""
    return [f"{covered(ends, mean):9.1f}" for ends in intervals]


def intervals_of_means(draws: int) -> None:
    """The interval of a mean, beside Student's and the bootstrap's."""
    for n, population in with_real(POPULATIONS, real_means()):
        random = np.random.default_rng(n)
        samples = [population.draw(random, n) for _ in range(draws)]
        ours = np.array([mean_interval(values, binary=population.binary) for values in samples])
        student = np.array([students_t(values) for values in samples])
        width = np.ptp(ours, axis=1).mean() / np.ptp(student, axis=1).mean()
        cells = coverages([ours, student, bca_ends(samples)], population.mean)
        line(population.name, n, [*cells, f"{width:7.2f}"], draws, covered(ours, population.mean))


def two_valued(draws: int) -> None:
    """Recall of questions that need one document, or two on a share: the exact interval, and what is between."""
    for n, share in itertools.product((4, 8, 15, 100), (0.0, 1.0)):
        two = round(share * n)
        worst: list[tuple[float, float, float]] = []
        for rate in (0.5, 0.8, 0.9, 0.95, 0.975):
            random = np.random.default_rng(n)
            samples = []
            for _ in range(draws):
                first = random.random(two) < rate
                second = np.where(random.random(two) < 0.6, first, random.random(two) < rate)
                samples.append(np.concatenate([random.random(n - two) < rate, (first + second * 1.0) / 2]))
            ours = np.array([mean_interval(values, binary=1 - two / n) for values in samples])
            halved = np.array([beta_interval(Sums.from_values(x), ends=(0.0, 1.0), level=0.95) for x in samples])
            wider = np.ptp(ours, axis=1).mean() / np.ptp(halved, axis=1).mean()
            worst.append((covered(ours, rate), covered(halved, rate), float(wider)))
        lowest, lowest_halved, _ = np.min(worst, axis=0)
        _, _, wider = np.mean(worst, axis=0)
        line(f"{100 * share:g}% need two", n, [f"{lowest:9.1f}{lowest_halved:9.1f}{wider:9.2f}"], draws, float(lowest))


def intervals_of_differences(draws: int) -> None:
    """The printed interval, and together with the line on what n queries cannot have shown."""
    for n, population in with_real([*EASY_DIFFERENCES, skewed], real_differences()):
        random = np.random.default_rng(n)
        samples = [population.draw(random, n) for _ in range(draws)]
        intervals = []
        for seed, values in enumerate(samples):
            difference = paired_difference(values, np.zeros(n), span=2.0, resamples=FLIPS, seed=seed)
            intervals.append(difference.interval)
        printed = np.array(intervals)
        shifts = np.array([rare_change(Units.from_values(values)).mean_shift for values in samples])[:, None]
        student = np.array([students_t(values) for values in samples])
        cells = coverages([printed, printed + shifts * [-1, 1], student], population.mean)
        line(population.name, n, cells, draws, covered(printed, population.mean))


def agreement_of_p(draws: int) -> None:
    """p of the sign flips beside that of Student's t and of the bootstrap, on pairs of real systems."""
    for name, evaluate in REAL.items():
        evaluations = evaluate()
        if not evaluations:
            continue
        for n in (25, 123):
            random = np.random.default_rng(n)
            agreements = []
            for seed in range(draws):
                metric = REAL_METRICS[seed % len(REAL_METRICS)]
                first, second = random.choice(len(evaluations), 2, replace=False)
                differences = query_values(evaluations[first], metric) - query_values(evaluations[second], metric)
                values = random.choice(differences, n)
                if not np.ptp(values):
                    continue
                p = sign_flip_test(values, resamples=FLIPS, seed=seed).p_value
                t = float(stats.ttest_1samp(values, 0).pvalue)
                means = random.choice(values - values.mean(), (FLIPS, n)).mean(axis=1)
                boot = (1 + np.sum(np.abs(means) >= abs(values.mean()) - 1e-12)) / (FLIPS + 1)
                is_significant = p <= 0.05
                agrees = (is_significant == (t <= 0.05), is_significant == (boot <= 0.05))
                agreements.append((*agrees, abs(p - t), abs(p - boot)))
            same_t, same_boot, distance_t, distance_boot = np.mean(agreements, axis=0)
            cells = f"{100 * same_t:9.1f}{100 * same_boot:9.1f}{distance_t:9.3f}{distance_boot:9.3f}"
            line(f"{name}, pairs of {len(evaluations)} systems", n, [cells], len(agreements), 100 * float(same_t))


def zero_by_luck(draws: int) -> None:
    """A mean of 0 that few queries hold: how often systems are called different, and how often none was drawn."""
    for n, (share, gain) in itertools.product((8, 25, 50), ((0.05, 0.8),)):
        random = np.random.default_rng(n)
        is_significant = []
        for seed in range(draws):
            values = np.where(random.random(n) < share, gain, -share * gain / (1 - share))
            values = values + random.normal(0, 0.001, n)
            is_significant.append(sign_flip_test(values, resamples=FLIPS, seed=seed).p_value <= 0.05)
        rate = 100 * float(np.mean(is_significant))
        line(f"{100 * share:g}% gain {gain:g}, mean 0", n, [f"{rate:9.1f}{100 * (1 - share) ** n:9.1f}"], draws, rate)


def power_as_promised(draws: int) -> None:
    """Power at both ends of what a first sample of the same population says is detected; 80% was promised.

    `found`: all queries differ by the lower end. `even`: by the upper end. `uneven`: as many queries as make the upper
    end change by 1.
    """
    for n, population in itertools.product((10, 15, 50), [*EASY_DIFFERENCES, HEAVY_TAILS]):
        random = np.random.default_rng(n)
        promised = []
        is_significant = []
        for seed in range(draws):
            claim = detectable_difference(population.draw(random, n))
            if not np.isfinite(claim.sparse):
                continue
            promised.append(claim)
            fresh = population.draw(random, n) - population.mean
            uneven = np.where(random.random(n) < claim.sparse, 1.0, fresh * random.choice([-1.0, 1.0], n))
            p_values = []
            for values in (fresh + claim.spread, fresh + claim.sparse, uneven):
                p_values.append(sign_flip_test(values, resamples=FLIPS, seed=seed).p_value)
            is_significant.append(np.array(p_values) <= 0.05)
        low, high = np.mean(promised, axis=0)
        at_low, even, fewest = 100 * np.mean(is_significant, axis=0)
        cells = [f"{low:9.3f}{at_low:8.1f}{high:9.3f}{even:8.1f}{fewest:8.1f}"]
        line(population.name, n, cells, len(is_significant), float(at_low))


def plans(draws: int) -> None:
    """Power with as many queries as a pilot of n says are needed to find a difference of 0.4 standard deviations."""
    for n, population in itertools.product((15, 30), [*EASY_DIFFERENCES[:2], DIFFERENCES[-1]]):
        random = np.random.default_rng(n)
        deviation = float(population.draw(random, 100_000).std())
        needed = []
        is_significant = []
        for seed in range(draws):
            pilot = population.draw(random, n)
            if not pilot.any():
                continue
            needed.append(min_units_for_power(0.4 * deviation, float(pilot.var(ddof=1)), 0.0, 0.8, 0.05, df=n - 1))
            fresh = population.draw(random, needed[-1]) - population.mean + 0.4 * deviation
            is_significant.append(sign_flip_test(fresh, resamples=FLIPS, seed=seed).p_value <= 0.05)
        ends = np.percentile(needed, [10, 50, 90])
        rate = 100 * float(np.mean(is_significant))
        line(population.name, n, [f"{rate:9.1f}", *(f"{end:9.0f}" for end in ends)], len(is_significant), rate)


def margins(draws: int) -> None:
    """How often "no worse by more than 0.02" is said where the true difference is just that, and where it is 0."""
    for n, population in itertools.product((150, 500), [DIFFERENCES[-1], rare(0.03, -1, noise=0.0)]):
        random = np.random.default_rng(n)
        cells = []
        rates = []
        for mean in (-0.02, 0.0):
            samples = [np.clip(population.draw(random, n) - population.mean + mean, -1, 1) for _ in range(draws)]
            bounds = within_margins([Units.from_values(values) for values in samples], [1.0] * draws, 0.02)
            student: list[bool] = []
            for values in samples:
                if np.ptp(values):
                    p_value = float(stats.ttest_1samp(values, -0.02, alternative="greater").pvalue)
                    student.append(p_value <= 0.05)
            share = np.mean([test.outcome == "noninferior" for test in bounds])
            cells += [f"{100 * share:9.1f}", f"{100 * np.mean(student):8.1f}"]
            rates.append(100 * float(share))
        line(population.name, n, cells, draws, rates[0])


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
    for kind, systems in itertools.product(("independent", "sweep"), (4, 10)):
        random = np.random.default_rng(systems)
        n = 50
        rejected = []
        for seed in range(draws):
            values = equal_systems(random, n, systems, kind)
            first, second = np.array(list(itertools.combinations(range(systems), 2))).T
            pairs = values[:, first] - values[:, second]
            joint = joint_sign_flips(pairs, resamples=FLIPS, seed=seed)
            rejected.append((joint.corrected.min() <= 0.05, holm(joint.p_values).min() <= 0.05))
        rates = 100 * np.mean(rejected, axis=0)
        line(f"{systems} systems, {kind}", n, [f"{rate:9.1f}" for rate in rates], draws, float(rates[0]))


def rank_metrics(ranks: NDArray[np.int64]) -> Values:
    """Hit rate at 1, 3 and 5, reciprocal rank and NDCG at 10 of one relevant document, shape (queries, 5)."""
    within = ranks <= 10
    values: Values = np.stack(
        [ranks <= 1, ranks <= 3, ranks <= 5, within / ranks, within / np.log2(ranks + 1)], axis=-1
    ).astype(float)
    return values


def metrics_of_one_rank(draws: int) -> None:
    """Metrics that differ in how many queries move: true differences found, and any found where there is none."""
    for n, share, better in ((25, 0.3, 0.6), (200, 0.15, 0.3)):
        random = np.random.default_rng(n)
        gains: list[tuple[Values, Values]] = []
        false: list[tuple[Values, Values]] = []
        for seed in range(draws):
            for gain, into in ((better, gains), (0.0, false)):
                before = random.geometric(0.35, n)
                after = np.where(random.random(n) < share, random.geometric(0.35, n), before)
                after = np.where(random.random(n) < gain * share, 1, after)
                test = joint_sign_flips(rank_metrics(after) - rank_metrics(before), resamples=FLIPS, seed=seed)
                joint = (test.corrected <= 0.05).astype(np.float64)
                by_holm = (holm(test.p_values) <= 0.05).astype(np.float64)
                into.append((joint, by_holm))
        power = 100 * np.mean(gains, axis=(0, 2))
        errors = 100 * np.any(np.array(false) > 0, axis=2).mean(axis=0)
        cells = [f"{rate:9.1f}" for rate in (*power, *errors)]
        line(f"{100 * share:g}% move", n, cells, draws, float(power[0]))


def hold_all(ends: Values, truth: Values) -> bool:
    return bool(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).all())


def simultaneous(draws: int) -> None:
    """Share of comparisons of all pairs of five systems, some of which differ, whose every interval holds the truth."""
    means = np.array([0.0, 0.0, 0.03, 0.06, 0.15])
    plus, minus = np.array(list(itertools.combinations(range(5), 2))).T
    for kind, n in itertools.product(("independent", "clones"), (15,)):
        random = np.random.default_rng(n)
        together = []
        widths = []
        for seed in range(draws):
            values = equal_systems(random, n, 5, kind) + means
            pairs = paired_differences(
                values[:, plus] - values[:, minus], spans=[2.0] * len(plus), resamples=FLIPS, seed=seed
            )
            ends = np.array([difference.interval for difference in pairs.differences])
            truth = means[plus] - means[minus]
            student = np.array([students_t(values[:, a] - values[:, b]) for a, b in zip(plus, minus, strict=True)])
            together.append([hold_all(ends, truth), hold_all(student, truth)])
            widths.append(np.ptp(ends, axis=1).mean() / np.ptp(student, axis=1).mean())
        rates = 100 * np.mean(together, axis=0)
        line(f"5 systems, {kind}", n, [f"{rates[0]:9.1f}{np.mean(widths):7.2f}{rates[1]:9.1f}"], draws, float(rates[0]))


def flattery(draws: int) -> None:
    """The mean of the best of several systems, and what it is said to be worth, minus its true mean."""
    for kind, systems, n, ahead in itertools.product(("independent",), (12,), (40,), (0.0, 0.1)):
        random = np.random.default_rng(systems * n)
        names = [f"s{index}" for index in range(systems)]
        mean = 0.6 if kind == "independent" else 0.5
        own = []
        worth = []
        for _ in range(draws):
            values = equal_systems(random, n, systems, kind)
            values[:, -1] += ahead
            (best,) = estimate_selection_bias([MetricOfSystems("ndcg", values)], names, None)
            true = mean + ahead * (best.system == names[-1])
            own.append(best.observed - true)
            worth.append(best.expected - true)
        error = np.std(worth) / np.sqrt(draws)
        cells = [f"{np.mean(own):+9.4f}{np.mean(worth):+9.4f}{error:9.4f}"]
        ahead_note = f"one +{ahead:g}" if ahead else "equal"
        name = f"{systems}, {kind}, {ahead_note}"
        LINES.append(f"{name:{NAME_WIDTH}}{n:5}{cells[0]}{draws:9}")
        print(LINES[-1], flush=True)


SIZES_OF_CLUSTERS: dict[str, Callable[[np.random.Generator], NDArray[np.int64]]] = {
    "40 documents x 5": lambda _: np.full(40, 5),
    "20 documents x 10": lambda _: np.full(20, 10),
    "Zipf": lambda _: np.maximum(1, 50 // np.arange(1, 41)),
    "steep Zipf": lambda _: np.maximum(1, np.round(60 / np.arange(1, 46) ** 1.1)).astype(int),
    "20 x 10": lambda _: np.full(20, 10),
    "20 x 20": lambda _: np.full(20, 20),
    "25 x 8": lambda _: np.full(25, 8),
    "one of 80": lambda _: np.array([80, *[3] * 39]),
    "20 documents, one holds 60%": lambda _: np.array([120, *[4] * 20]),
}


def latent(
    random: np.random.Generator, sizes: NDArray[np.int64], correlation: float
) -> tuple[Values, NDArray[np.int64]]:
    """Standard normal values with a correlation within clusters, and the cluster of each."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    shared = random.normal(0, 1, len(sizes))[labels]
    own = random.normal(0, 1, len(labels))
    return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own, labels


def clusters(draws: int) -> None:
    """Two equal systems on questions of the same documents, correlation 0.3: with clusters, and without."""
    for seed_of_line, name in ((0, "40 documents x 5"), (1, "20 documents x 10"), (4, "20 documents, one holds 60%")):
        random = np.random.default_rng(seed_of_line)
        outcomes = []
        sizes = SIZES_OF_CLUSTERS[name](random)
        for seed in range(draws):
            values, labels = latent(random, sizes, 0.3)
            cells = []
            for labels_or_none in (labels, None):
                difference = paired_difference(
                    0.2 * values, np.zeros(len(values)), resamples=FLIPS, seed=seed, clusters=labels_or_none
                )
                cells += [difference.interval.low <= 0 <= difference.interval.high, difference.p_randomisation <= 0.05]
            outcomes.append(cells)
        rates = 100 * np.mean(outcomes, axis=0)
        line(name, int(sizes.sum()), [f"{rate:9.1f}" for rate in rates], draws, float(rates[0]))


# Metric, mean, sizes of the clusters, and the correlation of the latent values within them.
CLUSTERED_MEANS = [
    ("0/1", 0.97, "Zipf", 0.8),
    ("0/1", 0.97, "20 x 10", 0.8),
    ("0/1", 0.95, "steep Zipf", 0.95),
    ("0/1", 0.95, "25 x 8", 0.95),
    ("0/1", 0.93, "20 x 20", 0.9),
    ("0/1", 0.95, "one of 80", 0.9),
    ("NDCG", 0.9, "Zipf", 0.8),
    ("NDCG", 0.9, "20 x 10", 0.8),
]


def clustered_means(draws: int) -> None:
    """The mean of a metric on clustered questions, in the middle and near 1: with clusters, and without."""
    for kind, mean, name, correlation in CLUSTERED_MEANS:
        random = np.random.default_rng(12)
        binary = float(kind == "0/1")
        sizes = SIZES_OF_CLUSTERS[name](np.random.default_rng(0))
        covers = []
        for _ in range(draws):
            latents, labels = latent(random, sizes, correlation)
            if binary:
                values: Values = (latents < stats.norm.ppf(mean)).astype(np.float64)
            else:
                values = np.minimum(np.array(stats.norm.cdf(-latents)) / (2 * (1 - mean)), 1.0)
            ends = [
                interval_from_sums(effective_sums(values, labels), binary=binary),
                interval_from_sums(Sums.from_values(values), binary=binary),
            ]
            covers.append([low - 1e-9 <= mean <= high + 1e-9 for low, high in ends])
        with_clusters, without = np.mean(covers, axis=0)
        line(
            f"{kind}, {mean}, {name}, {correlation}",
            int(sizes.sum()),
            [f"{100 * with_clusters:9.1f}{100 * without:9.1f}"],
            draws,
            100 * float(with_clusters),
        )


def graded(random: np.random.Generator, queries: int, wrong: float, spread: float) -> Values:
    """Tables of two graders, one per query of 12 passages; the second errs by one, evenly if `spread` is large."""
    rate = random.beta(wrong * spread, (1 - wrong) * spread, (queries, 1))
    truth = random.choice(4, (queries, 12), p=[0.7, 0.12, 0.1, 0.08])
    off = np.clip(truth + random.choice([-1, 1], truth.shape), 0, 3)
    tables = np.zeros((queries, 4, 4))
    np.add.at(tables, (np.arange(queries)[:, None], truth, np.where(random.random(truth.shape) < rate, off, truth)), 1)
    return tables


def agreement(draws: int) -> None:
    """Same grade and weighted kappa of two graders: coverage, and how often there is an interval of kappa."""
    for (wrong, spread), n in itertools.product(((0.02, 2), (0.1, 2)), (15, 50)):
        population = graded(np.random.default_rng(1), 60_000, wrong, spread).sum(axis=0)
        share = float(np.trace(population) / population.sum())
        true = cohens_kappa(population, "quadratic")
        random = np.random.default_rng(n)
        share_intervals = []
        kappa = []
        for _ in range(draws):
            tables = graded(random, n, wrong, spread)
            share_intervals.append(share_by_cluster(np.einsum("qii->q", tables), np.full(n, 12)).interval)
            kappa.append(kappa_by_cluster(tables, "quadratic").interval)
        shown = np.array(kappa)[~np.isnan(np.array(kappa)[:, 0])]
        cells = [f"{covered(np.array(share_intervals), share):9.1f}{100 * len(shown) / draws:9.1f}"]
        kappa_coverage = f"{covered(shown, true):.1f}" if len(shown) >= MIN_SHOWN else "-"
        cells.append(f"{kappa_coverage:>9}")
        line(f"{100 * wrong:g}% wrong", n, cells, draws, covered(np.array(share_intervals), share))


# Of fewer intervals, a percentage says little.
MIN_SHOWN = 100


def labels(draws: int) -> None:
    """Estimates from people's and a model's grades; see label_estimates.py."""
    kinds = (("ndcg@10", 1.0, True), ("hit_rate@3", 1.0, False))
    for (metric, skill, difference), judge in itertools.product(kinds, ("2% wrong", "12%, favours a system")):
        values = label_estimates.population(label_estimates.JUDGES[judge], metric, skill, seed=7)
        people, model = values[:, 1] - values[:, 0] if difference else values[:, 1]
        simulated = label_estimates.simulate(
            people, model, draws, difference=difference, binary=metric == "hit_rate@3", sizes=((500, 15), (500, 50))
        )
        for _, n, cells, rate in simulated:
            estimated = f"{metric} difference" if difference else metric
            name = judge.replace("12%, favours a system", "favours")
            line(f"{estimated}, {name}", n, [cells[:FOUR_PERCENTAGES]], draws, rate)


# The characters of four percentages.
FOUR_PERCENTAGES = 36


def judge_name(judge: str, share: float) -> str:
    return f"{judge}, {100 * share:g}% each" if share else judge


def favours(draws: int) -> None:
    """A judge that favours one of two equal systems, and fair ones; see judge_driven_samples.py."""
    for (judge, share), n in itertools.product((("favours", 0.15), ("favours", 0.06), ("fair", 0.0)), (15, 25, 50)):
        cells, rate = judge_driven_samples.line(judge, share, n, draws)
        line(judge_name(judge, share), n, [cells], draws, rate)


def needed(draws: int) -> None:
    """How many more labels two thirds of the width are said to take, and in how many samples they were enough."""
    judges = (("fair", 0.0), ("inverted", 0.0), ("favours", 0.02))
    for (judge, share), n in itertools.product(judges, (15, 25)):
        cells, rate = judge_driven_samples.needed(judge, share, n, draws)
        line(judge_name(judge, share), n, [cells], draws, rate)


def looks(draws: int) -> None:
    """Equal systems told apart at any of several looks (%), at 95% each and with the levels of `looks=`."""
    for judge, counts in itertools.product(("fair", "noisy"), ([15, 20, 25, 30, 35, 40, 50, 60],)):
        cells, rate = judge_driven_samples.looks(judge, counts, draws)
        line(f"{judge}, {len(counts)} looks", 60, [cells], draws, rate)


def tuned(draws: int) -> None:
    """What the best of several settings is said to gain, and what it gains; see tuning.py."""
    import tuning

    values = tuning.population("ndcg@10")
    for equal, settings, n in itertools.product((False, True), (100,), (25,)):
        cells = tuning.simulate(values, settings, n, draws, equal=equal)
        population_name = "equal" if equal else "Cranfield"
        name = f"{settings} settings, {population_name}"
        LINES.append(f"{name:{NAME_WIDTH}}{n:5}{cells}{draws:9}")
        print(LINES[-1], flush=True)


PARTS: dict[str, tuple[Callable[[int], None], str]] = {
    "difference": (intervals_of_differences, "  printed    +line        t"),
    "agreement_of_p": (agreement_of_p, "   same t     boot    apart     boot"),
    "detects": (power_as_promised, "      low   found     high    even  uneven"),
    "plan": (plans, "    found     10%     50%     90%"),
    "margin": (margins, "  at -.02       t     at 0       t"),
    "family": (family_wise, "    joint     Holm"),
    "ranks": (metrics_of_one_rank, "    joint     Holm    joint     Holm"),
    "simultaneous": (simultaneous, "     ours  width        t"),
    "skewed": (zero_by_luck, "    found   unseen"),
    "flattery": (flattery, "      own    worth       se"),
    "clusters": (clusters, "  covered    false  without    false"),
    "clustered_means": (clustered_means, "  covered  without"),
    "mean": (intervals_of_means, "     ours        t      BCa  width"),
    "two_valued": (two_valued, "    least   at 1/2    wider"),
    "agreement": (agreement, "     same    shown    kappa"),
    "labels": (labels, "     ours   people    model    PPI++"),
    "favours": (favours, "   people  width   random  width   strata  width"),
    "needed": (needed, "   random enough  strata enough"),
    "looks": (looks, "   random   spent  strata   spent"),
    "tuned": (tuned, "    truth    naive  covers     bias    rmse   fixed  covers  better"),
}
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "statistics-tables.md"


def write(part: str, lines: list[str]) -> None:
    """Replace a table of the page, the block after the comment that names it; some are too small to stand there."""
    text = PAGE.read_text(encoding="utf-8")
    before, mark, after = text.partition(f"<!-- table: {part} -->\n```text\n")
    if not mark:
        return
    PAGE.write_text(
        f"{before}<!-- table: {part} -->\n```text\n{chr(10).join(lines)}\n```{after.partition('```')[2]}",
        encoding="utf-8",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=DRAWS, help="samples per line")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="parts of the simulation")
    parser.add_argument("--write", action="store_true", help="write the tables into the page of the documentation")
    arguments = parser.parse_args()
    started = time.perf_counter()
    for part in arguments.only:
        simulate, columns = PARTS[part]
        LINES[:] = [f"{'':{NAME_WIDTH}}{'n':>5}{columns}{'  samples' if part in WITHOUT_ERROR else '    +-'}"]
        print(f"\n{part}: {simulate.__doc__}\n{LINES[0]}")
        simulate(arguments.draws // SLOW.get(part, 1))
        if arguments.write:
            write(part, LINES)
        print(f"{time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
