"""Check saved values against the judgments and rankings that were saved with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.run import RetrievedRun
from retrieval_metrics.judging.judge import calls_of, judge
from retrieval_metrics.scoring.score import score

if TYPE_CHECKING:
    from retrieval_metrics.checks import FloatArray, IntArray
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.results.scores import Origin, Scores

FEW = 16
"""The queries that are scored again whenever a file is loaded; all are, if a user asks for it."""
ROUNDING = 1e-9
"""Another processor, or a later release, may add the same numbers in another order."""


def refuse_wrong_values(scores: Scores, few: int | None = FEW) -> None:
    """Raise if a value is outside the range of its metric, or not what the saved rankings and judgments give.

    Args:
        scores: What was read from a file.
        few: The number of queries to score again, spread over all of them, without metrics of a user's own, whose
            functions can be slow; None scores all queries by all metrics.

    Raises:
        ValueError: If there is such a value, naming its query and metric.
    """
    for at, metric in enumerate(scores.metrics):
        column = scores.values[:, at]
        low, high = metric.definition.bounds
        wrong = (column < low - ROUNDING) | (column > high + ROUNDING)
        if (metric.definition.bounded or metric.definition.given) and wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                f"{metric} of query {scores.queries[row]!r} is {column[row]:g}, which is not in [{low:g}, {high:g}]"
            )
    if scores.origin is None or scores.origin.rounds > 1 or not scores.queries:
        return  # the values do not follow from what is in the file
    n = len(scores.queries)
    rows = np.arange(n) if few is None else np.unique(np.linspace(0, n - 1, min(few, n)).astype(np.intp))
    judged = scores.origin.judged if few is None else _judged_again(scores, scores.origin, rows)
    places = scores.positions if few is None else np.arange(len(rows))
    for at, metric in enumerate(scores.metrics):
        if metric.definition.given or (few is not None and metric.definition.made_by is not None):
            continue
        _compare(scores, rows, at, score(judged, metric, scores.rules).values[places])


def _compare(scores: Scores, rows: IntArray, at: int, found: FloatArray) -> None:
    said = scores.values[rows, at]
    wrong = ~np.isclose(said, found, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{scores.metrics[at]} of query {scores.queries[int(rows[row])]!r} is {said[row]:g}, but the judgments and "
            f"the ranking in the file give {found[row]:g}"
        )


def _judged_again(scores: Scores, origin: Origin, rows: IntArray) -> JudgedRun:
    truth = origin.judged.qrels
    queries = [scores.queries[row] for row in rows]
    places = scores.positions[rows].tolist()
    few = Qrels({query: truth.judgments(at) for query, at in zip(queries, places, strict=True)})
    run = {query: origin.run[query] for query in queries if query in origin.run}
    calls = {query: found for query, found in calls_of(origin.run).items() if query in run}
    again = RetrievedRun(run, calls=calls) if calls else run
    return judge(few.with_largest_grade(truth.largest_grade), again, origin.match, scores.rules.order)
