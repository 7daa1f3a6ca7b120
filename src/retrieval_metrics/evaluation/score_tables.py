"""Read scores that were computed elsewhere from tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.frame_columns import column_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics._internal.plain_types import QueryId


def read_scores_frame(
    frame: Any, query_column: str, metric_column: str | None, value_column: str | Sequence[str]
) -> dict[str, dict[QueryId, Any]]:
    """Return the scores in a table, by metric and query; see `Evaluation.from_frame`."""
    value_columns = [value_column] if isinstance(value_column, str) else list(value_column)
    required = [query_column, *value_columns]
    if metric_column is not None:
        required.insert(1, metric_column)
    _require_columns(frame, required)
    scores_by_metric: dict[str, dict[QueryId, Any]] = {}
    for metric_name, query_id, score in _iterate_scores(frame, query_column, metric_column, value_columns):
        score_by_query = scores_by_metric.setdefault(metric_name, {})
        if query_id in score_by_query:
            raise ValueError(
                f"query {query_id!r} has two scores of {metric_name!r}; a table of several systems is read system by "
                "system, as in from_frame(frame[frame['name'] == 'bm25'], ...)"
            )
        score_by_query[query_id] = score
    return scores_by_metric


def _require_columns(frame: Any, required: Sequence[str]) -> None:
    names = column_names(frame)
    index_names = getattr(getattr(frame, "index", None), "names", ())  # of pandas, as `Evaluation.to_pandas` has it
    for name in required:
        if name not in names:
            message = f"the table has no column {name!r}; it has {', '.join(map(repr, names))}"
            if name in index_names:
                message += f"; {name!r} is its index: pass frame.reset_index()"
            raise ValueError(message)


def _iterate_scores(
    frame: Any, query_column: str, metric_column: str | None, value_columns: Sequence[str]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of the metric, the query and the value of each score in a table."""
    queries = _read_column(frame, query_column)
    if metric_column is None:
        for name in value_columns:
            for query_id, score in zip(queries, _read_column(frame, name), strict=True):
                yield str(name), query_id, score
        return
    if len(value_columns) > 1:
        raise ValueError(
            f"a table with the metrics in {metric_column!r} has its scores in one column, got {value_columns}"
        )
    metric_names = _read_column(frame, metric_column)
    scores = _read_column(frame, value_columns[0])
    for metric_name, query_id, score in zip(metric_names, queries, scores, strict=True):
        yield str(metric_name), query_id, score


def _read_column(frame: Any, name: str) -> list[Any]:
    column = frame[name]
    for method in ("tolist", "to_list", "to_pylist"):  # pandas and NumPy; polars; Arrow
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)
