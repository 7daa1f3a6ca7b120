"""Judgments as rows: in groups, in columns, and in files."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import ray

import retrieval_metrics as rm
from ray_hosts import dataset, run_rows
from ray_retrieval_metrics import evaluate_dataset, read_run, to_evaluation

QRELS: Any = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}


RUN: Any = {"q1": {"x": 3.0, "b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}


def table(**columns: list[Any]) -> pa.Table:
    return pa.table({"query": ["q1", "q1"], "document": ["a", "b"], "score": [2.0, 1.0], **columns})


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


def test_groups_stand_beside_queries_without_judgments_in_one_block() -> None:
    qrels: Any = {"q1": [["a", "b"], ["z"]], "q2": ["c"]}
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q9": {"a": 1.0}}
    metrics = ["err", "recall@1", "ndcg@10"]
    results = evaluate_dataset(qrels, dataset(run_rows(run)[0], "score", 1), metrics, partitions=1)
    assert str(to_evaluation(results)) == str(rm.evaluate(qrels, run, metrics))


def test_columns_are_as_strict_as_in_the_core() -> None:
    judged = ray.data.from_arrow(pa.table({"query": ["q1"], "document": ["a"], "judgement": [0]}))
    run = dataset(*run_rows(RUN))
    with pytest.raises(ValueError, match="'judgement' could be it"):
        evaluate_dataset(judged, run)
    none = {"grade": None}
    assert to_evaluation(evaluate_dataset(judged, run, "mrr", qrels_columns=none)).means["mrr"] == 1 / 3
    blank = ray.data.from_arrow(table(document=["a", " b"]))
    with pytest.warns(rm.RetrievalWarning, match="differ in whitespace"):
        evaluation = to_evaluation(evaluate_dataset(QRELS, blank, "recall", allow="blanks"))
    assert evaluation.counts["queries"] == 2


def test_a_path_of_judgments_is_read_by_the_core(tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,grade\nq1,d3,1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d3 1 2.5 x\n")
    run = read_run(tmp_path / "a.run")
    assert to_evaluation(evaluate_dataset(tmp_path / "qrels.csv", run, "mrr", partitions=1)).means["mrr"] == 1
    (tmp_path / "questions.csv").write_text("id,query,relevant\nq1,how?,d3\n")
    assert to_evaluation(evaluate_dataset(tmp_path / "questions.csv", run, "mrr", partitions=1)).means["mrr"] == 1
