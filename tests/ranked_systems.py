"""Judgments and runs of systems that find the one relevant document at chosen ranks."""

import random
from collections.abc import Iterable

METRICS = ["mrr", "hit_rate@1", "ndcg@10"]


def ranked(rank: int) -> list[str]:
    """Return a ranking that holds the relevant document "d" at a rank, or, at 0, not at all."""
    n_others = rank - 1 if rank else 8
    ranking = [f"x{number}" for number in range(1, n_others + 1)]
    if rank:
        ranking.append("d")
    return ranking


def same_ranking(queries: Iterable[str], *documents: str) -> dict[str, list[str]]:
    """Return a run with the same ranking for every query."""
    return {query: list(documents) for query in queries}


def systems(ranks: dict[str, list[int]]) -> tuple[dict[str, list[str]], dict[str, dict[str, list[str]]]]:
    """Return judgments and runs in which each system has "d" at the rank that it has for each query."""
    n_queries = len(next(iter(ranks.values())))
    qrels = {f"q{number}": ["d"] for number in range(n_queries)}
    runs: dict[str, dict[str, list[str]]] = {}
    for name, ranks_of_system in ranks.items():
        runs[name] = {f"q{number}": ranked(rank) for number, rank in enumerate(ranks_of_system)}
    return qrels, runs


def drawn(count: int, seed: int, names: str = "ab") -> tuple[dict[str, list[str]], dict[str, dict[str, list[str]]]]:
    """Return judgments and runs of systems with random ranks."""
    rng = random.Random(seed)
    ranks = {}
    for name in names:
        ranks[name] = [rng.randrange(8) for _ in range(count)]
    return systems(ranks)


def late_at_every(step: int, n_queries: int) -> dict[str, list[str]]:
    """Return a run with "d" first, but second in every `step`-th query."""
    run = {}
    for number in range(n_queries):
        run[f"q{number}"] = ["d"] if number % step else ["x", "d"]
    return run
