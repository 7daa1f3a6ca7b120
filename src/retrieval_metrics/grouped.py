"""Group values by what they have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

NameT = TypeVar("NameT")
ValueT = TypeVar("ValueT")


def grouped(pairs: Iterable[tuple[NameT, ValueT]]) -> dict[NameT, list[ValueT]]:
    """Return the second of each pair by the first, both in the order of their first occurrence.

    Example:
        >>> grouped((len(word), word) for word in ("to", "be", "not"))
        {2: ['to', 'be'], 3: ['not']}
    """
    found: dict[NameT, list[ValueT]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found
