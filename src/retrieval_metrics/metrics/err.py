"""Expected reciprocal rank: where does a user stop who stops when satisfied?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.definition.definition import Definition
from retrieval_metrics.definition.gain import exponential
from retrieval_metrics.definition.largest_grade import MAX_GRADE, largest_grade
from retrieval_metrics.scoring.one_ranking import score_one

if TYPE_CHECKING:
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.types import Cut, FloatArray, Gains


def err(gains: Gains, *, k: int | None = None, max_grade: float | None = None) -> float:
    """Return the expected reciprocal of the rank at which a user stops who stops at the first satisfying document.

        ERR@k = sum over i <= k of 1/i * S_i * product over j < i of (1 - S_j),   S_i = (2^g_i - 1) / 2^G

    where g_i is the grade at rank i (0 if negative) and G the largest grade. Range [0, 1); the ideal ranking stays
    below 1 by design. An empty list scores 0. Source: Chapelle, Metzler, Zhang and Grinspan (2009); the TREC web
    track's gdeval uses G = 4.

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        k: Cut-off in documents; None takes the whole list.
        max_grade: G; None takes the largest grade of the list (of all judgments, in an evaluation).

    Raises:
        TypeError: If `gains` is no list of numbers, or `k` no integer.
        ValueError: If a gain is not finite, above `max_grade` or above 1000, or `k` not positive.

    Example:
        >>> err([1, 1])  # S = 1/2: 1/1 * 1/2 + 1/2 * 1/2 * 1/2
        0.625
    """
    return score_one(DEFINITION, gains, k=k, max_grade=max_grade)


def score(judged: JudgedRun, *, k: Cut, max_grade: float | None = None) -> FloatArray:
    """Return ERR of every query, shape (queries,)."""
    hits = judged.hits().cut(k)
    top = largest_grade(judged, max_grade)
    satisfied = exponential(hits.grade) / (exponential(np.array([top])) + 1)
    value, unsatisfied = np.zeros(judged.n_queries), np.ones(judged.n_queries)
    # Hit by hit, all queries at once: the first hit of each, then the second, ...
    by_ordinal = np.argsort(hits.ordinal, kind="stable")
    for step in np.split(by_ordinal, np.flatnonzero(np.diff(hits.ordinal[by_ordinal])) + 1):
        query = hits.query[step]
        value[query] += unsatisfied[query] * satisfied[step] / hits.row[step]
        unsatisfied[query] *= 1 - satisfied[step]
    return value


DEFINITION = Definition(
    name="err",
    score=score,
    summary="expected reciprocal rank: 1 / rank at which a user stops who stops when satisfied",
    parameters={"max_grade": MAX_GRADE},
)
