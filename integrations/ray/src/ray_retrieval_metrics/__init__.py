"""Retrieval metrics on Ray Data: evaluate more queries than one machine holds, with the same results to the last bit.

results = evaluate_dataset(qrels, run, ["ndcg@10", "mrr"])  # a Dataset with a row per query
print(to_evaluation(results))  # means, intervals and counts
"""

from ray_retrieval_metrics.evaluating import evaluate_dataset
from ray_retrieval_metrics.reading import read_qrels, read_run
from ray_retrieval_metrics.results import to_evaluation
from ray_retrieval_metrics.starting import start

__all__ = ["evaluate_dataset", "read_qrels", "read_run", "start", "to_evaluation"]
