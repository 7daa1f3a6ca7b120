"""Arguments of functions: their plain types, their checks, how messages name them, and signatures that are shared."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from inspect import signature
from numbers import Integral
from typing import TYPE_CHECKING, Any, ParamSpec, SupportsFloat, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import FrameType

    import numpy as np
    import pandas as pd
    from numpy import typing as npt

    FloatArray: TypeAlias = npt.NDArray[np.float64]
    IntArray: TypeAlias = npt.NDArray[np.int64]
    BoolArray: TypeAlias = npt.NDArray[np.bool_]
    Cut: TypeAlias = int | IntArray | None
    """How many of the first items count: one number for all queries, one for each query, or all items (None)."""
    Gains: TypeAlias = Sequence[float | None] | npt.NDArray[Any]
    """One ranking as grades in rank order; None means not judged."""
    Speller = Callable[[str, Any], str | None]


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


def warn(message: str | Warning, category: type[Warning] = RetrievalWarning) -> None:
    """Warn, and name the line that called this package, or the integration that did."""
    level, frame = 2, sys._getframe(1)  # noqa: SLF001  (`skip_file_prefixes` of warnings.warn is new in Python 3.12)
    while frame.f_back is not None and _is_ours(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(frame: FrameType) -> bool:
    parts = (frame.f_globals.get("__package__") or "").split(".")
    return any(part == "retrieval_metrics" or part.endswith("_retrieval_metrics") for part in parts)


def import_optional(package: str, what: str) -> Any:
    """Import and return an optional package."""
    try:
        module = import_module(package)
    except ImportError as error:
        raise ImportError(f"{what} needs {package}: pip install 'retrieval-metrics[{EXTRAS[package]}]'") from error
    if package == "polars":
        if is_forked_from_polars():
            raise RuntimeError(
                f"{what} needs polars, whose threads do not survive a fork, and this process was forked from one that "
                "used polars; start processes with multiprocessing.get_context('spawn') or 'forkserver', or read the "
                "files in the parent process and evaluate here"
            )
        _used_polars.add(os.getpid())
    return module


def to_data_frame(rows: Sequence[Any], columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return rows as a pandas DataFrame, for a `to_pandas`."""
    frame: pd.DataFrame = import_optional("pandas", "to_pandas").DataFrame(
        rows, columns=None if columns is None else [*columns]
    )
    return frame


_used_polars: set[int] = set()
"""The process in which this package used polars; in a forked child, the parent."""


def is_forked_from_polars() -> bool:
    """Return whether this process was forked from one that used polars; the threads of polars are then missing."""
    return bool(_used_polars) and os.getpid() not in _used_polars


def integer(value: Any, what: str, kind: str = "an integer") -> int:
    """Return `value` as an int."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{argument_name(what)} must be {kind}, got {value!r} ({type(value).__name__})")
    return int(value)


def positive_integer(value: Any, what: str, *, or_none: bool = False) -> int:
    """Return `value` as an int if it is at least 1."""
    kind = "a positive integer or None" if or_none else "a positive integer"
    number = integer(value, what, kind)
    if number <= 0:
        raise ValueError(f"{argument_name(what)} must be {kind}, got {value!r}")
    return number


def proportion(value: Any, what: str, *, zero: bool = False, one: bool = False) -> float:
    """Return `value` as a float if it is between 0 and 1."""
    if zero:
        kind = "from 0 to 1" if one else "at least 0 and below 1"
    else:
        kind = "above 0 and at most 1" if one else "strictly between 0 and 1"
    if not isinstance(value, float | SupportsFloat):  # asking a protocol takes 3 microseconds
        raise TypeError(f"{argument_name(what)} must be a number {kind}, got {value!r} ({type(value).__name__})")
    number = float(value)
    if not 0 <= number <= 1 or (number == 0 and not zero) or (number == 1 and not one):
        raise ValueError(f"{argument_name(what)} must be {kind}, got {value!r}")
    return number


def positive_number(value: float, what: str) -> float:
    """Return `value` as a float if it is above 0; infinity is allowed."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat):
        raise TypeError(f"{argument_name(what)} must be a positive number, got {value!r} ({type(value).__name__})")
    if not value > 0:
        raise ValueError(f"{argument_name(what)} must be positive, got {value!r}")
    return float(value)


def common_id_type(types: Iterable[type], owner: str) -> type | None:
    """Return the type that all ids share, `str` or `int`; None if there are no ids."""
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
    found: dict[NameT, list[ValueT]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


# How messages name an argument: as Python writes it, or as a program that was asked calls it.

_speller: ContextVar[Speller | None] = ContextVar("speller", default=None)

ROWS_OF_ITEMS = "a run of items has rows with the text, the source or the metadata of each"
"""What a file holds where Python has lists of items."""

OPEN: Any = ...
"""The value of an argument, or of a key in it, if a message leaves it to the reader."""


@contextmanager
def format_arguments_with(speller: Speller) -> Iterator[None]:
    """Name arguments as a program calls them, in all messages that are made inside."""
    before = _speller.set(speller)
    try:
        yield
    finally:
        _speller.reset(before)


def format_argument(name: str, value: Any = OPEN, *, python: str | None = None) -> str:
    """Return an argument as the reader of a message writes it.

    Example:
        >>> format_argument("clusters", None), format_argument("columns", {"query": OPEN}), format_argument("documents")
        ('clusters=None', "columns={'query': ...}", 'documents=')
        >>> with format_arguments_with(lambda name, value: f"--{name} {value}"):
        ...     format_argument("allow", "blanks")
        '--allow blanks'
    """
    speller = _speller.get()
    spelled = None if speller is None else speller(name, value)
    if spelled is not None:
        return spelled
    return f"{name}={'' if value is OPEN else _literal(value)}" if python is None else python


def argument_name(name: str) -> str:
    """Return the bare name of an argument, for messages that say what is wrong with its value.

    Example:
        >>> argument_name("level")
        'level'
    """
    return format_argument(name, python=name)


def python_or_cli_text(python: str, otherwise: str = "") -> str:
    """Return words that only help who writes Python, or others where a program was asked.

    Example:
        >>> python_or_cli_text("evaluate(qrels, run) takes the judgments first", "the file of judgments comes first")
        'evaluate(qrels, run) takes the judgments first'
    """
    return python if _speller.get() is None else otherwise


def argument_order_hint() -> str:
    """Return the advice to whoever may have exchanged judgments and rankings."""
    return python_or_cli_text("evaluate(qrels, run) takes the judgments first", "the file of judgments comes first")


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {'...' if each is OPEN else repr(each)}" for key, each in value.items()) + "}"
    return repr(value)


# Write the arguments of functions that take the same ones once: of twins, and of what passes options on.

P = ParamSpec("P")
ReturnedT = TypeVar("ReturnedT")


def takes_arguments_of(other: Callable[P, Any]) -> Callable[[Callable[..., ReturnedT]], Callable[P, ReturnedT]]:
    """Return a decorator that gives a function the arguments of another, to which it passes them on.

    Type checkers, editors, `help` and the documentation show them with their defaults.

    Example:
        >>> def asked(question, *, workers=8): ...
        >>> @takes_arguments_of(asked)
        ... def ask(*args, **options):
        ...     return asked(*args, **options)
        >>> str(signature(ask))
        '(question, *, workers=8)'
    """

    def with_arguments(function: Callable[..., ReturnedT]) -> Callable[P, ReturnedT]:
        of_other = signature(other)
        result = signature(function).return_annotation
        function.__signature__ = of_other.replace(return_annotation=result)  # type: ignore[attr-defined]
        return function

    return with_arguments


def forward_arguments(
    name: str, function: Callable[..., ReturnedT], args: tuple[Any, ...], options: dict[str, Any]
) -> ReturnedT:
    """Call a function with the arguments of another that has them from `takes_arguments_of`, and return its result.

    Raises:
        TypeError: If the function does not take them; the message begins with the name of the other.

    Example:
        >>> def asked(question, *, workers=8):
        ...     return question, workers
        >>> forward_arguments("ask", asked, ("why?",), {})
        ('why?', 8)
        >>> forward_arguments("ask", asked, ("why?",), {"worker": 2})
        Traceback (most recent call last):
            ...
        TypeError: ask: got an unexpected keyword argument 'worker'
    """
    try:
        signature(function).bind(*args, **options)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    return function(*args, **options)
