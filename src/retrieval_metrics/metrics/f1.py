"""F1: precision and recall in one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.metrics import precision, recall
from retrieval_metrics.metrics.base.definition import REL, Definition
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.base.two_valued import select_single_relevant_at_cutoff_1
from retrieval_metrics.metrics.ties.rank_weights import mean_n_relevant

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.plain_ranking import PlainRanking


def f1(gains: Gains, *, n_relevant: int, k: int | None = None) -> float:
    """Return the harmonic mean of precision and recall at `k`.

        F1@k = 2 P R / (P + R), and 0 if P = R = 0

    where P is precision@k and R recall@k. Range [0, 1]. An empty list scores 0; without any relevant document the value
    is undefined (NaN). Source: van Rijsbergen, Information Retrieval (1979), with beta = 1.

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        n_relevant: How many documents are relevant, retrieved or not.
        k: Cutoff in documents; None takes the whole list.

    Raises:
        TypeError: If `gains` is not a list of numbers, or `k` or `n_relevant` is not an integer.
        ValueError: If a gain is not finite, `k` is not positive, or the list holds more than `n_relevant`.

    Example:
        >>> f1([1, 0, 1, 0], n_relevant=2, k=4)  # P = 2/4, R = 2/2: 2 * .5 * 1 / 1.5
        0.6666666666666666
    """
    return score_one(DEFINITION, gains, k=k, n_relevant=n_relevant)


def score(judged: JudgedRun, *, k: Cut, rel: float | None = None, norm: str = "k") -> FloatArray:
    """Return F1 of every query, shape (queries,)."""
    p = precision.score(judged, k=k, rel=rel, norm=norm)
    r = recall.score(judged, k=k, rel=rel)
    return 2 * p * r / np.where(p + r > 0, p + r, 1)


def score_plain(ranking: PlainRanking, k: int | None) -> float:
    """Return F1 of one plain ranking."""
    p = precision.score_plain(ranking, k)
    r = recall.score_plain(ranking, k)
    return 2 * p * r / (p + r) if p + r > 0 else 0.0


def mean_over_orders(
    judged: JudgedRun,
    *,
    k: int | None,
    rel: float | None = None,
    norm: str = "k",
) -> FloatArray:
    """Return F1 over all orders of equal scores.

    2 P R / (P + R) with P = h / m and R = h / n is 2 h / (m + n): linear in the hits h.
    """
    needed = precision.n_places(judged, k, norm) + judged.n_relevant(rel)
    return 2 * mean_n_relevant(judged, k, rel) / needed


DEFINITION = Definition(
    name="f1",
    score=score,
    score_plain=score_plain,
    summary="harmonic mean of precision and recall",
    plain_summary="harmonic mean of precision and recall of {first}: high only if both are",
    aliases=("f1_score", "set_f"),
    parameters={"rel": REL, "norm": precision.NORM},
    reaches_one=False,
    two_valued=select_single_relevant_at_cutoff_1,
    mean_over_orders=mean_over_orders,
)
