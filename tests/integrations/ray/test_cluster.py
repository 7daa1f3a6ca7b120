"""Ray is started on this machine, or a cluster is joined by its address."""

import os
import subprocess
import sys
from typing import Any

import pytest
import ray
from ray._common.usage import usage_lib

from ray_retrieval_metrics import start


def test_importing_brings_neither_ray_nor_arrow() -> None:
    code = "import ray_retrieval_metrics, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "ray_retrieval_metrics" in loaded
    assert not {"ray", "pyarrow", "pandas", "polars"} & set(loaded)


@pytest.fixture
def init_calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(ray, "init", lambda **options: calls.append(options))
    return calls


def test_reports_are_off_unless_the_environment_says_otherwise(
    init_calls: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "1")
    start()
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    assert os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] == "1"
    assert init_calls == [{"address": "local", "include_dashboard": False, "ignore_reinit_error": True}]


def test_the_address_of_the_environment_is_taken_where_none_is_given(
    init_calls: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    start()
    start("auto")
    assert [options["address"] for options in init_calls] == ["10.0.0.1:6379", "auto"]


def test_a_cluster_is_joined_and_options_are_passed_on(init_calls: list[dict[str, Any]]) -> None:
    start("ray://head:10001", namespace="evaluation", ignore_reinit_error=False)
    expected = {"address": "ray://head:10001", "include_dashboard": False, "ignore_reinit_error": False}
    assert init_calls == [expected | {"namespace": "evaluation"}]


def test_nothing_is_reported_by_the_ray_of_these_tests() -> None:
    assert not usage_lib.usage_stats_enabled()


ON_A_CLUSTER = """
from ray.cluster_utils import Cluster
from ray_retrieval_metrics import evaluate_dataset, start, to_evaluation

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
cluster.add_node(num_cpus=1)
try:
    with start(cluster.address, logging_level="error"):
        import ray

        rows = [{"query_id": f"q{i}", "doc_id": "d1", "score": 1.0} for i in range(100)]
        run = ray.data.from_items(rows, override_num_blocks=4)
        results = evaluate_dataset({f"q{i}": ["d1"] for i in range(120)}, run, "mrr", partitions=4)
        print(len(ray.nodes()), "nodes")
        print(to_evaluation(results))
finally:
    cluster.shutdown()
"""


@pytest.mark.slow  # three processes of Ray, each with workers of its own, start for it
def test_an_address_joins_a_cluster() -> None:
    environment = {**os.environ, "RAY_DATA_DISABLE_PROGRESS_BARS": "1"}
    command = [sys.executable, "-c", ON_A_CLUSTER]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "2 nodes",
        "metric   mean          95% CI    n",
        "mrr     0.833  [0.759, 0.892]  120",  # 100 / 120
        "120 queries",
        "20 queries with no results, scored 0",
    ]
