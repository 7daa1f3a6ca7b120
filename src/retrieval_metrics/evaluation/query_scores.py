"""Collect the values of single queries with the ranks behind them, for hosts that store one row per query."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.evaluation.summary_wording import format_query_score
from retrieval_metrics.matching.rank_rows import is_relevant

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.metric import Metric


class QueryScore(NamedTuple):
    """One metric of one query.

    Attributes:
        value: The value; NaN if the metric is undefined.
        relevant_ranks: The ranks of relevant documents, also beyond the cutoff; a repeated document has only its first
            rank.
        n_relevant: How many relevant documents, or groups, there are.
        n_retrieved: How many documents were retrieved, repeats included.
        failure: Why the application failed on the query, if it did.
    """

    value: float
    relevant_ranks: tuple[int, ...]
    n_relevant: int
    n_retrieved: int
    failure: str | None = None

    @property
    def is_defined(self) -> bool:
        """Whether there is a value."""
        return not isnan(self.value)

    @property
    def value_or_none(self) -> float | None:
        """The value; None if the metric is undefined, for hosts that cannot store NaN."""
        return self.value if self.is_defined else None

    @property
    def reason(self) -> str:
        """What the value is computed from, and what went wrong."""
        return format_query_score(self)


def query_scores(scores: Scores) -> dict[Metric, dict[QueryId, QueryScore]]:
    """Return each value with the ranks behind it.

    Example:
        >>> import retrieval_metrics as rm
        >>> evaluation = rm.evaluate({"q": ["d1", "d2"]}, {"q": ["x", "d2"]}, "map")
        >>> (score,) = (values["q"] for values in query_scores(evaluation.scores).values())
        >>> score.value, score.relevant_ranks, score.n_relevant, score.n_retrieved  # (1/2) / 2
        (0.25, (2,), 2, 2)
    """
    judged = scores.require_origin("read query by query").judged
    positions = scores.positions.tolist()
    scores_by_metric = {}
    for metric in scores.metrics:
        values = scores.column(metric).tolist()
        reader = _QueryScoreReader(judged, metric)
        scores_by_metric[metric] = {
            query: reader.read(position, value)
            for query, position, value in zip(scores.queries, positions, values, strict=True)
        }
    return scores_by_metric


def single_query_score(judged: JudgedRun, metric: Metric, value: float) -> QueryScore:
    """Return the value of a run of one query with the ranks behind it."""
    return _QueryScoreReader(judged, metric).read(0, value)


class _QueryScoreReader:
    """Reads the ranks and counts behind the values of a metric from a judged run, query by query."""

    def __init__(self, judged: JudgedRun, metric: Metric) -> None:
        rel = dict(metric.parameters).get("rel")
        threshold = None if rel is None else float(rel)
        relevant = is_relevant(judged.ranks.grade, threshold)
        ends = np.cumsum(judged.sum_by_query(judged.ranks.query[relevant])).astype(np.int64)
        self._ranks_by_position = np.split(judged.ranks.rank[relevant], ends[:-1])
        self._n_relevant = judged.n_relevant(threshold).astype(np.int64).tolist()
        self._n_retrieved = judged.n_retrieved.tolist()

    def read(self, position: int, value: float) -> QueryScore:
        """Return the value of the query at a position among the judged ones, with the ranks behind it."""
        ranks = tuple(self._ranks_by_position[position].tolist())
        return QueryScore(value, ranks, self._n_relevant[position], self._n_retrieved[position])
