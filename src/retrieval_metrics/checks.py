"""Preconditions shared by the whole package, each written once."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any


class RetrievalWarning(UserWarning):
    """Something in the data is probably not what its owner meant; the numbers stand, but read the message."""


def positive_integer(value: Any, what: str) -> int:
    """Return `value` as an int if it is a positive integer, and raise otherwise.

    Raises:
        TypeError: If it is no integer (a bool is none).
        ValueError: If it is zero or negative.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{what} must be a positive integer or None, got {value!r} ({type(value).__name__})")
    if value <= 0:
        raise ValueError(f"{what} must be a positive integer or None, got {value!r}")
    return int(value)


def id_kind(types: Iterable[type], owner: str) -> type | None:
    """Return the one kind of id, `str` or `int`, among the types of some ids; None where there are none.

    Args:
        types: The types of the ids, in any order and number.
        owner: What holds the ids, for the message ("document ids in the qrels").

    Raises:
        TypeError: If an id is neither str nor int, or both kinds occur.
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
    """Raise if two collections of ids are of different kinds, because then no id of one can equal one of the other.

    Raises:
        TypeError: If one side is str and the other int.
    """
    if left is not None and right is not None and left is not right:
        raise TypeError(
            f"{left_owner} are {left.__name__} and {right_owner} are {right.__name__}, so none of them can match; "
            f"convert one side, for example with {left.__name__}(id)"
        )
