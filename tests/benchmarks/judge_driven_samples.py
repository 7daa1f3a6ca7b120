# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "retrieval-metrics"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""A judge that favours one system on a few queries: what does the draw of the labelled queries find out?

    uv run tests/benchmarks/judge_driven_samples.py --draws 300

Two systems rank 10 documents for each of 200 queries. A judge reads the true grades and writes others. Some judges see
3 in a worthless document that only one system has, on a share of the queries; then the systems are equal. Each line
draws that many sets and labels n queries of each: at random, or half of them among the eighth where the judge sees the
largest differences. Coverage in per cent of the interval of the difference in NDCG@10, and its width in multiples of
that of people's labels alone on the random draw.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from retrieval_metrics.statistics import corrected_mean

QUERIES, DOCUMENTS = 200, 10
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
    return np.clip(true + wrong * random.choice([-1, 1], true.shape), 0, BEST)


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
    other, each = order.copy(), np.arange(len(order))
    at = random.integers(0, order.shape[1] - 1, len(order))
    other[each, at], other[each, at + 1] = order[each, at + 1], order[each, at]
    return other


def differences(judge: str, share: float, queries: int, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the differences of two systems for each query, by people and by the judge."""
    true = random.choice(GRADES, (queries, DOCUMENTS))
    seen = judged(judge, true, random)
    chance = random.random(queries)
    favours = judge == "favours"
    of_new, of_old = chance < share, (share <= chance) & (chance < 2 * share)
    if favours:  # two systems that hardly differ: each exchanges two neighbours of one ranking
        same = ranked(true, 1.0, random)
        old, new = exchanged(same, random), exchanged(same, random)
    else:
        old, new = ranked(true, 0.8, random), ranked(true, 1.0, random)
    nothing = np.zeros(queries)
    liked = np.where(of_new, float(BEST), 0.0)
    people = ndcg(true, new, of_new, nothing) - ndcg(true, old, of_old, nothing)
    model = ndcg(seen, new, of_new, liked) - ndcg(seen, old, of_old, liked)
    defined = ~np.isnan(people) & ~np.isnan(model)
    return people[defined], model[defined]


def drawn_in_strata(model: Floats, n: int, random: np.random.Generator) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return the queries to label, half of them among the eighth with the largest differences; weights and strata."""
    size = max(2, len(model) // 8)
    order = np.lexsort((random.random(len(model)), -np.abs(model)))
    of_top = min(size, (n + 1) // 2)
    top, rest = random.permutation(order[:size])[:of_top], random.permutation(order[size:])[: n - of_top]
    weights = np.r_[np.full(of_top, size / of_top), np.full(n - of_top, (len(model) - size) / (n - of_top))]
    strata = np.ones(len(model), dtype=np.int64)
    strata[order[:size]] = 0
    return np.r_[top, rest], weights, strata


def line(judge: str, share: float, n: int, draws: int) -> str:
    """Return a line of the table."""
    population = np.random.default_rng(10**6)
    truth = 0.0 if judge == "favours" else float(differences(judge, share, 80_000, population)[0].mean())
    found: dict[str, list[tuple[float, float]]] = {"people": [], "random": [], "strata": []}
    for draw in range(draws):
        random = np.random.default_rng(draw * 7 + n)
        people, model = differences(judge, share, QUERIES, random)
        labelled = random.permutation(len(people))[:n]
        whole = corrected_mean(people[labelled], model, labelled)
        found["people"].append((whole.alone or whole).difference_interval())
        found["random"].append(whole.difference_interval())
        labelled, weights, strata = drawn_in_strata(model, n, random)
        driven = corrected_mean(people[labelled], model, labelled, weights=weights, strata=strata)
        found["strata"].append(driven.difference_interval())
    usual = np.mean([high - low for low, high in found["people"]])
    cells = [
        f"{100 * np.mean([low <= truth <= high for low, high in each]):8.1f}"
        f"{np.mean([high - low for low, high in each]) / usual:7.2f}"
        for each in found.values()
    ]
    return f"{judge:10}{share:6.0%}{n:6}" + "".join(cells)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--draws", type=int, default=300)
    draws = options.parse_args().draws
    print(f"{'judge':10}{'share':>6}{'n':>6}" + "".join(f"{name:>8}  width" for name in ("people", "random", "strata")))
    for judge, share in JUDGES:
        for n in (15, 25, 50):
            print(line(judge, share, n, draws), flush=True)


if __name__ == "__main__":
    main()
