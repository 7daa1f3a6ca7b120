"""Judged: how much of what was retrieved has been judged at all?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.definition.definition import Definition
from retrieval_metrics.judging.judged_run import within
from retrieval_metrics.scoring.one_ranking import score_one

if TYPE_CHECKING:
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.types import Cut, FloatArray, Gains


def judged(gains: Gains, *, k: int | None = None) -> float:
    """Return the share of the first `k` documents that somebody has judged.

        judged@k = |{i <= k : document i is judged}| / min(k, n)

    where n is the number retrieved. A low value means that the other metrics rest on little: what is not judged counts
    as not relevant in them. Range [0, 1]. An empty list is undefined (NaN); a query without a relevant document is not.
    A repeated document counts once.

    Args:
        gains: Grades in rank order; None is not judged.
        k: Cut-off in documents; None takes the whole list.

    Raises:
        TypeError: If `gains` is no list of numbers, or `k` no integer.
        ValueError: If a gain is not finite, or `k` not positive.

    Example:
        >>> judged([1, None, 0, None], k=4)  # 2 / 4
        0.5
    """
    return score_one(DEFINITION, gains, k=k)


def score(judged: JudgedRun, *, k: Cut) -> FloatArray:
    """Return the judged share of every query, shape (queries,); NaN where nothing was retrieved."""
    known_at = judged.places
    known = judged.per_query(known_at.query if k is None else known_at.query[within(known_at.query, known_at.rank, k)])
    places = judged.n_retrieved if k is None else np.minimum(judged.n_retrieved, k)
    return np.where(places > 0, known / np.maximum(places, 1), np.nan)


DEFINITION = Definition(
    name="judged",
    score=score,
    summary="documents among the first k that are judged / documents among the first k",
    needs_relevant=False,
)
