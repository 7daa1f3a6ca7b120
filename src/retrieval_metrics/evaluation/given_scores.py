"""Make evaluations of scores that were computed elsewhere, alone or beside the scores of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isinf, isnan, nan
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import common_id_type
from retrieval_metrics.evaluation.counts import count_given_scores
from retrieval_metrics.evaluation.scores import Scores, columns_by_metric
from retrieval_metrics.inputs.clusters import cluster_queries
from retrieval_metrics.inputs.input_hints import refuse_frame
from retrieval_metrics.metrics.base.given_metrics import as_given_metric, read_bounds, read_lower_is_better
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.statistics.sums import LARGEST_SUMMED_VALUE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.evaluation.scores import Column
    from retrieval_metrics.metrics.base.given_metrics import Bounds
    from retrieval_metrics.metrics.base.metric import Metric


# A mean of rounded numbers may be slightly beyond the bounds.
BOUNDS_TOLERANCE = 1e-9
# The number of known queries that a message names.
MAX_SHOWN_QUERIES = 3
EXPECTED_SCORES = "a score of each query, such as {'faithfulness': {'q1': 0.8}}"


def make_given_scores(
    scores: Mapping[str, Mapping[Any, Any]],
    bounds: Bounds | Mapping[str, Bounds] | None,
    lower_is_better: str | Collection[str],
    clusters: Mapping[Any, Any] | Callable[[Any], Any] | None = None,
) -> Scores:
    """Return given scores as a record; see `Evaluation.from_scores`."""
    scores_by_metric = _read_scores(scores, bounds, lower_is_better)
    metrics = tuple(scores_by_metric)
    query_order: dict[QueryId, None] = {}
    for score_by_query in scores_by_metric.values():
        query_order |= dict.fromkeys(score_by_query)
    queries = tuple(query_order)
    if not queries:
        raise ValueError(f"no query has a score for {', '.join(map(str, metrics))}")
    common_id_type(set(map(type, queries)), "query IDs of the scores")
    columns = [[score_by_query.get(query, nan) for query in queries] for score_by_query in scores_by_metric.values()]
    values = np.array(columns).T
    return Scores(
        metrics=metrics,
        queries=queries,
        columns=columns_by_metric("value", metrics, values),
        counts=count_given_scores(values),
        rules=STANDARD,
        clusters=None if clusters is None else cluster_queries(queries, clusters),
    )


def with_given_scores(
    own_scores: Scores,
    scores: Mapping[str, Mapping[Any, Any]],
    bounds: Bounds | Mapping[str, Bounds] | None,
    lower_is_better: str | Collection[str],
) -> Scores:
    """Return the scores of an evaluation with given ones beside them; see `Evaluation.with_scores`."""
    scores_by_metric = _read_scores(scores, bounds, lower_is_better)
    for metric, score_by_query in scores_by_metric.items():
        if metric in own_scores.metrics:
            raise ValueError(f"{metric} is already in this evaluation; give the scores another name")
        _require_known_queries(score_by_query, metric, own_scores.queries)
    columns = dict(own_scores.columns)
    new_columns: tuple[Column, ...] = ("value",)
    has_tie_range = ("lowest", own_scores.metrics[0]) in own_scores.columns
    if has_tie_range:
        # Given scores do not depend on ties, so all three columns hold the same values.
        new_columns = ("value", "lowest", "highest")
    for metric, score_by_query in scores_by_metric.items():
        values = np.array([score_by_query.get(query, nan) for query in own_scores.queries])
        for column in new_columns:
            columns[column, metric] = values
    return replace(own_scores, metrics=(*own_scores.metrics, *scores_by_metric), columns=columns)


def _require_known_queries(score_by_query: Mapping[Any, Any], metric: Metric, queries: Sequence[QueryId]) -> None:
    known_queries = set(queries)
    for query in score_by_query:
        if query not in known_queries:
            examples = ", ".join(map(repr, queries[:MAX_SHOWN_QUERIES]))
            raise ValueError(
                f"{metric} has a score for {query!r}, which is not among the queries of this evaluation; they begin "
                f"with {examples}"
            )


def _read_scores(
    scores: Any, bounds: Bounds | Mapping[str, Bounds] | None, lower_is_better: str | Collection[str]
) -> dict[Metric, dict[QueryId, float]]:
    """Return checked scores by metric and query."""
    refuse_frame(scores, "scores", "Evaluation.from_frame(frame, query=..., value=...)")
    if not isinstance(scores, Mapping) or not scores:
        raise TypeError(f"scores must map the name of each metric to {EXPECTED_SCORES}, got {scores!r:.60}")
    names = list(scores)
    for name, column in scores.items():
        if not isinstance(column, Mapping):
            raise TypeError(f"scores[{name!r}] must be {EXPECTED_SCORES}, got {type(column).__name__}")
    bounds_by_name = read_bounds(names, bounds)
    lower_is_better_names = read_lower_is_better(names, lower_is_better)
    columns = []
    for name in names:
        score_by_query = {query: _read_score(score, name, query) for query, score in scores[name].items()}
        columns.append(score_by_query)
    metrics = []
    for name in names:
        metrics.append(as_given_metric(name, bounds_by_name[name], lower_is_better=name in lower_is_better_names))
    scores_by_metric = dict(zip(metrics, columns, strict=True))
    if len(scores_by_metric) < len(metrics):
        raise ValueError(f"two of the names mean the same metric: {', '.join(names)}")
    for metric, score_by_query in scores_by_metric.items():
        _require_within_bounds(metric, score_by_query)
    return scores_by_metric


def _require_within_bounds(metric: Metric, score_by_query: Mapping[QueryId, float]) -> None:
    low, high = metric.definition.bounds
    for query, score in score_by_query.items():
        if not (isnan(score) or low - BOUNDS_TOLERANCE <= score <= high + BOUNDS_TOLERANCE):
            raise ValueError(
                f"{metric} of query {query!r} is {score:g}, which is not in [{low:g}, {high:g}]; correct the score "
                "or pass other bounds="
            )


def _read_score(value: Any, name: str, query: Any) -> float:
    """Return a score, NaN if it is undefined."""
    if value is None or type(value).__name__ == "NAType":  # the missing value of pandas
        return nan
    if not isinstance(value, (Real, np.bool_)):
        raise TypeError(f"{name} of query {query!r} must be a number, or None if undefined, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} of query {query!r} is too large for a float; give None if it is undefined") from None
    if isinf(number):
        raise ValueError(f"{name} of query {query!r} is {number}; give None if it is undefined")
    if abs(number) > LARGEST_SUMMED_VALUE:
        raise ValueError(
            f"{name} of query {query!r} is {number:g}; the squares of scores beyond {LARGEST_SUMMED_VALUE:g} have no "
            "sum, so give the scores in a larger unit"
        )
    return number
