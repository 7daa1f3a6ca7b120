"""Every retrieval metric for MLflow: scorers for `mlflow.genai.evaluate`, and evaluations and comparisons as runs.

    from mlflow_retrieval_metrics import log_comparison, log_evaluation, retrieval_scorers

`retrieval_scorers` score what an application retrieves; `log_evaluation` and `log_comparison` log results of the core
with intervals, tables, plots and the report.
"""

from mlflow_retrieval_metrics.runs import log_comparison, log_evaluation
from mlflow_retrieval_metrics.scorers import RetrievalScorer, retrieval_scorers

__all__ = ["RetrievalScorer", "log_comparison", "log_evaluation", "retrieval_scorers"]
