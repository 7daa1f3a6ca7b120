"""Bpref: are relevant documents ranked above those judged not relevant?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.matching.rank_rows import count_above, is_relevant
from retrieval_metrics.metrics.base.definition import REL, Definition
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.base.two_valued import select_single_relevant
from retrieval_metrics.metrics.ties.tie_blocks import average_by_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import BoolArray, FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.ties.tie_blocks import Block


def bpref(gains: Gains, *, n_relevant: int, n_nonrelevant: int) -> float:
    """Return how rarely documents judged not relevant are ranked above relevant ones, ignoring unjudged documents.

        bpref = 1/R * sum over relevant retrieved r of (1 - min(n_r, R) / min(N, R))

    where R is the number of relevant documents, N the number of documents judged not relevant (grade from 0 up to, but
    not including, the threshold; a negative grade is neither), and n_r the number of those ranked above r. A term
    with n_r = 0 is 1. Range [0, 1]. An empty list scores 0; R = 0 is undefined (NaN). There is no cutoff. Source:
    Buckley and Voorhees (2004), in the form that trec_eval computes.

    Args:
        gains: Grades in rank order; 0 is judged not relevant, None not judged.
        n_relevant: R, retrieved or not.
        n_nonrelevant: N, retrieved or not.

    Raises:
        TypeError: If `gains` is not a list of numbers, or one of the numbers is not an integer.
        ValueError: If a gain is not finite, or the list holds more than the numbers given.

    Example:
        >>> bpref([1, None, 0, 1], n_relevant=2, n_nonrelevant=2)  # ((1 - 0) + (1 - 1/2)) / 2
        0.75
    """
    return score_one(DEFINITION, gains, n_relevant=n_relevant, n_nonrelevant=n_nonrelevant)


def score(judged: JudgedRun, *, k: None = None, rel: float | None = None) -> FloatArray:
    """Return bpref of every query, shape (queries,)."""
    n_relevant = judged.n_relevant(rel)
    hits = judged.hits(rel)
    items = judged.items
    nonrelevant_query = judged.qrels.document_query[_is_nonrelevant(judged.qrels.document_grade, rel)]
    max_above = np.minimum(n_relevant, judged.sum_by_query(nonrelevant_query))
    is_nonrelevant = _is_nonrelevant(items.grade, rel)
    n_above = count_above(hits.query, hits.rank, items.query[is_nonrelevant], items.rank[is_nonrelevant])
    n_above = np.minimum(n_above, n_relevant[hits.query])
    term = 1 - n_above / np.maximum(max_above[hits.query], 1)
    return judged.sum_by_query(hits.query, term) / np.maximum(n_relevant, 1)


def _is_nonrelevant(grade: FloatArray, rel: float | None) -> BoolArray:
    return (grade >= 0) & ~is_relevant(grade, rel)


def mean_over_orders(
    judged: JudgedRun,
    *,
    k: None = None,
    rel: float | None = None,
) -> FloatArray:
    """Return bpref over all orders of equal scores.

    The number of nonrelevant documents of the same block above a relevant one is 0, 1, ... or all, each equally likely.
    """
    qrels = judged.qrels

    def compute_mean(query: int, blocks: Sequence[Block]) -> float:
        grades = qrels.document_grade[qrels.bounds[query] : qrels.bounds[query + 1]]
        n_relevant = float(judged.n_relevant(rel)[query])
        max_above = max(min(n_relevant, float(np.sum(_is_nonrelevant(grades, rel)))), 1.0)
        total = 0.0
        n_above = 0
        for block in blocks:
            n_nonrelevant = int(np.sum(_is_nonrelevant(block.grades, rel)))
            possible_n_above = np.minimum(n_above + np.arange(n_nonrelevant + 1), n_relevant)
            total += block.n_relevant * float(np.mean(1 - possible_n_above / max_above))
            n_above += n_nonrelevant
        return total / max(n_relevant, 1.0)

    return average_by_block(judged, rel, compute_mean)


DEFINITION = Definition(
    name="bpref",
    score=score,
    summary="how rarely documents judged not relevant are ranked above relevant ones",
    plain_summary="how rarely documents judged not relevant rank above relevant ones",
    parameters={"rel": REL},
    takes_cutoff=False,
    two_valued=select_single_relevant,
    mean_over_orders=mean_over_orders,
)
