"""Read scores that were computed elsewhere: by query, or from a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isinf, isnan, nan
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.checks import id_kind
from retrieval_metrics.inputs.columns import column_names, refuse_frame
from retrieval_metrics.inputs.question_clusters import clusters_by
from retrieval_metrics.results.counts import counts_of_given
from retrieval_metrics.results.scores import Scores
from retrieval_metrics.scoring.metric import bounds_by_metric, given_metric, names_of_lower
from retrieval_metrics.scoring.rules import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.scoring.metric import Bounds, Metric

TOLERANCE = 1e-9
"""A mean of rounded numbers may be slightly beyond the bounds."""
A_QUERY = "a score of each query, such as {'faithfulness': {'q1': 0.8}}"


def given_scores(
    scores: Mapping[str, Mapping[Any, Any]],
    bounds: Bounds | Mapping[str, Bounds] | None,
    lower_is_better: str | Collection[str],
    clusters: Mapping[Any, Any] | Callable[[Any], Any] | None = None,
) -> Scores:
    """Return given scores as a record; see `Evaluation.of_scores`."""
    metrics, columns = _read(scores, bounds, lower_is_better)
    queries = tuple(dict.fromkeys(query for column in columns for query in column))
    if not queries:
        raise ValueError(f"there are no scores: {', '.join(map(str, metrics))} have no query")
    id_kind(set(map(type, queries)), "query ids of the scores")
    values = np.array([[column.get(query, nan) for column in columns] for query in queries])
    return Scores(
        metrics=metrics,
        queries=queries,
        values=values,
        counts=counts_of_given(values),
        rules=STANDARD,
        clusters=None if clusters is None else clusters_by(queries, clusters),
    )


def with_given(
    known: Scores,
    scores: Mapping[str, Mapping[Any, Any]],
    bounds: Bounds | Mapping[str, Bounds] | None,
    lower_is_better: str | Collection[str],
) -> Scores:
    """Return scores with given ones beside them; see `Evaluation.with_scores`."""
    metrics, columns = _read(scores, bounds, lower_is_better)
    place = set(known.queries)
    for metric, column in zip(metrics, columns, strict=True):
        if metric in known.metrics:
            raise ValueError(f"{metric} is already there; give the scores another name")
        if strange := [query for query in column if query not in place]:
            some = ", ".join(map(repr, known.queries[:3]))
            raise ValueError(
                f"{metric} has a score of {strange[0]!r}, which is not among the queries of this evaluation; they "
                f"begin with {some}"
            )
    added = np.array([[column.get(query, nan) for column in columns] for query in known.queries])
    tables: dict[str, Any] = {
        name: None if (table := getattr(known, name)) is None else np.hstack([table, added])
        for name in ("lowest", "highest")
    }
    values = np.hstack([known.values, added.reshape(len(known.queries), len(metrics))])
    return replace(known, metrics=(*known.metrics, *metrics), values=values, **tables)


def scores_in_frame(
    frame: Any, query: str, metric: str | None, value: str | Sequence[str]
) -> dict[str, dict[QueryId, Any]]:
    """Return the scores in a table, by metric and query; see `Evaluation.from_frame`.

    Raises:
        TypeError: If it is not a table.
        ValueError: If a column is missing, or a query has two scores of a metric.
    """
    names = column_names(frame)
    wanted = [value] if isinstance(value, str) else list(value)
    for name in (query, *([] if metric is None else [metric]), *wanted):
        if name not in names:
            raise ValueError(f"the table has no column {name!r}; it has {', '.join(map(repr, names))}")
    queries = _column(frame, query)
    if metric is None:
        columns = [(str(name), _column(frame, name)) for name in wanted]
        rows = [(name, each, one) for name, column in columns for each, one in zip(queries, column, strict=True)]
    elif len(wanted) > 1:
        raise ValueError(f"a table with the metrics in {metric!r} has its scores in one column, got {wanted}")
    else:
        of = (str(name) for name in _column(frame, metric))
        rows = list(zip(of, queries, _column(frame, wanted[0]), strict=True))
    found: dict[str, dict[QueryId, Any]] = {}
    for name, each, one in rows:
        column = found.setdefault(name, {})
        if each in column:
            raise ValueError(
                f"query {each!r} has two scores of {name!r}; a table of several systems is read system by system, as "
                "in from_frame(frame[frame['name'] == 'bm25'], ...)"
            )
        column[each] = one
    return found


def _column(frame: Any, name: str) -> list[Any]:
    column = frame[name]
    for method in ("tolist", "to_list", "to_pylist"):  # pandas and NumPy; polars; Arrow
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _read(
    scores: Any, bounds: Bounds | Mapping[str, Bounds] | None, lower_is_better: str | Collection[str]
) -> tuple[tuple[Metric, ...], list[dict[QueryId, float]]]:
    refuse_frame(scores, "scores", "Evaluation.from_frame")
    if not isinstance(scores, Mapping) or not scores:
        raise TypeError(f"scores must map the name of each metric to {A_QUERY}, got {scores!r:.60}")
    names = list(scores)
    for name, column in scores.items():
        if not isinstance(column, Mapping):
            raise TypeError(f"scores[{name!r}] must be {A_QUERY}, got {type(column).__name__}")
    pairs, lower = bounds_by_metric(names, bounds), names_of_lower(names, lower_is_better)
    columns = [{query: _number(one, name, query) for query, one in scores[name].items()} for name in names]
    metrics = tuple(given_metric(name, pairs[name], lower_is_better=name in lower) for name in names)
    if len(set(metrics)) < len(metrics):
        raise ValueError(f"two of the names mean the same metric: {', '.join(names)}")
    for metric, column in zip(metrics, columns, strict=True):
        low, high = metric.definition.bounds
        for query, one in column.items():
            if not (isnan(one) or low - TOLERANCE <= one <= high + TOLERANCE):
                raise ValueError(
                    f"{metric} of query {query!r} is {one:g}, which is not in [{low:g}, {high:g}]; correct the score "
                    "or state other bounds"
                )
    return metrics, columns


def _number(value: Any, name: str, query: Any) -> float:
    """Return a score, NaN if it is undefined."""
    if value is None or type(value).__name__ == "NAType":  # the missing value of pandas
        return nan
    if not isinstance(value, (Real, np.bool_)):
        raise TypeError(f"{name} of query {query!r} must be a number, or None if undefined, got {value!r}")
    number = float(value)
    if isinf(number):
        raise ValueError(f"{name} of query {query!r} is {number}; give None if it is undefined")
    return number
