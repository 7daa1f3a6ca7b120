"""Interpolated precision: the best precision at a recall or beyond."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.metrics.base.definition import REL, Definition, Parameter, make_choice
from retrieval_metrics.metrics.base.single_ranking import score_one

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.definition import ParameterValue

# The recalls of the eleven-point average.
ELEVEN_RECALLS = tuple(tenth / 10 for tenth in range(11))

# A recall of r needs r R relevant documents; this is added before it is rounded down.
ROUNDING_ALLOWANCE = {"up": 0.9, "nearest": 0.5}


def iprec(gains: Gains, *, n_relevant: int, recall: float | None = None, rounding: str = "up") -> float:
    """Return the interpolated precision at a recall, or the average of the eleven at the recalls 0, .1, ... and 1.

        iprec(r) = max over the ranks i with at least r R relevant documents of (relevant among the first i) / i

    where R is the number of relevant documents; r R is rounded up as in trec_eval up to version 9, floor(r R + .9).
    A recall that the list does not reach has precision 0. Range [0, 1]. An empty list scores 0; R = 0 is undefined
    (NaN). There is no cutoff. Source: Manning, Raghavan and Schütze (2008), chapter 8.

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        n_relevant: R, the number of relevant documents, retrieved or not.
        recall: r, from 0 to 1; None takes the average of the eleven.
        rounding: `"up"`, or `"nearest"` as trec_eval does it from version 10, floor(r R + .5).

    Raises:
        TypeError: If `gains` is not a list of numbers, or `n_relevant` is not an integer.
        ValueError: If a gain is not finite, the list holds more than `n_relevant`, `recall` is out of range, or
            `rounding` is another word.

    Example:
        >>> iprec([1, 0, 1], n_relevant=2, recall=0.5)  # the first alone: 1/1
        1.0
        >>> round(iprec([1, 0, 1], n_relevant=2), 4)  # 1 at the recalls up to .5, then 2/3: (6 + 5 * 2/3) / 11
        0.8485
    """
    return score_one(DEFINITION, gains, n_relevant=n_relevant, recall=recall, rounding=rounding)


def score(
    judged: JudgedRun,
    *,
    k: None = None,
    rel: float | None = None,
    recall: float | None = None,
    rounding: str = "up",
) -> FloatArray:
    """Return the interpolated precision of every query, shape (queries,)."""
    if recall is None:
        precisions = [score(judged, rel=rel, recall=level, rounding=rounding) for level in ELEVEN_RECALLS]
        mean: FloatArray = np.mean(precisions, axis=0)
        return mean
    hits = judged.hits(rel)
    n_needed = np.floor(recall * judged.n_relevant(rel) + ROUNDING_ALLOWANCE[rounding])
    is_reached = hits.ordinal >= n_needed[hits.query]
    precision = np.zeros(judged.n_queries)
    np.maximum.at(precision, hits.query[is_reached], (hits.ordinal / hits.row)[is_reached])
    return precision


def _parse_recall(value: Any) -> ParameterValue:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not (isfinite(number) and 0 <= number <= 1):
        raise ValueError("must be a number from 0 to 1")
    return int(number) if number.is_integer() else number


DEFINITION = Definition(
    name="iprec",
    score=score,
    summary="largest precision at this recall or beyond; without a recall the average of eleven",
    plain_summary="highest precision at a given recall or beyond",
    parameters={
        "recall": Parameter(
            _parse_recall, None, "the recall; without it, the mean at 0, .1, ... and 1", examples=(0.5, 0, 1)
        ),
        "rounding": make_choice(
            "up",
            "how the recall times R is rounded: up, or to the nearest whole number (`nearest`), as in trec_eval 10",
            {
                "up": "a recall level takes its share of the relevant documents, rounded up",
                "nearest": "a recall level takes its share of the relevant documents, rounded to the nearest number",
            },
        ),
        "rel": REL,
    },
    takes_cutoff=False,
)
