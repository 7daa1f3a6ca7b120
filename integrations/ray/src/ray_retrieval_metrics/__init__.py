"""Retrieval metrics on Ray Data: evaluate more queries than one machine holds, with the same results to the last bit.

results = evaluate_dataset(qrels, run, ["ndcg@10", "mrr"])  # a Dataset with a row per query
print(to_evaluation(results))  # means, intervals and counts

Importing this package is fast: pyarrow and the core are imported with the first name that you use, and Ray with the
first Dataset.
"""

from retrieval_metrics.integration_api import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
