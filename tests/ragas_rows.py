"""Rows of ragas, of each kind that its metrics meet, and what its own evaluate makes of them."""

from typing import Any

from ragas import EvaluationDataset, evaluate
from ragas.dataset_schema import EvaluationResult

FOUND = {"user_input": "found", "retrieved_context_ids": ["d1"], "reference_context_ids": ["d1"]}

NOTHING = {"user_input": "nothing", "retrieved_context_ids": [], "reference_context_ids": ["d1"]}

UNJUDGED = {"user_input": "unjudged", "retrieved_context_ids": ["d1"], "reference_context_ids": []}

WRONG_TYPE = {"user_input": "wrong type", "retrieved_context_ids": [1], "reference_context_ids": ["d1"]}

REPEATED = {"user_input": "repeated", "retrieved_context_ids": ["d1", "d1"], "reference_context_ids": ["d1"]}


def evaluated(rows: list[dict[str, Any]], metrics: list[Any]) -> EvaluationResult:
    result = evaluate(EvaluationDataset.from_list(rows), metrics, show_progress=False)
    assert isinstance(result, EvaluationResult)
    return result
