"""Grades of two people who differ now and then."""

from typing import Any

import numpy as np

import retrieval_metrics as rm
from retrieval_metrics.datasets.rubric import Scale

RANDOM = np.random.default_rng(4)


def draw_grades() -> dict[str, int]:
    return {f"d{number}": int(RANDOM.integers(0, 4)) for number in range(8)}


def change_some(grades: dict[str, int]) -> dict[str, int]:
    """Return grades of which two in five differ by one."""
    changed = {}
    for document, grade in grades.items():
        changed[document] = int(np.clip(grade + RANDOM.choice([0, 0, 0, 1, -1]), 0, 3))
    return changed


ADA_GRADES: dict[Any, Any] = {f"q{number}": draw_grades() for number in range(12)}
BEN_GRADES: dict[Any, Any] = {query: change_some(grades) for query, grades in ADA_GRADES.items()}
ADA = rm.Labels.from_qrels(ADA_GRADES, "Ada")
BEN = rm.Labels.from_qrels(BEN_GRADES, "Ben")


def pair_grades() -> list[tuple[int, int]]:
    """Return the grades of each document, Ada's and Ben's."""
    pairs = []
    for query, grades in ADA_GRADES.items():
        for document, grade in grades.items():
            pairs.append((grade, BEN_GRADES[query][document]))
    return pairs


PAIRS = pair_grades()


def label_by_rubric(qrels: dict[str, dict[str, int]], grader: str = "Ada", relevant_from: int = 2) -> rm.Labels:
    return rm.Labels(rm.Labels.from_qrels(qrels, grader), scale=Scale.from_grades(relevant_from))
