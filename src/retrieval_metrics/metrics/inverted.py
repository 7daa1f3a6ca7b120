"""Inverted: does a forbidden document rank above all relevant ones?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.matching.rank_rows import is_forbidden, is_relevant
from retrieval_metrics.metrics.base.definition import REL, Definition, TieOrderValues
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.ties.tie_blocks import blocks_of, hit_probability

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains, IntArray
    from retrieval_metrics.matching.judged_run import JudgedRun


def inverted(gains: Gains, *, k: int | None = None) -> float:
    """Return 1 if a forbidden document is among the first `k` and above all relevant ones, else 0.

        inverted@k = 1 if min{i <= k : g_i < 0} < min{i : g_i > 0}, else 0

    where g_i is the grade at rank i, and the rank of what was not retrieved is infinite. Lower is better. Range {0, 1}.
    An empty list scores 0. In an evaluation, the value is undefined (NaN) if no document is judged relevant or none is
    judged forbidden, if the retriever failed, or if the run lacks the query. A passage that is both relevant and
    forbidden is not above itself.

    Args:
        gains: Grades in rank order; above 0 is relevant, below 0 forbidden, None not judged.
        k: Cutoff in documents; None takes the whole list.

    Raises:
        TypeError: If `gains` is not a list of numbers, or `k` is not an integer.
        ValueError: If a gain is not finite, or `k` is not positive.

    Example:
        >>> inverted([0, -1, 1], k=3)  # forbidden at rank 2, relevant at rank 3
        1.0
        >>> inverted([1, -1], k=3)
        0.0
    """
    return score_one(DEFINITION, gains, k=k, others=[1.0, -1.0])


def score(judged: JudgedRun, *, k: Cut, rel: float | None = None) -> FloatArray:
    """Return whether each query is inverted, shape (queries,); NaN where one kind is not judged or no answer came."""
    relevant = is_relevant(judged.ranks.grade, rel)
    first_relevant = _find_first_rank(judged, judged.ranks.query[relevant], judged.ranks.rank[relevant])
    first_forbidden = _find_first_rank(judged, *judged.forbidden_ranks())
    is_inverted = first_forbidden < first_relevant
    if k is not None:
        is_inverted &= first_forbidden <= k
    has_both = judged.has_forbidden() & (judged.n_relevant(rel) > 0)
    return judged.where_answered(has_both, is_inverted)


def _find_first_rank(judged: JudgedRun, query: IntArray, rank: IntArray) -> FloatArray:
    first_rank = np.full(judged.n_queries, np.inf)
    np.minimum.at(first_rank, query, rank)
    return first_rank


def mean_over_orders(judged: JudgedRun, *, k: int | None, rel: float | None = None) -> TieOrderValues:
    """Return inversion over all orders of equal scores; the first block with a document of the two kinds decides."""
    items = judged.items
    is_relevant_item = is_relevant(items.grade, rel)
    is_forbidden_item = is_forbidden(judged.qrels.smallest_grade[items.document])
    # The grades of the blocks tell the two kinds apart: 2 is relevant, 1 is forbidden and not relevant.
    kind = np.where(is_relevant_item, 2.0, is_forbidden_item.astype(np.float64))
    judged_by_kind = judged.with_items(items._replace(grade=kind))
    over_orders = TieOrderValues(*np.zeros((3, judged.n_queries)))
    for query, blocks in blocks_of(judged_by_kind, None):
        deciding_blocks = [block for block in blocks if block.n_relevant]
        if not deciding_blocks:
            continue
        block = deciding_blocks[0]
        n_forbidden = int((block.grades == 1).sum())
        n_drawn = block.within(k)
        hit_chance = 1 - hit_probability(block.size, block.n_relevant, n_drawn, 0)
        over_orders.mean[query] = n_forbidden / block.n_relevant * hit_chance
        over_orders.highest[query] = n_forbidden > 0 and n_drawn > 0
        over_orders.lowest[query] = n_forbidden == block.n_relevant and n_drawn > block.size - n_forbidden
    return over_orders


DEFINITION = Definition(
    name="inverted",
    score=score,
    summary="1 if something forbidden is among the first k and above everything relevant, else 0",
    plain_summary="share of queries with a forbidden document in {first} above all relevant ones",
    only_cuts_ranking=True,
    parameters={"rel": REL},
    binary=True,
    higher_is_better=False,
    needs_relevant=False,
    undefined_if="no query has both a relevant and a forbidden document",
    keeps_unjudged_places=True,
    ignores_groups=True,
    mean_over_orders=mean_over_orders,
)
