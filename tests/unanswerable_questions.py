"""Questions with and without an answer, and runs that score them."""

from typing import Any

ANSWERED: dict[str, Any] = {f"a{number}": {f"d{number}": 0.8, "x": 0.3} for number in range(40)}


def questions(n_unanswerable: int) -> dict[str, list[str]]:
    answerable = {f"a{number}": [f"d{number}"] for number in range(40)}
    return answerable | {f"n{number}": [] for number in range(n_unanswerable)}


def run_of(best_scores: Any) -> dict[str, Any]:
    return ANSWERED | {f"n{number}": {"x": float(score)} for number, score in enumerate(best_scores)}
