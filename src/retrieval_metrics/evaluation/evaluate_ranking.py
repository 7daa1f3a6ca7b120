"""Evaluate one ranking against the judgments of its query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.judging.judge import judge
from retrieval_metrics.results.scores import ByMetric
from retrieval_metrics.scoring.definition import refuse_unknown_scale
from retrieval_metrics.scoring.metric import DEFAULT_METRICS, as_metrics
from retrieval_metrics.scoring.rules import STANDARD
from retrieval_metrics.scoring.score import score

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.inputs.items import Judgments, Ranking
    from retrieval_metrics.judging.ranking_order import Key, Matching
    from retrieval_metrics.scoring.metric import Metric

_QUERY = "the query"
"""The name of the query in messages."""


def evaluate_ranking(
    relevant: Judgments,
    retrieved: Ranking,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    max_grade: float | None = None,
    match: str | Key | Matching = "id",
) -> dict[str, float]:
    """Return the metrics of one ranking, for tools that score one row at a time.

    The values are those of `evaluate` for this query, NaN if a metric is undefined. There are no warnings, because what
    is missing in one row may be normal in a whole run. If you have all rows, pass them to `evaluate` together: only
    then are problems counted and confidence intervals computed.

    Args:
        relevant: The judgments of the query: ids, grades by id, or groups; as in `evaluate`.
        retrieved: The ranking: ids or `Retrieved`, best first, or scores by id; as in `evaluate`.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        max_grade: The largest grade of all judgments, which `err` and `rbp` divide by.
        match: What an id of the judgments is compared with, as in `evaluate`.

    Returns:
        The value of each metric by its name, under any spelling.

    Raises:
        TypeError: As in `evaluate`.
        ValueError: As in `evaluate`; or if a metric divides by the largest grade of all judgments and neither
            `max_grade` nor its name sets it, or a grade is larger.

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
    else:
        refuse_unknown_scale(chosen, "one ranking", "pass max_grade=, or write it into the name: {name}(max_grade=3)")
    judged = judge(truth, {_QUERY: retrieved}, match, STANDARD.order)
    return ByMetric({str(metric): float(score(judged, metric, STANDARD).values[0]) for metric in chosen})
