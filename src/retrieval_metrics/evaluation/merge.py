"""Merge evaluations of parts of the queries into one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import id_kind
from retrieval_metrics.evaluation.evaluation import TOTALS_HOLD_NO_CLUSTERS, Evaluation
from retrieval_metrics.inputs.question_clusters import Clusters
from retrieval_metrics.judging.budget import Filled
from retrieval_metrics.results.scores import Scores, Totals

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.checks import FloatArray, QueryId
    from retrieval_metrics.judging.budget import Budget
    from retrieval_metrics.results.scores import Column
    from retrieval_metrics.scoring.metric import Metric


def merge(parts: Iterable[Evaluation | Totals]) -> Evaluation:
    """Merge evaluations of different queries into one, equal to the last bit to evaluating them together.

    Means, intervals and counts come from sums that are rounded only after the last part is added, so the results do not
    depend on how the data is split. If every part is an `Evaluation`, the result holds the values of every query. If
    parts are `Totals`, it holds only sums, and raises an error for per-query values.

    Args:
        parts: Evaluations of different queries, or their totals, with the same metrics and rules; read one by one.

    Raises:
        TypeError: If a part is neither, or query ids are str in one part and int in another.
        ValueError: If there is no part, parts differ in metrics or rules, a query is in two parts, a metric divides by
            the largest grade and that differs between parts, or the queries of a part are clustered and another part is
            totals, which hold no clusters.

    Example:
        >>> import retrieval_metrics as rm
        >>> monday = rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, "mrr")
        >>> tuesday = rm.evaluate({"q2": ["d1"]}, {"q2": ["d1"]}, "mrr")
        >>> both = rm.merge([monday, tuesday])
        >>> both.means["mrr"], both.per_query["mrr"]  # (1/2 + 1) / 2
        (0.75, {'q1': 0.5, 'q2': 1.0})
    """
    if isinstance(parts, (Mapping, Evaluation, Totals)):
        advice = "pass its values()" if isinstance(parts, Mapping) else "write a list"
        raise TypeError(f"parts must be several evaluations or totals, got one {type(parts).__name__}; {advice}")
    whole: Totals | None = None
    held: list[Scores] | None = []
    any_clustered = False
    for part in parts:
        if not isinstance(part, (Evaluation, Totals)):
            raise TypeError(f"parts must be evaluations or their totals, got {type(part).__name__}")
        record = part.record if isinstance(part, Evaluation) else part
        whole = record.totals() if whole is None else whole.plus(record.totals())
        any_clustered |= record.labels is not None
        if isinstance(record, Totals):
            held = None
        elif held is not None:
            held.append(record)
    if whole is None:
        raise ValueError("there is nothing to merge: parts is empty")
    if held is None and any_clustered:
        raise ValueError(TOTALS_HOLD_NO_CLUSTERS)
    return Evaluation(whole if held is None else _joined(held, whole))


def _joined(parts: Sequence[Scores], whole: Totals) -> Scores:
    return Scores(
        metrics=whole.metrics,
        queries=tuple(_all_queries(parts)),
        values=np.concatenate([part.values for part in parts]),
        counts=whole.counts,
        rules=whole.rules,
        residuals=_of_each_metric(parts, "residual"),
        ideals=_of_each_metric(parts, "ideal"),
        lowest=_all_rows([part.lowest for part in parts]),
        highest=_all_rows([part.highest for part in parts]),
        scale=whole.scale,
        fills=_all_fills(parts),
        clusters=_all_clusters(parts),
    )


def _all_fills(parts: Sequence[Scores]) -> dict[Budget, Filled]:
    first, *others = [part.all_fills() for part in parts]
    shared = [budget for budget in first if all(budget in other for other in others)]
    return {budget: reduce(Filled.plus, (other[budget] for other in others), first[budget]) for budget in shared}


def _all_clusters(parts: Sequence[Scores]) -> Clusters | None:
    known = [part.clusters for part in parts if part.clusters is not None]
    if not known:
        return None
    if len(known) < len(parts) and not all(one.by_source for one in known):
        raise ValueError("some parts have clusters and others do not; evaluate all with clusters=, or all with None")
    return reduce(Clusters.plus, known).of([query for part in parts for query in part.queries])


def _all_rows(parts: Sequence[FloatArray | None]) -> FloatArray | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if len(known) == len(parts) else None


def _all_queries(parts: Sequence[Scores]) -> list[QueryId]:
    seen: set[QueryId] = set()
    for part in parts:
        if twice := seen.intersection(part.queries):
            raise ValueError(f"query {min(twice, key=str)!r} is in two parts; parts must have different queries")
        seen.update(part.queries)
    id_kind(set(map(type, seen)), "query ids in the parts")
    return [query for part in parts for query in part.queries]


def _of_each_metric(parts: Sequence[Scores], column: Column) -> dict[Metric, FloatArray]:
    """Return one column for each metric for which every part has it."""
    of_parts = {metric: [part.column(column, metric) for part in parts] for metric in parts[0].metrics}
    joined = {metric: _all_rows(columns) for metric, columns in of_parts.items()}
    return {metric: values for metric, values in joined.items() if values is not None}
