"""Read the rows of a result of ragas with the values of its metrics; failed values are None, undefined ones NaN."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isnan
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel

from ragas_retrieval_metrics.metric_names import MetricName
from ragas_retrieval_metrics.ragas_imports import MetricResult
from ragas_retrieval_metrics.rows import Row, get_query_text, get_row_fields

if TYPE_CHECKING:
    from ragas_retrieval_metrics.ragas_imports import EvaluationResult


class ScoredRow(NamedTuple):
    """One row of a result.

    Attributes:
        row: The fields that metrics read.
        scores: The values of metrics of retrieval by column; None where a metric failed.
        other_scores: The values of other metrics by column.
        fields: All fields of the row.
        is_unknown: Whether nothing of the row is known but that it was dropped, not even its query.
    """

    row: Row
    scores: Mapping[str, float | None]
    other_scores: Mapping[str, float | None] = MappingProxyType({})
    fields: Mapping[str, Any] = MappingProxyType({})
    is_unknown: bool = False

    @property
    def has_failed(self) -> bool:
        """Whether one of its metrics failed."""
        return any(value is None for value in self.scores.values())

    @property
    def is_lost(self) -> bool:
        """Whether the row is missing from the result."""
        return all(value is None for value in self.scores.values())


def read_rows(result: object) -> list[Mapping[str, Any]]:
    """Return the rows of an experiment, a DataFrame or a list as mappings."""
    fields_of_rows: Any = result
    if hasattr(result, "to_dicts") and hasattr(result, "columns"):  # a DataFrame of polars
        fields_of_rows = fields_of_rows.to_dicts()
    elif hasattr(result, "columns"):  # a DataFrame of pandas
        fields_of_rows = fields_of_rows.to_dict(orient="records")
    if not isinstance(fields_of_rows, Iterable) or isinstance(fields_of_rows, (str, bytes, Mapping)):
        raise TypeError(
            f"rows must be the result of evaluate() or an experiment, a list of mappings or a DataFrame, got "
            f"{type(fields_of_rows).__name__}"
        )
    # Not model_dump, which would convert a MetricResult.
    rows = [dict(row) if isinstance(row, BaseModel) else row for row in fields_of_rows]
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} must be a mapping or a pydantic model, got {row!r}")
    return rows


def read_result(
    result: EvaluationResult, names: Sequence[str] | None, other_names: Collection[str] | None
) -> list[ScoredRow]:
    """Read the result of `evaluate()`, in which NaN means failed or undefined; the traces tell them apart."""
    other_columns = _other_columns(result.scores, other_names, names)
    columns = _metric_columns(result.scores, names, other_columns)
    rows = []
    for scores, sample, trace in zip(result.scores, result.dataset.samples, result.traces, strict=True):
        traced_scores = getattr(trace, "scores", {})
        fields = dict(sample)
        values = {column: _score_or_none(scores[column], traced_scores.get(column)) for column in columns}
        other_values = {column: _parse_cell(scores[column], column, fields) for column in other_columns}
        rows.append(ScoredRow(get_row_fields(fields), values, other_values, fields))
    return rows


def _score_or_none(score: Any, traced_score: Any) -> float | None:
    """Return a score; None for a NaN without a number in the trace, because the metric raised."""
    if isnan(score) and not isinstance(traced_score, Real):
        return None
    return float(score)


def read_experiment_rows(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str] | None, other_names: Collection[str] | None
) -> list[ScoredRow]:
    """Read the rows of an experiment, in which a failed metric has no value."""
    # A number in a row of an experiment may be anything, so its columns are other metrics only if they are named.
    other_columns = _other_columns(rows, () if other_names is None else other_names, names)
    columns = _metric_columns(rows, names, other_columns)
    scored_rows = []
    for fields in rows:
        row = get_row_fields(fields)
        values = {column: _parse_cell(fields.get(column), column, fields) for column in columns}
        other_values = {column: _parse_cell(fields.get(column), column, fields) for column in other_columns}
        scored_rows.append(ScoredRow(row, values, other_values, fields))
    return scored_rows


def _resolve_metric_columns(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """Return the columns of metrics, which can also be named as in the core: `ndcg@10` is `ndcg_at_10`."""
    present = _find_columns(rows)
    columns = []
    for name in names:
        parsed_name = MetricName.parse(name)
        columns.append(name if name in present else str(parsed_name))
    return columns


def _other_columns(
    rows: Sequence[Mapping[str, Any]], requested: Collection[str] | None, names: Sequence[str] | None
) -> list[str]:
    """Return the columns of other metrics: the requested ones, or all that are not named like a retrieval metric."""
    if requested is not None:
        return _require_columns(rows, requested)
    named_columns = [] if names is None else _resolve_metric_columns(rows, names)
    columns = []
    for column in _find_columns(rows):
        if not _is_metric(column) and column not in named_columns:
            columns.append(column)
    return columns


def _metric_columns(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str] | None, other_columns: Sequence[str]
) -> list[str]:
    """Return the columns of metrics of retrieval: the named ones, or all that are named like one."""
    if names is not None:
        return _require_columns(rows, _resolve_metric_columns(rows, names))
    all_columns = _find_columns(rows)
    columns = [column for column in all_columns if _is_metric(column) and column not in other_columns]
    if rows and not columns and not other_columns:
        raise ValueError(
            f"no column of the result is named like a retrieval metric, such as 'ndcg_at_10'; it has "
            f"{', '.join(map(repr, all_columns))}. Columns of other metrics are kept if they are named: scores=[...]"
        )
    return columns


def _require_columns(rows: Sequence[Mapping[str, Any]], names: Collection[str]) -> list[str]:
    columns = _find_columns(rows)
    for name in names:
        if rows and name not in columns:
            raise ValueError(f"the result has no column {name!r}; it has {', '.join(map(repr, columns))}")
    return list(names)


def _find_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns that at least one row has, in the order in which they first occur."""
    columns: dict[str, None] = {}
    for row in rows:
        columns.update(dict.fromkeys(row))
    return list(columns)


def _is_metric(column: Any) -> bool:
    """Return whether a metric of this package writes a column with this name; no metric writes aliases as `success`."""
    try:
        name = MetricName.parse(column)
    except (TypeError, ValueError):
        return False
    return str(name) == column and not name.metric.definition.is_given


def _parse_cell(cell: Any, column: str, row: Mapping[str, Any]) -> float | None:
    """Return a cell as a float, None if it is empty; in a CSV file numbers are text."""
    value = cell.value if isinstance(cell, MetricResult) else cell
    if value is None or value == "":
        return None
    try:
        if isinstance(value, (Real, str)) and not isinstance(value, bool):
            return float(value)
    except ValueError:
        pass
    raise TypeError(
        f"{column} of row {get_query_text(row)!r} is {value!r}, which is not a number; an experiment should return "
        "metric_result.value, which can be saved"
    )
