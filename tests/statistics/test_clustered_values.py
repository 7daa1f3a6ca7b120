"""Clusters of queries: the variance of their mean, and the independent queries that they are worth."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from retrieval_metrics.statistics import (
    Sums,
    Units,
    effective_sums,
    interval_from_sums,
    mean_interval,
    paired_difference,
)


def sample(clusters: int, cluster_size: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(clusters), cluster_size)
    return random.normal(0.1, 1, clusters)[labels] + random.normal(0, 1, clusters * cluster_size), labels


@pytest.mark.parametrize(("clusters", "cluster_size"), [(5, 4), (40, 5), (20, 10)])
def test_the_variance_of_clusters_of_equal_size_is_that_of_statsmodels(clusters: int, cluster_size: int) -> None:
    values, labels = sample(clusters, cluster_size)
    fit = sm.OLS(values, np.ones_like(values)).fit(cov_type="cluster", cov_kwds={"groups": labels})

    # statsmodels multiplies by G / (G - 1) and (n - 1) / (n - 1).
    assert Units.from_values(values, labels).variance_of_mean == pytest.approx(fit.bse[0] ** 2)


def test_the_p_value_under_clusters_is_student_on_one_less_than_the_clusters() -> None:
    values, labels = sample(20, 3)
    fit = sm.OLS(values, np.ones_like(values)).fit(cov_type="cluster", cov_kwds={"groups": labels}, use_t=True)
    difference = paired_difference(values, np.zeros_like(values), clusters=labels, span=10.0)

    assert difference.p_t == pytest.approx(2 * stats.t(19).sf(abs(fit.params[0] / fit.bse[0])))
    assert (difference.count, difference.clusters) == (60, 20)


def test_single_queries_have_the_variance_of_a_mean() -> None:
    values = np.random.default_rng(1).random(30)

    assert Units.from_values(values).variance_of_mean == pytest.approx(values.var(ddof=1) / 30)
    assert Units.from_values(values, np.arange(30)).variance_of_mean == pytest.approx(values.var(ddof=1) / 30)
    assert Units.from_values(values).design_effect == pytest.approx(1)


def test_unequal_clusters_by_hand() -> None:
    # Clusters (1, 0) and (1,) and (0, 0, 0): means without one are 1/4, 1/5 and 2/3.
    units = Units.from_values([1, 0, 1, 0, 0, 0], [0, 0, 1, 2, 2, 2])
    without = np.array([1 / 4, 1 / 5, 2 / 3])

    assert units.mean == pytest.approx(1 / 3)
    assert units.variance_of_mean == pytest.approx(2 / 3 * ((without - without.mean()) ** 2).sum())


def test_queries_that_are_all_alike_in_a_cluster_count_as_one() -> None:
    values = np.repeat(np.random.default_rng(2).random(25), 4)
    units = Units.from_values(values, np.repeat(np.arange(25), 4))

    assert units.design_effect == pytest.approx(4 * 99 / 96)
    assert units.effective_n == 25
    assert Units.from_values([1.0] * 8, [0, 0, 1, 1, 2, 2, 3, 3]).effective_n == 4
    assert Units.from_values([1.0] * 12, [*"aaaaaaaaaabc"]).effective_n == pytest.approx(12**2 / (10**2 + 1 + 1))


def test_effective_sums_keep_the_mean_and_shrink_the_count() -> None:
    values, labels = sample(30, 4)
    sums = Sums.from_values(values)
    effective = effective_sums(values, labels)

    assert effective.mean == pytest.approx(sums.mean)
    assert effective.count < Units.from_values(values, labels).effective_n < sums.count
    assert effective_sums(values, np.arange(len(values))) == sums
    assert effective_sums(values, np.zeros(len(values))) == sums


def test_the_interval_of_a_clustered_mean_covers() -> None:
    random = np.random.default_rng(3)
    covered = 0
    for _ in range(300):
        hard = random.beta(2, 1.2, 40)[np.repeat(np.arange(40), 5)]
        low, high = interval_from_sums(
            effective_sums((random.random(200) < hard).astype(float), np.repeat(np.arange(40), 5)), binary=True
        )
        covered += low <= 2 / 3.2 <= high

    assert covered / 300 >= 0.92


def test_the_interval_of_a_mean_covers_where_a_few_clusters_hold_most_questions() -> None:
    random = np.random.default_rng(5)
    sizes = np.maximum(1, 50 // np.arange(1, 41))  # of Zipf
    labels = np.repeat(np.arange(40), sizes)
    covered = 0
    for _ in range(300):
        easy = random.beta(0.6, 0.4, 40)[labels]  # questions of a document are much alike
        low, high = interval_from_sums(effective_sums(random.beta(9 * easy + 0.1, 9 * (1 - easy) + 0.1), labels))
        covered += low <= (9 * 0.6 + 0.1) / 9.2 <= high

    assert covered / 300 >= 0.92  # 74% if the effective number were never below that of the clusters


def test_the_interval_covers_where_few_clusters_hold_a_failure() -> None:
    random = np.random.default_rng(6)
    labels = np.repeat(np.arange(40), np.maximum(1, 50 // np.arange(1, 41)))
    covered = 0
    for _ in range(300):
        latent = math.sqrt(0.8) * random.normal(0, 1, 40)[labels] + math.sqrt(0.2) * random.normal(0, 1, len(labels))
        passed = (latent < stats.norm.ppf(0.9)).astype(float)
        low, high = interval_from_sums(effective_sums(passed, labels), binary=True)
        covered += low <= 0.9 <= high

    assert covered / 300 >= 0.92  # 89% with the clusters' degrees of freedom alone


@pytest.mark.parametrize(
    ("sizes", "mean", "correlation"),
    [
        (
            np.maximum(1, np.round(60 / np.arange(1, 46) ** 1.1)).astype(int),
            0.95,
            0.95,
        ),  # 85 % with the correlation of the sample alone
        (np.full(25, 8), 0.95, 0.95),  # 91 %
        (np.full(20, 20), 0.95, 0.85),  # 89 %
    ],
)
def test_the_interval_covers_where_small_clusters_hold_the_failures(
    sizes: np.ndarray, mean: float, correlation: float
) -> None:
    """The queries of large clusters fail together, and few samples show it: most hold failures of small ones."""
    random = np.random.default_rng(11)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    covered = 0
    for _ in range(400):
        shared = math.sqrt(correlation) * random.normal(0, 1, len(sizes))[labels]
        latent = shared + math.sqrt(1 - correlation) * random.normal(0, 1, len(labels))
        passed = (latent < stats.norm.ppf(mean)).astype(float)
        low, high = interval_from_sums(effective_sums(passed, labels), binary=True)
        covered += low <= mean <= high

    assert covered / 400 >= 0.93


def test_the_prior_correlation_hardly_counts_where_many_clusters_hold_failures() -> None:
    random = np.random.default_rng(12)
    labels = np.repeat(np.arange(40), 5)
    values = (random.random(200) < 0.7).astype(float)
    without_clusters = np.ptp(interval_from_sums(Sums.from_values(values), binary=True))
    assert np.ptp(interval_from_sums(effective_sums(values, labels), binary=True)) < 1.05 * without_clusters


def test_what_clusters_cost_begins_at_nothing() -> None:
    values = [1.0] * 97 + [0.0] * 3  # of 99 clusters, one holds two queries
    alone = np.ptp(mean_interval(values))
    assert np.ptp(interval_from_sums(effective_sums(values, [0, *range(99)]))) == pytest.approx(alone, rel=0.02)


def test_equal_systems_under_clusters_are_not_told_apart() -> None:
    random = np.random.default_rng(4)
    labels = np.repeat(np.arange(40), 5)
    alarms = 0
    covered = 0
    for seed in range(300):
        shared = random.normal(0, 1, 40)[labels]
        own = random.normal(0, 1, 200)
        values = 0.2 * (math.sqrt(0.3) * shared + math.sqrt(0.7) * own)
        difference = paired_difference(values, np.zeros(200), clusters=labels, resamples=1_000, seed=seed)
        alarms += difference.p_randomisation <= 0.05
        covered += difference.interval.low <= 0 <= difference.interval.high

    assert covered / 300 >= 0.92
    assert alarms / 300 <= 0.065 + 0.02


def test_values_and_clusters_must_belong_together() -> None:
    with pytest.raises(ValueError, match="one cluster per value"):
        Units.from_values([1.0, 2.0], [0])
