"""The rows of the result: everything about each query from which means and counts are computed, written and read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

import retrieval_metrics as rm
from retrieval_metrics.adapting.distributed import COLUMNS, enters_means, scored_run
from retrieval_metrics.types import Counts, Scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from retrieval_metrics.adapting.distributed import Column
    from retrieval_metrics.types import FloatArray

FACTS = {
    "is_judged": np.bool_,
    "is_scored": np.bool_,
    "is_tied": np.bool_,
    "n_retrieved": np.int64,
    "n_relevant": np.int64,
    "n_found": np.int64,
    "n_duplicates": np.int64,
}
"""Beside its id and its values: whether a query is judged, enters the means, and has a judged document that ties; how
many documents were retrieved for it, are relevant, were retrieved and are judged, and were retrieved again."""

LARGEST_GRADE = "largest_grade"
"""The largest grade of all judgments, the same in every row; only if a metric divides by it."""


def column_name(kind: Column, metric: rm.Metric) -> str:
    """Return the name of the column that holds one kind of number for one metric.

    Example:
        >>> import retrieval_metrics as rm
        >>> column_name("value", rm.Metric.parse("p@5")), column_name("ideal", rm.Metric.parse("p@5"))
        ('precision@5', 'ideal precision@5')
    """
    return str(metric) if kind == "value" else f"{kind} {metric}"


def value_columns(metrics: Sequence[rm.Metric], rules: rm.Rules) -> list[str]:
    """Return the names of the columns of values: those known for these metrics if judgments are flat."""
    example = scored_run(rm.Qrels({"query": ["document"]}), {"query": ["document"]}, metrics, rules)
    known = [(kind, metric) for kind in COLUMNS for metric in metrics if example.column(kind, metric) is not None]
    return [column_name(kind, metric) for kind, metric in known]


def values_in(rows: pa.Table) -> list[str]:
    """Return the names of the columns of values in rows."""
    return [name for name in rows.column_names if name not in {"query", LARGEST_GRADE, *FACTS}]


def rows_of(scores: Scores, id_type: pa.DataType, scale: float | None) -> pa.Table:
    """Return a row for each judged query, in the order of the judgments; NaN for missing values."""
    judged = scores.needed_origin("written as rows").judged
    n, kept = judged.n_queries, scores.positions
    n_relevant = judged.n_relevant().astype(np.int64)
    scored, tied = np.zeros((2, n), dtype=np.bool_)
    scored[kept] = enters_means(n_relevant[kept] > 0, scores.rules)
    tied[judged.tied_queries()] = True
    facts = {
        "is_judged": np.ones(n, dtype=np.bool_),
        "is_scored": scored,
        "is_tied": tied,
        "n_retrieved": judged.n_retrieved,
        "n_relevant": n_relevant,
        "n_found": judged.per_query(judged.ranks.query).astype(np.int64),
        "n_duplicates": judged.n_repeated,
    }
    values: dict[str, FloatArray] = {}
    for kind in COLUMNS:
        for metric in scores.metrics:
            column = scores.column(kind, metric)
            if column is not None:
                values[column_name(kind, metric)] = np.full(n, np.nan)
                values[column_name(kind, metric)][kept] = column
    return _table(judged.qrels.queries, id_type, facts, _scale_column(scale, n), values)


def check_columns(names: Sequence[str]) -> None:
    """Raise if rows are no result of `evaluate_dataset`.

    Raises:
        ValueError: If they are not.
    """
    if missing := [name for name in FACTS if name not in names]:
        raise ValueError(
            f"these rows are not a result of evaluate_dataset: they have no column {missing[0]!r}, but {list(names)}"
        )


def scores_in(rows: pa.Table, rules: rm.Rules) -> Scores:
    """Return the scores of the queries in some rows, with the counts of all of them.

    Raises:
        ValueError: If these are not rows of `evaluate_dataset`, or made under other rules.
    """
    check_columns(rows.column_names)
    metrics = _metrics_of(rows.column_names)
    if not metrics:
        raise ValueError(f"these rows have no values of metrics, but only {rows.column_names}")
    columns = {name: rows[name].to_numpy() for name in rows.column_names if name != "query"}
    kept = _kept(columns, metrics, rules)
    judged = columns["is_judged"]
    counts: dict[str, int] = dict.fromkeys(Counts.__annotations__, 0)  # rows of ids have none of the others
    counts |= {
        "queries": int(judged.sum()),
        "scored": int(columns["is_scored"].sum()),
        "missing": int((judged & (columns["n_retrieved"] == 0)).sum()),
        "unjudged_queries": int((~judged).sum()),
        "no_relevant": int((judged & (columns["n_relevant"] == 0)).sum()),
        "duplicates": int(columns["n_duplicates"].sum()),
        "ties": int(columns["is_tied"].sum()),
    }

    def known(kind: Column) -> dict[rm.Metric, FloatArray]:
        names = {metric: column_name(kind, metric) for metric in metrics}
        return {metric: columns[name][kept] for metric, name in names.items() if name in columns}

    def table(kind: Column) -> FloatArray | None:
        of_metrics = known(kind)
        return np.column_stack(list(of_metrics.values())) if len(of_metrics) == len(metrics) else None

    return Scores(
        metrics=tuple(metrics),
        queries=tuple(rows["query"].filter(kept).to_pylist()),
        values=np.column_stack(list(known("value").values())),
        counts=cast("Counts", counts),
        rules=rules,
        residuals=known("residual"),
        ideals=known("ideal"),
        lowest=table("lowest"),
        highest=table("highest"),
    )


def _metrics_of(names: Sequence[str]) -> list[rm.Metric]:
    """Return the metrics with columns of values; other columns were added by users."""
    metrics = []
    for name in names:
        try:
            metric = rm.Metric.parse(name)
        except ValueError:
            continue
        if str(metric) == name:
            metrics.append(metric)
    return metrics


def _kept(columns: dict[str, npt.NDArray[Any]], metrics: Sequence[rm.Metric], rules: rm.Rules) -> npt.NDArray[np.bool_]:
    """Return which queries the rules keep.

    Raises:
        ValueError: If other queries enter the means than under these rules, or ties were treated differently.
    """
    if (column_name("depends", metrics[0]) in columns) != (rules.ties == "expected"):
        how = "not made" if rules.ties == "expected" else "made"
        raise ValueError(
            f'these rows were {how} with ties="expected", but the rules have ties="{rules.ties}"; pass the same ties='
        )
    kept = columns["is_judged"] & ((columns["n_retrieved"] > 0) | (rules.missing == "zero"))
    expected = kept & enters_means(columns["n_relevant"] > 0, rules)
    if (expected != columns["is_scored"]).any():
        raise ValueError(f"these rows were made under other rules than {rules.name}; pass their rules as semantics=")
    return kept


def rows_of_unjudged(
    queries: Sequence[str | int], id_type: pa.DataType, columns: Sequence[str], scale: float | None
) -> pa.Table:
    """Return a row for each unjudged query of the run, without values in any of the columns."""
    n = len(queries)
    facts: dict[str, Any] = {name: np.zeros(n, dtype=kind) for name, kind in FACTS.items()}
    return _table(queries, id_type, facts, _scale_column(scale, n), {name: np.full(n, np.nan) for name in columns})


def _scale_column(scale: float | None, n: int) -> dict[str, Any]:
    return {} if scale is None else {LARGEST_GRADE: np.full(n, scale)}


def _table(queries: Sequence[str | int], id_type: pa.DataType, *columns: dict[str, Any]) -> pa.Table:
    named = {name: column for part in columns for name, column in part.items()}
    return pa.table({"query": pa.array(queries, type=id_type), **named})
