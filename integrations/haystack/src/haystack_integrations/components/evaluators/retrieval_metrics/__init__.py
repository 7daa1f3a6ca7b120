"""Every retrieval metric, with cut-offs, groups and grades, as an evaluator of Haystack.

    from haystack_integrations.components.evaluators.retrieval_metrics import RetrievalEvaluator

It has the inputs and outputs of Haystack's own document evaluators. `record` keeps what pipelines and agents search.
"""

from haystack_integrations.components.evaluators.retrieval_metrics.evaluator import RetrievalEvaluator
from haystack_integrations.components.evaluators.retrieval_metrics.pipelines import PipelineRetriever
from haystack_integrations.components.evaluators.retrieval_metrics.recording import record
from haystack_integrations.components.evaluators.retrieval_metrics.run_result import RetrievalRunResult

__all__ = ["PipelineRetriever", "RetrievalEvaluator", "RetrievalRunResult", "record"]
