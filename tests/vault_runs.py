"""Two questions about a vault, five documents, and two systems that rank them."""

from typing import Any

import retrieval_metrics as rm

QUERIES: dict[Any, str] = {"q1": "who opens the vault?", "q2": "who locks the gate?"}

RUNS: dict[str, Any] = {
    "bm25": {"q1": ["a", "b", "c"], "q2": ["b", "d", "a"]},
    "dense": {"q1": ["c", "e", "a"], "q2": ["d", "b", "e"]},
}

CORPUS: dict[Any, str] = {
    "a": "The guard opens the vault.",
    "b": "The porter locks the gate every night, and opens it again in the morning after the guard has gone.",
    "c": "Nothing of interest.",
    "d": "The gate is locked by the porter.",
    "e": "A vault is a room.",
}

QUESTIONS = rm.EvaluationSet(QUERIES, {"q1": {"a": 1, "x": 1}, "q2": []})
