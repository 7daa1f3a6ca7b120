"""Checks of numbers, ids and optional packages, shared by the whole package."""

import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from numbers import Integral
from typing import TYPE_CHECKING, Any, SupportsFloat

from retrieval_metrics.argument_names import named

if TYPE_CHECKING:
    import pandas as pd

EXTRAS = {
    "backports.zstd": "files",
    "bm25s": "questions",
    "compression.zstd": "files",
    "matplotlib": "plot",
    "pandas": "pandas",
    "polars": "files",
    "rich": "cli",
}
"""The extra that installs each optional package."""


class RetrievalWarning(UserWarning):
    """The data is probably not what was meant; the results are correct for the data as given."""


def require(package: str, what: str) -> Any:
    """Import and return an optional package.

    Args:
        package: The package, one of `EXTRAS`.
        what: What needs it, for the message ("to_pandas").

    Raises:
        ImportError: If the package is not installed; the message contains the command that installs it.
        RuntimeError: If it is polars and this process was forked from one that used it: polars would hang.
    """
    try:
        module = import_module(package)
    except ImportError as error:
        raise ImportError(f"{what} needs {package}: pip install 'retrieval-metrics[{EXTRAS[package]}]'") from error
    if package == "polars":
        if forked_from_polars():
            raise RuntimeError(
                f"{what} needs polars, whose threads do not survive a fork, and this process was forked from one that "
                "used polars; start processes with multiprocessing.get_context('spawn') or 'forkserver', or read the "
                "files in the parent process and evaluate here"
            )
        _used_polars.add(os.getpid())
    return module


def data_frame(rows: Sequence[Any], columns: Sequence[str] | None = None) -> "pd.DataFrame":
    """Return rows as a pandas DataFrame, for a `to_pandas`.

    Args:
        rows: Mappings of names to values, or sequences of values.
        columns: The names of the columns; None takes those of the mappings.

    Raises:
        ImportError: If pandas is not installed; the message holds the command.
    """
    frame: pd.DataFrame = require("pandas", "to_pandas").DataFrame(
        rows, columns=None if columns is None else [*columns]
    )
    return frame


_used_polars: set[int] = set()
"""The process in which this package used polars; in a forked child, the parent."""


def forked_from_polars() -> bool:
    """Return whether this process was forked from one that used polars; the threads of polars are then missing."""
    return bool(_used_polars) and os.getpid() not in _used_polars


def integer(value: Any, what: str, kind: str = "an integer") -> int:
    """Return `value` as an int.

    Args:
        value: Any integer, those of numpy included.
        what: What the value is, for the message.
        kind: What it must be, for the message.

    Raises:
        TypeError: If it is not an integer; a bool is rejected.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{named(what)} must be {kind}, got {value!r} ({type(value).__name__})")
    return int(value)


def positive_integer(value: Any, what: str, *, or_none: bool = False) -> int:
    """Return `value` as an int if it is at least 1.

    Args:
        value: Any integer, those of numpy included.
        what: What the value is, for the message.
        or_none: Whether the caller also accepts None, for the message.

    Raises:
        TypeError: If it is not an integer; a bool is rejected.
        ValueError: If it is zero or negative.
    """
    kind = "a positive integer or None" if or_none else "a positive integer"
    number = integer(value, what, kind)
    if number <= 0:
        raise ValueError(f"{named(what)} must be {kind}, got {value!r}")
    return number


def proportion(value: Any, what: str, *, zero: bool = False, one: bool = False) -> float:
    """Return `value` as a float if it is between 0 and 1.

    Args:
        value: Anything that converts to a float, except text.
        what: What the value is, for the message.
        zero: Whether it may be 0.
        one: Whether it may be 1.

    Raises:
        TypeError: If it is not a number.
        ValueError: If it is NaN or out of range.
    """
    if zero:
        kind = "from 0 to 1" if one else "at least 0 and below 1"
    else:
        kind = "above 0 and at most 1" if one else "strictly between 0 and 1"
    if not isinstance(value, float | SupportsFloat):  # asking a protocol takes 3 microseconds
        raise TypeError(f"{named(what)} must be a number {kind}, got {value!r} ({type(value).__name__})")
    number = float(value)
    if not 0 <= number <= 1 or (number == 0 and not zero) or (number == 1 and not one):
        raise ValueError(f"{named(what)} must be {kind}, got {value!r}")
    return number


def positive_number(value: float, what: str) -> float:
    """Return `value` as a float if it is above 0; infinity is allowed.

    Raises:
        TypeError: If it is not a number; a bool is rejected.
        ValueError: If it is zero, negative or NaN.
    """
    if isinstance(value, bool) or not isinstance(value, SupportsFloat):
        raise TypeError(f"{named(what)} must be a positive number, got {value!r} ({type(value).__name__})")
    if not value > 0:
        raise ValueError(f"{named(what)} must be positive, got {value!r}")
    return float(value)


def id_kind(types: Iterable[type], owner: str) -> type | None:
    """Return the type that all ids share, `str` or `int`; None if there are no ids.

    Args:
        types: The types of the ids, in any order; repeats are allowed.
        owner: What holds the ids, for the message ("document ids in the qrels").

    Raises:
        TypeError: If an id is neither str nor int, or both types occur.
    """
    kinds = {_kind(cls, owner) for cls in types}
    if len(kinds) > 1:
        raise TypeError(
            f"{owner} are partly str and partly int; ids are compared as they are, so convert them to one type"
        )
    return kinds.pop() if kinds else None


def _kind(cls: type, owner: str) -> type:
    if issubclass(cls, str):
        return str
    if issubclass(cls, Integral) and not issubclass(cls, bool):
        return int
    raise TypeError(f"{owner} must be str or int, got {cls.__name__}")


def same_kind(left: type | None, left_owner: str, right: type | None, right_owner: str) -> None:
    """Raise if two collections hold ids of different types, because then no two ids can be equal.

    Raises:
        TypeError: If one side is str and the other int.
    """
    if left is not None and right is not None and left is not right:
        raise TypeError(
            f"{left_owner} are {left.__name__} and {right_owner} are {right.__name__}, so none of them can match; "
            f"convert one side, for example with {left.__name__}(id)"
        )
