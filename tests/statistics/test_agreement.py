"""Agreement beyond chance of plain tables of counts, and what its intervals cover."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from retrieval_metrics.statistics import cohens_kappa, kappa_by_cluster, share_by_cluster


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_of_random_tables_is_that_of_scikit_learn(weights: Any) -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)
        first = random.integers(0, 4, 40)
        second = random.integers(0, 4, 40)
        table = np.zeros((4, 4))
        np.add.at(table, (first, second), 1)
        expected = cohen_kappa_score(first, second, labels=range(4), weights=weights)
        assert cohens_kappa(table, weights) == pytest.approx(expected, abs=1e-12)


def test_kappa_has_an_interval_that_covers() -> None:
    """Two who copy the truth, each with errors, on queries of 8 documents; the interval is by query."""
    random = np.random.default_rng(6)

    def tables(queries: int) -> Any:
        truth = random.integers(0, 4, (queries, 8))
        grades = [
            np.where(random.random(truth.shape) < 0.3, random.integers(0, 4, truth.shape), truth) for _ in range(2)
        ]
        counts = np.zeros((queries, 4, 4))
        np.add.at(counts, (np.arange(queries)[:, None], *grades), 1)
        return counts

    true = cohens_kappa(tables(20_000).sum(axis=0))
    ends = [kappa_by_cluster(tables(30)).interval for _ in range(300)]
    assert 0.91 <= np.mean([low <= true <= high for low, high in ends]) <= 0.985


def test_agreement_covers_where_a_grader_errs_query_by_query() -> None:
    """Disagreements are 5% of the passages, nearly all of them in a few queries; with 25 queries few or none show."""
    random = np.random.default_rng(8)

    def tables(queries: int) -> Any:
        wrong = random.random((queries, 12)) < random.beta(0.1, 1.9, (queries, 1))
        truth = random.choice(4, (queries, 12), p=[0.7, 0.12, 0.1, 0.08])
        grades = np.where(wrong, np.abs(truth - 1), truth)
        counts = np.zeros((queries, 4, 4))
        np.add.at(counts, (np.arange(queries)[:, None], truth, grades), 1)
        return counts

    large = tables(60_000).sum(axis=0)
    samples = [tables(25) for _ in range(300)]
    share_intervals = [
        share_by_cluster(np.einsum("qii->q", sample), sample.sum(axis=(1, 2))).interval for sample in samples
    ]
    kappa_intervals = [kappa_by_cluster(sample, "quadratic").interval for sample in samples]
    shown = [(low, high) for low, high in kappa_intervals if not math.isnan(low)]

    assert np.mean([low <= np.trace(large) / large.sum() <= high for low, high in share_intervals]) >= 0.92
    assert np.mean([low <= cohens_kappa(large, "quadratic") <= high for low, high in shown]) >= 0.92  # 87% with t(G-1)
    assert 0.1 < 1 - len(shown) / len(samples) < 0.9


def test_what_is_no_table_or_no_weight_is_refused() -> None:
    wrong: Any = "cubic"
    with pytest.raises(ValueError, match="weights must be"):
        cohens_kappa([[1, 0], [0, 1]], wrong)
    with pytest.raises(ValueError, match="as many rows as columns"):
        cohens_kappa([[1, 0]])
