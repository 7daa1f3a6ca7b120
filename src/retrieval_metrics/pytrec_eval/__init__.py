"""The interface of pytrec_eval, with the values of trec_eval and errors where the original crashes.

Code that imports pytrec_eval runs with this module in its place:

    import beir.retrieval.evaluation, retrieval_metrics.pytrec_eval
    beir.retrieval.evaluation.pytrec_eval = retrieval_metrics.pytrec_eval
"""

from retrieval_metrics.pytrec_eval.asked import supported_measures, supported_nicknames
from retrieval_metrics.pytrec_eval.relevance_evaluator import (
    RelevanceEvaluator,
    compute_aggregated_measure,
    parse_qrel,
    parse_run,
)

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]
