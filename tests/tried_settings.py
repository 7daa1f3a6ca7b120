"""Settings to tune, as runs over questions that are answered by one document."""

import itertools
import random
from functools import partial
from typing import Any

import retrieval_metrics as rm

Runs = dict[str, dict[str, list[str]]]


def data(settings: int, count: int = 40, seed: int = 0, better: float = 0.0) -> tuple[dict[str, list[str]], Runs]:
    """Questions, and settings that find "d" at a random rank; the last is better by chance of rank 1."""
    rng = random.Random(seed)
    qrels = {f"q{number}": ["d"] for number in range(count)}
    runs: Runs = {f"s{number}": {} for number in range(settings)}
    for query, (name, run) in itertools.product(qrels, runs.items()):
        first = name == f"s{settings - 1}" and rng.random() < better
        run[query] = [f"x{number}" for number in range(0 if first else rng.randrange(5))] + ["d"]
    return qrels, runs


def always(ranking: list[str], count: int = 20) -> dict[str, list[str]]:
    return {f"q{number}": ranking for number in range(count)}


def grid_of(runs: Runs, qrels: dict[str, list[str]], **options: Any) -> Any:
    return rm.tune(
        partial(rm.fuse, runs),
        qrels,
        "mrr",
        parameters={"k": [1, 20, 60], "weights": [(1, 1), (1, 0), (0, 1)]},
        default={"k": 60, "weights": (1, 1)},
        **options,
    )
