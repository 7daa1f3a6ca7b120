"""The values of single queries with the ranks behind them, for hosts whose results have one row per query."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.judging.judged_run import is_relevant

if TYPE_CHECKING:
    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.scoring.metric import Metric


class QueryScore(NamedTuple):
    """One metric of one query.

    Attributes:
        value: The value; NaN if the metric is undefined.
        relevant_ranks: The ranks of relevant documents, also beyond the cut-off; a repeated document has only its first
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
    def known(self) -> float | None:
        """The value; None if the metric is undefined, for hosts that cannot store NaN."""
        return self.value if self.is_defined else None

    @property
    def reason(self) -> str:
        """What the value is computed from, and what went wrong."""
        ranks = ", ".join(map(str, self.relevant_ranks)) or "none"
        said = f"{self.n_relevant} relevant, {self.n_retrieved} retrieved; ranks of the relevant: {ranks}"
        if not self.is_defined:
            said = f"undefined and left out of the mean: {said}"
        return said if self.failure is None else f"{said}; {self.failure}"


def query_scores(scores: Scores) -> dict[Metric, dict[QueryId, QueryScore]]:
    """Return each value with the ranks behind it.

    Args:
        scores: The scores of an evaluation, such as `rm.evaluate(...).scores`.

    Raises:
        ValueError: If the scores came without the run from which they were computed.

    Example:
        >>> import retrieval_metrics as rm
        >>> evaluation = rm.evaluate({"q": ["d1", "d2"]}, {"q": ["x", "d2"]}, "map")
        >>> (score,) = (values["q"] for values in query_scores(evaluation.scores).values())
        >>> score.value, score.relevant_ranks, score.n_relevant, score.n_retrieved  # (1/2) / 2
        (0.25, (2,), 2, 2)
    """
    return {metric: _of_metric(scores, metric, at) for at, metric in enumerate(scores.metrics)}


def _of_metric(scores: Scores, metric: Metric, at: int) -> dict[QueryId, QueryScore]:
    judged, kept = scores.needed_origin("read query by query").judged, scores.positions
    rel = dict(metric.parameters).get("rel")
    threshold = None if rel is None else float(rel)
    relevant = is_relevant(judged.ranks.grade, threshold)
    ends = np.cumsum(judged.per_query(judged.ranks.query[relevant])).astype(np.int64)
    ranks = np.split(judged.ranks.rank[relevant], ends[:-1])
    columns = (
        scores.queries,
        scores.values[:, at].tolist(),
        [ranks[query] for query in kept.tolist()],
        judged.n_relevant(threshold).astype(np.int64)[kept].tolist(),
        judged.n_retrieved[kept].tolist(),
    )
    return {
        query: QueryScore(value, tuple(ranked.tolist()), n_relevant, n_retrieved)
        for query, value, ranked, n_relevant, n_retrieved in zip(*columns, strict=True)
    }
