"""The means and intervals of a comparison are those of the evaluations, over the queries that all systems have."""

import pytest

import retrieval_metrics as rm
from ranked_systems import METRICS, drawn, same_ranking, systems


def test_the_means_and_intervals_are_those_of_the_evaluations() -> None:
    qrels, runs = drawn(15, 6)
    comparison = rm.compare(qrels, runs, METRICS)
    for system, run in runs.items():
        evaluation = rm.evaluate(qrels, run, METRICS)
        assert {metric: means[system] for metric, means in comparison.means.items()} == dict(evaluation.means)
        intervals = {metric: by_system[system] for metric, by_system in comparison.intervals.items()}
        assert intervals == dict(evaluation.intervals())


def test_clustered_intervals_are_those_of_the_evaluations() -> None:
    qrels, runs = drawn(40, 6)
    clusters = {query: number // 2 for number, query in enumerate(qrels)}
    comparison = rm.compare(qrels, runs, "mrr", clusters=clusters)
    evaluation = rm.evaluate(qrels, runs["a"], "mrr", clusters=clusters)
    assert comparison.intervals["mrr"]["a"] == evaluation.intervals()["mrr"]
    assert comparison.intervals["mrr"]["a"] != rm.compare(qrels, runs, "mrr").intervals["mrr"]["a"]


def test_means_are_over_the_queries_that_every_system_has() -> None:
    qrels, runs = systems({"a": [1, 2, 1, 2], "b": [1, 1, 1, 1]})
    del runs["b"]["q3"]
    with pytest.warns(rm.RetrievalWarning, match="^b: 1 of 4 judged queries"):
        comparison = rm.compare(qrels, runs, "mrr", rules="trec_eval")
    assert comparison.n["mrr"] == 3
    assert comparison.means["mrr"] == {"a": pytest.approx(2.5 / 3), "b": 1}
    assert list(comparison.difference("mrr").queries) == ["q0", "q1", "q2"]
    assert comparison.difference("mrr").mean == pytest.approx(0.5 / 3)
    assert "mrr: means over the 3 queries common to all systems (of 4)" in str(comparison)


def test_a_difference_is_found_by_any_spelling() -> None:
    comparison = rm.compare(*drawn(10, 2, "abc"), METRICS)
    assert comparison.difference("RR", "c", "a") is comparison.difference("mrr", "c", "a")
    with pytest.raises(KeyError, match="3 differences match metric 'mrr'"):
        comparison.difference("mrr")


def test_pairs_and_systems_are_in_the_order_of_the_runs() -> None:
    comparison = rm.compare(*drawn(10, 2, "abc"), "mrr")
    assert comparison.systems == ("a", "b", "c")
    assert comparison.pairs == [("b", "a"), ("c", "a"), ("c", "b")]


def test_caveats_stand_before_all_conclusions_once() -> None:
    qrels = {f"q{number}": {"d": 1, "e": 0} for number in range(8)}
    runs = {"judged": same_ranking(qrels, "d", "e"), "unjudged": same_ranking(qrels, "x", "y", "d")}
    with pytest.warns(rm.RetrievalWarning, match="Judgment coverage differs"):
        comparison = rm.compare(qrels, runs, ["mrr", "recall@5"])
    (caveat,) = comparison.conclusions.caveats
    assert all(conclusion.caveats == (caveat,) for conclusion in comparison.conclusions)
    assert comparison.summary.count(caveat) == 1
    assert comparison.summary[0] == caveat
