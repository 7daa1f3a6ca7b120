"""A truth, systems that find more or less of it, and who graded it: people a sample, and a model, with errors, all."""

from typing import Any

import numpy as np

import retrieval_metrics as rm

QUERIES = [f"q{number}" for number in range(120)]
RANDOM = np.random.default_rng(8)


def draw_grades() -> dict[str, int]:
    grades = {f"d{number}": int(RANDOM.choice([0, 0, 0, 1, 2, 3])) for number in range(12)}
    return grades | {"d0": 3}


TRUTH: dict[Any, dict[str, int]] = {query: draw_grades() for query in QUERIES}


def system(strength: float, seed: int) -> dict[str, list[str]]:
    """Return the run of a system that follows the grades, the more so the larger its strength."""
    random = np.random.default_rng(seed)
    run = {}
    for query, grades in TRUTH.items():
        scores = {document: strength * grade + random.gumbel() for document, grade in grades.items()}
        run[query] = sorted(scores, key=scores.__getitem__, reverse=True)
    return run


def judge(error: float, seed: int = 1, *, lenient: float = 0.8) -> dict[Any, dict[str, int]]:
    """Return grades of which a share is wrong by one, more often too high than too low if lenient is above 0.5."""
    random = np.random.default_rng(seed)
    read_grades: dict[Any, dict[str, int]] = {}
    for query, grades in TRUTH.items():
        read_grades[query] = {}
        for document, grade in grades.items():
            is_wrong = random.random() < error
            shift = 1 if random.random() < lenient else -1
            read_grades[query][document] = int(np.clip(grade + is_wrong * shift, 0, 3))
    return read_grades


RUNS = {"weak": system(0.3, 2), "good": system(0.9, 3), "best": system(1.6, 4)}
QUESTIONS = rm.EvaluationSet({query: f"{query}?" for query in QUERIES}, TRUTH)
SAMPLE = QUESTIONS.sample(30)
PEOPLE = rm.Labels.from_qrels({query: TRUTH[query] for query in SAMPLE}, "Ada")
MODEL = rm.Labels.from_qrels(judge(0.12), "a model", kind="model")


def estimate(**changes: Any) -> rm.types.Estimate:
    options: dict[str, Any] = {"human": PEOPLE, "model": MODEL, "sample": SAMPLE} | changes
    return rm.evaluate_with_labels(options.pop("runs", RUNS), options.pop("metrics", "ndcg@10"), **options)
