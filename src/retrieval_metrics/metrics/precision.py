"""Precision: how much of what was retrieved is relevant?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.definition.definition import REL, Definition, Parameter, choice
from retrieval_metrics.judging.repeats import n_distinct
from retrieval_metrics.scoring.one_ranking import score_one

if TYPE_CHECKING:
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.types import Cut, FloatArray, Gains


def precision(gains: Gains, *, k: int | None = None) -> float:
    """Return the share of the first `k` places that hold a relevant document.

        precision@k = |{i <= k : g_i > 0}| / k

    where g_i is the grade at rank i. The denominator is k also if fewer came back: an empty place is not relevant.
    Without k it is the length of the list, and with a budget the number of items that fit. Range [0, 1]. An empty list
    scores 0. With groups of alternatives each distinct member counts. A repeated document earns nothing but takes its
    place.

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        k: Cut-off in documents; None takes the whole list.

    Raises:
        TypeError: If `gains` is no list of numbers, or `k` no integer.
        ValueError: If a gain is not finite, or `k` not positive.

    Example:
        >>> precision([1, 0, 1], k=5)  # 2 / 5
        0.4
        >>> round(precision([1, 0, 1]), 4)  # 2 / 3
        0.6667
    """
    return score_one(DEFINITION, gains, k=k)


def score(judged: JudgedRun, *, k: Cut, rel: float | None = None, norm: str = "k") -> FloatArray:
    """Return the precision of every query, shape (queries,)."""
    found = judged.per_query(judged.relevant_items(k, rel))
    if k is not None and norm == "k":
        return found / np.maximum(k, 1)  # a budget may be too small for a single item
    if norm == "distinct":
        return found / np.maximum(n_distinct(judged, k), 1)
    places = judged.n_retrieved if k is None else np.minimum(judged.n_retrieved, k)
    return found / np.maximum(places, 1)


NORM = Parameter(
    choice("k", "retrieved", "distinct"),
    "k",
    "divide by k, or by the number retrieved where that is smaller, or by the distinct documents among them",
)

DEFINITION = Definition(
    name="precision",
    score=score,
    summary="relevant documents among the first k / k",
    aliases=("p",),
    parameters={"rel": REL, "norm": NORM},
)
