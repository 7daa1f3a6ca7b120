"""Scores in 32 bits, as trec_eval compares them.

Rounding keeps the order of scores and can only make some of them equal. So a ranking is rounded only where that
may matter: if a score that is asked for is close to its neighbour.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.inputs.run import Run, StreamedRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.inputs.batch import Batch

LARGEST = float(np.finfo(np.float32).max)
"""What is beyond it in either direction counts as this number."""
CLOSE = 2.0**-22
"""Numbers that differ by more than this share of one of them are not the same in 32 bits, of which 24 are digits."""
SMALLEST = 2.0**-149
"""The step between numbers of 32 bits next to 0."""


def rounded(scores: Iterable[float]) -> FloatArray:
    """Return the nearest numbers of 32 bits.

    Example:
        >>> one, other = rounded([0.12345678, 0.123456781]).tolist()
        >>> one == other
        True
    """
    numbers = np.clip(np.fromiter(scores, np.float64), -LARGEST, LARGEST)
    return numbers.astype(np.float32).astype(np.float64)


def may_gain_a_tie(ordered: Sequence[float], scores: Iterable[float]) -> bool:
    """Return whether some of the sorted scores are so close to a neighbour that both may be the same in 32 bits."""
    if ordered[-1] > LARGEST or ordered[0] < -LARGEST:
        return True
    n = len(ordered)
    for score in scores:
        right, near = bisect_right(ordered, score), CLOSE * abs(score) + SMALLEST
        if (right < n and ordered[right] - score <= near) or (right > 1 and score - ordered[right - 2] <= near):
            return True
    return False


def in_single_precision(ranking: Mapping[Any, float]) -> dict[Any, float]:
    """Return a ranking with its scores rounded."""
    return dict(zip(ranking, rounded(ranking.values()).tolist(), strict=True))


def columns_in_single_precision(run: Run) -> Run:
    """Return a run in columns with its scores rounded."""
    if isinstance(run, StreamedRun):
        return run.changed(_rounded)
    return Run(map(_rounded, run.batches()))


def _rounded(batch: Batch) -> Batch:
    return batch if batch.scores is None else batch._replace(scores=rounded(batch.scores))
