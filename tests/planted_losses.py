"""A pipeline of five stages whose every loss was planted: the fate of each document, and rankings that fit it."""

import random
from collections import Counter
from collections.abc import Sequence

K = 10
# The shares of the questions in which a stage adds, or drops.
CHANGED_SHARES = [0.0, 0.1, 0.3, 0.5, 0.8, 1.0]
STEPS = ["bm25", "dense", "fused", "filtered", "reranked"]

# Also the fate of what no stage had within the first K.
LOW = "below_cutoff:reranked"
NEVER_AMONG_THE_FIRST = "never among the first"
FATES = [
    "found",
    "not_retrieved",
    "dropped:fused",
    "dropped:filtered",
    "dropped:reranked",
    "below_cutoff:fused",
    LOW,
    NEVER_AMONG_THE_FIRST,
]

# So many documents that nobody needs stand behind the first K of a source, and of any other stage.
N_BEHIND_IN_SOURCE = 20
N_BEHIND = 8

Rankings = dict[str, dict[str, list[str]]]


def planted(n: int, seed: int = 7) -> tuple[dict[str, dict[str, int]], Rankings, dict[str, Counter[str]]]:
    """Return judgments, the stages as runs, and how many documents of each query have each fate."""
    rng = random.Random(seed)
    qrels: dict[str, dict[str, int]] = {}
    stages: Rankings = {name: {} for name in STEPS}
    fate_counts: dict[str, Counter[str]] = {}
    for number in range(n):
        query = f"q{number}"
        fates = {f"{query}r{index}": rng.choice(FATES) for index in range(rng.randint(1, 6))}
        qrels[query] = {document: rng.randint(1, 3) for document in fates}
        fate_counts[query] = Counter(LOW if fate == NEVER_AMONG_THE_FIRST else fate for fate in fates.values())
        for name, ranking in _plant_query(rng, fates).items():
            stages[name][query] = ranking
    return qrels, stages, fate_counts


def planted_changes(
    added: float, dropped: float, n: int = 10
) -> tuple[dict[str, list[str]], Rankings, dict[str, float]]:
    """Return judgments, the stages as runs, and the mean losses, where the last three stages add and drop documents.

    Each of them drops a needed document in a share of the questions. The first, which fuses, also holds what a
    retriever found that is no stage; the second holds documents of its own.
    """
    needed = ["of bm25", "of dense", "of both", "found again", "kept"]
    qrels: dict[str, list[str]] = {}
    stages: Rankings = {name: {} for name in STEPS}
    for number in range(n):
        query = f"q{number} of {added} {dropped}"
        is_added = number < round(added * n)
        is_dropped = number >= n - round(dropped * n)
        bm25 = ["kept", "of bm25", "of both", "only bm25", "noise"]
        dense = ["of dense", "kept", "of both", "only dense"]
        fused = ["kept", "of bm25", "of dense", "of both", "only bm25", "only dense"]
        if is_added:
            fused += ["found again", "of a hidden retriever"]
        if is_dropped:
            fused.remove("of bm25")
        filtered = [document for document in fused if document not in {"only dense", "of a hidden retriever"}]
        if is_added:
            filtered.insert(1, "of the filter")
        if is_dropped:
            filtered.remove("of dense")
        reranked = [document for document in filtered if document != "of the filter"]
        if is_dropped:
            reranked.remove("of both")
        qrels[query] = needed
        rankings = [bm25, dense, fused, filtered, reranked]
        for name, ranking in zip(STEPS, rankings, strict=True):
            stages[name][query] = ranking
    share_dropped = round(dropped * n) / n / len(needed)
    losses = {f"dropped:{name}": share_dropped for name in STEPS[2:]}
    losses["not_retrieved"] = (1 - round(added * n) / n) / len(needed)
    losses["found"] = 1 - sum(losses.values())
    return qrels, stages, losses


def _plant_query(rng: random.Random, fates: dict[str, str]) -> dict[str, list[str]]:
    """Return the rankings of one query in which each document has its fate."""
    noise = [f"n{number}" for number in rng.sample(range(500), 60)]
    sources_by_document: dict[str, str] = {}
    for document, fate in fates.items():
        if fate != "not_retrieved":
            sources_by_document[document] = rng.choice(["bm25", "dense", "bm25 dense"])
    low = {document for document in sources_by_document if fates[document] == NEVER_AMONG_THE_FIRST}
    rankings: dict[str, list[str]] = {}
    for name, filling in (("bm25", noise[:40]), ("dense", noise[20:])):
        documents = [document for document, sources in sources_by_document.items() if name in sources]
        rankings[name] = _rank(rng, documents, low, filling, N_BEHIND_IN_SOURCE)
    passed_on = list(sources_by_document)
    previous = [*rankings["bm25"], *rankings["dense"]]
    for name in STEPS[2:]:
        passed_on = [document for document in passed_on if fates[document] != f"dropped:{name}"]
        low |= {document for document in passed_on if fates[document] == f"below_cutoff:{name}"}
        filling = [document for document in dict.fromkeys(previous) if document not in sources_by_document]
        rankings[name] = _rank(rng, passed_on, low, filling, N_BEHIND)
        previous = rankings[name]
    return rankings


def _rank(
    rng: random.Random, documents: Sequence[str], low: set[str], filling: Sequence[str], n_behind: int
) -> list[str]:
    """Return a ranking with the low documents behind the first K and the others among them."""
    high = [document for document in documents if document not in low]
    first = [*high, *rng.sample(filling, K - len(high))]
    unused = [document for document in filling if document not in first]
    behind = [*(document for document in documents if document in low), *unused[:n_behind]]
    rng.shuffle(first)
    rng.shuffle(behind)
    return first + behind
