"""Pairs by their first values."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

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
