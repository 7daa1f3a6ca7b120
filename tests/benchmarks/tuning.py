"""What is the winner of a tuning run worth? The number of `tune`, against the truth.

    RETRIEVAL_METRICS_DATA=folder python tests/benchmarks/tuning.py --draws 200

The population are the 225 questions of Cranfield. Settings are fusions of BM25, TF-IDF and embeddings: linear weights
of scores and reciprocal ranks with several k and weights; the default is RRF with k = 60 and equal weights. Each line
draws n questions with replacement, chooses the best of s settings by NDCG@10, and compares what is said of the gain
with the gain of the chosen setting over the whole population. `equal` permutes the settings of each question, so that
all are equal. `naive` is the winner's own gain with Student's interval. `fixed` is the standard error of the gain of
the chosen setting if it had been fixed before: no estimate from n questions that is nearly unbiased errs much less.
"""

from __future__ import annotations

import argparse
import itertools
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import retrieval_metrics as rm
from retrieval_metrics.statistics import joint_sign_flips
from retrieval_metrics.statistics.out_of_bag import out_of_bag

Values = NDArray[np.float64]
FLIPS = 999


def population(metric: str) -> Values:
    """Values of every setting, shape (questions, settings), the default first."""
    folder = Path(os.environ["RETRIEVAL_METRICS_DATA"]) / "cranfield"
    qrels = rm.read_qrels(folder / "qrels.graded.trec")
    runs = {
        name: {query: dict(list(ranked.items())[:100]) for query, ranked in rm.read_run(path).items()}
        for name, path in ((name, folder / f"run.{name}.trec") for name in ("bm25", "tfidf_nosat", "minilm_int8"))
    }
    weights = [(1, 1, 1), *itertools.product((0, 0.3, 0.7, 1), repeat=3)]
    weights = [weighting for weighting in dict.fromkeys(weights) if any(weighting)]
    settings = [
        ("rrf", 60, (1, 1, 1)),
        *(("rrf", k, weighting) for k in (1, 10, 60, 200) for weighting in weights[:12]),
    ]
    settings += [("scores", 0, weighting) for weighting in weights]
    columns = []
    for method, k, weighting in list(dict.fromkeys(settings))[:100]:
        evaluation = rm.evaluate(qrels, rm.fuse(runs, method, k=k, weights=weighting), metric)
        columns.append(list(evaluation.per_query[rm.Metric.parse(metric)].values()))
    return np.array(columns).T


def simulate(values: Values, settings: int, n: int, draws: int, *, equal: bool) -> str:
    random = np.random.default_rng(settings + n)
    chosen = np.concatenate([[0], 1 + random.permutation(values.shape[1] - 1)[: settings - 1]])
    chosen_values = values[:, chosen]
    rows = []
    for seed in range(draws):
        drawn = chosen_values[random.integers(len(chosen_values), size=n)]
        if equal:
            drawn = random.permuted(drawn, axis=1)
        bootstrapped = out_of_bag(drawn, 0, resamples=500, seed=seed)
        gains = drawn - drawn[:, :1]
        test = joint_sign_flips(gains[:, 1:], resamples=FLIPS, seed=seed)
        corrected = 1.0 if not bootstrapped.best else float(test.corrected[bootstrapped.best - 1])
        low, high = bootstrapped.gain_interval
        if not bootstrapped.best:
            low, high = min(low, 0.0), max(high, 0.0)
        elif (low > 0) != (corrected <= 0.05):
            low = 0.0
        truth = 0.0 if equal else float((chosen_values[:, bootstrapped.best] - chosen_values[:, 0]).mean())
        own = gains[:, bootstrapped.best]
        half = stats.t.ppf(0.975, n - 1) * own.std(ddof=1) / np.sqrt(n)
        naive = own.mean() - truth
        is_covered = low - 1e-12 <= truth <= max(high, low) + 1e-12
        variance = drawn_variance(chosen_values, bootstrapped.best, equal=equal) / n
        rows.append(
            [
                truth,
                naive,
                abs(naive) <= half + 1e-12,
                bootstrapped.gain - truth,
                is_covered,
                corrected <= 0.05,
                variance,
            ]
        )
    truth, naive, naive_covers, bias, covers, better, variance = np.mean(rows, axis=0)
    rmse = np.sqrt(np.mean(np.array(rows)[:, 3] ** 2))
    fixed = np.sqrt(variance)
    return f"{truth:+9.4f}{naive:+9.4f}{naive_covers:8.2f}{bias:+9.4f}{rmse:8.4f}{fixed:8.4f}{covers:8.2f}{better:8.2f}"


def drawn_variance(chosen_values: Values, winner: int, *, equal: bool) -> float:
    """Return the variance of the gain of a setting over the default, for one question."""
    if equal:  # the two are any two settings of a question
        return float(2 * chosen_values.var(axis=1, ddof=1).mean())
    return float((chosen_values[:, winner] - chosen_values[:, 0]).var(ddof=1)) if winner else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200, help="simulated tuning runs per line")
    draws = parser.parse_args().draws
    values = population("ndcg@10")
    best = (values.mean(axis=0) - values[:, 0].mean()).max()
    print(f"{values.shape[1]} settings, {draws} draws a line; best true gain {best:+.4f}")
    print("            settings     n    truth    naive  covers     bias    rmse   fixed  covers  better")
    for equal, settings, n in itertools.product((False, True), (5, 20, values.shape[1]), (25, 50, 150)):
        cells = simulate(values, settings, n, draws, equal=equal)
        print(f"{'equal' if equal else 'Cranfield':10}{settings:9}{n:6}{cells}", flush=True)


if __name__ == "__main__":
    main()
