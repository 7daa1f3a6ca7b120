"""Tasks of Pydantic Evals, evaluated."""

from typing import Any

from pydantic_evals import Case, Dataset
from pydantic_evals.reporting import EvaluationReport

from pydantic_evals_retrieval_metrics import RetrievalMetrics


def evaluate_task(task: Any, *, relevant: Any = ("d7",), lifecycle: Any = None, **settings: Any) -> EvaluationReport:
    """Return the report of a task on one case, whose relevant document is d7."""
    judgments = list(relevant) if isinstance(relevant, tuple) else relevant
    dataset = Dataset(
        name="one",
        cases=[Case(name="q", inputs="a question", expected_output=judgments, metadata={"relevant_ids": judgments})],
        evaluators=[RetrievalMetrics(**{"metrics": ["mrr"], "evaluation_name": "", **settings})],
    )
    return dataset.evaluate_sync(task, progress=False, lifecycle=lifecycle)


def score(task: Any, **settings: Any) -> float:
    """Return the reciprocal rank of a task on that case."""
    (case,) = evaluate_task(task, **settings).cases
    assert not case.evaluator_failures
    return float(case.scores["mrr"].value)


def answer_or_fail(question: str) -> list[str]:
    """Return a ranking; raise for a bad question."""
    if "bad" in question:
        raise ConnectionError("the store is down")
    return ["d3", "d7"]
