"""Every retrieval metric, exact, in the evaluator of LlamaIndex.

    from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator, metric, ranking_metrics, register

`ranking_metrics` returns instances for the `RetrieverEvaluator` of llama-index-core, `register` makes them known to its
`from_metric_names`, and the `RetrieverEvaluator` here can replace it. Importing this package registers nothing.
"""

from llama_index.evaluation.retrieval_metrics.datasets import match_by_text
from llama_index.evaluation.retrieval_metrics.evaluator import RetrieverEvaluator
from llama_index.evaluation.retrieval_metrics.metrics import RetrievalMetric, metric, ranking_metrics
from llama_index.evaluation.retrieval_metrics.mmr_postprocessor import MMRPostprocessor
from llama_index.evaluation.retrieval_metrics.recording import record
from llama_index.evaluation.retrieval_metrics.registration import Registration, register
from llama_index.evaluation.retrieval_metrics.response_evaluator import ResponseEvaluator
from llama_index.evaluation.retrieval_metrics.results import DatasetResult, RetrieverEvalResult
from llama_index.evaluation.retrieval_metrics.source_names import source_text_by_name

__all__ = [
    "DatasetResult",
    "MMRPostprocessor",
    "Registration",
    "ResponseEvaluator",
    "RetrievalMetric",
    "RetrieverEvalResult",
    "RetrieverEvaluator",
    "match_by_text",
    "metric",
    "ranking_metrics",
    "record",
    "register",
    "source_text_by_name",
]
