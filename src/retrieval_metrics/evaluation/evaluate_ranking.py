"""One row: what is relevant to a query, what was retrieved for it, and the values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.definition.largest_grade import divides_by_largest_grade
from retrieval_metrics.definition.metric import DEFAULT_METRICS, as_metrics
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.judging.judge import judge
from retrieval_metrics.results.by_metric import ByMetric
from retrieval_metrics.scoring.rules import STANDARD
from retrieval_metrics.scoring.score import score

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.judging.matching.matching import Key, Matching
    from retrieval_metrics.types import Judgments, Ranking

_QUERY = "the query"
"""Stands for the query's id in messages."""


def evaluate_ranking(
    relevant: Judgments,
    retrieved: Ranking,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    max_grade: float | None = None,
    match: str | Key | Matching = "id",
) -> dict[str, float]:
    """Return the metrics of one ranking: for a host that hands over one row at a time.

    The values are those that `evaluate` gives for this query among any others, NaN where a metric is undefined. Nothing
    is warned of, because what is missing in one row may be normal in the whole. Where you have all rows, `evaluate`
    them together: only that counts what is wrong and says how sure the means are.

    Args:
        relevant: What is relevant: ids, grades by id, or groups; as `evaluate` takes the judgments of a query.
        retrieved: What was retrieved: ids or `Retrieved`, best first, or scores by id; as `evaluate` takes a ranking.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        max_grade: The largest grade of all judgments there are, which `err` and `rbp` divide by.
        match: What an id of the judgments is compared with, as `evaluate` takes it.

    Returns:
        The value of each metric by its name; other spellings of the name are looked up too.

    Raises:
        TypeError: As `evaluate`.
        ValueError: As `evaluate`; or if a metric divides by the largest grade of all judgments and neither `max_grade`
            nor its own name says what that is, or a grade is larger than it.

    Example:
        >>> evaluate_ranking(["d7", "d9"], ["d3", "d7"], ["mrr", "recall@10"])  # first found at rank 2; 1 of 2 found
        {'mrr': 0.5, 'recall@10': 0.5}
        >>> evaluate_ranking({"d7": 2}, ["d7"], "err", max_grade=3)  # (2^2 - 1) / 2^3
        {'err': 0.375}
    """
    chosen = as_metrics(metrics)
    truth = Qrels({_QUERY: relevant})
    if max_grade is not None:
        truth = truth.with_largest_grade(max_grade)
    elif needy := [metric for metric in chosen if divides_by_largest_grade(metric)]:
        raise ValueError(
            f"{needy[0]} divides by the largest grade of all judgments, which one ranking does not show; pass "
            f"max_grade=, or write it into the name: {needy[0].name}(max_grade=3)"
        )
    judged = judge(truth, {_QUERY: retrieved}, match)
    return ByMetric({str(metric): float(score(judged, metric, STANDARD).values[0]) for metric in chosen})
