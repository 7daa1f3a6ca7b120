"""Single metrics: names, metadata, edges, and every way of copying, pickling and serialising them."""

import copy
import json
import multiprocessing
import pickle
import subprocess
import sys
from math import nan
from typing import Any

import pytest
from llama_index.core.evaluation import RetrievalMetricResult
from llama_index.core.evaluation import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.evaluation.retrieval.base import RetrievalEvalResult

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import (
    RetrieverEvaluator,
    metric,
    ranking_metrics,
)
from llama_index_hosts import Prepared


def test_the_result_says_what_the_score_rests_on() -> None:
    result = metric("recall@2").compute("a question", ["d1", "d2", "d3"], ["d2", "x", "d1"])
    assert result.score == 1 / 3
    assert result.metadata == {"k": 2, "relevant_ranks": [1, 3], "num_relevant": 3, "num_retrieved": 3}


def test_nothing_retrieved_scores_zero_and_a_repeat_earns_once() -> None:
    assert metric("map").compute(expected_ids=["a"], retrieved_ids=[]).score == 0.0
    assert metric("map").compute(expected_ids=["a"], retrieved_ids=["a", "a"]).score == 1.0


def test_undefined_is_said_and_survives_json() -> None:
    result = metric("ndcg@5").compute(expected_ids=[], retrieved_ids=["a"])
    assert (result.score, result.metadata["undefined"]) == (0.0, True)
    assert RetrievalMetricResult.model_validate_json(result.model_dump_json()) == result
    json.loads(result.model_dump_json(), parse_constant=lambda constant: pytest.fail(f"{constant} is not JSON"))
    assert "undefined" not in metric("ndcg@5").compute(expected_ids=["a"], retrieved_ids=[]).metadata


def test_compute_itself_takes_grades_and_groups() -> None:
    graded = metric("ndcg").compute(expected_ids={"a": 3, "b": 2, "c": 1}, retrieved_ids=["c", "b", "a"])
    assert round(graded.score, 3) == 0.790
    assert metric("recall").compute(expected_ids=[["a", "b"], ["c"]], retrieved_ids=["b"]).score == 0.5


@pytest.mark.parametrize("name", ["ndcg@10", "map", "nDCG_cut_10", "precision(rel=2)@5", "rbp(p=0.5)", " mrr@3 "])
def test_results_are_keyed_by_the_name_as_it_was_asked_for(name: str) -> None:
    core_metric = metric(name)
    assert core_metric.metric_name == type(core_metric).metric_name == str(core_metric) == name.strip()
    assert core_metric.spec == rm.Metric.parse(name)
    assert metric(core_metric.spec).metric_name == str(core_metric.spec)


def test_two_cut_offs_of_one_metric_live_side_by_side() -> None:
    names = ["hit_rate@1", "hit_rate@3", "hit_rate@5", "map", "ap"]
    stock = StockRetrieverEvaluator(metrics=ranking_metrics(names), retriever=Prepared({"q": ["x", "y", "a"]}))
    assert stock.evaluate("q", ["a"]).metric_vals_dict == {
        "hit_rate@1": 0.0,
        "hit_rate@3": 1.0,
        "hit_rate@5": 1.0,
        "map": 1 / 3,
        "ap": 1 / 3,
    }


@pytest.mark.parametrize(
    ("name", "error", "match"),
    [
        ("ndcg@0", ValueError, "positive integer, got '0'"),
        ("ndcg@", ValueError, "positive integer, got ''"),
        ("ndcg@1.5", ValueError, "positive integer, got '1.5'"),
        ("ndgc@3", ValueError, "unknown metric 'ndgc'; did you mean ndcg"),
        ("bpref@5", ValueError, "bpref takes no cutoff"),
        (5, TypeError, "must be a str such as 'ndcg@10', got 5"),
    ],
)
def test_a_name_that_is_none_is_refused(name: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        metric(name)
    with pytest.raises(error, match=match):
        ranking_metrics(["map", name])


def test_a_bare_name_is_no_list_of_names() -> None:
    with pytest.raises(TypeError, match=r"write \['map'\], or metric\('map'\)"):
        ranking_metrics("map")
    with pytest.raises(ValueError, match="there are no metrics"):
        ranking_metrics([])
    assert ranking_metrics(["map", "map"]) == [metric("map")]


def test_what_a_metric_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="Extra inputs are not permitted"):
        type(metric("map"))(k=5)  # type: ignore[call-arg]  # the point of the line
    with pytest.raises(TypeError, match="map has no argument 'relevance'"):
        metric("map").compute(expected_ids=["a"], retrieved_ids=["a"], relevance={"a": 2})
    with pytest.raises(ValueError, match="map needs retrieved_ids"):
        metric("map").compute(expected_ids=["a"])
    with pytest.raises(TypeError, match=r"bare string 'abc'"):
        metric("map").compute(expected_ids="abc", retrieved_ids=["a"])
    with pytest.raises(TypeError, match=r"bare string 'abc'"):
        metric("map").compute(expected_ids=["a"], retrieved_ids="abc")


@pytest.mark.parametrize("name", ["ndcg@10", "ap", "precision(rel=2)@5"])
def test_copies_are_equal_and_work(name: str) -> None:
    original = metric(name)
    copies = [copy.copy(original), copy.deepcopy(original), original.model_copy(), original.model_copy(deep=True)]
    copies += [pickle.loads(pickle.dumps(original, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for other in copies:
        assert other == original
        assert (other.metric_name, other.spec, repr(other)) == (name, original.spec, f"metric({name!r})")
        assert other.compute(expected_ids={"a": 2}, retrieved_ids=["a"]).metadata["relevant_ranks"] == [1]
    assert metric("map") != metric("ap@3")


def score_of(host_metric: Any) -> tuple[str, float]:
    return host_metric.metric_name, host_metric.compute(expected_ids=["a"], retrieved_ids=["x", "a"]).score


@pytest.mark.thorough
def test_metrics_travel_into_spawned_processes() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(score_of, ranking_metrics(["mrr@5", "mrr@1"])) == [("mrr@5", 0.5), ("mrr@1", 0.0)]


@pytest.mark.thorough
def test_a_fresh_process_that_imported_nothing_unpickles_them() -> None:
    code = (
        "import pickle, sys; made = pickle.loads(bytes.fromhex(sys.argv[1]));"
        "print(made, made.compute(expected_ids=['a'], retrieved_ids=['x', 'a']).score)"
    )
    pickled = pickle.dumps(metric("mrr@5")).hex()
    out = subprocess.run([sys.executable, "-c", code, pickled], check=True, capture_output=True, text=True).stdout
    assert out == "mrr@5 0.5\n"


def test_stock_results_make_the_round_trip_through_json() -> None:
    metrics = ranking_metrics(["ndcg@10", "map", "judged@3"])
    stock = StockRetrieverEvaluator(metrics=metrics, retriever=Prepared({"q1": ["a", "b"], "q2": []}))
    for query, expected in [("q1", ["b"]), ("q1", []), ("q2", ["a"]), ("q2", [])]:
        result = stock.evaluate(query, expected)
        assert RetrievalEvalResult.model_validate_json(result.model_dump_json()) == result


def test_grades_of_one_query_do_not_show_the_scale() -> None:
    evaluator = RetrieverEvaluator.from_metric_names(["mrr", "err"], retriever=Prepared({}))
    shapes: list[Any] = [{"d1": 1}, [{"d1": 1}, {"d2": 1}]]
    for judgments in shapes:
        with pytest.raises(ValueError, match=r"err divides by the largest grade .* err\(max_grade=3\)"):
            metric("err").compute(expected_ids=judgments, retrieved_ids=["d1"])
        with pytest.raises(ValueError, match=r"err divides by the largest grade .* err\(max_grade=3\)"):
            evaluator.evaluate("never asked", judgments)


def test_wrong_judgments_are_refused_before_the_scale_is_asked_for() -> None:
    evaluator = RetrieverEvaluator.from_metric_names(["err"], retriever=Prepared({}))
    wrong: list[tuple[Any, str]] = [({"d1": nan}, "nan"), ("d1", "bare string"), ({"d1": "2"}, "must be a number")]
    for judgments, message in wrong:
        with pytest.raises((TypeError, ValueError), match=message):
            metric("err").compute(expected_ids=judgments, retrieved_ids=["d1"])
        with pytest.raises((TypeError, ValueError), match=message):
            evaluator.evaluate("never asked", judgments)


def test_the_largest_grade_is_1_where_it_is_said_or_there_are_no_grades() -> None:
    assert metric("err(max_grade=3)").compute(expected_ids={"d1": 1}, retrieved_ids=["d1"]).score == (2 - 1) / 2**3
    assert metric("err").compute(expected_ids=["d1"], retrieved_ids=["d1"]).score == (2 - 1) / 2  # ids have no grades


def evaluator(names: list[str]) -> StockRetrieverEvaluator:
    stock_evaluator = StockRetrieverEvaluator.from_metric_names(names, retriever=Prepared({"q": ["x", "a"]}))
    assert isinstance(stock_evaluator, StockRetrieverEvaluator)
    return stock_evaluator
