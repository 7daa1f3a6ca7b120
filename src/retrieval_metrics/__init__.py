"""The retrieval metrics of the field, defined once: exact, fast, and the same everywhere.

    >>> import retrieval_metrics as rm
    >>> result = rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, ["mrr", "ndcg@10"])
    >>> result.means["mrr"]
    0.5

Evaluate whole runs with `evaluate`, one ranking given as gains with `ndcg`, `reciprocal_rank` and their siblings.
"""

from retrieval_metrics.checks import RetrievalWarning
from retrieval_metrics.evaluation.auditing import Audit, audit
from retrieval_metrics.evaluation.engine import evaluate
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.inputs.pieces import Metadata, Quote, Span, Text
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.queries import EvaluationSet
from retrieval_metrics.inputs.retrieve import RetrievedRun, aretrieve, retrieve
from retrieval_metrics.inputs.retrieved import Retrieved
from retrieval_metrics.inputs.sources import locate
from retrieval_metrics.judging.matching import Matching
from retrieval_metrics.judging.rules import Rules
from retrieval_metrics.metrics.average_precision import average_precision
from retrieval_metrics.metrics.bpref import bpref
from retrieval_metrics.metrics.dcg import dcg
from retrieval_metrics.metrics.err import err
from retrieval_metrics.metrics.f1 import f1
from retrieval_metrics.metrics.full_recall import full_recall
from retrieval_metrics.metrics.hit_rate import hit_rate
from retrieval_metrics.metrics.judged import judged
from retrieval_metrics.metrics.metric import DEFAULT_METRICS, Metric
from retrieval_metrics.metrics.ndcg import ndcg
from retrieval_metrics.metrics.precision import precision
from retrieval_metrics.metrics.r_precision import r_precision
from retrieval_metrics.metrics.rbp import rbp
from retrieval_metrics.metrics.recall import recall
from retrieval_metrics.metrics.reciprocal_rank import reciprocal_rank

__all__ = [
    "DEFAULT_METRICS",
    "Audit",
    "Evaluation",
    "EvaluationSet",
    "Matching",
    "Metadata",
    "Metric",
    "Qrels",
    "Quote",
    "RetrievalWarning",
    "Retrieved",
    "RetrievedRun",
    "Rules",
    "Span",
    "Text",
    "aretrieve",
    "audit",
    "average_precision",
    "bpref",
    "dcg",
    "err",
    "evaluate",
    "f1",
    "full_recall",
    "hit_rate",
    "judged",
    "locate",
    "ndcg",
    "precision",
    "r_precision",
    "rbp",
    "recall",
    "reciprocal_rank",
    "retrieve",
]
