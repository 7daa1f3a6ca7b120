"""Tasks of Pydantic Evals, evaluated."""

from typing import Any

from pydantic_evals import Case, Dataset
from pydantic_evals.reporting import EvaluationReport

from pydantic_evals_retrieval_metrics import RetrievalMetrics


def evaluated(task: Any, *, relevant: Any = ("d7",), lifecycle: Any = None, **settings: Any) -> EvaluationReport:
    truth = list(relevant) if isinstance(relevant, tuple) else relevant
    dataset = Dataset(
        name="one",
        cases=[Case(name="q", inputs="a question", expected_output=truth, metadata={"relevant_ids": truth})],
        evaluators=[RetrievalMetrics(**{"metrics": ["mrr"], "evaluation_name": "", **settings})],
    )
    return dataset.evaluate_sync(task, progress=False, lifecycle=lifecycle)


def score(task: Any, **settings: Any) -> float:
    (case,) = evaluated(task, **settings).cases
    assert not case.evaluator_failures
    return float(case.scores["mrr"].value)


def failing(question: str) -> list[str]:
    if "bad" in question:
        raise ConnectionError("the store is down")
    return ["d3", "d7"]
