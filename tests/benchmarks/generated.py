"""Generated judgments and runs of known shape, the same on every machine."""

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

COLLECTION = 8_000_000
"""Document ids are drawn from so many, as D1234567."""


@dataclass(frozen=True)
class Shape:
    """The size of an evaluation."""

    name: str
    queries: int
    depth: int
    relevant: tuple[int, int]
    best_first: bool = True


SHAPES = (
    Shape("50 x 10", 50, 10, (1, 3)),
    Shape("1,000 x 100, best first", 1_000, 100, (1, 5)),
    Shape("1,000 x 100, shuffled", 1_000, 100, (1, 5), best_first=False),
    Shape("6,980 x 1,000, best first", 6_980, 1_000, (1, 2)),
    Shape("6,980 x 1,000, shuffled", 6_980, 1_000, (1, 2), best_first=False),
)


def generate(shape: Shape, seed: int = 0) -> tuple[Qrels, Run]:
    """Return judgments and a run in which a relevant document is mostly retrieved, and sooner rather than later."""
    rng = random.Random(seed)
    qrels: Qrels = {}
    run: Run = {}
    for number in range(shape.queries):
        query = f"q{number}"
        documents = [f"D{position:07d}" for position in rng.sample(range(COLLECTION), shape.depth + shape.relevant[1])]
        retrieved = documents[: shape.depth]
        outside = documents[shape.depth :]
        n_relevant = rng.randint(*shape.relevant)
        inside = [retrieved[min(int(rng.expovariate(8 / shape.depth)), shape.depth - 1)] for _ in range(n_relevant)]
        judged = [inside[position] if rng.random() < 0.85 else outside[position] for position in range(n_relevant)]
        qrels[query] = {document: rng.randint(1, 3) for document in judged}
        # Distinct, also in the 32 bits that some peers keep: ties, which all of them break differently, prove no speed.
        scores = sorted((position / 1e5 for position in rng.sample(range(3_000_000), shape.depth)), reverse=True)
        pairs = list(zip(retrieved, scores, strict=True))
        if not shape.best_first:
            rng.shuffle(pairs)
        run[query] = dict(pairs)
    return qrels, run


def write_trec(qrels: Qrels, run: Run, folder: Path) -> tuple[Path, Path]:
    """Write judgments and run as TREC files; return their paths."""
    judged = folder / "generated.qrels"
    ranked = folder / "generated.run"
    with judged.open("w") as file:
        for query, grades in qrels.items():
            file.writelines(f"{query} 0 {document} {grade}\n" for document, grade in grades.items())
    with ranked.open("w") as file:
        for query, scores in run.items():
            rows = enumerate(scores.items(), start=1)
            file.writelines(f"{query} Q0 {document} {rank} {score:.6f} generated\n" for rank, (document, score) in rows)
    return judged, ranked


def write_jsonl(run: Run, path: Path) -> None:
    """Write a run with one line per document."""
    with path.open("w") as file:
        for query, scores in run.items():
            file.writelines(
                json.dumps({"query": query, "document": document, "score": score}) + "\n"
                for document, score in scores.items()
            )


def worsened(run: Run, share: float, seed: int) -> Run:
    """Return the run with the scores of some queries dealt out anew: a system that is worse on these."""
    rng = random.Random(seed)
    result = {}
    for query, scores in run.items():
        values = list(scores.values())
        if rng.random() < share:
            rng.shuffle(values)
        result[query] = dict(zip(scores, values, strict=True))
    return result


def clustered(n: int, d: int) -> tuple[Any, Any]:
    """Return a query and candidates in clusters, as passages on a few subjects are; no cosine is negative."""
    rng = np.random.default_rng(n + d)
    centres = np.abs(rng.normal(size=(max(n // 10, 2), d)))
    vectors = (centres[rng.integers(len(centres), size=n)] + 0.4 * np.abs(rng.normal(size=(n, d)))).astype(np.float32)
    return (centres[0] + 0.4 * np.abs(rng.normal(size=d))).astype(np.float32), vectors
