"""Arguments of functions: their plain types, their checks, how messages name them, and signatures that are shared."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from inspect import signature
from numbers import Integral
from typing import TYPE_CHECKING, Any, ParamSpec, SupportsFloat, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import FrameType

    import numpy as np
    import pandas as pd
    from numpy import typing as npt

    FloatArray: TypeAlias = npt.NDArray[np.float64]
    IntArray: TypeAlias = npt.NDArray[np.int64]
    BoolArray: TypeAlias = npt.NDArray[np.bool_]
    # How many of the first items count: one number for all queries, one for each query, or all items (None).
    Cut: TypeAlias = int | IntArray | None
    # One ranking as grades in rank order; None means not judged.
    Gains: TypeAlias = Sequence[float | None] | npt.NDArray[Any]
    """One ranking as grades in rank order; None means not judged."""


# The extra that installs each optional package.
EXTRAS = {
    "backports.zstd": "files",
    "bm25s": "questions",
    "compression.zstd": "files",
    "matplotlib": "plot",
    "pandas": "pandas",
    "polars": "files",
    "rich": "cli",
}


class RetrievalWarning(UserWarning):
    """The data is probably not what was meant; the results are correct for the data as given."""


def warn(message: str | Warning, category: type[Warning] = RetrievalWarning) -> None:
    """Warn, and name the line that called this package, or the integration that did."""
    level = 2
    frame = sys._getframe(1)  # noqa: SLF001  (`skip_file_prefixes` of warnings.warn is new in Python 3.12)
    while frame.f_back is not None and _is_ours(frame):
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(frame: FrameType) -> bool:
    package = frame.f_globals.get("__package__") or ""
    return any(part == "retrieval_metrics" or part.endswith("_retrieval_metrics") for part in package.split("."))


def import_optional(package: str, feature: str) -> Any:
    """Import and return an optional package that a feature needs."""
    try:
        module = import_module(package)
    except ImportError as error:
        raise ImportError(f"{feature} needs {package}: pip install 'retrieval-metrics[{EXTRAS[package]}]'") from error
    if package == "polars":
        if is_forked_from_polars():
            raise RuntimeError(
                f"{feature} needs polars, whose threads do not survive a fork, and this process was forked from one "
                "that used polars; start processes with multiprocessing.get_context('spawn') or 'forkserver', or read "
                "the files in the parent process and evaluate here"
            )
        _processes_with_polars.add(os.getpid())
    return module


def to_data_frame(rows: Sequence[Any], columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return rows as a pandas DataFrame, for a `to_pandas`."""
    column_names = None if columns is None else [*columns]
    frame: pd.DataFrame = import_optional("pandas", "to_pandas").DataFrame(rows, columns=column_names)
    return frame


# The process in which this package used polars; in a forked child, the parent.
_processes_with_polars: set[int] = set()


def is_forked_from_polars() -> bool:
    """Return whether this process was forked from one that used polars; the threads of polars are then missing."""
    return bool(_processes_with_polars) and os.getpid() not in _processes_with_polars


def integer(value: Any, name: str, kind: str = "an integer") -> int:
    """Return the value of an argument as an int."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be {kind}, got {value!r} ({type(value).__name__})")
    return int(value)


def positive_integer(value: Any, name: str, *, or_none: bool = False) -> int:
    """Return the value of an argument as an int if it is at least 1."""
    kind = "a positive integer or None" if or_none else "a positive integer"
    number = integer(value, name, kind)
    if number <= 0:
        raise ValueError(f"{name} must be {kind}, got {value!r}")
    return number


# The range of a proportion by whether 0, and whether 1, is in it.
_PROPORTION_RANGES = {
    (True, True): "from 0 to 1",
    (True, False): "at least 0 and below 1",
    (False, True): "above 0 and at most 1",
    (False, False): "strictly between 0 and 1",
}


def proportion(value: Any, name: str, *, allow_zero: bool = False, allow_one: bool = False) -> float:
    """Return the value of an argument as a float if it is between 0 and 1."""
    allowed = _PROPORTION_RANGES[allow_zero, allow_one]
    if not isinstance(value, float | SupportsFloat):  # asking a protocol takes 3 microseconds
        raise TypeError(f"{name} must be a number {allowed}, got {value!r} ({type(value).__name__})")
    number = float(value)
    if not 0 <= number <= 1 or (number == 0 and not allow_zero) or (number == 1 and not allow_one):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return number


def positive_number(value: float, name: str) -> float:
    """Return the value of an argument as a float if it is above 0; infinity is allowed."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat):
        raise TypeError(f"{name} must be a positive number, got {value!r} ({type(value).__name__})")
    if not value > 0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return float(value)


def common_id_type(types: Iterable[type], owner: str) -> type | None:
    """Return the type that all ids share, `str` or `int`; None if there are no ids."""
    id_types = {_id_type(cls, owner) for cls in types}
    if len(id_types) > 1:
        raise TypeError(
            f"{owner} are partly str and partly int; ids are compared as they are, so convert them to one type"
        )
    return id_types.pop() if id_types else None


def _id_type(cls: type, owner: str) -> type:
    if issubclass(cls, str):
        return str
    if issubclass(cls, Integral) and not issubclass(cls, bool):
        return int
    raise TypeError(f"{owner} must be str or int, got {cls.__name__}")


def require_same_id_type(left: type | None, left_owner: str, right: type | None, right_owner: str) -> None:
    """Raise if two collections hold ids of different types, because then no two ids can be equal."""
    if left is not None and right is not None and left is not right:
        raise TypeError(
            f"{left_owner} are {left.__name__} and {right_owner} are {right.__name__}, so none of them can match; "
            "convert one side, for example with str(id)"
        )


# Aliases of plain types: ids and arrays.

QueryId: TypeAlias = str | int
DocumentId: TypeAlias = str | int


NameT = TypeVar("NameT")
ValueT = TypeVar("ValueT")


def group_pairs(pairs: Iterable[tuple[NameT, ValueT]]) -> dict[NameT, list[ValueT]]:
    """Return the second of each pair by the first, both in the order of their first occurrence.

    Example:
        >>> group_pairs((len(word), word) for word in ("to", "be", "not"))
        {2: ['to', 'be'], 3: ['not']}
    """
    values_by_name: dict[NameT, list[ValueT]] = {}
    for name, value in pairs:
        values_by_name.setdefault(name, []).append(value)
    return values_by_name


# How messages name an argument: as Python writes it, or as a program that was asked calls it.

ROWS_OF_ITEMS = "a run of items has rows with the text, the source or the metadata of each"

# The value of an argument, or of a key in it, if a message leaves it to the reader.
OPEN: Any = ...


def format_argument(name: str, value: Any = OPEN, *, python: str | None = None) -> str:
    """Return an argument as the reader of a message writes it.

    Example:
        >>> format_argument("clusters", None), format_argument("columns", {"query": OPEN}), format_argument("documents")
        ('clusters=None', "columns={'query': ...}", 'documents=')
    """
    return f"{name}={'' if value is OPEN else _literal(value)}" if python is None else python


def argument_name(name: str) -> str:
    """Return the bare name of an argument, for messages that say what is wrong with its value.

    Example:
        >>> argument_name("level")
        'level'
    """
    return format_argument(name, python=name)


def python_or_cli_text(python: str, shell: str = "") -> str:
    """Return words that only help who writes Python, or others where a program was asked.

    Example:
        >>> python_or_cli_text("evaluate(qrels, run) takes the judgments first", "the file of judgments comes first")
        'evaluate(qrels, run) takes the judgments first'
    """
    del shell
    return python


def argument_order_hint() -> str:
    """Return the advice to whoever may have exchanged judgments and rankings."""
    return "evaluate(qrels, run) takes the judgments first"


def _literal(value: Any) -> str:
    if not isinstance(value, dict):
        return repr(value)
    items = []
    for key, content in value.items():
        text = "..." if content is OPEN else repr(content)
        items.append(f"{key!r}: {text}")
    return "{" + ", ".join(items) + "}"


# Write the arguments of functions that take the same ones once: of sync and async pairs, and of what passes options on.

P = ParamSpec("P")
ReturnedT = TypeVar("ReturnedT")


def takes_arguments_of(source: Callable[P, Any]) -> Callable[[Callable[..., ReturnedT]], Callable[P, ReturnedT]]:
    """Return a decorator that gives a function the arguments of another, to which it passes them on.

    Type checkers, editors, `help` and the documentation show them with their defaults.

    Example:
        >>> def search(question, *, workers=8): ...
        >>> @takes_arguments_of(search)
        ... def search_again(*args, **options):
        ...     return search(*args, **options)
        >>> str(signature(search_again))
        '(question, *, workers=8)'
    """

    def with_arguments(function: Callable[..., ReturnedT]) -> Callable[P, ReturnedT]:
        returned = signature(function).return_annotation
        function.__signature__ = signature(source).replace(return_annotation=returned)  # type: ignore[attr-defined]
        return function

    return with_arguments


def forward_arguments(
    name: str, function: Callable[..., ReturnedT], args: tuple[Any, ...], options: dict[str, Any]
) -> ReturnedT:
    """Call a function with the arguments of another that has them from `takes_arguments_of`, and return its result.

    Raises:
        TypeError: If the function does not take them; the message begins with the name of the other.

    Example:
        >>> def search(question, *, workers=8):
        ...     return question, workers
        >>> forward_arguments("search_again", search, ("why?",), {})
        ('why?', 8)
        >>> forward_arguments("search_again", search, ("why?",), {"worker": 2})
        Traceback (most recent call last):
            ...
        TypeError: search_again: got an unexpected keyword argument 'worker'
    """
    try:
        signature(function).bind(*args, **options)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    return function(*args, **options)
