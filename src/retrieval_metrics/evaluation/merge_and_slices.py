"""Evaluations from others: of slices, of merged parts, of scores that were computed elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from math import isinf, isnan, nan
from numbers import Real
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from retrieval_metrics._internal.validation import common_id_type, to_data_frame
from retrieval_metrics.evaluation.counts import count_given_scores, count_issues
from retrieval_metrics.evaluation.evaluation import TOTALS_WITHOUT_CLUSTERS, Evaluation
from retrieval_metrics.evaluation.scores import COLUMNS, Scores, Totals, columns_by_metric
from retrieval_metrics.evaluation.summary import LEVEL, intervals, means, n_queries_by_metric
from retrieval_metrics.inputs.clusters import Clusters, cluster_queries
from retrieval_metrics.inputs.frame_columns import column_names
from retrieval_metrics.inputs.input_hints import refuse_frame
from retrieval_metrics.matching.budget import BudgetFills
from retrieval_metrics.metrics.base.given_metrics import as_given_metric, read_bounds, read_lower_is_better
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    import pandas as pd

    from retrieval_metrics._internal.validation import FloatArray, QueryId
    from retrieval_metrics.evaluation.scores import Column
    from retrieval_metrics.matching.budget import Budget
    from retrieval_metrics.metrics.base.given_metrics import Bounds
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.statistics import Interval


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
        record = part._record if isinstance(part, Evaluation) else part  # noqa: SLF001  (users have no use for it)
        whole = record.totals() if whole is None else whole.merged_with(record.totals())
        any_clustered |= record.labels is not None
        if isinstance(record, Totals):
            held = None
        elif held is not None:
            held.append(record)
    if whole is None:
        raise ValueError("there is nothing to merge: parts is empty")
    if held is None and any_clustered:
        raise ValueError(TOTALS_WITHOUT_CLUSTERS)
    return Evaluation(whole if held is None else _joined(held, whole))


def _joined(parts: Sequence[Scores], whole: Totals) -> Scores:
    return Scores(
        metrics=whole.metrics,
        queries=tuple(_all_queries(parts)),
        columns=_all_columns(parts),
        counts=whole.counts,
        rules=whole.rules,
        scale=whole.scale,
        budget_fills=_all_fills(parts),
        clusters=_all_clusters(parts),
    )


def _all_fills(parts: Sequence[Scores]) -> dict[Budget, BudgetFills]:
    first, *others = [part.all_fills() for part in parts]
    shared = [budget for budget in first if all(budget in other for other in others)]
    return {budget: reduce(BudgetFills.merge, (other[budget] for other in others), first[budget]) for budget in shared}


def _all_clusters(parts: Sequence[Scores]) -> Clusters | None:
    known = [part.clusters for part in parts if part.clusters is not None]
    if not known:
        return None
    if len(known) < len(parts) and not all(one.by_source for one in known):
        raise ValueError("some parts have clusters and others do not; evaluate all with clusters=, or all with None")
    return reduce(Clusters.merge, known).select([query for part in parts for query in part.queries])


def _all_queries(parts: Sequence[Scores]) -> list[QueryId]:
    seen: set[QueryId] = set()
    for part in parts:
        if twice := seen.intersection(part.queries):
            raise ValueError(f"query {min(twice, key=str)!r} is in two parts; parts must have different queries")
        seen.update(part.queries)
    common_id_type(set(map(type, seen)), "query ids in the parts")
    return [query for part in parts for query in part.queries]


def _all_columns(parts: Sequence[Scores]) -> dict[tuple[Column, Metric], FloatArray]:
    """Return the columns that every part has."""
    keys = [(column, metric) for column in COLUMNS for metric in parts[0].metrics]
    of_parts = {key: [column for part in parts if (column := part.per_query_column(*key)) is not None] for key in keys}
    return {key: np.concatenate(columns) for key, columns in of_parts.items() if len(columns) == len(parts)}


# Evaluations of slices of the queries.

T_co = TypeVar("T_co", covariant=True)


class Slices(Printed, Mapping[Any, T_co], Generic[T_co]):
    """One evaluation per label, in the order in which the labels first appear.

    Attributes:
        unlabelled: How many queries have no label and are in no slice.
    """

    def __init__(self, of_labels: Mapping[Any, Scores], unlabelled: int, make: Callable[[Scores], T_co]) -> None:
        self._scores: dict[Any, Scores] = dict(of_labels)
        self._made = {label: make(scores) for label, scores in of_labels.items()}
        self.unlabelled = unlabelled

    def __getitem__(self, label: Any) -> T_co:
        if label not in self._made:
            raise KeyError(f"no slice has the label {label!r}; the labels are {', '.join(map(repr, self._made))}")
        return self._made[label]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per slice and metric.

        Raises:
            ImportError: If pandas is not installed; the message contains the command that installs it.
        """
        rows = [
            {"slice": label, "metric": name, "mean": mean, "ci_low": interval.low, "ci_high": interval.high, "n": n}
            for label, name, mean, interval, n in self._rows()
        ]
        return to_data_frame(rows)

    def _rows(self) -> Iterator[tuple[Any, str, float, Interval, int]]:
        for label, scores in self._scores.items():
            ends, n = intervals(scores, LEVEL), n_queries_by_metric(scores)
            for name, mean in means(scores).items():
                yield label, name, mean, ends[name], n[name]

    def _tables(self) -> list[Table]:
        rows = [
            [str(label), name, numbers.value(mean), numbers.interval(interval), str(n)]
            for label, name, mean, interval, n in self._rows()
        ]
        notes = (
            [f"{numbers.format_query_count(self.unlabelled)} without a label, in no slice"] if self.unlabelled else []
        )
        return [Table(["slice", "metric", "mean", numbers.level_name(LEVEL), "n"], rows, notes, words=(0, 1))]

    def __repr__(self) -> str:
        return f"<Slices: {', '.join(f'{label} ({len(one.queries)})' for label, one in self._scores.items())}>"


def slices(
    scores: Scores, labels: Mapping[Any, Any] | Callable[[Any], Any], make: Callable[[Scores], T_co]
) -> Slices[T_co]:
    """Cut scores into slices; see `Evaluation.by`."""
    given = all(metric.definition.is_given for metric in scores.metrics)
    origin = None if given and scores.origin is None else scores.require_origin("cut into slices")
    if isinstance(labels, Mapping):
        label_of: Callable[[Any], Any] = labels.get
    elif callable(labels):
        label_of = labels
    else:
        raise TypeError(
            f"labels must map query ids to labels, or be a function of the query id, got {type(labels).__name__}"
        )
    rows: dict[Any, list[int]] = {}
    for at, query in enumerate(scores.queries):
        if (label := label_of(query)) is not None:
            rows.setdefault(label, []).append(at)
    if not rows:
        some = ", ".join(map(repr, scores.queries[:3]))
        raise ValueError(f"no query has a label; labels are looked up by query id, such as {some}")

    def of(chosen: list[int]) -> Scores:
        at = np.array(chosen)
        if origin is None:
            return scores.select(at, count_given_scores(scores.values[at]))
        among = scores.positions[at]
        return scores.select(at, count_issues(origin.judged, origin.run, scores.rules, kept=among, among=among))

    unlabelled = len(scores.queries) - sum(map(len, rows.values()))
    return Slices({label: of(chosen) for label, chosen in rows.items()}, unlabelled, make)


# Read scores that were computed elsewhere: by query, or from a table.

TOLERANCE = 1e-9
"""A mean of rounded numbers may be slightly beyond the bounds."""
A_QUERY = "a score of each query, such as {'faithfulness': {'q1': 0.8}}"


def make_given_scores(
    scores: Mapping[str, Mapping[Any, Any]],
    bounds: Bounds | Mapping[str, Bounds] | None,
    lower_is_better: str | Collection[str],
    clusters: Mapping[Any, Any] | Callable[[Any], Any] | None = None,
) -> Scores:
    """Return given scores as a record; see `Evaluation.from_scores`."""
    metrics, columns = _read(scores, bounds, lower_is_better)
    queries = tuple(dict.fromkeys(query for column in columns for query in column))
    if not queries:
        raise ValueError(f"there are no scores: {', '.join(map(str, metrics))} have no query")
    common_id_type(set(map(type, queries)), "query ids of the scores")
    values = np.array([[column.get(query, nan) for column in columns] for query in queries])
    return Scores(
        metrics=metrics,
        queries=queries,
        columns=columns_by_metric("value", metrics, values),
        counts=count_given_scores(values),
        rules=STANDARD,
        clusters=None if clusters is None else cluster_queries(queries, clusters),
    )


def with_given_scores(
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
    added = {
        metric: np.array([column.get(query, nan) for query in known.queries])
        for metric, column in zip(metrics, columns, strict=True)
    }
    ranged = ("lowest", known.metrics[0]) in known.columns
    kinds: tuple[Column, ...] = ("value", "lowest", "highest") if ranged else ("value",)
    more = {(kind, metric): values for metric, values in added.items() for kind in kinds}
    return replace(known, metrics=(*known.metrics, *metrics), columns={**known.columns, **more})


def read_scores_frame(
    frame: Any, query: str, metric: str | None, value: str | Sequence[str]
) -> dict[str, dict[QueryId, Any]]:
    """Return the scores in a table, by metric and query; see `Evaluation.from_frame`."""
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
    pairs, lower = read_bounds(names, bounds), read_lower_is_better(names, lower_is_better)
    columns = [{query: _number(one, name, query) for query, one in scores[name].items()} for name in names]
    metrics = tuple(as_given_metric(name, pairs[name], lower_is_better=name in lower) for name in names)
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
