"""MMR for every retriever of LangChain, and every retrieval metric for it.

    from langchain_retrieval_metrics import MMRReranker, MMRRetriever, aevaluate_retriever, evaluate_retriever

`MMRRetriever` wraps any retriever, `MMRReranker` is a document compressor, `evaluate_retriever` scores any retriever
locally, `langsmith_evaluators` returns the metrics as evaluators for LangSmith, and `record` keeps what agents search.

A name is imported when it is first used: reranking loads nothing that evaluating needs.
"""

from retrieval_metrics.integration_api import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
