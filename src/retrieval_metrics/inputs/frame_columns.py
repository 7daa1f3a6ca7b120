"""Read columns of tables of any library into polars: pandas, polars, Arrow, or a mapping of names to columns."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import numpy as np

from retrieval_metrics.inputs.half_characters import refuse_half_characters

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl
    from typing_extensions import TypeIs

    class HasColumns(Protocol):
        """A DataFrame of pandas or polars."""

        @property
        def columns(self) -> Iterable[object]:
            """The names of the columns."""

    class HasColumnNames(Protocol):
        """A table of Arrow."""

        @property
        def column_names(self) -> Iterable[object]:
            """The names of the columns."""

    # A table of any library, or a mapping of column names to columns.
    Frame: TypeAlias = HasColumns | HasColumnNames | Mapping[str, object]


# Kinds of numpy types that polars takes as they are: booleans, integers, dates and durations.
PLAIN_KINDS = "biumM"
# Whole numbers from here on do not fit into 64 bits.
MIN_BEYOND_64_BITS = 2**63


def is_dataframe(source: object) -> TypeIs[Frame]:
    """Return whether something is a table rather than a path or an open file."""
    is_path = isinstance(source, (str, bytes)) or hasattr(source, "__fspath__")
    is_file = callable(getattr(source, "read", None))
    return not (is_path or is_file)


def column_names(frame: Any) -> list[str]:
    """Return the names of all columns."""
    if isinstance(frame, Mapping):
        return [str(name) for name in frame]
    if hasattr(frame, "collect_schema"):  # polars, lazy or not
        return list(frame.collect_schema().names())
    names = getattr(frame, "column_names", None)  # Arrow
    if names is None:
        names = getattr(frame, "columns", None)
    if names is None:
        raise TypeError(
            "a table must be a pandas or polars DataFrame, an Arrow table or a mapping of columns, got "
            f"{type(frame).__name__}"
        )
    return [str(name) for name in names]


def select_columns(frame: Any, names: list[str], source: str) -> pl.DataFrame:
    """Return some columns as a polars DataFrame; of several with the same name, the first."""
    import polars as pl

    if hasattr(frame, "collect_schema"):
        selected: pl.DataFrame = frame.lazy().select(names).collect()
        return selected
    if hasattr(frame, "column_names"):
        positions = [frame.column_names.index(name) for name in names]
        return cast("pl.DataFrame", pl.from_arrow(frame.select(positions)))
    frame_names = frame if isinstance(frame, Mapping) else frame.columns
    name_in_frame = {str(name): name for name in frame_names}
    columns = [_to_series(name, _first_of_name(frame[name_in_frame[name]]), source) for name in names]
    for column in columns[1:]:
        if len(column) != len(columns[0]):
            raise ValueError(
                f"the columns of {source} must have the same length, but {columns[0].name!r} has {len(columns[0])} "
                f"values, {column.name!r} {len(column)}"
            )
    return pl.DataFrame(columns)


def copy_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a DataFrame whose numbers nobody else can change: those of numpy, and of frames made of it, are shared."""
    import polars as pl

    columns = []
    for column in frame.get_columns():
        if column.dtype.is_numeric():
            # Reversing writes new memory; a clone shares it.
            columns.append(column.reverse().reverse())
        else:
            columns.append(column)
    return pl.DataFrame(columns)


def _first_of_name(column: Any) -> Any:
    """Return a column of pandas; of several with the same name, the first."""
    is_frame = getattr(column, "ndim", 1) == 2 and hasattr(column, "iloc")  # pandas returns all columns of a name
    return column.iloc[:, 0] if is_frame else column


def _to_series(name: str, column: Any, source: str) -> pl.Series:
    """Return a column of pandas, numpy or plain Python; text stays text, whatever its dtype."""
    import polars as pl

    if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
        raise TypeError(f"column {name!r} of {source} must be a list or an array of values, got {column!r}")
    if getattr(getattr(column, "dtype", None), "storage", None) == "pyarrow":
        # Texts that pandas keeps as Arrow does are shared; as Python objects each would be copied.
        return pl.Series(name, column.array.__arrow_array__(), pl.String)
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    try:
        if kind == "f":
            return pl.Series(name, np.asarray(values, dtype=np.float64), strict=True)
        if kind in PLAIN_KINDS:
            return pl.Series(name, values, strict=True)
        return _convert_objects(name, _replace_missing(column, values))
    except UnicodeEncodeError:
        for value in values:
            refuse_half_characters(str(value), f"column {name!r} of {source}")
        raise
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        raise TypeError(
            f"column {name!r} of {source} holds values of different types: {str(error).splitlines()[0]}"
        ) from error


def _replace_missing(column: Any, values: Any) -> list[Any]:
    """Return values with None for each missing one: pandas has several missing values, polars knows only None."""
    if not hasattr(column, "isna"):
        return list(values)
    missing = column.isna()
    if not missing.any():
        return list(values)
    replaced = []
    for value, is_missing in zip(values, missing.tolist(), strict=True):
        replaced.append(None if is_missing else value)
    return replaced


def _convert_objects(name: str, values: list[Any]) -> pl.Series:
    """Return Python objects as a column; name its type where polars, which infers it from few values, would fail."""
    from decimal import Decimal

    import polars as pl

    types = set(map(type, values)) - {type(None)}
    if types and all(issubclass(cls, Integral) for cls in types):
        largest = max(abs(value) for value in values if value is not None)
        dtype = pl.Int128 if largest >= MIN_BEYOND_64_BITS else None
        return pl.Series(name, values, dtype, strict=True)
    if len(types) > 1 and all(issubclass(cls, (Real, Decimal)) for cls in types):  # mixed numbers become floats
        floats = [None if value is None else float(value) for value in values]
        return pl.Series(name, floats, pl.Float64, strict=True)
    return pl.Series(name, values, strict=True)
