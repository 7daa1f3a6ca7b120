"""Comparisons of random systems with random options."""

import random
import warnings
from dataclasses import dataclass, field
from typing import Any

import retrieval_metrics as rm

METRICS = ["mrr@3", "hit_rate@2", "recall@5", "ndcg@3", "map", "precision@2", "r_precision"]
CHUNK_METRICS = [["recall@800chars"], ["recall@800chars", "recall@2"], ["full_recall@300chars"]]
SHARE_OF_CHUNKS = 0.1


@dataclass
class Task:
    """What a comparison is asked for: judgments, the run of each system, and options of `compare`."""

    qrels: dict[str, Any]
    runs: dict[str, dict[str, Any]]
    options: dict[str, Any] = field(default_factory=dict)

    def retrieves_judged_documents(self) -> bool:
        """Return whether any system has a judged document, without which `compare` refuses to decide."""
        for run in self.runs.values():
            for query, ranking in run.items():
                if isinstance(ranking[0], rm.Retrieved) or set(ranking) & set(self.qrels[query]):
                    return True
        return False


def generate_comparison(seed: int) -> rm.Comparison:
    """Return a random comparison, the same for the same seed."""
    task = generate_task(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        return rm.compare(task.qrels, task.runs, **task.options)


def generate_task(seed: int) -> Task:
    """Return a random comparison to be made."""
    rng = random.Random(seed)
    if rng.random() < SHARE_OF_CHUNKS:
        return _generate_chunks(rng)
    return _generate_documents(rng)


def _generate_documents(rng: random.Random) -> Task:
    """Return systems of documents, of which some may be unjudged."""
    unjudged = rng.choice([None, None, "bounds", "bounds", "condensed"])
    has_bounds = unjudged == "bounds"  # these try every grade, which takes time
    n_queries = rng.choice([1, 6, 8, 9] if has_bounds else [1, 3, 6, 8, 12, 25])
    systems = ["base", "one", "two", "three"][: rng.choice([2, 2, 2, 3, 4])]
    documents = [f"d{number}" for number in range(4 if has_bounds else 6)]
    quality = {system: rng.choice([0.0, 0.0, 0.4, 3.0]) for system in systems}
    share_judged = rng.choice([1.0, 1.0, 0.8, 0.5])
    task = Task({}, {system: {} for system in systems})
    for number in range(n_queries):
        query = f"q{number}"
        grades = {document: rng.choice([0, 0, 1, 2]) for document in documents}
        for system in systems:
            scores = {document: quality[system] * grades[document] + rng.gauss(0, 1) for document in documents}
            ranking = sorted(documents, key=scores.__getitem__, reverse=True)
            task.runs[system][query] = ranking[: rng.choice([2, 4, 6])]
        if rng.random() < 0.3:
            task.runs[systems[-1]][query] = task.runs[systems[0]][query]
        judged = {document: grade for document, grade in grades.items() if rng.random() < share_judged}
        task.qrels[query] = judged or {"d0": 1}
    if rng.random() < 0.1:
        task.runs[systems[-1]] = task.runs[systems[0]]
    task.options = {
        "metrics": rng.sample(METRICS, rng.choice([1, 2, 3])),
        "resamples": 500,
        "baseline": rng.choice([None, "base"]),
        "margin": rng.choice([None, None, 0.02, 0.1, 0.5]),
        "unjudged": unjudged,
        "level": rng.choice([0.95, 0.95, 0.8, 0.99]),
    }
    if has_bounds:
        task.options["unretrieved_relevant"] = rng.choice([None, None, 1, 2])
    if n_queries >= 6 and rng.random() < 0.3:
        cluster_size = rng.choice([1, 2, 3])
        task.options["clusters"] = {query: number // cluster_size for number, query in enumerate(task.qrels)}
    return task


def _generate_chunks(rng: random.Random) -> Task:
    """Return systems of chunks under a budget, which some of them may not fill."""
    n_queries = rng.choice([6, 12])
    qrels = {f"q{number}": [rm.Span("d", 60 * number, 60 * number + 30)] for number in range(n_queries)}
    task = Task(qrels, {})
    for system in ("base", "one", "two")[: rng.choice([2, 3])]:
        size = rng.choice([100, 200, 500])
        n_retrieved = rng.choice([2, 4, 9])
        first = rng.choice([0, 0, 3])
        chunks = [rm.Retrieved(f"{size}-{start}", None, "d", start, start + size) for start in range(0, 9 * size, size)]
        task.runs[system] = {}
        for query in qrels:
            start = first if rng.random() < 0.5 else 0
            task.runs[system][query] = chunks[start:][:n_retrieved]
    task.options = {
        "metrics": rng.choice(CHUNK_METRICS),
        "margin": rng.choice([None, 0.1]),
        "baseline": rng.choice([None, "base"]),
    }
    return task
