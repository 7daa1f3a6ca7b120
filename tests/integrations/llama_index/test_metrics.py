"""Single metrics: names, metadata, edges, and every way of copying, pickling and serialising them."""

import copy
import json
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Iterator
from math import nan
from typing import Any

import pytest
from llama_index.core.evaluation import MRR, HitRate, RetrievalMetricResult
from llama_index.core.evaluation import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.evaluation.retrieval.base import RetrievalEvalResult
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import (
    RetrievalMetric,
    RetrieverEvaluator,
    metric,
    ranking_metrics,
    register,
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
        ("bpref@5", ValueError, "bpref takes no cut-off"),
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
    copies += [pickle.loads(pickle.dumps(original, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]  # noqa: S301  (our own pickle)
    for other in copies:
        assert other == original
        assert (other.metric_name, other.spec, repr(other)) == (name, original.spec, f"metric({name!r})")
        assert other.compute(expected_ids={"a": 2}, retrieved_ids=["a"]).metadata["relevant_ranks"] == [1]
    assert metric("map") != metric("ap@3")


def score_of(host_metric: Any) -> tuple[str, float]:
    return host_metric.metric_name, host_metric.compute(expected_ids=["a"], retrieved_ids=["x", "a"]).score


def test_metrics_travel_into_spawned_processes() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(score_of, ranking_metrics(["mrr@5", "mrr@1"])) == [("mrr@5", 0.5), ("mrr@1", 0.0)]


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


STOCK_NAMES = {"hit_rate", "mrr", "precision", "recall", "ap", "ndcg", "cohere_rerank_relevancy"}


@pytest.fixture(autouse=True)
def registry() -> Iterator[dict[str, type[BaseRetrievalMetric]]]:
    before = dict(METRIC_REGISTRY)
    assert set(before) == STOCK_NAMES
    yield before
    left = dict(METRIC_REGISTRY)
    METRIC_REGISTRY.clear()
    METRIC_REGISTRY.update(before)
    assert left == before, "a test left metrics registered"


def evaluator(names: list[str]) -> StockRetrieverEvaluator:
    stock_evaluator = StockRetrieverEvaluator.from_metric_names(names, retriever=Prepared({"q": ["x", "a"]}))
    assert isinstance(stock_evaluator, StockRetrieverEvaluator)
    return stock_evaluator


def test_importing_registers_nothing() -> None:
    code = (
        "from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY as r; before = dict(r);"
        "import llama_index.evaluation.retrieval_metrics; assert r == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("names", [None, ["mrr@10", "map", "ndcg@10", "hit_rate@5", "f1@5"]])
def test_the_stock_evaluator_finds_registered_names_and_no_longer_after_the_undo(names: list[str] | None) -> None:
    names = ["mrr@10", "map", "ndcg@10", "hit_rate@5", "f1@5"]
    with pytest.raises(ValueError, match="Invalid metric name"):
        evaluator(names)
    undo = register(names)
    values = evaluator([*names, "hit_rate"]).evaluate("q", ["a"]).metric_vals_dict
    assert list(values) == [*names, "hit_rate"]
    assert (values["mrr@10"], values["map"], values["f1@5"]) == (0.5, 0.5, rm.f1([0, 1], n_relevant=1, k=5))
    undo()
    with pytest.raises(ValueError, match="Invalid metric name"):
        evaluator(names)


def test_without_names_what_core_has_stays(registry: dict[str, type[BaseRetrievalMetric]]) -> None:
    with register() as registered:
        assert {name: METRIC_REGISTRY[name] for name in registry} == registry
        assert {"map", "ndcg@1", "ndcg@100", "bpref", "r_precision", "judged@10"} <= set(registered.names)
        assert not STOCK_NAMES & set(registered.names)
        assert repr(registered) == f"<Registration of {len(registered.names)} metric names>"


def test_a_name_of_cores_is_refused_and_nothing_is_registered() -> None:
    with pytest.raises(ValueError, match=r"has metrics named mrr, ndcg, .* pass override=True .* 'mrr@10'"):
        register(["map", "mrr", "ndcg"])
    assert set(METRIC_REGISTRY) == STOCK_NAMES


def test_override_replaces_and_the_undo_restores() -> None:
    undo = register(["hit_rate", "mrr"], override=True)
    values = evaluator(["hit_rate", "mrr"]).evaluate("q", [])
    assert values.metric_dict["mrr"].metadata["undefined"]
    undo()
    assert (METRIC_REGISTRY["hit_rate"], METRIC_REGISTRY["mrr"]) == (HitRate, MRR)


def test_override_without_names_replaces_all_but_what_nobody_here_knows() -> None:
    with register(override=True):
        foreign = {name for name, cls in METRIC_REGISTRY.items() if not issubclass(cls, RetrievalMetric)}
        assert foreign == {"cohere_rerank_relevancy"}
        assert evaluator(["ap"]).evaluate("q", ["a"]).metric_vals_dict == {"ap": 0.5}


def test_registering_again_changes_nothing_and_only_the_first_undo_takes_it_back() -> None:
    first = register(["mrr@10"])
    again = register(["mrr@10", " mrr@10 "])
    assert (first.names, again.names) == (("mrr@10",), ())
    again()
    assert "mrr@10" in METRIC_REGISTRY
    first()
    first()
    assert "mrr@10" not in METRIC_REGISTRY


def test_undo_leaves_what_somebody_else_registered_since() -> None:
    undo = register(["mrr@10"])
    METRIC_REGISTRY["mrr@10"] = MRR
    undo()
    assert METRIC_REGISTRY.pop("mrr@10") is MRR


def test_an_undo_in_another_order_restores_what_was_there() -> None:
    undos = [register(["mrr@10", "map"]), register(["map", "f1@5"])]
    undos[0]()
    assert "f1@5" in METRIC_REGISTRY
    undos[1]()


def test_unknown_names_and_bare_strings_are_refused() -> None:
    with pytest.raises(ValueError, match="did you mean ndcg"):
        register(["map", "ndgc@3"])
    with pytest.raises(TypeError, match=r"write \['map'\]"):
        register("map")
