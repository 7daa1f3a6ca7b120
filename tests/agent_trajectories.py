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


def make_searches(rankings: Any) -> list[rm.SearchCall]:
    return [
        rm.SearchCall("q", error="down", turn=turn) if ranking is None else rm.SearchCall("q", ranking, turn=turn)
        for turn, ranking in enumerate(rankings, start=1)
    ]


def make_trajectories(rankings: Any, **fields: Any) -> rm.Trajectories:
    rows = {"q": rm.Trajectory(make_searches(rankings), **fields)}
    # A run in which everything failed is refused, so another question has an answer.
    return rm.Trajectories(rows if any(rankings) else rows | {"other": rm.Trajectory(make_searches([["a"]]), **fields)})
