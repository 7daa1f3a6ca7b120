"""Evaluate a single ranking, for tools that score one row at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.evaluation.by_metric import ByMetric
from retrieval_metrics.inputs.exclusion import QUERY_ID, remove_excluded
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.plain_ranking import rank_plainly, read_plain_judgments
from retrieval_metrics.matching.row_ids import require_valid_row_ids
from retrieval_metrics.metrics.base.grade_scale import require_known_scale
from retrieval_metrics.metrics.base.metric import DEFAULT_METRICS, Metric, as_metrics
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.metrics.base.score import score, score_plain_ranking, takes_plain_rankings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.inputs.items import Judgments, Ranking
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.matching.matching_options import Matching


# The id that stands for the query of the ranking, as messages name it.
QUERY_OF_RANKING = "the query"


def evaluate_ranking(
    relevant: Judgments,
    retrieved: Ranking,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    max_grade: float | None = None,
    match: str | Key | Matching = "id",
    exclude: Collection[DocumentId] = (),
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
        exclude: The ids of documents to leave out of the ranking before it is scored, so that they take no rank.

    Returns:
        The value of each metric by its name, under any spelling.

    Raises:
        TypeError: As in `evaluate`.
        ValueError: As in `evaluate`; or if a metric divides by the largest grade of all judgments and neither
            `max_grade` nor its name sets it, or a grade is larger; or if a retrieved id would be a judged one without
            its blanks or control characters.

    Example:
        >>> evaluate_ranking(["d7", "d9"], ["d3", "d7"], ["mrr", "recall@10"])  # first found at rank 2; 1 of 2 found
        {'mrr': 0.5, 'recall@10': 0.5}
        >>> evaluate_ranking({"d7": 2}, ["d7"], "err", max_grade=3)  # (2^2 - 1) / 2^3
        {'err': 0.375}
    """
    parsed_metrics = as_metrics(metrics)
    if exclude:
        retrieved = _remove_excluded(relevant, retrieved, exclude, match)
    if match == "id" and max_grade is None and takes_plain_rankings(parsed_metrics, STANDARD):
        grade_by_document = read_plain_judgments(relevant)
        ranking = None if grade_by_document is None else rank_plainly(grade_by_document, retrieved)
        if ranking is not None:
            return ByMetric({str(metric): score_plain_ranking(metric, ranking) for metric in parsed_metrics})
    qrels = Qrels({QUERY_OF_RANKING: relevant})
    if max_grade is not None:
        qrels = qrels.with_largest_grade(max_grade)
    else:
        remedy = "pass max_grade=, or write it into the name: {name}(max_grade=3)"
        require_known_scale(parsed_metrics, "one ranking", remedy)
    run: Any = {QUERY_OF_RANKING: retrieved}
    judged = judge(qrels, run, match, STANDARD.order)
    require_valid_row_ids(judged, run, get_match_key(match))
    value_by_metric = {}
    for metric in parsed_metrics:
        values = score(judged, metric, STANDARD).values
        value_by_metric[str(metric)] = float(values[0])
    return ByMetric(value_by_metric)


def _remove_excluded(relevant: Judgments, retrieved: Ranking, exclude: Any, match: str | Key | Matching) -> Any:
    """Return the ranking without the documents to leave out."""
    if exclude == QUERY_ID:
        raise ValueError("one ranking has no query ID; pass the IDs to leave out, such as exclude=[query_id]")
    qrels = Qrels({QUERY_OF_RANKING: relevant})
    run = {QUERY_OF_RANKING: retrieved}
    excluded_run = remove_excluded(run, qrels, {QUERY_OF_RANKING: exclude}, get_match_key(match))
    return excluded_run.run[QUERY_OF_RANKING]
