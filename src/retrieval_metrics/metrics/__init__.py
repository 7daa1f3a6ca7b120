"""The metrics, one per file, each with every fact about it; to add one, write its file and list it here."""

from retrieval_metrics.definition.table import add
from retrieval_metrics.metrics import (
    alpha_ndcg,
    average_precision,
    bpref,
    coverage,
    dcg,
    density,
    err,
    f1,
    full_recall,
    hit_rate,
    judged,
    ndcg,
    precision,
    r_precision,
    rbp,
    recall,
    reciprocal_rank,
)

for _module in (
    hit_rate,
    full_recall,
    recall,
    precision,
    f1,
    reciprocal_rank,
    average_precision,
    ndcg,
    dcg,
    alpha_ndcg,
    r_precision,
    rbp,
    err,
    bpref,
    judged,
    coverage,
    density,
):
    add(_module.DEFINITION)
