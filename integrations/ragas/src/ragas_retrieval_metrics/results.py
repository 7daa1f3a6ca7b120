"""From what ragas returns to an evaluation of the core, in which nothing that went wrong raises a mean."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from pydantic import BaseModel

import retrieval_metrics as rm
from ragas_retrieval_metrics.fields import read_collection
from ragas_retrieval_metrics.host import DataTable, EvaluationDataset, EvaluationResult, MetricResult
from ragas_retrieval_metrics.names import Named
from ragas_retrieval_metrics.row import FIELDS
from retrieval_metrics.adapting import QUERY_KEYS, Counts, Scores, as_rules

if TYPE_CHECKING:
    import pandas as pd
    from ragas.executor import Executor


class ScoredRow(NamedTuple):
    """One row of a result.

    Attributes:
        query: What to call it; None if the row does not say.
        scores: The value of each metric: None where the metric failed, NaN where it is undefined.
        retrieved: What was retrieved, where the row says it.
    """

    query: str | None
    scores: Mapping[str, float | None]
    retrieved: Sequence[Any] | None

    @property
    def failed(self) -> bool:
        """Whether a metric of it failed."""
        return any(value is None for value in self.scores.values())


def to_evaluation(
    result: EvaluationResult | Executor | DataTable[Any] | pd.DataFrame | Iterable[Mapping[str, Any] | BaseModel],
    expected: int | Sequence[Any] | DataTable[Any] | EvaluationDataset | None = None,
    *,
    metrics: Iterable[str] | None = None,
) -> rm.Evaluation:
    """Return what ragas computed as an evaluation of the core, with everything that went wrong in it.

    Ragas averages what has a value: a row on which a metric raised becomes NaN in `evaluate()` and is skipped, and
    `@experiment` leaves it out altogether, so a retriever looks the better the more often it fails. Here a row that
    failed or is lacking scores 0 and is counted as failed; only a row for which nothing is relevant is left out, and
    counted too.

    Args:
        result: What `evaluate()` or an experiment returned; or its rows, or their DataFrame. The Executor that
            `evaluate(return_executor=True)` returns has no result yet and is refused.
        expected: The dataset the experiment ran on, or its length: without it, rows that an experiment dropped cannot
            be seen.
        metrics: The columns to take; None takes all that are named like a metric, such as `ndcg_at_10`.

    Returns:
        The values per query, in the order of `expected` where it is a dataset, with means and counts.

    Raises:
        ValueError: If no column is named like a metric, there are no rows, or more rows than expected.
        TypeError: If the result or a value in it has another type.

    Warns:
        RetrievalWarning: If rows failed or are lacking, or an experiment comes without `expected`.

    Example:
        >>> rows = [{"user_input": "what is a closure?", "mrr": 0.5}, {"user_input": "what is a cell?", "mrr": 1.0}]
        >>> print(to_evaluation(rows, expected=2))
        metric    mean   95 % interval  n
        mrr     0.7500  [0.265, 0.955]  2
        2 queries
        n too small: an interval of fewer than 4 queries says little
    """
    names = None if metrics is None else list(metrics)
    rows = _of_result(result, names) if isinstance(result, EvaluationResult) else _of_rows(_rows(result), names)
    if not rows:
        raise ValueError(
            "the result has no rows; every row may have failed: see the warnings that the experiment printed"
        )
    if expected is None and isinstance(result, DataTable):
        warnings.warn(
            "an experiment drops the rows that raise, and what is dropped cannot be seen in it; pass expected=dataset, "
            "so that they count",
            rm.RetrievalWarning,
            stacklevel=2,
        )
    columns = list(rows[0].scores)
    complete = _complete(rows, columns, expected)
    failed = [row for row in complete if row.failed]
    if failed:
        warnings.warn(
            f"{len(failed)} of {len(complete)} rows failed or were dropped, for example {failed[0].query!r}; they "
            "score 0 here, where ragas leaves them out of its mean",
            rm.RetrievalWarning,
            stacklevel=2,
        )
    return _evaluation(complete, columns)


def _evaluation(rows: Sequence[ScoredRow], columns: Sequence[str]) -> rm.Evaluation:
    parsed = [Named.parse(column).metric for column in columns]
    if len(set(parsed)) < len(parsed):
        raise ValueError(f"several of the columns {', '.join(columns)} are the same metric; choose with metrics=[...]")
    filled = [[0.0 if (value := row.scores[column]) is None else value for column in columns] for row in rows]
    values = np.array(filled, dtype=np.float64)
    relying = [place for place, metric in enumerate(parsed) if metric.definition.needs_relevant]
    undefined = np.isnan(values[:, relying]).all(axis=1) if relying else np.zeros(len(rows), dtype=np.bool_)
    counts: dict[str, int] = dict.fromkeys(Counts.__annotations__, 0)  # a result of ragas shows some of them only
    counts |= {
        "queries": len(rows),
        "scored": int(np.count_nonzero(~undefined)),
        "missing": sum(row.failed or (row.retrieved is not None and not len(row.retrieved)) for row in rows),
        "failed": sum(row.failed for row in rows),
        "no_relevant": int(np.count_nonzero(undefined)),
        "duplicates": sum(len(row.retrieved) - len(set(row.retrieved)) for row in rows if row.retrieved is not None),
    }
    return rm.Evaluation(
        Scores(
            metrics=tuple(parsed),
            queries=tuple(_distinct(rows)),
            values=values,
            counts=cast("Counts", counts),
            rules=as_rules("standard"),
        )
    )


def _rows(result: Any) -> list[Mapping[str, Any]]:
    """Return the rows of an experiment, a DataFrame or a list as mappings."""
    if hasattr(result, "to_dict") and hasattr(result, "columns"):
        result = result.to_dict(orient="records")
    if not isinstance(result, Iterable) or isinstance(result, (str, bytes, Mapping)):
        raise TypeError(
            f"a result is what evaluate() or an experiment returned, or its rows, got {type(result).__name__}"
        )
    # Not model_dump: it would turn a MetricResult into something else.
    rows = [dict(row) if isinstance(row, BaseModel) else row for row in result]
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} must be a mapping or a pydantic model, got {row!r}")
    return rows


def _of_result(result: EvaluationResult, names: Sequence[str] | None) -> list[ScoredRow]:
    """Read the result of `evaluate()`, where NaN is both "failed" and "undefined": the traces tell them apart."""
    columns = _columns(result.scores, names)
    rows = []
    samples = result.dataset.samples
    for scores, sample, trace in zip(result.scores, samples, result.traces, strict=True):
        returned = getattr(trace, "scores", {})
        fields = sample.model_dump()
        values = {column: _returned(scores[column], returned.get(column)) for column in columns}
        rows.append(ScoredRow(_query(fields), values, _retrieved(fields)))
    return rows


def _returned(score: Any, traced: Any) -> float | None:
    """Return a score; None for a NaN that no metric returned: the trace of a metric that raised holds no number."""
    return None if isnan(score) and not isinstance(traced, Real) else float(score)


def _of_rows(rows: Sequence[Mapping[str, Any]], names: Sequence[str] | None) -> list[ScoredRow]:
    columns = _columns(rows, names)
    return [
        ScoredRow(_query(row), {column: _value(row.get(column), column, row) for column in columns}, _retrieved(row))
        for row in rows
    ]


def _columns(rows: Sequence[Mapping[str, Any]], names: Sequence[str] | None) -> list[str]:
    there = list(dict.fromkeys(key for row in rows for key in row))
    if names is not None:
        for name in names:
            Named.parse(name)
            if rows and name not in there:
                raise ValueError(f"the result has no column {name!r}; it has {', '.join(map(repr, there))}")
        return list(names)
    found = [key for key in there if _is_metric(key)]
    if rows and not found:
        raise ValueError(
            f"no column of the result is named like a metric of retrieval, such as 'ndcg_at_10'; it has "
            f"{', '.join(map(repr, there))}"
        )
    return found


def _is_metric(column: Any) -> bool:
    try:
        Named.parse(column)
    except (TypeError, ValueError):
        return False
    return True


def _value(cell: Any, column: str, row: Mapping[str, Any]) -> float | None:
    """Return a cell as a float; None where there is nothing in it. A CSV file makes text of numbers."""
    value = cell.value if isinstance(cell, MetricResult) else cell
    if value is None or value == "":
        return None
    try:
        if isinstance(value, (Real, str)) and not isinstance(value, bool):
            return float(value)
    except ValueError:
        pass
    raise TypeError(
        f"{column} of row {_query(row)!r} is {value!r}, which is no number; an experiment should return "
        "metric_result.value, which a file keeps"
    )


def _query(row: Mapping[str, Any]) -> str | None:
    for key in ("user_input", *QUERY_KEYS):
        if isinstance(row.get(key), str):
            return str(row[key])
    return None


def _retrieved(row: Mapping[str, Any]) -> Sequence[Any] | None:
    for field, _ in FIELDS.values():
        retrieved = read_collection(row.get(field), field)
        if retrieved is not None:
            return list(retrieved)
    return None


def _complete(rows: Sequence[ScoredRow], columns: Sequence[str], expected: Any) -> Sequence[ScoredRow]:
    """Return the rows with those that are lacking, which failed."""
    if expected is None:
        return rows
    wanted = expected if isinstance(expected, int) else len(expected)
    if wanted < len(rows):
        raise ValueError(f"the result has {len(rows)} rows, more than the {wanted} expected")
    lost: dict[str, float | None] = dict.fromkeys(columns)
    queries = [] if isinstance(expected, int) else [_query(_mapping(row)) for row in expected]
    by_query: dict[str | None, list[ScoredRow]] = {}
    for row in rows:
        by_query.setdefault(row.query, []).append(row)
    if queries and set(by_query) <= set(queries):
        in_order = []
        for query in queries:
            here = by_query.get(query)
            in_order.append(here.pop(0) if here else ScoredRow(query, lost, None))
        if not any(by_query.values()):
            return in_order
    return [*rows, *(ScoredRow(f"dropped row {number}", lost, None) for number in range(1, wanted - len(rows) + 1))]


def _mapping(row: Any) -> Mapping[str, Any]:
    return dict(row) if isinstance(row, BaseModel) else row if isinstance(row, Mapping) else {}


def _distinct(rows: Sequence[ScoredRow]) -> list[str]:
    """Return a name for every row, each once: two rows may ask the same."""
    seen: dict[str, int] = {}
    names = []
    for number, row in enumerate(rows, start=1):
        name = row.query or f"row {number}"
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names
