"""Read results of ragas: the rows of an evaluation, of an experiment, or of a file of either."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isnan
from numbers import Real
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import BaseModel

from ragas_retrieval_metrics.imports import EvaluationResult, MetricResult
from ragas_retrieval_metrics.names import Named
from ragas_retrieval_metrics.rows import Row

QUERIES = ("user_input", "query", "question", "text")
"""The columns that may hold the text of a query; the first is that of ragas."""


class ScoredRow(NamedTuple):
    """One row of a result.

    Attributes:
        row: The fields that metrics read; empty if only its number is known.
        scores: The value of each metric: None if the metric failed, NaN if it is undefined.
        others: The values of other metrics, such as `faithfulness`; None or NaN if there is none.
    """

    row: Row
    scores: Mapping[str, float | None]
    others: Mapping[str, float | None] = MappingProxyType({})

    @property
    def failed(self) -> bool:
        """Whether one of its metrics failed."""
        return any(value is None for value in self.scores.values())

    @property
    def lost(self) -> bool:
        """Whether the row is missing from the result."""
        return all(value is None for value in self.scores.values())


def read_rows(result: Any) -> list[Mapping[str, Any]]:
    """Return the rows of an experiment, a DataFrame or a list as mappings."""
    if hasattr(result, "to_dict") and hasattr(result, "columns"):
        result = result.to_dict(orient="records")
    if not isinstance(result, Iterable) or isinstance(result, (str, bytes, Mapping)):
        raise TypeError(
            f"rows must be the result of evaluate() or an experiment, a list of mappings or a DataFrame, got "
            f"{type(result).__name__}"
        )
    # Not model_dump, which would convert a MetricResult.
    rows = [dict(row) if isinstance(row, BaseModel) else row for row in result]
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} must be a mapping or a pydantic model, got {row!r}")
    return rows


def of_result(result: EvaluationResult, names: Sequence[str] | None, others: Collection[str] | None) -> list[ScoredRow]:
    """Read the result of `evaluate()`, in which NaN means failed or undefined; the traces tell them apart.

    Args:
        result: The result.
        names: The columns of these metrics; None takes all.
        others: The columns of other metrics; None takes all.
    """
    foreign = _others(result.scores, others, names)
    columns = _columns(result.scores, names, foreign)
    rows = []
    samples = result.dataset.samples
    for scores, sample, trace in zip(result.scores, samples, result.traces, strict=True):
        returned = getattr(trace, "scores", {})
        values = {column: _returned(scores[column], returned.get(column)) for column in columns}
        fields = dict(sample)
        rows.append(ScoredRow(row_of(fields), values, {one: _value(scores[one], one, fields) for one in foreign}))
    return rows


def _returned(score: Any, traced: Any) -> float | None:
    """Return a score; None for a NaN without a number in the trace, because the metric raised."""
    return None if isnan(score) and not isinstance(traced, Real) else float(score)


def of_rows(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str] | None, others: Collection[str] | None
) -> list[ScoredRow]:
    """Read the rows of an experiment, in which a failed metric has no value; arguments as above, but no other metrics.

    A number in a row of an experiment may be anything, so its columns are other metrics only if they are named.
    """
    foreign = _others(rows, () if others is None else others, names)
    columns = _columns(rows, names, foreign)
    return [
        ScoredRow(
            row_of(row),
            {column: _value(row.get(column), column, row) for column in columns},
            {column: _value(row.get(column), column, row) for column in foreign},
        )
        for row in rows
    ]


def _others(
    rows: Sequence[Mapping[str, Any]], wanted: Collection[str] | None, names: Sequence[str] | None
) -> list[str]:
    """Return the columns of other metrics."""
    if wanted is None:
        return [key for key in _keys(rows) if not _is_metric(key) and key not in (names or ())]
    return _required(rows, wanted)


def _columns(rows: Sequence[Mapping[str, Any]], names: Sequence[str] | None, others: Sequence[str]) -> list[str]:
    if names is not None:
        for name in names:
            Named.parse(name)
        return _required(rows, names)
    there = _keys(rows)
    found = [key for key in there if _is_metric(key) and key not in others]
    if rows and not found and not others:
        raise ValueError(
            f"no column of the result is named like a retrieval metric, such as 'ndcg_at_10'; it has "
            f"{', '.join(map(repr, there))}. Columns of other metrics are kept if they are named: scores=[...]"
        )
    return found


def _required(rows: Sequence[Mapping[str, Any]], names: Collection[str]) -> list[str]:
    there = _keys(rows)
    for name in names:
        if rows and name not in there:
            raise ValueError(f"the result has no column {name!r}; it has {', '.join(map(repr, there))}")
    return list(names)


def _keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _is_metric(column: Any) -> bool:
    """Whether a column has a name that metrics of this package write; aliases such as `success` are other columns."""
    try:
        named = Named.parse(column)
    except (TypeError, ValueError):
        return False
    return str(named) == column and not named.metric.definition.given


def _value(cell: Any, column: str, row: Mapping[str, Any]) -> float | None:
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
        f"{column} of row {query_of(row)!r} is {value!r}, which is not a number; an experiment should return "
        "metric_result.value, which can be saved"
    )


def query_of(row: Mapping[str, Any]) -> str | None:
    """Return the text of the query of a row; None if it has none."""
    for key in QUERIES:
        if isinstance(row.get(key), str):
            return str(row[key])
    return None


def row_of(fields: Mapping[str, Any]) -> Row:
    """Return the fields of a row that metrics read.

    Raises:
        TypeError: If it is a conversation, which has no retrieved contexts.
    """
    if isinstance(fields.get("user_input"), (list, tuple)):
        raise TypeError(
            "a row with several turns has no retrieved contexts; retrieval metrics need rows with a single turn"
        )
    return Row(*map(fields.get, Row._fields))._replace(user_input=query_of(fields))
