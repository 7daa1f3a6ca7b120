"""A metric that the user defines is computed where the blocks are."""

import subprocess
import sys
from pathlib import Path

import pytest
import ray

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
