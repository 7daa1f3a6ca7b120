"""MMR for every retriever of LangChain, and every retrieval metric for it.

    from langchain_retrieval_metrics import MMRReranker, MMRRetriever, aevaluate_retriever, evaluate_retriever

`MMRRetriever` wraps any retriever, `MMRReranker` is a document compressor, `evaluate_retriever` scores any retriever
locally, `langsmith_evaluators` returns the metrics as evaluators for LangSmith, and `record` keeps what agents search.
"""

from langchain_retrieval_metrics.documents import as_retrieved
from langchain_retrieval_metrics.evaluation import aevaluate_retriever, evaluate_retriever
from langchain_retrieval_metrics.langsmith import (
    langsmith_comparative_evaluators,
    langsmith_dataset,
    langsmith_evaluators,
    langsmith_summary_evaluators,
    langsmith_target,
)
from langchain_retrieval_metrics.recording import record
from langchain_retrieval_metrics.reranker import MMRReranker
from langchain_retrieval_metrics.retriever import MMRRetriever
from langchain_retrieval_metrics.stores import get_vectors
from langchain_retrieval_metrics.tuning import MMRTuning, atune_mmr, tune_mmr

__all__ = [
    "MMRReranker",
    "MMRRetriever",
    "MMRTuning",
    "aevaluate_retriever",
    "as_retrieved",
    "atune_mmr",
    "evaluate_retriever",
    "get_vectors",
    "langsmith_comparative_evaluators",
    "langsmith_dataset",
    "langsmith_evaluators",
    "langsmith_summary_evaluators",
    "langsmith_target",
    "record",
    "tune_mmr",
]
