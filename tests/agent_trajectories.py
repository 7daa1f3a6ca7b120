"""Trajectories of agents for tests, and the means of their views."""

import warnings
from typing import Any

import retrieval_metrics as rm

GOOD: Any = {"q": ["good"]}


TWO_CALLS = rm.Trajectories(
    {"q": rm.Trajectory([rm.SearchCall("a", [f"miss {n}" for n in range(10)]), rm.SearchCall("b", ["good"], turn=2)])}
)


def means(qrels: Any, run: Any, metrics: Any) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        return list(rm.evaluate(qrels, run, metrics).means.values())


def make_searches(results: Any) -> list[rm.SearchCall]:
    return [
        rm.SearchCall("q", error="down", turn=turn) if result is None else rm.SearchCall("q", result, turn=turn)
        for turn, result in enumerate(results, start=1)
    ]


def make_trajectories(results: Any, **options: Any) -> rm.Trajectories:
    rows = {"q": rm.Trajectory(make_searches(results), **options)}
    # A run in which everything failed is refused, so another question has an answer.
    return rm.Trajectories(rows if any(results) else rows | {"other": rm.Trajectory(make_searches([["a"]]), **options)})
