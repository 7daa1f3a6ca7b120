"""Checks of plain arguments: numbers in a range, ids of one type, and keys that exist."""

from __future__ import annotations

from numbers import Integral
from os import PathLike
from reprlib import repr as shorten
from typing import TYPE_CHECKING, Any, SupportsFloat

if TYPE_CHECKING:
    from collections.abc import Iterable


class UnknownKeyError(KeyError):
    """A KeyError whose message is printed as it is, without the quotes and escapes of a plain KeyError."""

    def __str__(self) -> str:
        return str(self.args[0]) if len(self.args) == 1 else super().__str__()


def show_value(value: Any) -> str:
    """Return the repr of a value for a message; a short one if it is nested too deeply for a whole one."""
    try:
        return repr(value)
    except RecursionError:
        return shorten(value)


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


# How messages name the range of a proportion, by whether the range includes 0 and whether it includes 1.
_PROPORTION_RANGES = {
    (True, True): "from 0 to 1",
    (True, False): "at least 0 and below 1",
    (False, True): "above 0 and at most 1",
    (False, False): "strictly between 0 and 1",
}


def proportion(value: Any, name: str, *, allow_zero: bool = False, allow_one: bool = False) -> float:
    """Return the value of an argument as a float if it is between 0 and 1."""
    allowed = _PROPORTION_RANGES[allow_zero, allow_one]
    if not isinstance(value, float | SupportsFloat):  # float first, because checking a protocol takes 3 microseconds
        raise TypeError(f"{name} must be a number {allowed}, got {value!r} ({type(value).__name__})")
    number = _as_float(value, name)
    if not 0 <= number <= 1 or (number == 0 and not allow_zero) or (number == 1 and not allow_one):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return number


def positive_number(value: float, name: str) -> float:
    """Return the value of an argument as a float if it is above 0; infinity is allowed."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat):
        raise TypeError(f"{name} must be a positive number, got {value!r} ({type(value).__name__})")
    if not value > 0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return _as_float(value, name)


def _as_float(value: SupportsFloat, name: str) -> float:
    try:
        return float(value)
    except OverflowError:
        # Not the number itself, which may have thousands of digits.
        raise ValueError(f"{name} must be at most 1.8e308 in size, got a larger {type(value).__name__}") from None


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
    hint = ""
    if issubclass(cls, PathLike):
        hint = "; write a path as text, str(path), or its name, path.name, which match='filename' compares"
    elif issubclass(cls, bytes):
        hint = "; decode them: text_id.decode()"
    raise TypeError(f"{owner} must be str or int, got {cls.__name__}{hint}")


def require_same_id_type(left: type | None, left_owner: str, right: type | None, right_owner: str) -> None:
    """Raise if two collections hold ids of different types, because then no two ids can be equal."""
    if left is not None and right is not None and left is not right:
        raise TypeError(
            f"{left_owner} are {left.__name__} and {right_owner} are {right.__name__}, so none of them can match; "
            "convert one side, for example with str(id)"
        )
