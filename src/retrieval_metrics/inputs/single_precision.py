"""Scores in 32 bits, as pytrec_eval compares them.

Rounding keeps the order of scores and can only make some of them equal. So a ranking is rounded only where that may
matter: if a score that is asked for is close to its neighbour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray


# Scores beyond it in either direction count as this number.
MAX_FLOAT32 = float(np.finfo(np.float32).max)
# A number of 32 bits has 24 binary digits, so numbers that differ by more than this share of one of them stay distinct.
MAX_ROUNDING_SHARE = 2.0**-22
# The step between numbers of 32 bits next to 0.
SMALLEST_STEP = 2.0**-149


def round_scores(scores: Iterable[float]) -> FloatArray:
    """Return the nearest numbers of 32 bits.

    Example:
        >>> first, second = round_scores([0.12345678, 0.123456781]).tolist()
        >>> first == second
        True
    """
    return round_column(np.fromiter(scores, np.float64))


def round_column(scores: FloatArray) -> FloatArray:
    """Return the nearest numbers of 32 bits to those of a column."""
    clipped = np.clip(scores, -MAX_FLOAT32, MAX_FLOAT32)
    return clipped.astype(np.float32).astype(np.float64)


def round_ranking(ranking: Mapping[Any, float]) -> dict[Any, float]:
    """Return a ranking with its scores rounded."""
    return dict(zip(ranking, round_scores(ranking.values()).tolist(), strict=True))


def may_gain_a_tie(ascending: Sequence[float], ends: Iterable[int]) -> bool:
    """Return whether rounding may make a score equal to a neighbour.

    Args:
        ascending: Scores, the smallest first.
        ends: For each score of interest, how many scores there are up to and including it.
    """
    if ascending[-1] > MAX_FLOAT32 or ascending[0] < -MAX_FLOAT32:
        return True
    n_scores = len(ascending)
    for end in ends:
        score = ascending[end - 1]
        max_gap = MAX_ROUNDING_SHARE * abs(score) + SMALLEST_STEP
        if end < n_scores and ascending[end] - score <= max_gap:
            return True
        if end > 1 and score - ascending[end - 2] <= max_gap:
            return True
    return False
