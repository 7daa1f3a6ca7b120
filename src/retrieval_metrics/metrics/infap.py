"""Inferred average precision: average precision where only a sample of the pool is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.matching.rank_rows import count_above, is_relevant
from retrieval_metrics.metrics.base.definition import REL, Definition
from retrieval_metrics.metrics.base.single_ranking import score_one

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import BoolArray, FloatArray, Gains, IntArray
    from retrieval_metrics.matching.judged_run import JudgedRun

# What trec_eval adds to the numbers of documents, so that nothing is divided by 0.
EPSILON = 1e-5


def infap(gains: Gains, *, n_relevant: int, n_nonrelevant: int) -> float:
    """Return average precision with the precision at each relevant document estimated from the judged ones above it.

        infAP = 1/R * sum over relevant retrieved d of
                (1/i + (r + n) / i * (r + e) / (r + n + 2 e))

    where i is the rank of d, r and n count the relevant and the not relevant judged documents above it, and e is
    .00001. No unjudged document counts as pooled here, so the value is average precision, apart from e. trec_eval
    counts documents with a negative grade as pooled but unjudged, as does `retrieval_metrics.pytrec_eval`; here they
    are judged not relevant. Range [0, 1]. An empty list scores 0; R = 0 is undefined (NaN). There is no cutoff.
    Source: Yilmaz and Aslam (2006).

    Args:
        gains: Grades in rank order; 0 is judged not relevant, None not judged.
        n_relevant: R, retrieved or not.
        n_nonrelevant: How many documents are judged not relevant, retrieved or not.

    Raises:
        TypeError: If `gains` is not a list of numbers, or one of the numbers is not an integer.
        ValueError: If a gain is not finite, or the list holds more than the numbers given.

    Example:
        >>> round(infap([1, None, 0, 1], n_relevant=2, n_nonrelevant=1), 3)  # (1 + (1/4 + 2/4 * 1/2)) / 2
        0.75
    """
    return score_one(DEFINITION, gains, n_relevant=n_relevant, n_nonrelevant=n_nonrelevant)


def score(judged: JudgedRun, *, k: None = None, rel: float | None = None) -> FloatArray:
    """Return inferred average precision of every query, shape (queries,)."""
    is_pooled = np.zeros(len(judged.items.grade), np.bool_)
    return estimate_average_precision(judged, rel, is_pooled)


def estimate_average_precision(judged: JudgedRun, rel: float | None, is_pooled: BoolArray) -> FloatArray:
    """Return inferred average precision if some of the items that are not relevant were pooled but not judged."""
    hits = judged.hits(rel)
    items = judged.items

    def count_above_hits(mask: BoolArray) -> IntArray:
        return count_above(hits.query, hits.rank, items.query[mask], items.rank[mask])

    n_relevant_above = hits.ordinal - 1
    # A text that only covers a part of a relevant piece has no row of its own, though it may hold another judged piece;
    # so no more can stand above a hit than there are rows.
    n_rows_above = hits.row - 1
    is_nonrelevant = ~is_relevant(items.grade, rel) & ~is_pooled
    n_judged_above = np.minimum(n_relevant_above + count_above_hits(is_nonrelevant), n_rows_above)
    n_pooled_above = np.minimum(n_judged_above + count_above_hits(is_pooled), n_rows_above)
    term = (1 + n_pooled_above * (n_relevant_above + EPSILON) / (n_judged_above + 2 * EPSILON)) / hits.row
    return judged.sum_by_query(hits.query, term) / np.maximum(judged.n_relevant(rel), 1)


DEFINITION = Definition(
    name="infap",
    score=score,
    summary="average precision estimated from the judged documents above each relevant one",
    plain_summary="how near the top the relevant documents are, estimated from partial judgments",
    aliases=("inf_ap",),
    parameters={"rel": REL},
    takes_cutoff=False,
    reaches_one=False,
)
