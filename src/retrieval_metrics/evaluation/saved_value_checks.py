"""Whether the values of a saved evaluation follow from its rankings and judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.matching.judge import call_numbers, judge
from retrieval_metrics.metrics.base.score import score

if TYPE_CHECKING:
    from retrieval_metrics._internal.validation import FloatArray, IntArray
    from retrieval_metrics.evaluation.scores import Origin, Scores
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.metric import Metric


FEW = 16
"""The queries that are scored again whenever a file is loaded."""
ROUNDING = 1e-9
"""Another processor, or a later release, may add the same numbers in another order."""


def refuse_wrong_values(scores: Scores) -> None:
    """Raise if a value is outside the range of its metric, or not what the saved rankings and judgments give."""
    for metric in scores.metrics:
        column = scores.column(metric)
        low, high = metric.definition.bounds
        wrong = (column < low - ROUNDING) | (column > high + ROUNDING)
        if (metric.definition.bounded or metric.definition.is_given) and wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                f"{metric} of query {scores.queries[row]!r} is {column[row]:g}, which is not in [{low:g}, {high:g}]"
            )
    if scores.origin is None or scores.origin.rounds > 1 or not scores.queries:
        return  # the values do not follow from what is in the file
    n = len(scores.queries)
    rows = np.unique(np.linspace(0, n - 1, min(FEW, n)).astype(np.intp))
    judged = _judged_again(scores, scores.origin, rows)
    for metric in scores.metrics:
        if not metric.definition.is_given and metric.definition.recipe is None:
            _compare(scores, rows, metric, score(judged, metric, scores.rules).values)


def _compare(scores: Scores, rows: IntArray, metric: Metric, found: FloatArray) -> None:
    said = scores.column(metric)[rows]
    wrong = ~np.isclose(said, found, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{metric} of query {scores.queries[int(rows[row])]!r} is {said[row]:g}, but the judgments and "
            f"the ranking in the file give {found[row]:g}"
        )


def _judged_again(scores: Scores, origin: Origin, rows: IntArray) -> JudgedRun:
    truth = origin.judged.qrels
    queries = [scores.queries[row] for row in rows]
    places = scores.positions[rows].tolist()
    few = Qrels({query: truth.judgments(at) for query, at in zip(queries, places, strict=True)})
    run = {query: origin.run[query] for query in queries if query in origin.run}
    calls = {query: found for query, found in call_numbers(origin.run).items() if query in run}
    again = RetrievedRun(run, calls=calls) if calls else run
    return judge(few.with_largest_grade(truth.largest_grade), again, origin.match, scores.rules.order)
