"""Grades of two people who differ now and then."""

from typing import Any

import numpy as np

import retrieval_metrics as rm
from retrieval_metrics.datasets.labels import Scale

RANDOM = np.random.default_rng(4)
ADA_SAYS: dict[Any, Any] = {f"q{q}": {f"d{d}": int(RANDOM.integers(0, 4)) for d in range(8)} for q in range(12)}
BEN_SAYS: dict[Any, Any] = {
    query: {document: int(np.clip(grade + RANDOM.choice([0, 0, 0, 1, -1]), 0, 3)) for document, grade in held.items()}
    for query, held in ADA_SAYS.items()
}
ADA, BEN = rm.Labels.from_qrels(ADA_SAYS, "Ada"), rm.Labels.from_qrels(BEN_SAYS, "Ben")
PAIRS = [(ADA_SAYS[query][document], BEN_SAYS[query][document]) for query in ADA_SAYS for document in ADA_SAYS[query]]


def by_rubric(qrels: dict[str, dict[str, int]], by: str = "Ada", relevant_from: int = 2) -> rm.Labels:
    return rm.Labels(rm.Labels.from_qrels(qrels, by), scale=Scale.from_grades(relevant_from))
