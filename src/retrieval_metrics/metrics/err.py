"""Expected reciprocal rank: how far down is the document that satisfies the user?"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.metrics.base.definition import Definition
from retrieval_metrics.metrics.base.gains import exponential
from retrieval_metrics.metrics.base.grade_scale import MAX_GRADE, largest_grade
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.ties.tie_blocks import average_by_block, hit_probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.ties.tie_blocks import Block


def err(gains: Gains, *, k: int | None = None, max_grade: float | None = None) -> float:
    """Return the expected reciprocal rank of the first document that satisfies the user.

        ERR@k = sum over i <= k of 1/i * S_i * product over j < i of (1 - S_j),   S_i = (2^g_i - 1) / 2^G

    where g_i is the grade at rank i (0 if negative) and G the largest grade. Range [0, 1); the ideal ranking stays
    below 1 by design. An empty list scores 0. Source: Chapelle, Metzler, Zhang and Grinspan (2009); the TREC web
    track's gdeval uses G = 4.

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        k: Cutoff in documents; None takes the whole list.
        max_grade: G; None takes the largest grade of the list (of all judgments, in an evaluation).

    Raises:
        TypeError: If `gains` is not a list of numbers, or `k` is not an integer.
        ValueError: If a gain is not finite, above `max_grade` or above 1000, or `k` is not positive.

    Example:
        >>> err([1, 1])  # S = 1/2: 1/1 * 1/2 + 1/2 * 1/2 * 1/2
        0.625
    """
    return score_one(DEFINITION, gains, k=k, max_grade=max_grade)


def score(judged: JudgedRun, *, k: Cut, max_grade: float | None = None) -> FloatArray:
    """Return ERR of every query, shape (queries,)."""
    hits = judged.hits_within(k)
    satisfied_chance = exponential(hits.grade) / _largest_grade_power(judged, max_grade)
    value = np.zeros(judged.n_queries)
    unsatisfied_chance = np.ones(judged.n_queries)
    # Hit by hit, all queries at once: the first hit of each, then the second, ...
    by_ordinal = np.argsort(hits.ordinal, kind="stable")
    for step in np.split(by_ordinal, np.flatnonzero(np.diff(hits.ordinal[by_ordinal])) + 1):
        query = hits.query[step]
        value[query] += unsatisfied_chance[query] * satisfied_chance[step] / hits.row[step]
        unsatisfied_chance[query] *= 1 - satisfied_chance[step]
    return value


def _largest_grade_power(judged: JudgedRun, max_grade: float | None) -> float:
    """Return 2^G for the largest grade G."""
    return float(exponential(np.array([largest_grade(judged, max_grade)]))[0]) + 1


def mean_over_orders(judged: JudgedRun, *, k: int | None, max_grade: float | None = None) -> FloatArray:
    """Return ERR over all orders of equal scores.

    The probability of stopping at document i is that of passing i - 1 documents minus that of passing i.
    """
    grade_power = _largest_grade_power(judged, max_grade)

    def compute_mean(_: int, blocks: Sequence[Block]) -> float:
        total = 0.0
        reach_chance = 1.0
        for block in blocks:
            pass_chances = 1 - exponential(block.grades[block.grades > 0]) / grade_power
            mean_products = _mean_products(pass_chances)
            previous_chance = 1.0
            for place in range(1, block.within(k) + 1):
                terms = []
                for n_drawn, mean_product in enumerate(mean_products):
                    terms.append(hit_probability(block.size, len(pass_chances), place, n_drawn) * mean_product)
                passed_chance = sum(terms)
                total += reach_chance * (previous_chance - passed_chance) / (block.n_above + place)
                previous_chance = passed_chance
            reach_chance *= float(np.prod(pass_chances))
        return total

    return average_by_block(judged, None, compute_mean)


def _mean_products(factors: FloatArray) -> list[float]:
    """Return the mean product of 0, 1, 2, ... factors drawn at random: elementary symmetric polynomials.

    Example:
        >>> _mean_products(np.array([0.5, 0.25]))  # 1, (1/2 + 1/4) / 2, 1/2 * 1/4
        [1.0, 0.375, 0.125]
    """
    sums = np.zeros(len(factors) + 1)
    sums[0] = 1.0
    for factor in factors:
        sums[1:] += factor * sums[:-1]
    return [float(total) / comb(len(factors), drawn) for drawn, total in enumerate(sums)]


DEFINITION = Definition(
    name="err",
    score=score,
    summary="expected reciprocal rank of the first document that satisfies the user",
    plain_summary="expected 1 / rank at which a reader is satisfied; uses the grades",
    only_cuts_ranking=True,
    parameters={"max_grade": MAX_GRADE},
    reaches_one=False,
    mean_over_orders=mean_over_orders,
)
