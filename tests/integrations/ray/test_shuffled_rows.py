"""What is shuffled: empty blocks, bad rows, groups, TREC text, and the start of Ray."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import ray
from ray._common.usage import usage_lib
from ray.data import Dataset

import retrieval_metrics as rm
from ray_hosts import dataset, run_rows
from ray_retrieval_metrics import evaluate_dataset, read_qrels, read_run, start, to_evaluation
from ray_retrieval_metrics.repeated_queries import count_repeated_queries, split_into_parts

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


def test_groups_stand_beside_queries_without_judgments_in_one_block() -> None:
    qrels: Any = {"q1": [["a", "b"], ["z"]], "q2": ["c"]}
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q9": {"a": 1.0}}
    metrics = ["err", "recall@1", "ndcg@10"]
    results = evaluate_dataset(qrels, dataset(run_rows(run)[0], "score", 1), metrics, partitions=1)
    assert str(to_evaluation(results)) == str(rm.evaluate(qrels, run, metrics))


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


WHOLE = pa.table({"query": ["q1"], "document": ["a"], "score": [2.0]})

MIXED = pd.DataFrame({"query": ["q1", 2], "document": ["a", "b"], "score": [2.0, 1.0]})


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (lambda: ray.data.from_arrow([WHOLE, table(query=[1, 1])]), r"different types \(.*query.*string vs int64\)"),
        (lambda: ray.data.from_arrow([WHOLE, table(document=[1, 2])]), r"different types \(.*document.*; convert them"),
        (lambda: ray.data.from_arrow([WHOLE, table(score=["2", "1"])]), r"different types \(.*score.*double vs string"),
        (
            lambda: ray.data.from_pandas(MIXED),
            "ids in the run must be text .*holds values of several types",
        ),
        (lambda: ray.data.from_arrow([WHOLE, table(document=pa.nulls(2))]), "of the run has no document: .*'q1'"),
        (lambda: ray.data.from_arrow([WHOLE, table(score=pa.nulls(2))]), "has None as score, which is not a finite"),
    ],
)
def test_blocks_that_do_not_fit_together_are_one_sentence(run: Callable[[], Dataset], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said) as raised:
        to_evaluation(evaluate_dataset(QRELS, run(), "mrr", partitions=1))
    assert type(raised.value) in {TypeError, ValueError}
    assert len(str(raised.value)) < 300
    assert "\n" not in str(raised.value)


def test_scores_that_rise_with_the_ranks_are_doubted() -> None:
    rows = {"query": ["q1"] * 3, "document": ["x", "b", "a"], "score": [0.1, 0.2, 0.3]}
    with pytest.warns(rm.RetrievalWarning, match="the run is ordered by score.* rise with the ranks"):
        evaluate_dataset(QRELS, ray.data.from_arrow(pa.table(rows | {"rank": [1, 2, 3]})), "mrr")
    for ranks in ([3, 2, 1], [1, None, 2]):
        evaluate_dataset(QRELS, ray.data.from_arrow(pa.table(rows | {"rank": ranks})), "mrr")


def test_queries_that_agree_in_half_of_their_digest_are_two() -> None:
    def held(*digests: tuple[int, int]) -> dict[str, bytes]:
        return {"part": 0, "digests": np.array(digests, np.uint64).tobytes(), "summary": b"block"}  # type: ignore[dict-item]  # a row

    alike = [held((1, 5), (2, 6)), held((1, 7), (3, 5))]
    assert count_repeated_queries(pa.Table.from_pylist(alike)) == {"summary": [b"", b"block", b"block"], "n_repeated": [0, 0, 0]}
    repeated = pa.Table.from_pylist([*alike, held((1, 5), (1, 8), (3, 5))])
    assert count_repeated_queries(repeated)["n_repeated"] == [2, 0, 0, 0]


def test_equal_queries_of_two_blocks_are_in_one_part() -> None:
    queries = [f"q{at}" for at in range(1000)]
    one, other = (split_into_parts(pa.chunked_array([names]), 7, b"x") for names in (queries, queries[::-1][:500]))
    assert one["part"].to_pylist() == list(range(7))
    assert one["summary"].to_pylist() == [b"x", *[b""] * 6]
    rows = pa.concat_tables([one, other])
    parts = [rows.filter(pc.equal(rows["part"], at)) for at in range(7)]
    assert sum(count_repeated_queries(part)["n_repeated"][0] for part in parts) == 500
    with pytest.raises(ValueError, match=r"query 'q1' is in these results twice"):
        split_into_parts(pa.chunked_array([["q1", "q2", "q1"]]), 7, b"")


def test_queries_may_be_spread_over_files(tmp_path: Path) -> None:
    (tmp_path / "one.run").write_text("q1 Q0 d3 1 2.5 x\nq2 Q0 d1 1 1.5 x\n")
    (tmp_path / "two.run.gz").write_bytes(gzip.compress(b"q1 Q0 d7 2 2.0 x\nq2\tQ0\td2\t2\t1.0\tx\n"))
    (tmp_path / "qrels.trec").write_text("q1 0 d7 1\nq2 0 d1 2\n")
    run = read_run([tmp_path / "one.run", str(tmp_path / "two.run.gz")])
    evaluation = to_evaluation(evaluate_dataset(read_qrels(tmp_path / "qrels.trec"), run, ["mrr", "ndcg@10"]))
    expected = rm.evaluate(
        {"q1": {"d7": 1}, "q2": {"d1": 2}},
        {"q1": {"d3": 2.5, "d7": 2.0}, "q2": {"d1": 1.5, "d2": 1.0}},
        ["mrr", "ndcg@10"],
    )
    assert str(evaluation) == str(expected)


def test_a_path_of_judgments_is_read_by_the_core(tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,grade\nq1,d3,1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d3 1 2.5 x\n")
    run = read_run(tmp_path / "a.run")
    assert to_evaluation(evaluate_dataset(tmp_path / "qrels.csv", run, "mrr", partitions=1)).means["mrr"] == 1


def test_a_wrong_line_is_named_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "bad.run").write_text("q1 Q0 d3 1 2.5 x\nq1 Q0 d4 high x\n")
    with pytest.raises(Exception, match=r"bad\.run, line 2"):
        read_run(tmp_path / "bad.run").materialize()


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ([], "pass at least one path"),
        ("run.parquet", r"run\.parquet is named like parquet, .* read it with ray\.data\.read_parquet"),
        (["a.run", "b.jsonl.gz"], r"b\.jsonl\.gz is named like jsonl, .* ray\.data\.read_json"),
    ],
)
def test_what_is_no_trec_text_is_left_to_ray(paths: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_run(paths)


def test_importing_brings_neither_ray_nor_arrow() -> None:
    code = "import ray_retrieval_metrics, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "ray_retrieval_metrics" in loaded
    assert not {"ray", "pyarrow", "pandas", "polars"} & set(loaded)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(ray, "init", lambda **options: calls.append(options))
    return calls


def test_reports_are_off_unless_the_environment_says_otherwise(
    asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "1")
    start()
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    assert os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] == "1"
    assert asked == [{"address": "local", "include_dashboard": False, "ignore_reinit_error": True}]


def test_the_address_of_the_environment_is_taken_where_none_is_given(
    asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    start()
    start("auto")
    assert [options["address"] for options in asked] == ["10.0.0.1:6379", "auto"]


def test_a_cluster_is_joined_and_options_are_passed_on(asked: list[dict[str, Any]]) -> None:
    start("ray://head:10001", namespace="evaluation", ignore_reinit_error=False)
    expected = {"address": "ray://head:10001", "include_dashboard": False, "ignore_reinit_error": False}
    assert asked == [expected | {"namespace": "evaluation"}]


def test_nothing_is_reported_by_the_ray_of_these_tests() -> None:
    assert not usage_lib.usage_stats_enabled()
