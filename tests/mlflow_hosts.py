"""Rows as MLflow passes them to a scorer."""

from typing import Any

from mlflow.entities import Feedback

from mlflow_retrieval_metrics import retrieval_scorers

NEEDED = {"relevant_ids": ["d7"]}

ROW_FIELDS = {"inputs", "outputs", "trace"}


def score(metric: str = "mrr", *, expectations: Any = None, **fields_and_options: Any) -> Feedback:
    """Return the feedback on one row: its fields and the options of the scorer are told apart by their names."""
    row = {name: fields_and_options.pop(name) for name in ROW_FIELDS & fields_and_options.keys()}
    (scorer,) = retrieval_scorers(metric, **fields_and_options)
    run: Any = scorer.run  # of MLflow, and without types
    feedback = run(expectations=NEEDED if expectations is None else expectations, **row)
    assert isinstance(feedback, Feedback)
    return feedback
