"""Retrieval metrics on Ray Data: evaluate more queries than one machine holds, with the same results to the last bit.

results = evaluate_dataset(qrels, run, ["ndcg@10", "mrr"])  # a Dataset with a row per query
print(to_evaluation(results))  # means, intervals and counts

Importing this package is fast: pyarrow and the core are imported with the first name that you use, and Ray with the
first Dataset.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ray_retrieval_metrics.evaluating import evaluate_dataset
    from ray_retrieval_metrics.reading import read_qrels, read_run
    from ray_retrieval_metrics.results import to_evaluation
    from ray_retrieval_metrics.starting import start

__all__ = ["evaluate_dataset", "read_qrels", "read_run", "start", "to_evaluation"]

_MODULES = {
    "evaluate_dataset": "evaluating",
    "read_qrels": "reading",
    "read_run": "reading",
    "start": "starting",
    "to_evaluation": "results",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value  # the next use is an ordinary attribute
    return value
