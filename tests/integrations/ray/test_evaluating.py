"""The numbers of the core, to the last bit, however the rows are cut, ordered and brought together."""

import random
import subprocess
import sys
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import ray
from ray.data import DataContext

import retrieval_metrics as rm
from generated import scored_run
from ray_hosts import dataset, qrels_rows, run_rows, values
from ray_retrieval_metrics import evaluate_dataset, judgment_rows, to_evaluation

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")

METRICS = (
    *("ndcg@10", "mrr", "precision@5", "f1@3", "hit_rate@3", "map", "bpref", "rbp", "err@10", "judged@10"),
    "alpha_ndcg",
)


def case(seed: int = 4, queries: int = 30, ties: float = 0.5) -> tuple[dict[Any, Any], dict[Any, Any]]:
    qrels, run = scored_run(random.Random(seed), queries, depth=25, ties=ties, judged=0.4)
    names = sorted(qrels)
    run.pop(names[0])  # missing
    qrels[names[1]] = dict.fromkeys(qrels[names[1]], 0)  # without a relevant document
    run["of nobody"] = {"d1": 1.0, "d2": 0.5}  # not judged
    for query in list(run):
        if not run[query]:
            run.pop(query)
    return qrels, run


def assert_same(results: Any, expected: rm.Evaluation, **rules: Any) -> None:
    evaluation = to_evaluation(results, **rules)
    assert str(evaluation) == str(expected)
    for name in expected.means:
        assert np.array_equal(evaluation.means[name], expected.means[name], equal_nan=True)
        assert evaluation.intervals()[name] == expected.intervals()[name]
        assert evaluation.n[name] == expected.n[name]
    assert evaluation.counts == expected.counts
    assert dict(evaluation.residuals) == dict(expected.residuals)


@pytest.mark.filterwarnings("default::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("max_in_memory", [0, 1_000_000], ids=["many judgments", "few judgments"])
@pytest.mark.parametrize("exclude", ["query_id", {"q1": ["q1"], "q2": ["x"]}], ids=["query_id", "mapping"])
def test_documents_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch, exclude: Any, max_in_memory: int) -> None:
    monkeypatch.setattr(judgment_rows, "MAX_JUDGMENTS_IN_MEMORY", max_in_memory)
    qrels = {"q1": {"d1": 1.0}, "q2": {"d2": 2.0, "d3": 1.0}, "q3": {"d4": 1.0, "d6": 1.0}}
    run = {"q1": ["q1", "d1"], "q2": ["d3", "q2", "x", "d2"], "q3": ["y", "d6", "q3", "d4"]}
    judgments = dataset(qrels_rows(qrels), "grade")
    expected = rm.evaluate(qrels, run, ["mrr", "ndcg@3", "precision@1"], exclude=exclude)
    results = evaluate_dataset(judgments, dataset(*run_rows(run)), list(expected.means), partitions=2, exclude=exclude)
    assert_same(results.materialize(), expected)
    assert expected.counts["excluded"] in (3, 2)


def test_what_cannot_be_left_out_is_refused_before_anything_is_shuffled() -> None:
    run = dataset([("q1", "d1", 1.0)], "score")
    refused: Any = [
        ({1: ["d1"]}, "query_id", "query IDs in the qrels are int and document IDs are str"),
        ({"q1": ["d1"]}, {"q1": [1]}, "the IDs to leave out are int"),
        ({"q1": ["d1"]}, {"q2": ["d1"]}, "exclude has none of the judged queries"),
        ({"q1": ["d1"]}, "own", "exclude must be 'query_id' or a mapping"),
    ]
    for qrels, exclude, message in refused:
        typed_run = dataset([(1, "d1", 1.0)], "score") if 1 in qrels else run
        with pytest.raises((TypeError, ValueError), match=message):
            evaluate_dataset(qrels, typed_run, "mrr", exclude=exclude)
    with pytest.warns(rm.RetrievalWarning, match="1 relevant document is excluded by exclude= .'d1'"):
        evaluate_dataset({"q1": ["d1"]}, run, "mrr", exclude={"q1": ["d1"]})


def test_ids_to_leave_out_that_nearly_match_are_said_at_once() -> None:
    qrels = {"q1": ["d1"], "q2": ["d2"]}
    run = dataset([("q1", "Q1", 2.0), ("q1", "d1", 1.0), ("q2", "Q2", 2.0)], "score")
    for judgments in (qrels, dataset([("q1", "d1", 1.0), ("q2", "d2", 1.0)], "grade")):
        with pytest.warns(rm.RetrievalWarning, match="'q1' of the query IDs and the retrieved 'Q1' differ in case"):
            evaluate_dataset(judgments, run, "mrr", exclude="query_id")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate_dataset(qrels, dataset([("q1", "d1", 1.0), ("q2", "q1", 1.0)], "score"), "mrr", exclude="query_id")


@pytest.mark.parametrize("max_in_memory", [0, 1_000_000], ids=["many judgments", "few judgments"])
@pytest.mark.parametrize(("blocks", "partitions", "seed"), [(1, 1, None), (3, 2, 1), (7, 5, 2), (40, 3, 3)])
def test_blocks_and_their_order_do_not_show(
    monkeypatch: pytest.MonkeyPatch, max_in_memory: int, blocks: int, partitions: int, seed: int | None
) -> None:
    monkeypatch.setattr(judgment_rows, "MAX_JUDGMENTS_IN_MEMORY", max_in_memory)
    qrels, run = case()
    qrels_dataset = dataset(qrels_rows(qrels), "grade", 2, seed)
    run_dataset = dataset(*run_rows(run), blocks, seed)
    results = evaluate_dataset(qrels_dataset, run_dataset, METRICS, partitions=partitions).materialize()
    expected = rm.evaluate(qrels, run, METRICS)
    for name, values_by_query in values(results, METRICS).items():
        assert values_by_query.keys() == expected.per_query[name].keys()
        for query, value in expected.per_query[name].items():
            assert np.array_equal(values_by_query[query], value, equal_nan=True), (name, query)
    assert_same(results, expected)


@pytest.mark.parametrize(
    "rules",
    [{"rules": "trec_eval"}, {"rules": "autorag", "ties": "docid"}, {"ties": "expected"}],
    ids=str,
)
def test_rules_are_those_of_the_core(rules: dict[str, Any]) -> None:
    qrels, run = case(8)
    metrics = METRICS[:-1]  # without alpha_ndcg
    results = evaluate_dataset(qrels, dataset(*run_rows(run), 3, 0), metrics, partitions=3, **rules)
    assert_same(results, rm.evaluate(qrels, run, metrics, **rules), **rules)


def test_ids_may_be_whole_numbers() -> None:
    qrels: Any = {1: {10: 1, 9: 2}, 2: {7: 1}}
    run: Any = {1: {9: 1.0, 10: 1.0, 100: 1.0}, 2: {8: 2.0, 7: 1.0}}
    results = evaluate_dataset(qrels, dataset(*run_rows(run), 2), METRICS, partitions=2)
    assert_same(results, rm.evaluate(qrels, run, METRICS))


def test_documents_ranked_twice_count_as_in_the_core() -> None:
    qrels = {"q1": ["a"], "q2": ["b"]}
    run = {"q1": ["x", "a", "a", "x"], "q2": ["b"]}
    results = evaluate_dataset(qrels, dataset(*run_rows(run), 3, 5), ["map", "precision@4"], partitions=2)
    expected = rm.evaluate(qrels, run, ["map", "precision@4"])
    assert_same(results, expected)
    assert expected.counts["duplicates"] == 2


def test_a_query_far_larger_than_a_block_stays_whole() -> None:
    rng = np.random.default_rng(1)
    run: Any = {"huge": dict(zip([f"d{i}" for i in range(60_000)], rng.random(60_000).tolist(), strict=True))}
    run |= {f"q{i}": {"d1": 2.0, "d2": 1.0} for i in range(50)}
    qrels: Any = {query: {"d1": 1, "d59999": 2} for query in run}
    context = DataContext.get_current()
    size_before = context.target_max_block_size
    context.target_max_block_size = 20_000
    try:
        results = evaluate_dataset(qrels, dataset(*run_rows(run), 9, 1), METRICS, partitions=4).materialize()
    finally:
        context.target_max_block_size = size_before
    assert_same(results, rm.evaluate(qrels, run, METRICS))
    assert sum(row["n_retrieved"] for row in results.take_all()) == 60_100


def test_the_rows_tell_what_is_known_of_each_query() -> None:
    qrels: Any = {"q1": {"a": 2, "b": 1}, "q2": {"a": 0}, "q3": {"a": 1}}
    run = {"q1": {"x": 2.0, "b": 1.0}, "q2": {"a": 1.0, "y": 1.0}, "q4": {"a": 1.0}}
    results = evaluate_dataset(qrels, dataset(*run_rows(run)), ["mrr", "precision@5"], partitions=1)
    rows = {row["query"]: row for row in results.take_all()}
    facts = ("is_judged", "is_scored", "is_tied", "n_retrieved", "n_relevant", "n_found", "n_duplicates")
    assert {query: tuple(row[fact] for fact in facts) for query, row in rows.items()} == {
        "q1": (True, True, False, 2, 2, 1, 0),
        "q2": (True, False, True, 2, 0, 1, 0),
        "q3": (True, True, False, 0, 1, 0, 0),
        "q4": (False, False, False, 0, 0, 0, 0),
    }
    assert rows["q1"]["mrr"] == 0.5
    assert rows["q1"]["ideal precision@5"] == 0.4
    assert np.isnan([rows[query]["mrr"] for query in ("q2", "q4")]).all()


def test_columns_of_other_names_are_said() -> None:
    table = ray.data.from_items([{"question": "q1", "passage": "d3", "place": 1}])
    truth = ray.data.from_items([{"question": "q1", "passage": "d3"}])
    names = {"query": "question", "document": "passage"}
    results = evaluate_dataset(
        truth, table, "mrr", qrels_columns=names, run_columns={**names, "rank": "place"}, partitions=1
    )
    assert to_evaluation(results).means["mrr"] == 1.0


def test_what_rm_evaluate_takes_is_taken() -> None:
    pandas = pytest.importorskip("pandas")
    run = dataset([("q1", "d3", 1.0)], "score")
    frame = pandas.DataFrame({"query_id": ["q1"], "doc_id": ["d3"], "relevance": [1]})
    for qrels in ({"q1": ["d3"]}, rm.Qrels({"q1": ["d3"]}), frame):
        assert to_evaluation(evaluate_dataset(qrels, run, "mrr", partitions=1)).means["mrr"] == 1.0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"qrels": {"q1": [rm.Quote("x")]}}, TypeError, r"hold pieces .* combine these with rm\.merge"),
        ({"qrels": {1: ["d1"]}}, TypeError, "query IDs in the qrels are int and those in the run are str"),
        ({"qrels": {"q1": [1]}}, TypeError, "document IDs in the qrels are int and those in the run are str"),
        ({"qrels": {}}, ValueError, "qrels are empty"),
        ({"qrels": 7}, TypeError, "qrels must map each query ID to its judgments, got int"),
        ({"number": "weight"}, ValueError, "no order; name the column with run_columns="),
        ({"metrics": "ndgc@10"}, ValueError, "ndcg"),
        ({"rules": "ragas"}, ValueError, 'order; pass ties="docid"'),
        ({"rules": "trec"}, ValueError, "unknown rules 'trec'"),
        ({"run_columns": {"query": "q"}}, ValueError, "the run has no column 'q'"),
        ({"partitions": 0}, ValueError, "partitions must be a positive integer or None, got 0"),
        ({"qrels": {"q1": [2**70]}}, ValueError, r"document \d+ of the qrels is beyond 64 bits; use text as IDs"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_before_anything_runs(
    change: dict[str, Any], error: type[Exception], message: str
) -> None:
    arguments: dict[str, Any] = {"qrels": {"q1": ["d1"]}, "metrics": "mrr", "number": "score", **change}
    run = dataset([("q1", "d1", 1.0)], arguments.pop("number"))
    with pytest.raises(error, match=message):
        evaluate_dataset(run=run, **arguments)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("q1", "d1", 1.0), ("q2", "d1", 1.0), ("q1", "d1", 0.5)], "both hold document 'd1' for query 'q1'"),
        ([("q1", "d1", float("nan")), ("q2", "d1", 1.0)], r"not a finite number: {'query': 'q1', 'document': 'd1'"),
        ([("q1", None, 1.0), ("q2", "d1", 1.0)], "has no document: {'query': 'q1'"),
    ],
)
def test_a_block_that_fails_names_its_queries(rows: Any, message: str) -> None:
    results = evaluate_dataset({"q1": ["d1"], "q2": ["d1"]}, dataset(rows, "score"), "mrr", partitions=1)
    with pytest.raises(Exception, match=message) as caught:
        results.materialize()
    assert "in a block of 2 queries, among them 'q1', 'q2'" in str(caught.value)


@pytest.mark.parametrize("run", [{"q1": ["d1"]}, [("q1", "d1", 1.0)], rm.Run(())], ids=lambda run: type(run).__name__)
def test_a_run_that_is_no_dataset_is_refused(run: Any) -> None:
    with pytest.raises(TypeError, match=r"the run must be a Ray Dataset, got \w+; .* to rm\.evaluate"):
        evaluate_dataset({"q1": ["d1"]}, run, "mrr")


def test_judgments_without_rows_are_refused() -> None:
    truth = dataset([("q1", "d1", 1)], "grade").filter(lambda _: False)
    with pytest.raises(ValueError, match="the qrels are empty"):
        evaluate_dataset(truth, dataset([("q1", "d1", 1.0)], "score"), "mrr")


def table(**columns: Any) -> Any:
    all_columns = {"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "score": [2.0, 1.0], **columns}
    return ray.data.from_arrow(pa.table(all_columns))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"query_id": ["q1", None]}, "a row of the run has no query: {'query_id': None, 'doc_id': 'd2', 'score': 1.0}"),
        ({"doc_id": [1.0, 2.0]}, "ids in the run must be text or whole numbers, and a column holds double"),
        ({"query_id": [True, False]}, "ids in the run must be text or whole numbers, and a column holds bool"),
        ({"score": ["2", "high"]}, "has 'high' as score, which is not a finite number: .*'doc_id': 'd2'"),
        ({"score": pa.array([1, 2], pa.timestamp("s"))}, r"column 'score' of the run must hold numbers, not timestamp"),
    ],
    ids=["no query", "fractions as IDs", "truths as IDs", "words as scores", "times as scores"],
)
def test_a_row_that_cannot_be_read_is_named(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(Exception, match=message):
        evaluate_dataset({"q1": ["d1"]}, table(**columns), "mrr", partitions=1).materialize()


def test_an_id_beyond_64_bits_is_refused() -> None:
    run = table(doc_id=pa.array([1, 2**63], pa.uint64()))
    with pytest.raises(
        Exception, match=r"ids in the run must fit into 64 bits; pass them as text: .*9223372036854775808"
    ):
        evaluate_dataset({"q1": [1]}, run, "mrr", partitions=1).materialize()


@pytest.mark.parametrize(
    "columns",
    [
        {"doc_id": pa.array(["d1", "d2"]).dictionary_encode(), "score": ["2", "1e-3"]},
        {"query_id": pa.array(["q1", "q1"], pa.large_string()), "score": [2**60 + 1, 1]},
        {"doc_id": pa.array([b"d1", b"d2"]), "score": [Decimal("2.5"), Decimal(1)]},
    ],
    ids=["a dictionary", "large strings", "bytes and decimals"],
)
def test_columns_may_be_of_any_type_that_holds_ids_and_numbers(columns: dict[str, Any]) -> None:
    results = evaluate_dataset({"q1": ["d2"]}, table(**columns), "mrr", partitions=1)
    assert to_evaluation(results).means["mrr"] == 0.5


def test_a_query_judged_without_documents_has_no_kind_of_ids() -> None:
    results = evaluate_dataset({"q1": []}, table(doc_id=[1, 2]), "mrr", partitions=2)
    assert to_evaluation(results).counts == rm.evaluate({"q1": []}, {"q1": {1: 2.0, 2: 1.0}}, "mrr").counts


def test_documents_of_one_rank_have_no_order_and_are_refused() -> None:
    run = dataset([("q1", "x", 1), ("q1", "a", 1)], "rank")
    with pytest.raises(Exception, match=r"documents 'a' and 'x' of query 'q1' have the same rank, 1; give them"):
        evaluate_dataset({"q1": ["a"]}, run, "mrr", partitions=1).materialize()


@pytest.mark.parametrize("max_in_memory", [0, 1_000_000], ids=["many judgments", "few judgments"])
def test_the_largest_grade_is_the_largest_number(monkeypatch: pytest.MonkeyPatch, max_in_memory: int) -> None:
    monkeypatch.setattr(judgment_rows, "MAX_JUDGMENTS_IN_MEMORY", max_in_memory)
    qrels: Any = {"q1": {"d1": 9, "d2": 10}}
    truth = ray.data.from_items([{"query": "q1", "document": d, "grade": str(g)} for d, g in qrels["q1"].items()])
    results = evaluate_dataset(truth, table(), ["err", "rbp"], partitions=1)
    assert_same(results, rm.evaluate(qrels, {"q1": {"d1": 2.0, "d2": 1.0}}, ["err", "rbp"]))


SCRIPT = """
import os

import retrieval_metrics as rm
import {module}
from ray.data import DataContext
from ray_retrieval_metrics import evaluate_dataset, start, to_evaluation
from ray_hosts import dataset, qrels_rows, run_rows


def own_recall(grades, ideal):
    return float((grades > 0).sum() / len(ideal))


rm.define_metric("own_recall", own_recall)  # in a script, which no worker can import
rm.define_metric("unused", lambda grades, p="a": 1.0)

start(logging_level="error", log_to_driver=False)
DataContext.get_current().enable_progress_bars = False
qrels = {{f"q{{i}}": {{"a": 2, "b": 1, "c": i % 3}} for i in range(20)}}
run = {{f"q{{i}}": {{"x": 3.0, "b": 2.0, "a": 1.0 + i % 2}} for i in range(20)}}
names = ["own_recall@2", "recall@2", "own_ndcg@3", "ndcg@3"]
for ties in ("docid", "expected"):
    results = evaluate_dataset(
        dataset(qrels_rows(qrels), "grade", 2), dataset(*run_rows(run), 2), names, ties=ties, partitions=1
    )
    found = to_evaluation(results, ties=ties)
    expected = rm.evaluate(qrels, run, names, ties=ties)
    assert str(found) == str(expected), (str(found), str(expected))
    assert found.means == expected.means
    assert abs(found.means["own_recall@2"] - found.means["recall@2"]) < 1e-12
    assert abs(found.means["own_ndcg@3"] - found.means["ndcg@3"]) < 1e-12
print("as in one process")
"""

MODULE = """
import numpy as np
import retrieval_metrics as rm


def own_ndcg(grades, ideal, k):
    def dcg(ranked):
        return float((ranked / np.log2(np.arange(len(ranked)) + 2)).sum())

    return dcg(grades) / dcg(ideal[:k])


rm.define_metric("own_ndcg", own_ndcg)
"""


def test_metrics_of_a_module_and_of_a_script_reach_the_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_metrics.py").write_text(MODULE)
    (tmp_path / "script.py").write_text(SCRIPT.format(module="own_metrics"))
    # A program of its own, on the Ray that is running: starting another would take as long as all other tests of Ray.
    monkeypatch.setenv("RAY_ADDRESS", ray.get_runtime_context().gcs_address)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[2]}")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(tmp_path / "script.py")],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout.endswith("as in one process\n"), done.stderr
