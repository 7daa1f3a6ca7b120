"""What is shuffled: empty blocks, bad rows, groups, TREC text, and the start of Ray."""

from typing import Any

import pyarrow as pa
import pytest
import ray

import retrieval_metrics as rm
from ray_hosts import dataset, run_rows
from ray_retrieval_metrics import evaluate_dataset, to_evaluation

QRELS: Any = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}


RUN: Any = {"q1": {"x": 3.0, "b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}


METRICS = ["mrr", "ndcg@10", "map", "recall@5"]


def table(**columns: list[Any]) -> pa.Table:
    return pa.table({"query": ["q1", "q1"], "document": ["a", "b"], "score": [2.0, 1.0], **columns})


def test_empty_blocks_change_nothing() -> None:
    rows = dataset(*run_rows(RUN)).to_pandas()
    table = pa.Table.from_pandas(rows)
    run = ray.data.from_arrow([table.slice(0, 0), table.slice(0, 2), table.slice(0, 0), table.slice(2)])
    judgments = pa.table({"query": ["q1", "q1", "q2"], "document": ["a", "b", "c"], "grade": [1.0, 2.0, 1.0]})
    judged = ray.data.from_arrow([judgments.slice(0, 0), judgments])
    for qrels in (QRELS, judged):
        assert str(to_evaluation(evaluate_dataset(qrels, run, METRICS))) == str(rm.evaluate(QRELS, RUN, METRICS))
    one_block = dataset(*run_rows(RUN), 4).filter(lambda row: row["query_id"] == "q2")
    with pytest.warns(rm.RetrievalWarning, match="judged queries"):
        expected = rm.evaluate(QRELS, {"q2": RUN["q2"]}, METRICS)
    assert str(to_evaluation(evaluate_dataset(QRELS, one_block, METRICS))) == str(expected)


def test_results_of_which_a_filter_leaves_nothing() -> None:
    results = evaluate_dataset(QRELS, dataset(*run_rows(RUN)), "mrr").filter(lambda row: row["query"] == "nowhere")
    with pytest.raises(ValueError, match="these results are empty: they have no rows"):
        to_evaluation(results)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"score": [2.0, float("nan")]}, "has nan as score, which is not a finite number"),
        ({"score": ["2", "high"]}, "has 'high' as score"),
        ({"document": ["a", "a"]}, "both hold document 'a' for query 'q1'"),
        ({"document": ["a", " b"]}, "has a document that begins or ends with whitespace"),
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


def test_a_column_missing_in_one_block_is_one_sentence() -> None:
    complete = pa.table({"query": ["q1", "q2"], "document": ["a", "b"], "score": [2.0, 1.0]})
    run = ray.data.from_arrow([complete, complete.drop_columns(["score"])])
    with pytest.raises(ValueError, match="a block of the run has no column 'score', which other blocks have") as raised:
        to_evaluation(evaluate_dataset({"q1": ["a"], "q2": ["b"]}, run, "mrr"))
    assert len(str(raised.value)) < 250
    assert "\n" not in str(raised.value)


def test_scores_that_rise_with_the_ranks_are_doubted() -> None:
    rows = {"query": ["q1"] * 3, "document": ["x", "b", "a"], "score": [0.1, 0.2, 0.3]}
    with pytest.warns(rm.RetrievalWarning, match="the run is ordered by score.* scores increase with rank"):
        evaluate_dataset(QRELS, ray.data.from_arrow(pa.table(rows | {"rank": [1, 2, 3]})), "mrr")
    for ranks in ([3, 2, 1], [1, None, 2]):
        evaluate_dataset(QRELS, ray.data.from_arrow(pa.table(rows | {"rank": ranks})), "mrr")
