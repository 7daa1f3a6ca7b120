"""The retrieval metrics of the field, defined once: exact, fast, and the same everywhere.

    >>> import retrieval_metrics as rm
    >>> result = rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, ["mrr", "ndcg@10"])
    >>> result.means["mrr"]
    0.5

`evaluate` evaluates a run, `compare` several systems. `ndcg`, `reciprocal_rank` and their siblings score one ranking
given as gains; the rarer ones are in `metrics`. What functions return, and nobody makes, is in `types`.
"""

from retrieval_metrics._internal.lazy import lazy_module


def _hint(name: str) -> str:
    """Return what to add to the message about an unknown name."""
    from retrieval_metrics.metrics.metric_names import suggest_call

    return suggest_call(name)


__getattr__, __dir__, __all__ = lazy_module(__name__, _hint)
