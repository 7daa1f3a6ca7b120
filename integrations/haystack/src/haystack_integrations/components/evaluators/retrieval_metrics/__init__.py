"""Every retrieval metric, with cut-offs, groups and grades, as an evaluator of Haystack.

    from haystack_integrations.components.evaluators.retrieval_metrics import RetrievalEvaluator, evaluate_pipeline

`RetrievalEvaluator` has the inputs and outputs of Haystack's own document evaluators; `evaluate_pipeline` evaluates
each step of a pipeline. `record` keeps what pipelines and agents search.
"""

from haystack_integrations.components.evaluators.retrieval_metrics.evaluating import (
    aevaluate_pipeline,
    evaluate_pipeline,
)
from haystack_integrations.components.evaluators.retrieval_metrics.evaluator import RetrievalEvaluator
from haystack_integrations.components.evaluators.retrieval_metrics.pipeline_retriever import PipelineRetriever
from haystack_integrations.components.evaluators.retrieval_metrics.recording import record
from haystack_integrations.components.evaluators.retrieval_metrics.run_results import RetrievalRunResult

__all__ = [
    "PipelineRetriever",
    "RetrievalEvaluator",
    "RetrievalRunResult",
    "aevaluate_pipeline",
    "evaluate_pipeline",
    "record",
]
