"""Judge a run once and score it by several metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.judging.judge import judge
from retrieval_metrics.results.counts import count
from retrieval_metrics.results.scores import Origin, Scores
from retrieval_metrics.scoring.score import refuse, score, truth_under

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.judging.ranking_order import Key, Matching
    from retrieval_metrics.scoring.metric import Metric
    from retrieval_metrics.scoring.rules import Rules


def scored_run(
    truth: Qrels,
    run: RunMapping | Run,
    metrics: Sequence[Metric],
    rules: Rules,
    match: str | Key | Matching = "id",
    *,
    scale: float | None = None,
) -> Scores:
    """Return the scores of a run without warnings: what is suspicious in a part may be normal in the whole.

    Args:
        truth: The judgments.
        run: The rankings; they need not share any query with the judgments.
        metrics: The metrics.
        rules: The rule set.
        match: What an id of the judgments is compared with.
        scale: The largest grade of all judgments, if these are only some of them.

    Raises:
        ValueError: If the rules refuse a query, or a metric cannot be computed.
    """
    truth = truth_under(truth, rules)
    if scale is not None:
        truth = truth.with_largest_grade(scale)
    judged = judge(truth, run, match, rules.order)
    refuse(judged, rules)
    scored = [score(judged, metric, rules) for metric in metrics]
    scores = Scores(
        metrics=tuple(metrics),
        queries=tuple(truth.queries),
        values=np.column_stack([one.values for one in scored]),
        counts=count(judged, run, rules),
        rules=rules,
        residuals={
            metric: one.residual for metric, one in zip(metrics, scored, strict=True) if one.residual is not None
        },
        lowest=_table(one.lowest for one in scored),
        highest=_table(one.highest for one in scored),
        origin=Origin(judged, run, match),
        scale=truth.largest_grade,
    )
    if rules.missing == "zero":
        return scores
    kept = np.flatnonzero(np.fromiter((query in run for query in truth.queries), np.bool_, len(truth)))
    return scores.of(kept, count(judged, run, rules, kept=kept))


def _table(columns: Iterable[FloatArray | None]) -> FloatArray | None:
    known = [column for column in columns if column is not None]
    return np.column_stack(known) if known else None
