# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "retrieval-metrics"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""A judge that favours one system on a few queries: what does the draw of the labelled queries find out?

    uv run tests/benchmarks/judge_driven_samples.py --draws 500

Two systems rank 10 documents for each of 200 queries. A judge reads the true grades and writes others. Some judges see
3 in a worthless document that only one system has, on a share of the queries; then the systems are equal. Each line
draws that many sets and labels n queries of each: at random, or as `pool.sample(n, graded=, runs=)` does, where the
judge sees the largest differences.

First table: coverage in per cent of the interval of the difference in NDCG@10, and its width in multiples of that of
people's labels alone on the random draw. Second table: in how many sets `labels_needed` for two thirds of
the width was enough, if that many were drawn and labelled. Third table: in how many sets equal systems were told apart
at any of several looks, at 95% each and with the levels of `spending_levels`.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from retrieval_metrics.datasets.disagreement_strata import choose_first_stratum
from retrieval_metrics.datasets.sample import draw
from retrieval_metrics.statistics import CorrectedMean, corrected_mean, spending_levels

QUERIES = 200
DOCUMENTS = 10
DISCOUNTS = 1 / np.log2(np.arange(2, DOCUMENTS + 2))
GRADES = (0, 0, 1, 2, 3)
BEST = 3
JUDGES = (
    ("favours", 0.02),
    ("favours", 0.04),
    ("favours", 0.15),
    ("fair", 0.0),
    ("noisy", 0.0),
    ("blind", 0.0),
    ("inverted", 0.0),
)

Floats = NDArray[np.float64]


def judged(judge: str, true: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """Return the grades that a judge gives."""
    if judge == "blind":
        return random.integers(0, BEST + 1, true.shape)
    if judge == "inverted":
        return BEST - true
    wrong = random.random(true.shape) < (0.05 if judge == "fair" else 0.2)
    return np.asarray(np.clip(true + wrong * random.choice([-1, 1], true.shape), 0, BEST))


def ndcg(grades: NDArray[np.int64], order: NDArray[np.int64], junk: NDArray[np.bool_], junk_grade: Floats) -> Floats:
    """Return the NDCG of each query; where there is junk, it stands first."""
    gains = np.take_along_axis(grades, order, 1)
    gains = np.where(junk[:, None], np.column_stack([junk_grade, gains[:, :-1]]), gains)
    best = -np.sort(-np.column_stack([grades, junk_grade]), axis=1)[:, :DOCUMENTS] @ DISCOUNTS
    with np.errstate(invalid="ignore"):
        return np.asarray(gains @ DISCOUNTS / np.where(best > 0, best, np.nan))


def ranked(true: NDArray[np.int64], strength: float, random: np.random.Generator) -> NDArray[np.int64]:
    """Return the documents of each query in an order that follows the grades, the more so the larger the strength."""
    return np.argsort(-(true * strength - random.normal(0, 1, true.shape)), axis=1)


def exchanged(order: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """Return rankings in which two neighbours have changed places."""
    swapped = order.copy()
    row = np.arange(len(order))
    position = random.integers(0, order.shape[1] - 1, len(order))
    swapped[row, position] = order[row, position + 1]
    swapped[row, position + 1] = order[row, position]
    return swapped


def differences(judge: str, share: float, queries: int, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the differences of two systems for each query, by people and by the judge."""
    true = random.choice(GRADES, (queries, DOCUMENTS))
    read = judged(judge, true, random)
    chance = random.random(queries)
    favours = judge == "favours"
    of_new = chance < share
    of_old = (share <= chance) & (chance < 2 * share)
    if favours:  # two systems that hardly differ: each exchanges two neighbours of one ranking
        common_ranking = ranked(true, 1.0, random)
        old = exchanged(common_ranking, random)
        new = exchanged(common_ranking, random)
    else:
        old = ranked(true, 0.8, random)
        new = ranked(true, 1.0, random)
    nothing = np.zeros(queries)
    liked = np.where(of_new, float(BEST), 0.0)
    people = ndcg(true, new, of_new, nothing) - ndcg(true, old, of_old, nothing)
    model = ndcg(read, new, of_new, liked) - ndcg(read, old, of_old, liked)
    defined = ~np.isnan(people) & ~np.isnan(model)
    return people[defined], model[defined]


def estimated(people: Floats, model: Floats, n: int, seed: int, *, in_strata: bool) -> CorrectedMean:
    """Draw n queries, label them, and estimate; a larger draw with the same seed holds the smaller one."""
    first_stratum = choose_first_stratum(np.sort(np.abs(model))[::-1])
    share = first_stratum.share_of_labels
    first = set(np.argsort(-np.abs(model), kind="stable")[: first_stratum.size].tolist())
    strata = {query: int(query not in first) for query in range(len(model))} if in_strata else None
    sample = draw(range(len(model)), n, strata, seed, {0: share, 1: 1 - share} if in_strata else None)
    labelled = [int(query) for query in sample.queries]
    weights = [1 / sample.probabilities[query] for query in labelled]
    layers = None if strata is None else list(strata.values())
    return corrected_mean(people[labelled], model, labelled, weights=weights, strata=layers, of_difference=True)


def population(judge: str, share: float) -> float:
    """Return the true difference."""
    if judge == "favours":
        return 0.0
    return float(differences(judge, share, 80_000, np.random.default_rng(10**6))[0].mean())


def line(judge: str, share: float, n: int, draws: int) -> tuple[str, float]:
    """Return the cells of a line of the first table, and the coverage of people alone in per cent."""
    truth = population(judge, share)
    intervals: dict[str, list[tuple[float, float]]] = {"people": [], "random": [], "strata": []}
    for seed in range(draws):
        people, model = differences(judge, share, QUERIES, np.random.default_rng(seed * 7 + n))
        estimate = estimated(people, model, n, seed, in_strata=False)
        intervals["people"].append((estimate.human_only or estimate).difference_interval())
        intervals["random"].append(estimate.difference_interval())
        intervals["strata"].append(estimated(people, model, n, seed, in_strata=True).difference_interval())
    usual = np.mean([high - low for low, high in intervals["people"]])
    cells = []
    for ends in intervals.values():
        lows, highs = np.array(ends).T
        coverage = 100 * np.mean((lows <= truth) & (truth <= highs))
        cells.append(f"{coverage:8.1f}{np.mean(highs - lows) / usual:7.2f}")
    low, high = np.array(intervals["people"]).T
    return "".join(cells), 100 * float(np.mean((low <= truth) & (truth <= high)))


def needed(judge: str, share: float, n: int, draws: int) -> tuple[str, float]:
    """Return the cells of the second table: how many more labels were asked for, how often they were enough."""
    cells = []
    rates = []
    for in_strata in (False, True):
        n_labels = []
        enough = []
        for seed in range(draws):
            people, model = differences(judge, share, 1_000, np.random.default_rng(seed * 11 + n))
            before = estimated(people, model, n, seed, in_strata=in_strata)
            width = 2 / 3 * 2 * before.half_width()
            n_needed = before.labels_needed(width)
            if np.isfinite(n_needed):
                after = estimated(people, model, n + int(n_needed), seed, in_strata=in_strata)
                n_labels.append(n_needed)
                enough.append(2 * after.half_width() <= width)
        rates.append(100 * float(np.mean(enough)))
        cells.append(f"{np.median(n_labels):8.0f}{rates[-1]:7.1f}")
    return "".join(cells), rates[0]


def looks(judge: str, counts: list[int], draws: int) -> tuple[str, float]:
    """Return the cells of the third table: how often equal systems are told apart."""
    levels = spending_levels(counts)
    cells = []
    rates = []
    for in_strata in (False, True):
        plain = 0
        spent = 0
        for seed in range(draws):
            random = np.random.default_rng(seed * 13 + 5)
            people, model = differences(judge, 0.0, QUERIES, random)
            sign = random.choice([-1, 1], len(people))  # neither system is better
            people = people * sign
            model = model * sign
            means = [estimated(people, model, n, seed, in_strata=in_strata) for n in counts]
            plain += any(_apart(mean, 0.95) for mean in means)
            spent += any(_apart(mean, level) for mean, level in zip(means, levels, strict=True))
        rates.append(100 * plain / draws)
        cells.append(f"{rates[-1]:8.1f}{100 * spent / draws:8.1f}")
    return "".join(cells), rates[0]


def _apart(mean: CorrectedMean, level: float) -> bool:
    low, high = mean.difference_interval(level)
    return low > 0 or high < 0


LOOKS = ([60], [25, 60], [15, 25, 40, 60], [15, 20, 25, 30, 35, 40, 50, 60])


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--draws", type=int, default=500)
    options.add_argument("--only", choices=("coverage", "needed", "looks"), nargs="+", help="some of the tables")
    chosen = options.parse_args()
    draws = chosen.draws
    tables = chosen.only or ("coverage", "needed", "looks")
    if "coverage" in tables:
        names = ("people", "random", "strata")
        print(f"{'judge':10}{'share':>6}{'n':>6}" + "".join(f"{name:>8}  width" for name in names))
        for judge, share in JUDGES:
            for n in (15, 25, 50):
                print(f"{judge:10}{share:6.0%}{n:6}{line(judge, share, n, draws)[0]}", flush=True)
    if "needed" in tables:
        print(f"\n{'judge':10}{'share':>6}{'n':>6}  random enough  strata enough")
        for judge, share in JUDGES:
            for n in (15, 25):
                print(f"{judge:10}{share:6.0%}{n:6}{needed(judge, share, n, draws)[0]}", flush=True)
    if "looks" in tables:
        print(f"\n{'judge':10}{'looks':>6}    random   spent  strata   spent")
        for judge in ("fair", "noisy", "blind"):
            for counts in LOOKS:
                print(f"{judge:10}{len(counts):6}  {looks(judge, counts, draws)[0]}", flush=True)


if __name__ == "__main__":
    main()
