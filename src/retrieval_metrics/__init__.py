"""The retrieval metrics of the field, defined once: exact, fast, and the same everywhere.

    >>> import retrieval_metrics as rm
    >>> result = rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, ["mrr", "ndcg@10"])
    >>> result.means["mrr"]
    0.5

`evaluate` evaluates a run, `compare` several systems. `ndcg`, `reciprocal_rank` and their siblings score one ranking
given as gains; the rarer ones are in `metrics`. What functions return, and nobody makes, is in `types`.
"""

from retrieval_metrics.lazy import lazy
from retrieval_metrics.scoring.table import add_from, meant

add_from("retrieval_metrics.metrics")  # when a metric is first looked up
__getattr__, __dir__, __all__ = lazy(__name__, meant)
