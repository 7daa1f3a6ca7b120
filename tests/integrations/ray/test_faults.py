"""A worker that dies loses nothing."""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ray

import retrieval_metrics as rm
from ray_hosts import dataset
from ray_retrieval_metrics import evaluate_dataset, to_evaluation


class KillsItsWorkerOnce(dict[str, Mapping[str, Any]]):
    """Parameters of a rule set that are none; who asks for them first, in the middle of scoring, dies."""

    def __init__(self, mark: Path, driver: int) -> None:
        super().__init__()
        self.mark, self.driver = mark, driver

    def __reduce__(self) -> Any:
        return type(self), (self.mark, self.driver)

    def get(self, *_: Any) -> Mapping[str, Any]:
        if os.getpid() != self.driver and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {}


def test_a_worker_killed_while_it_scores_loses_nothing(tmp_path: Path) -> None:
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]  # workers cannot import a test
    qrels = {f"q{i}": {"a": 1} for i in range(200)}
    rows = [(f"q{i}", document, float(i % 3 + len(document))) for i in range(200) for document in ("a", "bb", "ccc")]
    run: Any = {query: {d: s for q, d, s in rows if q == query} for query in qrels}
    mark = tmp_path / "killed"
    rules = rm.Rules(name="standard", parameters=KillsItsWorkerOnce(mark, os.getpid()))
    results = evaluate_dataset(qrels, dataset(rows, "score", 4, 1), ["mrr", "ndcg@10"], semantics=rules, partitions=3)
    evaluation = to_evaluation(results)
    assert mark.exists()
    assert str(evaluation) == str(rm.evaluate(qrels, run, ["mrr", "ndcg@10"]))
