"""Ranking metrics for Ragas: MRR, MAP, NDCG, hit rate, precision, recall and F1, exact and without an LLM.

    from ragas_retrieval_metrics import NDCG, metric_suite, to_evaluation

    result = ragas.evaluate(dataset, metrics=[NDCG(k=10)])
    print(to_evaluation(result))

Importing this package is fast: ragas, which takes seconds, is imported with the first name that you use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragas_retrieval_metrics.datasets import afrom_langchain, afrom_llama_index, from_langchain, from_llama_index
    from ragas_retrieval_metrics.evaluating import evaluate_dataset
    from ragas_retrieval_metrics.metric import RetrievalMetric
    from ragas_retrieval_metrics.metrics import F1, MAP, MRR, NDCG, HitRate, Precision, Recall, metric_suite
    from ragas_retrieval_metrics.results import to_evaluation
    from ragas_retrieval_metrics.retrieved import RetrievedDataset

__all__ = [
    "F1",
    "MAP",
    "MRR",
    "NDCG",
    "HitRate",
    "Precision",
    "Recall",
    "RetrievalMetric",
    "RetrievedDataset",
    "afrom_langchain",
    "afrom_llama_index",
    "evaluate_dataset",
    "from_langchain",
    "from_llama_index",
    "metric_suite",
    "to_evaluation",
]

_MODULES = {
    "RetrievalMetric": "metric",
    "RetrievedDataset": "retrieved",
    "afrom_langchain": "datasets",
    "afrom_llama_index": "datasets",
    "evaluate_dataset": "evaluating",
    "from_langchain": "datasets",
    "from_llama_index": "datasets",
    "to_evaluation": "results",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'metrics')}"), name)
    globals()[name] = value  # the next use is an ordinary attribute
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
