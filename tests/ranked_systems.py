"""Judgments and runs of systems that find the one relevant document at given ranks."""

import random
from collections.abc import Iterable

METRICS = ["mrr", "hit_rate@1", "ndcg@10"]


def ranked(rank: int) -> list[str]:
    """Return a ranking that holds the relevant document "d" at a rank, or, at 0, not at all."""
    return [f"x{at}" for at in range(1, rank or 9)] + ["d"] * (rank > 0)


def same_ranking(queries: Iterable[str], *documents: str) -> dict[str, list[str]]:
    """Return a run with the same ranking for every query."""
    return {query: list(documents) for query in queries}


def systems(ranks: dict[str, list[int]]) -> tuple[dict[str, list[str]], dict[str, dict[str, list[str]]]]:
    """Return judgments and runs in which each system has "d" at the given rank of each query."""
    count = len(next(iter(ranks.values())))
    qrels = {f"q{at}": ["d"] for at in range(count)}
    return qrels, {name: {f"q{at}": ranked(rank) for at, rank in enumerate(own)} for name, own in ranks.items()}


def drawn(count: int, seed: int, names: str = "ab") -> tuple[dict[str, list[str]], dict[str, dict[str, list[str]]]]:
    rng = random.Random(seed)
    return systems({name: [rng.randrange(8) for _ in range(count)] for name in names})
