"""TREC text is read as datasets."""

import gzip
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from ray_retrieval_metrics import evaluate_dataset, read_qrels, read_run, to_evaluation


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
