"""Systems of which only some documents are judged."""

import random
import warnings
from typing import Any

import retrieval_metrics as rm

Run = dict[str, list[str]]


def pooled(seed: int, *, queries: int = 30, grades: int = 1) -> tuple[dict[str, dict[str, int]], dict[str, Run]]:
    """Two systems as good as each other, of which only A's documents are judged, and an A' that is A but for ties."""
    rng = random.Random(seed)
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, Run] = {"A": {}, "B": {}}
    for number in range(queries):
        query = f"q{number}"
        grade = {f"d{number}": rng.randrange(grades + 1) for number in range(12)}
        for run in runs.values():
            relevance = {document: grade[document] + rng.gauss(0, 0.7) for document in grade}
            run[query] = sorted(grade, key=relevance.__getitem__, reverse=True)[:4]
        qrels[query] = {document: grade[document] for document in runs["A"][query]}
        if not any(qrels[query].values()):
            qrels[query][runs["A"][query][0]] = 1
    return qrels, runs


def quietly(*args: Any, **options: Any) -> rm.Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        return rm.compare(*args, **options)


def candidates(run: Any, metrics: str | list[str], **options: Any) -> dict[object, Any]:
    """Return the documents to judge of one of six alike queries, with their ranks."""
    qrels = {f"q{at}": {"d": 1, "z": 0} for at in range(6)}
    runs = {"one": dict.fromkeys(qrels, run), "two": {query: ["d", "z"] for query in qrels}}
    return {
        one.document: one.ranks for one in quietly(qrels, runs, metrics, **options).to_judge(99) if one.query == "q0"
    }
