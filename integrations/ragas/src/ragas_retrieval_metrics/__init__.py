"""Ranking metrics for Ragas: MRR, MAP, NDCG, hit rate, precision, recall and F1, exact and without an LLM.

    from ragas_retrieval_metrics import NDCG, metric_suite, to_evaluation

    result = ragas.evaluate(dataset, metrics=[NDCG(k=10)])
    print(to_evaluation(result))

Importing this package is fast: ragas, which takes seconds, is imported with the first name that you use.
"""

from retrieval_metrics.integration_api import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
