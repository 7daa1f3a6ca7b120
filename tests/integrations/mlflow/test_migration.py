"""The metrics that MLflow deprecates, beside the scorers that take their place."""

import warnings
from typing import Any

import mlflow.metrics
import pandas as pd
import pytest

import retrieval_metrics as rm
from mlflow_retrieval_metrics import retrieval_scorers

ROWS = {
    "as both mean it": (["a", "x", "b"], ["a", "b", "c"]),
    "fewer than k retrieved": (["a"], ["a", "b"]),
    "a document twice": (["a", "a", "x", "b"], ["a", "b"]),
    "nothing retrieved": ([], ["a"]),
    "nothing relevant": (["a"], []),
    "neither": ([], []),
}


def deprecated(metric: str, retrieved: list[str], relevant: list[str]) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        deprecated_metric = getattr(mlflow.metrics, metric)(3)
    outcome: Any = deprecated_metric.eval_fn(pd.Series([retrieved]), pd.Series([relevant]))
    return float(outcome.scores[0])


def scored(metric: str, retrieved: list[str], relevant: list[str], rules: str) -> float | None:
    (scorer,) = retrieval_scorers(f"{metric}@3", retrieved="outputs", rules=rules)
    run: Any = scorer.run  # of MLflow, and without types
    feedback = run(outputs=retrieved, expectations={"relevant_ids": relevant})
    value: float | None = feedback.value
    return value


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("metric", ["precision", "recall", "ndcg"])
def test_the_rules_of_mlflow_give_its_numbers(metric: str, row: str) -> None:
    expected = deprecated(f"{metric}_at_k", *ROWS[row])
    assert scored(metric, *ROWS[row], "mlflow") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("row", "metric", "theirs", "ours"),
    [
        ("fewer than k retrieved", "precision", 1.0, 1 / 3),
        ("fewer than k retrieved", "ndcg", 1.0, 0.6131471927654584),
        ("a document twice", "precision", 2 / 3, 1 / 3),
        ("a document twice", "ndcg", 0.7653606369886217, 0.6131471927654584),
        ("nothing relevant", "ndcg", 0.0, None),
        ("neither", "recall", 1.0, None),
    ],
)
def test_the_table_of_the_readme(row: str, metric: str, theirs: float, ours: float | None) -> None:
    assert deprecated(f"{metric}_at_k", *ROWS[row]) == pytest.approx(theirs, abs=1e-12)
    assert scored(metric, *ROWS[row], "standard") == (ours if ours is None else pytest.approx(ours, abs=1e-12))


def test_what_changed_is_explained() -> None:
    qrels = {name: relevant for name, (_, relevant) in ROWS.items()}
    run = {name: retrieved for name, (retrieved, _) in ROWS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        report = str(rm.audit(qrels, run, "ndcg@3", rules=["standard", "mlflow"]))
    assert "a duplicate document counts again" in report
