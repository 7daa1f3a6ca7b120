"""The columns of a table: pandas, polars, Arrow, or a mapping of names to columns."""
# ruff: noqa: PLC0415  (polars is an extra and decimal is rarely needed: imported where they are used)

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    import polars as pl


def is_frame(source: Any) -> bool:
    """Return whether something is a table rather than a path or an open file."""
    return not (
        isinstance(source, (str, bytes)) or hasattr(source, "__fspath__") or callable(getattr(source, "read", None))
    )


def refuse_frame(given: Any, what: str, reader: str) -> None:
    """Raise if a table is given where a mapping is meant.

    Raises:
        TypeError: If it is a DataFrame or an Arrow table; the message names the function that reads it.
    """
    if not isinstance(given, Mapping) and (hasattr(given, "columns") or hasattr(given, "column_names")):
        raise TypeError(
            f"{what} must be a mapping of query ids, got a {type(given).__name__}; read it with {reader}(frame)"
        )


def reads_a_file(given: Any, reader: str) -> str:
    """Return what to add to a message where a path is given in place of what is in the file."""
    return f"; a file is read with {reader}({str(given)!r})" if isinstance(given, (str, PathLike)) else ""


def column_names(frame: Any) -> list[str]:
    """Return the names of all columns.

    Raises:
        TypeError: If it is not a table.
    """
    if isinstance(frame, Mapping):
        return [str(name) for name in frame]
    if hasattr(frame, "collect_schema"):  # polars, lazy or not
        return list(frame.collect_schema().names())
    names = getattr(frame, "column_names", None)  # Arrow
    if names is None:
        names = getattr(frame, "columns", None)
    if names is None:
        got = type(frame).__name__
        raise TypeError(
            f"a table must be a pandas or polars DataFrame, an Arrow table or a mapping of columns, got {got}"
        )
    return [str(name) for name in names]


def select_columns(frame: Any, names: list[str], source: str) -> pl.DataFrame:
    """Return some columns as a polars DataFrame.

    Args:
        frame: The table.
        names: The columns.
        source: The name of the table, for messages.

    Raises:
        TypeError: If a column is not an array, or holds values of different types.
        ValueError: If the columns differ in length.
    """
    import polars as pl

    if hasattr(frame, "collect_schema"):
        chosen: pl.DataFrame = frame.lazy().select(names).collect()
        return chosen
    if hasattr(frame, "column_names"):
        first = [frame.column_names.index(name) for name in names]  # of several with the same name
        return cast("pl.DataFrame", pl.from_arrow(frame.select(first)))
    name_in_frame = {str(name): name for name in (frame if isinstance(frame, Mapping) else frame.columns)}
    columns = [_series(name, _first(frame[name_in_frame[name]]), source) for name in names]
    for column in columns[1:]:
        if len(column) != len(columns[0]):
            raise ValueError(
                f"the columns of {source} must have the same length, but {columns[0].name!r} has {len(columns[0])} "
                f"values, {column.name!r} {len(column)}"
            )
    return pl.DataFrame(columns)


def _first(column: Any) -> Any:
    """Return a column of pandas; of several with the same name, the first."""
    return column.iloc[:, 0] if getattr(column, "ndim", 1) == 2 and hasattr(column, "iloc") else column  # noqa: PLR2004  (a table)


def _series(name: str, column: Any, source: str) -> pl.Series:
    """Return a column of pandas, numpy or plain Python; text stays text, whatever its dtype."""
    import polars as pl

    if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
        raise TypeError(f"column {name!r} of {source} must be a list or an array of values, got {column!r}")
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    try:
        if kind == "f":
            values = np.asarray(values, dtype=np.float64)
        elif kind not in "biumM":
            # pandas has several missing values; polars knows only None.
            missing = column.isna() if hasattr(column, "isna") else [False] * len(values)
            values = [None if gone else value for value, gone in zip(values, missing, strict=True)]
            return pl.Series(name, *_with_type(values), strict=True)
        return pl.Series(name, values, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        raise TypeError(
            f"column {name!r} of {source} holds values of different types: {str(error).splitlines()[0]}"
        ) from error


def _with_type(values: list[Any]) -> tuple[list[Any], pl.DataType | type[pl.DataType] | None]:
    """Return values with their type if polars, which infers it from the first values, would get it wrong."""
    from decimal import Decimal

    import polars as pl

    types = set(map(type, values)) - {type(None)}
    if types and all(issubclass(cls, Integral) for cls in types):
        beyond = max(abs(value) for value in values if value is not None) >= 2**63
        return values, pl.Int128 if beyond else None
    if len(types) > 1 and all(issubclass(cls, (Real, Decimal)) for cls in types):  # mixed numbers become floats
        return [None if value is None else float(value) for value in values], pl.Float64
    return values, None
