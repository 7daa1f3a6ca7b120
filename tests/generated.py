"""Generated truth and rankings, as hypothesis strategies and from a seed."""

import random

from hypothesis import settings
from hypothesis import strategies as st

DOCUMENTS = [f"d{number}" for number in range(12)]

documents = st.sampled_from(DOCUMENTS)
grades = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0])
groups = st.dictionaries(documents, grades, min_size=1, max_size=4)
truths = st.lists(groups, min_size=1, max_size=5)
flat_truths = st.dictionaries(documents, grades, min_size=1, max_size=8)
rankings = st.lists(documents, max_size=14)
cutoffs = st.one_of(st.none(), st.integers(min_value=1, max_value=16))

TIMES_OFTEN = 1 if settings.get_current_profile_name() == "suite" else 3
often = settings(max_examples=TIMES_OFTEN * settings().max_examples)
"""For tests that hold every metric to the same drawn cases; three times as many under the profile `thorough`."""


def scored_run(
    rng: random.Random, queries: int, *, depth: int = 60, ties: float, judged: float, largest: int = 4
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Graded judgments and a scored run in shuffled order, with a share of ties and a share of judged documents."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(queries):
        retrieved = [f"{rng.choice('abcxyz')}{rng.randrange(10**4)}" for _ in range(rng.randint(1, depth))]
        scores = [round(rng.random(), 1) if rng.random() < ties else rng.randrange(2**20) / 2**20 for _ in retrieved]
        run[f"q{number}"] = dict(zip(retrieved, scores, strict=True))
        graded = {d: rng.randint(0, largest) for d in retrieved if rng.random() < judged}
        graded |= {f"never{i}": rng.randint(0, largest) for i in range(rng.randint(0, 5))}
        qrels[f"q{number}"] = graded or {"never": 1}
    return qrels, run
