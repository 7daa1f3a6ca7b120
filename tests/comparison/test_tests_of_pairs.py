"""All pairs in all metrics are tested together, on paired values, corrected for each other."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import retrieval_metrics as rm
from ranked_systems import METRICS, drawn, systems
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
    rows = np.column_stack([one.values for one in comparison.differences])
    assert [one.p_corrected for one in comparison.differences] == joint_sign_flips(rows).corrected.tolist()
    assert {one.comparisons for one in comparison.differences} == {9}


def test_without_a_baseline_every_pair_is_compared_the_later_with_the_earlier() -> None:
    data = drawn(10, 2, "abc")
    assert [one.pair for one in rm.compare(*data, "mrr").differences] == [("b", "a"), ("c", "a"), ("c", "b")]
    assert [one.pair for one in rm.compare(*data, "mrr", baseline="b").differences] == [("a", "b"), ("c", "b")]


def test_exchanging_the_systems_changes_the_sign_and_nothing_else() -> None:
    qrels, runs = drawn(25, 8)
    one = rm.compare(qrels, runs, "mrr", baseline="a").difference("mrr").paired
    other = rm.compare(qrels, runs, "mrr", baseline="b").difference("mrr").paired
    assert other.mean == -one.mean
    assert (other.wins, other.ties, other.losses) == (one.losses, one.ties, one.wins)
    assert other.p_t == pytest.approx(one.p_t)
    assert other.interval == pytest.approx((-one.interval.high, -one.interval.low))


def test_only_queries_that_both_define_are_paired_and_the_table_says_how_many() -> None:
    qrels, runs = systems({"a": [1, 2, 1, 2], "b": [1, 1, 1, 1]})
    del runs["b"]["q3"]
    with pytest.warns(rm.RetrievalWarning, match="^b: nothing was retrieved for 1 of 4 judged queries"):
        comparison = rm.compare(qrels, runs, "mrr", rules="trec_eval")
    difference = comparison.difference("mrr")
    assert list(difference.queries) == ["q0", "q1", "q2"]
    assert difference.mean == pytest.approx(0.5 / 3)
    assert comparison.means["mrr"] == {"a": pytest.approx(2.5 / 3), "b": 1}
    assert "mrr: means over the 3 queries that every system has, of 4" in str(comparison)


def test_a_system_without_values_does_not_change_the_interval_of_two_others() -> None:
    queries = [f"q{at}" for at in range(15)]
    values = {
        "slow": {query: 3 + at % 4 / 10 for at, query in enumerate(queries)},
        "quick": {query: 1 + at % 3 / 10 for at, query in enumerate(queries)},
        "none": dict.fromkeys(queries, float("nan")),
    }
    given = {
        name: rm.Evaluation.from_scores({"seconds": of}, bounds=(0, None), lower_is_better=["seconds"])
        for name, of in values.items()
    }
    two = rm.compare({name: given[name] for name in ("slow", "quick")}).difference("seconds", "quick", "slow")
    three = rm.compare(given).difference("seconds", "quick", "slow")
    assert three.max_difference == two.max_difference == pytest.approx(2.3)
    assert three.interval.low < three.mean < three.interval.high


def test_the_same_seed_gives_the_same_text_to_the_last_digit() -> None:
    data = drawn(60, 4, "abc")
    assert str(rm.compare(*data, METRICS)) == str(rm.compare(*data, METRICS))


def test_as_many_choices_of_signs_are_drawn_as_asked() -> None:
    comparison = rm.compare(*drawn(60, 1), [f"ndcg@{k}" for k in range(10, 40)], resamples=99)
    assert all(round(100 * one.p_corrected) == pytest.approx(100 * one.p_corrected) for one in comparison.differences)


def clustered(documents: int, each: int, seed: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, int]]:
    """Two equal systems, whose luck is that of a document: all its questions or none."""
    rng = random.Random(seed)
    truth, runs, of = {}, {"a": {}, "b": {}}, {}  # type: ignore[var-annotated]  # filled below
    for document in range(documents):
        luck = {name: rng.random() for name in runs}
        for question in range(each):
            query = f"{document}.{question}"
            truth[query], of[query] = ["d"], document
            for name, own in runs.items():
                own[query] = ["d"] if rng.random() < luck[name] else ["x"]
    return truth, runs, of


def test_clusters_widen_the_intervals_and_raise_the_p_value() -> None:
    qrels, runs, of = clustered(30, 8, 1)
    alone, together = rm.compare(qrels, runs, "mrr"), rm.compare(qrels, runs, "mrr", clusters=of)
    one, other = alone.difference("mrr"), together.difference("mrr")
    assert other.mean == pytest.approx(one.mean)
    assert other.paired.clusters == 30
    assert other.paired.design_effect > 1.5
    assert np.diff(other.interval) > 1.2 * np.diff(one.interval)
    assert np.diff(together.intervals["mrr"]["a"]) > 1.2 * np.diff(alone.intervals["mrr"]["a"])
    assert other.p_uncorrected > one.p_uncorrected
    assert "queries in 30 clusters, as given; intervals and tests take whole clusters" in str(together)
    assert "cluster" not in str(alone)
    evaluation = rm.evaluate(qrels, runs["a"], "mrr", clusters=of.get)
    assert evaluation.intervals()["mrr"] == together.intervals["mrr"]["a"]
    assert (
        rm.compare({name: rm.evaluate(qrels, run, "mrr", clusters=of) for name, run in runs.items()})
        .difference("mrr")
        .paired
        == other.paired
    )
