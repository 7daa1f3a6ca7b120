"""A worker that dies loses nothing."""

import contextlib
import os
import random
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import ray

import retrieval_metrics as rm
from ray_hosts import dataset, run_rows, values
from ray_retrieval_metrics import evaluate_dataset, to_evaluation


class KillsItsWorkers(dict[str, Mapping[str, Any]]):
    """Parameters of a rule set that are none; the first workers that ask for them, in the middle of scoring, die."""

    def __init__(self, marks: Path, driver: int, times: int) -> None:
        super().__init__()
        self.marks = marks
        self.driver = driver
        self.times = times

    def __reduce__(self) -> Any:
        return type(self), (self.marks, self.driver, self.times)

    def get(self, *_: Any) -> Mapping[str, Any]:
        if os.getpid() != self.driver:
            for time in range(self.times):
                with contextlib.suppress(FileExistsError):
                    (self.marks / f"killed {time}").touch(exist_ok=False)
                    os.kill(os.getpid(), signal.SIGKILL)
        return {}


def rules_that_kill(marks: Path, times: int) -> rm.Rules:
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]  # workers cannot import a test
    marks.mkdir()
    return rm.Rules(name="standard", parameters=KillsItsWorkers(marks, os.getpid(), times))


def test_a_worker_killed_while_it_scores_loses_nothing(tmp_path: Path) -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(200)}
    run: Any = {}
    for i in range(200):
        run[f"q{i}"] = {document: float(i % 3 - len(document)) for document in ("a", "bb", "ccc")}
    rows, _ = run_rows(run)
    rules = rules_that_kill(tmp_path / "marks", 1)
    results = evaluate_dataset(qrels, dataset(rows, "score", 4, 1), ["mrr", "ndcg@10"], rules=rules, partitions=3)
    evaluation = to_evaluation(results)
    assert len(list((tmp_path / "marks").iterdir())) == 1
    assert str(evaluation) == str(rm.evaluate(qrels, run, ["mrr", "ndcg@10"]))


@pytest.mark.slow  # three workers are started anew
def test_skewed_rows_empty_blocks_and_three_killed_workers_change_no_bit(tmp_path: Path) -> None:
    chance = random.Random(3)
    depths = {"all of it": 60_000, "much": 9_000, **{f"q{i}": i % 7 for i in range(500)}}  # every seventh has nothing
    run: Any = {}
    for query, depth in depths.items():
        run[query] = {f"d{number}": float(chance.randrange(depth)) for number in range(depth)}
    qrels = {query: {f"d{chance.randrange(max(depth, 3))}": 1 + chance.randrange(3)} for query, depth in depths.items()}
    metrics = ["mrr", "map", "ndcg@10", "recall@1000"]
    rows, _ = run_rows(run)
    rules = rules_that_kill(tmp_path / "marks", 3)
    # More partitions than the large query leaves rows for: some get none.
    results = evaluate_dataset(qrels, dataset(rows, "score", 40, 1), metrics, rules=rules, partitions=24)
    results = results.materialize()
    assert len(list((tmp_path / "marks").iterdir())) == 3
    evaluation = to_evaluation(results)
    with pytest.warns(rm.RetrievalWarning, match="72 of .*judged queries"):
        expected = rm.evaluate(qrels, run, metrics)
    assert str(evaluation) == str(expected)
    assert dict(evaluation.means) == dict(expected.means)
    assert {metric: values(results, metrics)[metric] for metric in metrics} == {
        metric: dict(values_by_query) for metric, values_by_query in expected.per_query.items()
    }


def workers_of(raylet: int, doing: str) -> list[int]:
    """Return the processes of a Ray, those of one raylet alone, which run a task of this name."""
    workers = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == raylet and (process / "cmdline").read_text().startswith(f"ray::{doing}"):
                workers.append(int(process.name))
    return workers


@pytest.mark.slow  # two workers are started anew
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the workers of this Ray in /proc")
@pytest.mark.parametrize("stage", ["HashShuffleMap", "HashShuffleReduce"])
def test_workers_killed_in_the_shuffle_change_no_bit(stage: str) -> None:
    chance = random.Random(5)
    run: Any = {}
    for i in range(10_000):
        run[f"q{i}"] = {f"d{number}": chance.random() for number in range(20)}
    qrels = {query: {f"d{chance.randrange(30)}": 1 + chance.randrange(3)} for query in run}
    rows, _ = run_rows(run)
    raylet = ray.get(ray.remote(lambda: os.getppid()).remote())
    killed: list[int] = []
    done = threading.Event()

    def kill() -> None:
        while not done.wait(0.002) and len(killed) < 2:
            for worker in set(workers_of(raylet, stage)) - set(killed):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
                    killed.append(worker)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        evaluation = to_evaluation(
            evaluate_dataset(qrels, dataset(rows, "score", 8, 1), ["mrr", "ndcg@10"], partitions=4)
        )
    finally:
        done.set()
        killer.join()
    assert killed
    assert str(evaluation) == str(rm.evaluate(qrels, run, ["mrr", "ndcg@10"]))
