# Each name has one line, which the package reads.
# fmt: off
# ruff: noqa: E501, I001 (the paths are long, and sorting would break the lines)
from haystack_integrations.components.evaluators.retrieval_metrics.evaluating import aevaluate_pipeline as aevaluate_pipeline
from haystack_integrations.components.evaluators.retrieval_metrics.evaluating import evaluate_pipeline as evaluate_pipeline
from haystack_integrations.components.evaluators.retrieval_metrics.evaluator import RetrievalEvaluator as RetrievalEvaluator
from haystack_integrations.components.evaluators.retrieval_metrics.pipeline_retriever import PipelineRetriever as PipelineRetriever
from haystack_integrations.components.evaluators.retrieval_metrics.recording import record as record
from haystack_integrations.components.evaluators.retrieval_metrics.run_results import RetrievalRunResult as RetrievalRunResult
