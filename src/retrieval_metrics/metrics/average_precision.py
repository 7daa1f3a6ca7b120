"""Average precision: is everything relevant near the top?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.definition.definition import REL, Definition, Parameter, choice
from retrieval_metrics.definition.per_group import PER, hits_per_group, mean_over_groups
from retrieval_metrics.judging.judged_run import is_relevant
from retrieval_metrics.scoring.one_ranking import score_one

if TYPE_CHECKING:
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.types import Cut, FloatArray, Gains


def average_precision(gains: Gains, *, k: int | None = None, n_relevant: int | None = None) -> float:
    """Return the mean, over all relevant documents, of the precision at the rank of each.

        AP@k = 1/R * sum over i <= k with g_i > 0 of P(i),   P(i) = |{j <= i : g_j > 0}| / i

    where g_i is the grade at rank i and R the number of relevant documents, retrieved or not, also with a cut-off: what
    was not found adds 0. (Some libraries divide by the relevant documents *found*; as a metric of a run that is
    `map(norm=retrieved)`.) Range [0, 1]. A list without a relevant document scores 0; R = 0 is undefined (NaN). Its
    mean over queries is the mean average precision (MAP). Source: Buckley and Voorhees (2000); Harman (1993).

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        k: Cut-off in documents; None takes the whole list.
        n_relevant: R; None means that all relevant documents are in the list.

    Raises:
        TypeError: If `gains` is no list of numbers, or `k` or `n_relevant` no integer.
        ValueError: If a gain is not finite, `k` not positive, or the list holds more than `n_relevant`.

    Example:
        >>> average_precision([1, 0, 0, 1])  # (1/1 + 2/4) / 2
        0.75
        >>> average_precision([1, 0, 0, 1], n_relevant=3)  # (1/1 + 2/4) / 3
        0.5
    """
    return score_one(DEFINITION, gains, k=k, n_relevant=n_relevant)


def score(
    judged: JudgedRun, *, k: Cut, rel: float | None = None, norm: str = "relevant", per: str = "query"
) -> FloatArray:
    """Return the average precision of every query, shape (queries,)."""
    if per == "group":
        return _mean_of_groups(judged, k, rel, norm)
    hits = judged.hits(rel).cut(k)
    total = judged.per_query(hits.query, hits.ordinal / hits.row)
    return total / np.maximum(judged.n_relevant(rel) if norm == "relevant" else judged.per_query(hits.query), 1)


def _mean_of_groups(judged: JudgedRun, k: Cut, rel: float | None, norm: str) -> FloatArray:
    hits, qrels = hits_per_group(judged, k, rel), judged.qrels
    counted = qrels.member_group[is_relevant(qrels.member_grade, rel)] if norm == "relevant" else hits.group
    groups = len(qrels.group_query)
    size = np.maximum(np.bincount(counted, minlength=groups), 1)
    of_group = np.bincount(hits.group, hits.ordinal / hits.rank, minlength=groups) / size
    return mean_over_groups(judged, np.arange(groups), of_group, rel)


DEFINITION = Definition(
    name="map",
    score=score,
    summary="mean over the relevant documents of the precision at the rank of each; its mean is MAP",
    aliases=("ap", "average_precision", "mean_average_precision"),
    parameters={
        "rel": REL,
        "norm": Parameter(choice("relevant", "retrieved"), "relevant", "divide by all relevant, or by those found"),
        "per": PER,
    },
)
