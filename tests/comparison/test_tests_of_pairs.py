"""All pairs in all metrics are tested together, on paired values, corrected for each other."""

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import retrieval_metrics as rm
from ranked_systems import METRICS, drawn, same_ranking
from retrieval_metrics.statistics import (
    joint_sign_flips,
    paired_difference,
)


def mean(differences: Any, axis: int) -> Any:
    return differences.mean(axis=axis)


@settings(max_examples=25)
@given(st.integers(3, 12), st.integers(0, 10**6))
def test_p_values_are_those_of_scipy(count: int, seed: int) -> None:
    qrels, runs = drawn(count, seed)
    difference = rm.compare(qrels, runs, "mrr").difference("mrr")
    a, b = (np.array(list(rm.evaluate(qrels, run, "mrr").per_query["mrr"].values())) for run in runs.values())
    if np.ptp(b - a) > 0:
        assert difference.paired.p_t == pytest.approx(stats.ttest_rel(b, a).pvalue, abs=1e-12)
        # With more resamples than there are sign choices scipy takes each once.
        exact: Any = stats.permutation_test((b - a,), mean, permutation_type="samples", n_resamples=2**13)
        assert difference.p_uncorrected == pytest.approx(exact.pvalue, abs=1e-12)
    assert difference.mean == pytest.approx(np.mean(b - a), abs=1e-15)


def test_everything_else_is_the_kernels_on_the_paired_values() -> None:
    qrels, runs = drawn(30, 1)
    a, b = (list(rm.evaluate(qrels, run, "mrr").per_query["mrr"].values()) for run in runs.values())
    assert rm.compare(qrels, runs, "mrr", level=0.9, seed=3).difference("mrr").paired == paired_difference(
        b, a, level=0.9, seed=3
    )


def test_the_p_values_are_corrected_over_all_metrics_and_all_pairs_together() -> None:
    comparison = rm.compare(*drawn(40, 5, "abc"), METRICS)
    columns = np.column_stack([difference.values for difference in comparison.differences])
    p_values = [difference.p_corrected for difference in comparison.differences]
    assert p_values == joint_sign_flips(columns).corrected.tolist()
    assert {difference.comparisons for difference in comparison.differences} == {9}


def test_without_a_baseline_every_pair_is_compared_the_later_with_the_earlier() -> None:
    qrels, runs = drawn(10, 2, "abc")
    assert rm.compare(qrels, runs, "mrr").pairs == [("b", "a"), ("c", "a"), ("c", "b")]
    assert rm.compare(qrels, runs, "mrr", baseline="b").pairs == [("a", "b"), ("c", "b")]


def test_exchanging_the_systems_changes_the_sign_and_nothing_else() -> None:
    qrels, runs = drawn(25, 8)
    paired = rm.compare(qrels, runs, "mrr", baseline="a").difference("mrr").paired
    exchanged = rm.compare(qrels, runs, "mrr", baseline="b").difference("mrr").paired
    assert exchanged.mean == -paired.mean
    assert (exchanged.wins, exchanged.ties, exchanged.losses) == (paired.losses, paired.ties, paired.wins)
    assert exchanged.p_t == pytest.approx(paired.p_t)
    assert exchanged.interval == pytest.approx((-paired.interval.high, -paired.interval.low))


def test_a_system_without_values_does_not_change_the_interval_of_two_others() -> None:
    values = {
        "slow": {f"q{number}": 3 + number % 4 / 10 for number in range(15)},
        "quick": {f"q{number}": 1 + number % 3 / 10 for number in range(15)},
        "none": {f"q{number}": float("nan") for number in range(15)},
    }
    evaluations = {}
    for name, by_query in values.items():
        evaluations[name] = rm.Evaluation.from_scores(
            {"seconds": by_query}, bounds=(0, None), lower_is_better=["seconds"]
        )
    three = rm.compare(evaluations).difference("seconds", "quick", "slow")
    del evaluations["none"]
    two = rm.compare(evaluations).difference("seconds", "quick", "slow")
    assert three.max_difference == two.max_difference == pytest.approx(2.3)
    assert three.interval.low < three.mean < three.interval.high


def test_the_same_seed_gives_the_same_text_to_the_last_digit() -> None:
    data = drawn(60, 4, "abc")
    assert str(rm.compare(*data, METRICS)) == str(rm.compare(*data, METRICS))


def test_as_many_choices_of_signs_are_drawn_as_asked() -> None:
    comparison = rm.compare(*drawn(60, 1), [f"ndcg@{k}" for k in range(10, 40)], resamples=99)
    for difference in comparison.differences:
        assert round(100 * difference.p_corrected) == pytest.approx(100 * difference.p_corrected)


def generate_clusters(
    n_documents: int, n_questions: int, seed: int
) -> tuple[dict[str, Any], dict[str, Any], dict[str, int]]:
    """Return two equal systems, whose luck is that of a document: it helps all its questions or none."""
    rng = random.Random(seed)
    qrels: dict[str, list[str]] = {}
    runs: dict[str, dict[str, list[str]]] = {"a": {}, "b": {}}
    clusters = {}
    for document in range(n_documents):
        luck = {system: rng.random() for system in runs}
        for question in range(n_questions):
            query = f"{document}.{question}"
            qrels[query] = ["d"]
            clusters[query] = document
            for system, run in runs.items():
                run[query] = ["d"] if rng.random() < luck[system] else ["x"]
    return qrels, runs, clusters


def test_clusters_widen_the_intervals_and_raise_the_p_value() -> None:
    qrels, runs, clusters = generate_clusters(30, 8, 1)
    independent = rm.compare(qrels, runs, "mrr").difference("mrr")
    comparison = rm.compare(qrels, runs, "mrr", clusters=clusters)
    clustered = comparison.difference("mrr")
    assert clustered.mean == pytest.approx(independent.mean)
    assert clustered.paired.clusters == 30
    assert clustered.paired.design_effect > 1.5
    assert np.diff(clustered.interval) > 1.2 * np.diff(independent.interval)
    assert clustered.p_uncorrected > independent.p_uncorrected
    assert "queries in 30 clusters, user-defined; CIs and tests treat clusters as units" in str(comparison)
    assert "cluster" not in str(rm.compare(qrels, runs, "mrr"))
    evaluations = {system: rm.evaluate(qrels, run, "mrr", clusters=clusters) for system, run in runs.items()}
    assert rm.compare(evaluations).difference("mrr").paired == clustered.paired


def test_the_largest_difference_is_the_best_value_seen_where_a_metric_has_no_bound() -> None:
    qrels = {f"q{number}": {"a": 3, "b": 1, "x": 0, "y": 0} for number in range(8)}
    runs = {"good": same_ranking(qrels, "a", "b"), "poor": same_ranking(qrels, "b")}
    unbounded = rm.compare(qrels, runs, "dcg").difference("dcg")
    assert unbounded.max_difference == pytest.approx(3 + 1 / math.log2(3))
    assert rm.compare(qrels, runs, "ndcg").difference("ndcg").max_difference == 1
    without_relevant = {"one": same_ranking(qrels, "x"), "other": same_ranking(qrels, "y")}
    empty = rm.compare(qrels, without_relevant, "dcg").difference("dcg")
    assert empty.max_difference == 1  # no value says how large one can be
