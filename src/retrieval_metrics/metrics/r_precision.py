"""R-precision: precision at the number of relevant documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.metrics.base.definition import REL, Definition
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.base.two_valued import select_single_relevant
from retrieval_metrics.metrics.ties.rank_weights import mean_n_relevant

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun


def r_precision(gains: Gains, *, n_relevant: int) -> float:
    """Return the precision at rank R, where R is the number of relevant documents.

        R-precision = |{i <= R : g_i > 0}| / R

    where g_i is the grade at rank i. With groups of alternatives, R is the number of groups, and a document that
    satisfies several groups counts as that many ranks. Range [0, 1]. An empty list scores 0; R = 0 is undefined (NaN).
    It takes no k, because R is the cutoff. Source: Buckley and Voorhees (2005).

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        n_relevant: R, the number of relevant documents, retrieved or not.

    Raises:
        TypeError: If `gains` is not a list of numbers, or `n_relevant` is not an integer.
        ValueError: If a gain is not finite, or the list holds more than `n_relevant`.

    Example:
        >>> r_precision([1, 0, 1], n_relevant=2)  # 1 of the first 2
        0.5
    """
    return score_one(DEFINITION, gains, n_relevant=n_relevant)


def score(judged: JudgedRun, *, k: None = None, rel: float | None = None) -> FloatArray:
    """Return the R-precision of every query, shape (queries,)."""
    hits = judged.hits(rel)
    n_relevant = judged.n_relevant(rel)
    return judged.sum_by_query(hits.query[hits.row <= n_relevant[hits.query]]) / np.maximum(n_relevant, 1)


def mean_over_orders(
    judged: JudgedRun,
    *,
    k: None = None,
    rel: float | None = None,
) -> FloatArray:
    """Return R-precision over all orders of equal scores: every place of a block is equally likely to be relevant."""
    n_relevant = judged.n_relevant(rel)
    return mean_n_relevant(judged, n_relevant.astype(np.int64), rel) / np.maximum(n_relevant, 1)


DEFINITION = Definition(
    name="r_precision",
    score=score,
    summary="relevant documents among the first R / R; its cutoff R is the number of relevant documents",
    plain_summary="share of the first R results that is relevant, where R documents are relevant",
    aliases=("rprec", "r_prec"),
    parameters={"rel": REL},
    takes_cutoff=False,
    cuts_at_n_relevant=True,
    two_valued=select_single_relevant,
    mean_over_orders=mean_over_orders,
)
