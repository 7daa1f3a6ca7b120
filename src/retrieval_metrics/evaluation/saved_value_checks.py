"""Check that the values of a saved evaluation follow from its rankings and judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.matching.judge import call_numbers, judge
from retrieval_metrics.metrics.base.score import score

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import FloatArray, IntArray, QueryId
    from retrieval_metrics.evaluation.scores import Origin, Scores
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.metric import Metric


# The number of queries that are scored again whenever a file is loaded.
MAX_RESCORED_QUERIES = 16

# Another processor, or a later release, may add the same numbers in another order.
ROUNDING = 1e-9


def require_correct_values(scores: Scores) -> None:
    """Raise if a value is outside the range of its metric, or not what the saved rankings and judgments give."""
    for metric in scores.metrics:
        if metric.definition.bounded or metric.definition.is_given:
            _require_within_bounds(scores, metric)
    if scores.origin is None or scores.origin.rounds > 1 or not scores.queries:
        return  # the file does not hold what the values were computed from
    n_queries = len(scores.queries)
    rows = np.unique(np.linspace(0, n_queries - 1, min(MAX_RESCORED_QUERIES, n_queries)).astype(np.intp))
    judged = _judge_again(scores, scores.origin, rows)
    for metric in scores.metrics:
        if not metric.definition.is_given and metric.definition.recipe is None:
            _require_equal(scores, rows, metric, score(judged, metric, scores.rules).values)


def _require_within_bounds(scores: Scores, metric: Metric) -> None:
    values = scores.column(metric)
    low, high = metric.definition.bounds
    is_outside = (values < low - ROUNDING) | (values > high + ROUNDING)
    if is_outside.any():
        row = int(is_outside.argmax())
        raise ValueError(
            f"{metric} of query {scores.queries[row]!r} is {values[row]:g}, which is not in [{low:g}, {high:g}]"
        )


def _require_equal(scores: Scores, rows: IntArray, metric: Metric, rescored: FloatArray) -> None:
    saved = scores.column(metric)[rows]
    is_different = ~np.isclose(saved, rescored, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)
    if is_different.any():
        index = int(is_different.argmax())
        raise ValueError(
            f"{metric} of query {scores.queries[int(rows[index])]!r} is {saved[index]:g}, but the judgments and "
            f"the ranking in the file give {rescored[index]:g}"
        )


def _judge_again(scores: Scores, origin: Origin, rows: IntArray) -> JudgedRun:
    """Judge some queries again by the rankings and judgments in the file."""
    all_qrels = origin.judged.qrels
    judgments = {}
    run = {}
    for row in rows.tolist():
        query = scores.queries[row]
        judgments[query] = all_qrels.judgments(int(scores.positions[row]))
        if query in origin.run:
            run[query] = origin.run[query]
    numbers_by_query = call_numbers(origin.run)
    calls = {query: numbers_by_query[query] for query in run.keys() & numbers_by_query.keys()}
    # A query whose retriever failed has no value in some metrics.
    errors: dict[QueryId, Exception] = {}
    if isinstance(origin.run, RetrievedRun):
        errors = {query: origin.run.errors[query] for query in judgments.keys() & origin.run.errors.keys()}
    run_again = RetrievedRun(run, errors, calls=calls) if calls or errors else run
    qrels = Qrels.unchecked(judgments).with_largest_grade(all_qrels.largest_grade)
    return judge(qrels, run_again, origin.match, scores.rules.order)
