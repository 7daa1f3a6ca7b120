"""Empty blocks, bad rows, groups and results that hold a query twice."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import ray
from ray.data import Dataset

import retrieval_metrics as rm
from ray_hosts import dataset, run_rows
from ray_retrieval_metrics import evaluate_dataset, to_evaluation
from ray_retrieval_metrics.results import _Collected

QRELS: Any = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
RUN: Any = {"q1": {"x": 3.0, "b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}
ROWS, NUMBER = run_rows(RUN)
METRICS = ["mrr", "ndcg@10", "map", "recall@5"]


def table(**columns: list[Any]) -> pa.Table:
    return pa.table({"query": ["q1", "q1"], "document": ["a", "b"], "score": [2.0, 1.0], **columns})


@pytest.mark.parametrize(
    "run",
    [
        lambda: ray.data.from_items([]),
        lambda: ray.data.from_arrow(table().slice(0, 0)),
        lambda: dataset(ROWS, NUMBER, 2).filter(lambda row: row["query_id"] == "nowhere"),
    ],
    ids=["nothing", "no rows", "a filter that leaves nothing"],
)
@pytest.mark.parametrize("partitions", [None, 2])
def test_an_empty_run_is_refused_as_in_the_core(run: Callable[[], Dataset], partitions: int | None) -> None:
    with pytest.raises(ValueError, match="the run is empty"):
        rm.evaluate(QRELS, {})
    with pytest.raises(ValueError, match="the run is empty"):
        to_evaluation(evaluate_dataset(QRELS, run(), partitions=partitions))


def test_empty_blocks_change_nothing() -> None:
    rows = dataset(ROWS, "score").to_pandas()
    whole = pa.Table.from_pandas(rows)
    run = ray.data.from_arrow([whole.slice(0, 0), whole.slice(0, 2), whole.slice(0, 0), whole.slice(2)])
    truth = pa.table({"query": ["q1", "q1", "q2"], "document": ["a", "b", "c"], "grade": [1.0, 2.0, 1.0]})
    judged = ray.data.from_arrow([truth.slice(0, 0), truth])
    for qrels in (QRELS, judged):
        assert str(to_evaluation(evaluate_dataset(qrels, run, METRICS))) == str(rm.evaluate(QRELS, RUN, METRICS))
    one_block = dataset(ROWS, NUMBER, 4).filter(lambda row: row["query_id"] == "q2")
    with pytest.warns(rm.RetrievalWarning, match="nothing was retrieved"):
        expected = rm.evaluate(QRELS, {"q2": RUN["q2"]}, METRICS)
    assert str(to_evaluation(evaluate_dataset(QRELS, one_block, METRICS))) == str(expected)


def test_results_of_which_a_filter_leaves_nothing() -> None:
    results = evaluate_dataset(QRELS, dataset(ROWS, NUMBER), "mrr").filter(lambda row: row["query"] == "nowhere")
    with pytest.raises(ValueError, match="these results are empty: they have no rows"):
        to_evaluation(results)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"score": [2.0, float("nan")]}, "has nan as score, which is not a finite number"),
        ({"score": ["2", "high"]}, "has 'high' as score"),
        ({"document": ["a", "a"]}, "both hold document 'a' for query 'q1'"),
        ({"document": ["a", " b"]}, "has a document that begins or ends with a blank"),
        ({"query": ["q1", None]}, "a row of the run has no query"),
    ],
)
def test_a_bad_row_reaches_the_driver_as_a_value_error_in_one_line(columns: dict[str, list[Any]], message: str) -> None:
    results = evaluate_dataset(QRELS, ray.data.from_arrow(table(**columns)), "mrr")
    with pytest.raises(ValueError, match=message) as error:
        to_evaluation(results)
    assert type(error.value) is ValueError
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match=message):
        results.take_all()


def test_a_result_joined_with_itself_is_refused() -> None:
    results = evaluate_dataset(QRELS, dataset(ROWS, NUMBER), "mrr").materialize()
    with pytest.raises(ValueError, match="2 of 4 rows belong to a query that is in these results twice"):
        to_evaluation(results.union(results))
    with pytest.raises(ValueError, match=r"query 'q.' is in these results twice"):
        to_evaluation(results.union(results).repartition(1))


GROUPED: Any = {"q1": [{"a": 1, "b": 2}, {"z": 1}], "q2": {"c": 1}, "q3": [["x", "y"]]}


@pytest.mark.parametrize("ties", [None, "expected"])
def test_judgments_may_carry_groups(ties: str | None) -> None:
    rows = [
        ("q1", "a", 1, "1"),
        ("q1", "b", 2, "1"),
        ("q1", "z", 1, "2"),
        ("q2", "c", 1, "1"),
        ("q3", "x", 1, "1"),
        ("q3", "y", 1, "1"),
    ]
    judged = ray.data.from_arrow(
        pa.table(dict(zip(("query", "document", "grade", "group"), map(list, zip(*rows, strict=True)), strict=True)))
    )
    run = {**RUN, "q3": {"y": 2.0, "x": 2.0}, "q9": {"a": 1.0}}
    metrics = ["mrr", "map", "recall@5", "full_recall@5", "ndcg@10"]
    expected = rm.evaluate(GROUPED, run, metrics, ties=ties)
    retrieved = dataset(run_rows(run)[0], "score", 3, 7)
    for qrels in (GROUPED, judged):
        results = evaluate_dataset(qrels, retrieved, metrics, ties=ties, partitions=3)
        assert str(to_evaluation(results, ties=ties)) == str(expected)


def test_columns_are_as_strict_as_in_the_core() -> None:
    judged = ray.data.from_arrow(pa.table({"query": ["q1"], "document": ["a"], "judgement": [0]}))
    run = dataset(ROWS, NUMBER)
    with pytest.raises(ValueError, match="'judgement' could be it"):
        evaluate_dataset(judged, run)
    none = {"grade": None}
    assert to_evaluation(evaluate_dataset(judged, run, "mrr", qrels_columns=none)).means["mrr"] == 1 / 3
    blank = ray.data.from_arrow(table(document=["a", " b"]))
    assert to_evaluation(evaluate_dataset(QRELS, blank, "recall", allow="blanks")).counts["queries"] == 2


def test_a_column_missing_in_one_block_is_one_sentence() -> None:
    whole = pa.table({"query": ["q1", "q2"], "document": ["a", "b"], "score": [2.0, 1.0]})
    run = ray.data.from_arrow([whole, whole.drop_columns(["score"])])
    with pytest.raises(ValueError, match="a block of the run has no column 'score', which other blocks have") as raised:
        to_evaluation(evaluate_dataset({"q1": ["a"], "q2": ["b"]}, run, "mrr"))
    assert len(str(raised.value)) < 250
    assert "\n" not in str(raised.value)


def test_queries_that_agree_in_half_of_their_digest_are_two() -> None:
    collected = _Collected(None)  # type: ignore[arg-type]  # the digests are given
    collected.queries = [np.array([[1, 2], [5, 6]], np.uint64), np.array([[1, 3], [7, 8]], np.uint64)]
    collected.refuse_repeats()
    collected.queries.append(np.array([[1, 1], [5, 7]], np.uint64))
    with pytest.raises(ValueError, match="2 of 6 rows belong to a query that is in these results twice"):
        collected.refuse_repeats()
