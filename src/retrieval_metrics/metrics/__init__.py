"""The metrics, one file each, and how their names are read; adding one takes a file and a line here.

The functions of this package score one ranking: `retrieval_metrics.metrics.rbp([1, 0, 1])`. Each function has the name
of its module and hides it here; to import from the module, write `from retrieval_metrics.metrics.rbp import score`. A
new metric is a module and a line here.
"""

from retrieval_metrics.metrics.alpha_ndcg import DEFINITION as ALPHA_NDCG
from retrieval_metrics.metrics.average_precision import DEFINITION as AVERAGE_PRECISION
from retrieval_metrics.metrics.average_precision import average_precision
from retrieval_metrics.metrics.base.registry import add
from retrieval_metrics.metrics.bpref import DEFINITION as BPREF
from retrieval_metrics.metrics.bpref import bpref
from retrieval_metrics.metrics.coverage import DEFINITION as COVERAGE
from retrieval_metrics.metrics.dcg import DEFINITION as DCG
from retrieval_metrics.metrics.dcg import dcg
from retrieval_metrics.metrics.density import DEFINITION as DENSITY
from retrieval_metrics.metrics.err import DEFINITION as ERR
from retrieval_metrics.metrics.err import err
from retrieval_metrics.metrics.f1 import DEFINITION as F1
from retrieval_metrics.metrics.f1 import f1
from retrieval_metrics.metrics.false_answer import DEFINITION as FALSE_ANSWER
from retrieval_metrics.metrics.false_answer import false_answer
from retrieval_metrics.metrics.full_recall import DEFINITION as FULL_RECALL
from retrieval_metrics.metrics.full_recall import full_recall
from retrieval_metrics.metrics.hit_rate import DEFINITION as HIT_RATE
from retrieval_metrics.metrics.hit_rate import hit_rate
from retrieval_metrics.metrics.infap import DEFINITION as INFAP
from retrieval_metrics.metrics.infap import infap
from retrieval_metrics.metrics.inverted import DEFINITION as INVERTED
from retrieval_metrics.metrics.inverted import inverted
from retrieval_metrics.metrics.iprec import DEFINITION as IPREC
from retrieval_metrics.metrics.iprec import iprec
from retrieval_metrics.metrics.judged import DEFINITION as JUDGED
from retrieval_metrics.metrics.judged import judged
from retrieval_metrics.metrics.leak import DEFINITION as LEAK
from retrieval_metrics.metrics.leak import leak
from retrieval_metrics.metrics.ndcg import DEFINITION as NDCG
from retrieval_metrics.metrics.ndcg import ndcg
from retrieval_metrics.metrics.precision import DEFINITION as PRECISION
from retrieval_metrics.metrics.precision import precision
from retrieval_metrics.metrics.r_precision import DEFINITION as R_PRECISION
from retrieval_metrics.metrics.r_precision import r_precision
from retrieval_metrics.metrics.rbp import DEFINITION as RBP
from retrieval_metrics.metrics.rbp import rbp
from retrieval_metrics.metrics.recall import DEFINITION as RECALL
from retrieval_metrics.metrics.recall import recall
from retrieval_metrics.metrics.reciprocal_rank import DEFINITION as RECIPROCAL_RANK
from retrieval_metrics.metrics.reciprocal_rank import reciprocal_rank

__all__ = [
    "average_precision",
    "bpref",
    "dcg",
    "err",
    "f1",
    "false_answer",
    "full_recall",
    "hit_rate",
    "infap",
    "inverted",
    "iprec",
    "judged",
    "leak",
    "ndcg",
    "precision",
    "r_precision",
    "rbp",
    "recall",
    "reciprocal_rank",
]

for _definition in (
    HIT_RATE,
    FULL_RECALL,
    RECALL,
    PRECISION,
    F1,
    RECIPROCAL_RANK,
    AVERAGE_PRECISION,
    NDCG,
    DCG,
    ALPHA_NDCG,
    R_PRECISION,
    IPREC,
    RBP,
    ERR,
    BPREF,
    INFAP,
    JUDGED,
    COVERAGE,
    DENSITY,
    LEAK,
    INVERTED,
    FALSE_ANSWER,
):
    add(_definition)
