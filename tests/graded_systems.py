"""A truth, systems that find more or less of it, and who graded it: people a sample, and a model, with errors, all."""

from typing import Any

import numpy as np

import retrieval_metrics as rm

QUERIES = [f"q{at}" for at in range(120)]
RANDOM = np.random.default_rng(8)
TRUTH: dict[Any, dict[str, int]] = {
    query: {f"d{at}": int(RANDOM.choice([0, 0, 0, 1, 2, 3])) for at in range(12)} | {"d0": 3} for query in QUERIES
}


def system(strength: float, seed: int) -> dict[str, list[str]]:
    random = np.random.default_rng(seed)
    return {
        query: sorted(held, key=lambda document: -strength * held[document] - random.gumbel())
        for query, held in TRUTH.items()
    }


def judge(error: float, seed: int = 1, *, lenient: float = 0.8) -> dict[Any, dict[str, int]]:
    random = np.random.default_rng(seed)
    return {
        query: {
            document: int(np.clip(grade + (random.random() < error) * (1 if random.random() < lenient else -1), 0, 3))
            for document, grade in held.items()
        }
        for query, held in TRUTH.items()
    }


RUNS = {"weak": system(0.3, 2), "good": system(0.9, 3), "best": system(1.6, 4)}
QUESTIONS = rm.EvaluationSet({query: f"{query}?" for query in QUERIES}, TRUTH)
SAMPLE = QUESTIONS.sample(30)
PEOPLE = rm.Labels.from_qrels({query: TRUTH[query] for query in SAMPLE}, "Ada")
MODEL = rm.Labels.from_qrels(judge(0.12), "a model", kind="model")


def estimate(**changes: Any) -> rm.types.Estimate:
    given: dict[str, Any] = {"human": PEOPLE, "model": MODEL, "sample": SAMPLE} | changes
    return rm.evaluate_with_labels(given.pop("runs", RUNS), given.pop("metrics", "ndcg@10"), **given)
