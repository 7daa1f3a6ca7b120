"""Rows of ragas, of each kind that its metrics meet, and what its own evaluate makes of them."""

from typing import Any

from ragas import EvaluationDataset, evaluate, experiment
from ragas.dataset_schema import EvaluationResult

from ragas_retrieval_metrics import MRR

RETRIEVED = {"user_input": "found", "retrieved_context_ids": ["d1"], "reference_context_ids": ["d1"]}

EMPTY = {"user_input": "nothing", "retrieved_context_ids": [], "reference_context_ids": ["d1"]}

UNJUDGED = {"user_input": "unjudged", "retrieved_context_ids": ["d1"], "reference_context_ids": []}

WRONG_TYPE = {"user_input": "wrong type", "retrieved_context_ids": [1], "reference_context_ids": ["d1"]}

DUPLICATES = {"user_input": "repeated", "retrieved_context_ids": ["d1", "d1"], "reference_context_ids": ["d1"]}


def evaluate_with_ragas(rows: list[dict[str, Any]], metrics: list[Any]) -> EvaluationResult:
    """Return the result of `ragas.evaluate`."""
    result = evaluate(EvaluationDataset.from_list(rows), metrics, show_progress=False)
    assert isinstance(result, EvaluationResult)
    return result


@experiment()
async def run_mrr(row: dict[str, Any]) -> dict[str, Any]:
    """Score a row of a dataset in an experiment, which drops rows that raise."""
    return {"user_input": row["user_input"], "mrr": (await MRR().ascore(**row)).value}
