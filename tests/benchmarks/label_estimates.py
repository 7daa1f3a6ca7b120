# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "retrieval-metrics", "scipy"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Do intervals from a model's grades and a few human grades keep their promise? Coverage and width by judge.

    uv run tests/benchmarks/label_estimates.py --draws 1000

Queries have 20 graded documents and two systems that rank them. A judge reads the true grades and writes others, by a
confusion matrix; some judges favour what one system ranks first. Each line draws that many sets of N queries, of which
n are labelled by people, whose grades are the true ones. The seed of each line is fixed.

`ours` is `corrected_mean`; its width stands beside that of people's labels alone (Student's t) times what an oracle
makes of it, sqrt(1 - rho^2 (1 - n / N)), where rho is the true correlation of the judge's values with people's.
`people` is the interval of people's labels alone, `model` that of the judge's grades alone for all N queries, and
`PPI++` is the power-tuned estimate with normal quantiles.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterable, Iterator  # noqa: TC003
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from retrieval_metrics.statistics import corrected_mean, mean_interval

Values = NDArray[np.float64]
Grades = NDArray[np.int64]

# Documents of a query.
POOL = 20
POPULATION = 60_000
LABELLED = (15, 25, 50)
QUERIES = (150, 500)


class Judge(NamedTuple):
    """How a judge errs.

    Attributes:
        error: The share of wrong grades.
        lenient: The share of the errors that are one grade too high; the others are one too low.
        favours: The chance that a document among the second system's first five gets a grade more.
        random: Whether the grades have nothing to do with the document.
    """

    error: float = 0.0
    lenient: float = 0.5
    favours: float = 0.0
    random: bool = False

    def grades(self, truth: Grades, favoured: NDArray[np.bool_], random: np.random.Generator) -> Grades:
        if self.random:
            return random.integers(0, 4, truth.shape)
        up = np.where(random.random(truth.shape) < self.lenient, 1, -1)
        read = truth + up * (random.random(truth.shape) < self.error)
        read = np.where((read < 0) | (read > 3), truth - up, read)  # off the scale: the other neighbour
        read = read + (favoured & (random.random(truth.shape) < self.favours))
        grades: Grades = np.minimum(read, 3)
        return grades


JUDGES = {
    "12% wrong": Judge(0.12),
    "10% wrong, lenient": Judge(0.1, lenient=0.85),
    "20% wrong, strict": Judge(0.2, lenient=0.15),
    "12%, favours a system": Judge(0.12, favours=0.3),
    "50% wrong": Judge(0.5),
    "2% wrong": Judge(0.02),
    "useless": Judge(random=True),
}


def ndcg(ranked: Grades) -> Values:
    """NDCG@10 of rankings of graded documents, shape (queries, documents); NaN without a relevant one."""
    discounts = 1 / np.log2(np.arange(2, 12))
    ideal = -np.sort(-ranked, axis=1)[:, :10] @ discounts
    with np.errstate(invalid="ignore"):
        values: Values = ranked[:, :10] @ discounts / np.where(ideal > 0, ideal, np.nan)
    return values


def hit_rate(ranked: Grades) -> Values:
    values: Values = np.where((ranked > 0).any(axis=1), (ranked[:, :3] > 0).any(axis=1), np.nan)
    return values


METRICS = {"ndcg@10": ndcg, "hit_rate@3": hit_rate}


def population(judge: Judge, metric: str, skill: float, seed: int) -> NDArray[Any]:
    """Values of many queries, shape (people or judge, system, queries)."""
    random = np.random.default_rng(seed)
    shape = (POPULATION, POOL)
    relevant = random.random(shape) < random.beta(1.2, 5, (POPULATION, 1))
    relevant[np.arange(POPULATION), random.integers(0, POOL, POPULATION)] = True
    truth: Grades = np.where(relevant, random.choice([1, 2, 3], shape, p=[0.4, 0.35, 0.25]), 0)
    strength = random.normal(skill, 0.6 * skill, (POPULATION, 1))
    orders = [np.argsort(-(truth * strength * share + random.gumbel(size=shape)), axis=1) for share in (0.8, 1.0)]
    favoured = np.zeros(shape, dtype=bool)
    np.put_along_axis(favoured, orders[1][:, :5], values=True, axis=1)
    read = judge.grades(truth, favoured, random)
    value = METRICS[metric]
    truth_and_read = (truth, read)
    values = []
    for grades in truth_and_read:
        values.append([value(np.take_along_axis(grades, order, axis=1)) for order in orders])
    return np.array(values)


def ppi(people: Values, model: Values, n: int) -> tuple[float, float]:
    """The power-tuned prediction-powered interval (Angelopoulos 2023), unlabelled queries apart from labelled."""
    labelled = model[:n]
    unlabelled = model[n:]
    share = n / len(unlabelled)
    tuned = np.cov(people, labelled)[0, 1] / ((1 + share) * model.var(ddof=1)) if model.var() else 0.0
    tuned = min(max(tuned, 0.0), 1.0)
    mean = people.mean() + tuned * (unlabelled.mean() - labelled.mean())
    variance = (people - tuned * labelled).var(ddof=1) / n + tuned**2 * unlabelled.var(ddof=1) / len(unlabelled)
    half = stats.norm.ppf(0.975) * np.sqrt(variance)
    return mean - half, mean + half


def student(values: Values) -> tuple[float, float]:
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return values.mean() - half, values.mean() + half


SIZES = tuple(itertools.product(QUERIES, LABELLED))


def holds(ends: tuple[float, float], truth: float) -> bool:
    return bool(ends[0] - 1e-12 <= truth <= ends[1] + 1e-12)


def simulate(
    people: Values,
    model: Values,
    draws: int,
    *,
    difference: bool,
    binary: bool,
    sizes: Iterable[tuple[int, int]] = SIZES,
) -> Iterator[tuple[int, int, str, float]]:
    """Yield for each number of queries and of labels a line of the table, and our coverage in per cent."""
    truth = float(people.mean())
    filled = np.where(np.isnan(model), np.nanmean(model), model)
    correlation = np.corrcoef(people, filled)[0, 1]
    for queries, n in sizes:
        random = np.random.default_rng(1000 * queries + n)
        oracle = np.sqrt(1 - correlation**2 * (1 - n / queries))
        cells = []
        for _ in range(draws):
            drawn = random.integers(0, len(people), queries)
            labelled = people[drawn[:n]]
            graded = model[drawn]
            mean = corrected_mean(labelled, graded, np.arange(n), of_difference=difference)
            ours = mean.difference_interval() if difference else mean.interval(binary=binary)
            alone = student(labelled)
            defined = graded[~np.isnan(graded)]
            peers = (
                student(labelled) if difference else mean_interval(labelled, binary=binary),
                student(defined),
                ppi(labelled, filled[drawn], n),
            )
            covered = [holds(ends, truth) for ends in (ours, *peers)]
            cells.append([*covered, ours[1] - ours[0], alone[1] - alone[0], mean.mean - truth])
        means = np.mean(cells, axis=0)
        rates = "".join(f"{100 * rate:9.1f}" for rate in means[:4])
        widths = f"{means[4]:9.3f}{means[4] / means[5] / oracle:9.2f}"
        yield queries, n, f"{rates}{widths}{means[6]:+9.4f}", 100 * float(means[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1_000, help="samples per line")
    parser.add_argument("--metric", choices=METRICS, help="one of the metrics")
    parser.add_argument("--only", choices=JUDGES, nargs="+", default=list(JUDGES), help="some of the judges")
    arguments = parser.parse_args()
    started = time.perf_counter()
    error = 100 * np.sqrt(0.95 * 0.05 / arguments.draws)
    print(f"{arguments.draws} draws per line; one standard error at 95% is {error:.1f} points")
    for metric, skill in (("ndcg@10", 1.0), ("ndcg@10", 2.5), ("hit_rate@3", 1.0)):
        if arguments.metric not in {None, metric}:
            continue
        for quantity in ("mean of one system", "difference of two systems"):
            print(f"\n{metric}, {quantity}, coverage (%) of the 95% CI")
            print(f"{'':28}{'N':>5}{'n':>5}     ours   people    model    PPI++    width  /oracle     bias")
            for name in arguments.only:
                values = population(JUDGES[name], metric, skill, seed=7)
                people, model = values[:, 1] if quantity.startswith("mean") else values[:, 1] - values[:, 0]
                print(f"{name}: people {people.mean():.3f}, judge {np.nanmean(model):.3f}")
                difference = quantity.startswith("difference")
                binary = metric == "hit_rate@3"
                for queries, n, cells, _ in simulate(
                    people, model, arguments.draws, difference=difference, binary=binary
                ):
                    print(f"{'':28}{queries:5}{n:5}{cells}", flush=True)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
