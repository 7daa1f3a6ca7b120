"""The rows of the result: everything about each query from which means and counts are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics import Qrels
from retrieval_metrics.adapting.distributed import COLUMNS, enters_means, scored_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    import retrieval_metrics as rm
    from retrieval_metrics.adapting.distributed import Column
    from retrieval_metrics.types import FloatArray, Scores

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
    example = scored_run(Qrels({"query": ["document"]}), {"query": ["document"]}, metrics, rules)
    known = [(kind, metric) for kind in COLUMNS for metric in metrics if example.column(kind, metric) is not None]
    return [column_name(kind, metric) for kind, metric in known]


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
    import pyarrow as pa  # noqa: PLC0415  (loaded where there are blocks; the driver may not need it)

    named = {name: column for part in columns for name, column in part.items()}
    return pa.table({"query": pa.array(queries, type=id_type), **named})
