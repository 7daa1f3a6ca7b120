"""A pipeline of five steps whose every loss was planted: first the fate of each document, then rankings that fit it."""

import random
from collections import Counter

K = 10
STEPS = ["bm25", "dense", "fused", "filtered", "reranked"]
LOW = "below_cutoff:reranked"
"""Also the fate of what no step had within the first K."""
FATES = [
    "found",
    "not_retrieved",
    *(f"dropped:{name}" for name in STEPS[2:]),
    "below_cutoff:fused",
    LOW,
    "never among the first",
]

Rankings = dict[str, dict[str, list[str]]]


def planted(n: int, seed: int = 7) -> tuple[dict[str, dict[str, int]], Rankings, dict[str, Counter[str]]]:
    """Return judgments, the steps as runs, and how many documents of each query have each fate."""
    rng = random.Random(seed)
    qrels: dict[str, dict[str, int]] = {}
    steps: Rankings = {name: {} for name in STEPS}
    fates: dict[str, Counter[str]] = {}

    def ranked(first: list[str], beyond: list[str], fill: list[str], n_beyond: int) -> list[str]:
        head = [*first, *rng.sample(fill, K - len(first))]
        rest = [*beyond, *[one for one in fill if one not in head][:n_beyond]]
        rng.shuffle(head)
        rng.shuffle(rest)
        return head + rest

    for number in range(n):
        query = f"q{number}"
        fate = {f"{query}r{at}": rng.choice(FATES) for at in range(rng.randint(1, 6))}
        qrels[query] = {document: rng.randint(1, 3) for document in fate}
        fates[query] = Counter(LOW if one == FATES[-1] else one for one in fate.values())
        noise = [f"n{at}" for at in rng.sample(range(500), 60)]
        found_by = {one: rng.choice(["bm25", "dense", "bm25 dense"]) for one in fate if fate[one] != "not_retrieved"}
        low = [one for one in found_by if fate[one] == FATES[-1]]
        for name, fill in (("bm25", noise[:40]), ("dense", noise[20:])):
            held = [one for one, by in found_by.items() if name in by]
            beyond = [one for one in held if one in low]
            steps[name][query] = ranked([one for one in held if one not in low], beyond, fill, 20)
        alive, before = [*found_by], [*steps["bm25"][query], *steps["dense"][query]]
        for name in STEPS[2:]:
            alive = [one for one in alive if fate[one] != f"dropped:{name}"]
            low += [one for one in alive if fate[one] == f"below_cutoff:{name}"]
            fill = [one for one in dict.fromkeys(before) if one not in found_by]
            beyond = [one for one in alive if one in low]
            steps[name][query] = before = ranked([one for one in alive if one not in low], beyond, fill, 8)
    return qrels, steps, fates
