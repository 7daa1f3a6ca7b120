"""A cluster of two nodes, which this machine pretends to be, is joined by its address."""

import os
import subprocess
import sys

import pytest

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
        "metric   mean   95 % interval    n",
        "mrr     0.833  [0.759, 0.892]  120",  # 100 / 120
        "120 queries",
        "20 with nothing retrieved, scored 0",
    ]
