"""Measure what a score threshold does to questions without an answer, and to questions with one."""

from __future__ import annotations

from math import inf, isinf, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.evaluation.data_warnings import distances_note
from retrieval_metrics.evaluation.score_run import score_run
from retrieval_metrics.evaluation.scored_rankings import keep_above
from retrieval_metrics.evaluation.summary import intervals, means, sum_clustered_values
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.statistics import Interval, interval_from_sums
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.metrics.base.metric import Metric


# The number of thresholds of the curve.
N_CURVE_POINTS = 60
# The confidence level of the intervals of a cost. The level of a threshold is one-sided, and that of its promise only;
# these are read like any other printed interval.
COST_INTERVAL_LEVEL = 0.95


class FalseAnswers:
    """The best scores of the questions without an answer, and how many get one above a threshold.

    Attributes:
        best_scores: Shape (questions,), the best score of each.
        effective_n: The number of independent questions that they are worth, if they are clustered.
    """

    def __init__(self, best_scores: FloatArray, cluster_labels: IntArray | None, level: float) -> None:
        self.best_scores = best_scores
        self._cluster_labels = cluster_labels
        self._level = level
        self.effective_n = float(self._sums(inf).count)

    def _sums(self, score: float) -> Sums:
        is_false_answer = (self.best_scores > score).astype(np.float64)
        if self._cluster_labels is None:
            return Sums.from_values(is_false_answer)
        return sum_clustered_values(is_false_answer, self._cluster_labels)

    def count(self, score: float) -> int:
        """Return how many questions get an answer above a score."""
        return int((self.best_scores > score).sum())

    def bound(self, score: float) -> float:
        """Return the exact one-sided upper bound of the share of new questions that get an answer above a score."""
        # The upper end of a two-sided interval with twice the error is the one-sided bound.
        two_sided_level = 2 * self._level - 1
        return interval_from_sums(self._sums(score), level=two_sided_level, binary=True).high

    def find_lowest_threshold(self, max_share: float) -> float | None:
        """Return the lowest threshold whose bound, and that of every stricter one, is at most `max_share`.

        None if even the strictest threshold has a larger bound.
        """
        threshold = None
        for score in np.unique([*self.best_scores, -inf])[::-1].tolist():
            if self.bound(score) > max_share:
                break
            threshold = score
        return threshold


class MeanWithInterval(NamedTuple):
    """A mean with its 95% CI."""

    mean: float
    interval: Interval


UNKNOWN_MEAN = MeanWithInterval(nan, Interval(nan, nan))


class ThresholdCost:
    """The metric of the questions with an answer, if only results above a threshold stay."""

    def __init__(
        self, judgments: Mapping[Any, Any], rankings: Mapping[Any, Any], metric: Metric, match: str | Key | Matching
    ) -> None:
        self._qrels = Qrels.unchecked(judgments) if judgments else None
        self._rankings = rankings
        self._metric = metric
        self._match = match

    def require_similarities(self) -> None:
        """Raise if the scores are distances, of which those below a threshold would have to stay.

        Raises:
            ValueError: If relevant documents have the lower scores.
        """
        if self._qrels is None:
            return
        note = distances_note(self._score(self._qrels, -inf).require_origin("cut").judged, self._rankings)
        if note:
            raise ValueError(note)

    def measure(self, score: float) -> MeanWithInterval:
        """Return the mean with a threshold; NaN if no question has an answer."""
        if self._qrels is None:
            return UNKNOWN_MEAN
        scores = self._score(self._qrels, score)
        name = str(self._metric)
        return MeanWithInterval(means(scores)[name], intervals(scores, COST_INTERVAL_LEVEL)[name])

    def _score(self, qrels: Qrels, threshold: float) -> Scores:
        run = keep_above(self._rankings, threshold)
        return score_run(qrels, run, [self._metric], STANDARD, self._match)


def choose_curve_points(best_scores: FloatArray, threshold: float | None) -> list[float]:
    """Return the thresholds of a curve: minus infinity, some of the best scores, and the chosen threshold."""
    finite_scores = np.unique(best_scores[np.isfinite(best_scores)])
    positions = np.linspace(0, len(finite_scores) - 1, min(N_CURVE_POINTS, len(finite_scores))).astype(int)
    points = finite_scores[np.unique(positions)].tolist()
    if threshold is not None and not isinf(threshold):
        points.append(threshold)
    return [-inf, *np.unique(points).tolist()]
