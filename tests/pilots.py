"""Comparisons of few questions, as pilots of a plan."""

import random

import retrieval_metrics as rm


def pilot(count: int = 40, metrics: str | list[str] = "mrr", systems: str = "ab", **options: object) -> rm.Comparison:
    rng = random.Random(count)
    qrels = {f"q{number}": ["d"] for number in range(count)}
    runs = {
        name: {query: [f"x{number}" for number in range(rng.randrange(5))] + ["d"] for query in qrels}
        for name in systems
    }
    return rm.compare(qrels, runs, metrics, **options)  # type: ignore[arg-type]  # any option
