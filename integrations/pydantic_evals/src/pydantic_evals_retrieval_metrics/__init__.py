"""Every retrieval metric for Pydantic Evals: per case, over the whole report with intervals, and in YAML.

    from pydantic_evals_retrieval_metrics import RetrievalMetrics, RetrievalReport

`RetrievalMetrics` scores a case, `RetrievalReport` the experiment, in which a failed task counts as 0. `to_evaluation`
converts a report to an evaluation of the core, and `keep_spans` keeps documents from spans in the report.
"""

from pydantic_evals_retrieval_metrics.evaluators import RetrievalMetrics, RetrievalReport
from pydantic_evals_retrieval_metrics.reports import to_evaluation
from pydantic_evals_retrieval_metrics.spans import keep_spans

__all__ = ["RetrievalMetrics", "RetrievalReport", "keep_spans", "to_evaluation"]
