# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics", "mlflow-skinny>=3.17", "pandas>=2", "scikit-learn>=1.4"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Compare the rules "mlflow" with MLflow itself: `uv run tests/peers/with_mlflow.py`."""

import pandas as pd
from agreement import Case, cases, require_agreement
from mlflow.metrics import ndcg_at_k, precision_at_k, recall_at_k


def metric(make):
    """Score a case with the metric that one of its factories makes for the cutoff."""

    def score(case: Case) -> float:
        predictions = pd.Series([case.ranking])
        targets = pd.Series([case.relevant])
        return float(make(case.k).eval_fn(predictions, targets).scores[0])

    return score


if __name__ == "__main__":
    require_agreement(
        "mlflow",
        "mlflow-skinny",
        {"precision": metric(precision_at_k), "recall": metric(recall_at_k), "ndcg": metric(ndcg_at_k)},
        [case for case in cases(5, 3000) if case.k is not None][:2000],
    )
