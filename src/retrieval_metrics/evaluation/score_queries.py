"""The values of single queries with what they rest on: for hosts that score one query at a time."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.definition.metric import as_metrics
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.judging.judge import judge
from retrieval_metrics.judging.rows import is_relevant
from retrieval_metrics.scoring.rules import STANDARD
from retrieval_metrics.scoring.score import score

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.matching.matching import Key, Matching
    from retrieval_metrics.types import QuestionsOrQrels, QueryId, RunMapping


class QueryScore(NamedTuple):
    """One metric of one query.

    Attributes:
        value: The value; NaN where the metric is undefined.
        relevant_ranks: The ranks at which something relevant stands, beyond the cut-off too; a document that is
            retrieved again stands at its first rank alone.
        n_relevant: How many relevant documents, or groups, there are.
        n_retrieved: How many documents were retrieved, repeats included.
    """

    value: float
    relevant_ranks: tuple[int, ...]
    n_relevant: int
    n_retrieved: int

    @property
    def is_defined(self) -> bool:
        """Whether there is a value."""
        return not isnan(self.value)


def score_queries(
    qrels: QuestionsOrQrels,
    run: RunMapping,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    match: str | Key | Matching = "id",
) -> dict[Metric, dict[QueryId, QueryScore]]:
    """Return the values that `evaluate` gives, each with what it rests on, and without warnings.

    What `evaluate` warns of and counts concerns a whole run; a host that scores its queries one by one would hear it
    for every query.

    Args:
        qrels: The judgments per query, as `evaluate` takes them.
        run: The rankings per query, as `evaluate` takes them. A query that is missing has retrieved nothing.
        metrics: Names or metrics.
        match: What an id of the judgments is compared with, as `evaluate` takes it.

    Raises:
        TypeError: As `evaluate`.
        ValueError: As `evaluate`, except that the run may be empty.

    Example:
        >>> scores = score_queries({"q": ["d1", "d2"]}, {"q": ["x", "d2"]}, ["map"])
        >>> (score,) = (values["q"] for values in scores.values())
        >>> score.value, score.relevant_ranks, score.n_relevant, score.n_retrieved  # (1/2) / 2
        (0.25, (2,), 2, 2)
    """
    judged = judge(as_qrels(qrels), run, match)
    return {metric: _scores(judged, metric) for metric in as_metrics(metrics)}


def _scores(judged: JudgedRun, metric: Metric) -> dict[QueryId, QueryScore]:
    rel = dict(metric.parameters).get("rel")
    threshold = None if rel is None else float(rel)
    relevant = is_relevant(judged.ranks.grade, threshold)
    ends = np.cumsum(judged.per_query(judged.ranks.query[relevant])).astype(np.int64)
    ranks = np.split(judged.ranks.rank[relevant], ends[:-1])
    columns = (
        judged.qrels.queries,
        score(judged, metric, STANDARD).values.tolist(),
        ranks,
        judged.n_relevant(threshold).astype(np.int64).tolist(),
        judged.n_retrieved.tolist(),
    )
    return {
        query: QueryScore(value, tuple(ranked.tolist()), n_relevant, n_retrieved)
        for query, value, ranked, n_relevant, n_retrieved in zip(*columns, strict=True)
    }
