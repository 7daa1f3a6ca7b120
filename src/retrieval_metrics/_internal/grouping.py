"""Group pairs by their first value."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

GroupKeyT = TypeVar("GroupKeyT")
ValueT = TypeVar("ValueT")


def group_pairs(pairs: Iterable[tuple[GroupKeyT, ValueT]]) -> dict[GroupKeyT, list[ValueT]]:
    """Return the second values of pairs by their first value, in the order in which each occurs first.

    Example:
        >>> group_pairs((len(word), word) for word in ("to", "be", "not"))
        {2: ['to', 'be'], 3: ['not']}
    """
    values_by_key: dict[GroupKeyT, list[ValueT]] = {}
    for key, value in pairs:
        values_by_key.setdefault(key, []).append(value)
    return values_by_key
